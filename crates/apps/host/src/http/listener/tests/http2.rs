//! What one connection of HTTP/2 can take, with frames written by hand (RFC 9113, section 4.1).

use super::*;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The beginning of every connection (section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// `GET`, `https` and `/` in the static table of HPACK (RFC 7541, appendix A).
const GET_PAGE: &[u8] = &[0x82, 0x87, 0x84];
/// `POST`, `https` and, as a literal, the path `/read`.
const POST_BODY: &[u8] = b"\x83\x87\x04\x05/read";
/// `:authority: localhost`, as a literal.
const AUTHORITY: &[u8] = b"\x01\x09localhost";

fn frame(kind: u8, flags: u8, stream: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(body);
    frame
}

fn request(stream: u32, flags: u8, fields: &[&[u8]]) -> Vec<u8> {
    frame(HEADERS, flags, stream, &fields.concat())
}

/// The frames in these bytes, each by its kind, its stream and its body.
fn frames(mut bytes: &[u8]) -> Vec<(u8, u32, Vec<u8>)> {
    let mut frames = Vec::new();
    while bytes.len() >= 9 {
        let length = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize;
        let stream = u32::from_be_bytes([bytes[5], bytes[6], bytes[7], bytes[8]]);
        let Some(body) = bytes.get(9..9 + length) else {
            break;
        };
        frames.push((bytes[3], stream, body.to_vec()));
        bytes = &bytes[9 + length..];
    }
    frames
}

/// The client of an in-memory connection that has begun.
async fn begun() -> DuplexStream {
    let (mut ours, theirs) = duplex(1 << 20);
    let client = Client((Ipv4Addr::LOCALHOST, 1).into());
    let told = |headers: axum::http::HeaderMap| async move {
        let hosts = headers.get_all(header::HOST);
        let hosts: Vec<_> = hosts.iter().map(|host| host.to_str().unwrap()).collect();
        hosts.join(" and ")
    };
    let router = router().route("/hosts", get(told));
    tokio::spawn(connection(theirs, client, Link::Http2, router));
    ours.write_all(PREFACE).await.unwrap();
    ours.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    ours
}

/// What has come after a while.
async fn read(client: &mut DuplexStream) -> Vec<(u8, u32, Vec<u8>)> {
    let mut bytes = Vec::new();
    while let Ok(Ok(length)) = timeout(REST, client.read_buf(&mut bytes)).await {
        if length == 0 {
            break;
        }
    }
    frames(&bytes)
}

#[tokio::test(start_paused = true)]
async fn a_request_is_answered_and_has_its_host() {
    let mut client = begun().await;
    let hosts = b"\x04\x06/hosts";
    let all = END_STREAM | END_HEADERS;
    let named = [&[0x82, 0x87], &hosts[..], AUTHORITY].concat();
    client.write_all(&request(1, all, &[&named])).await.unwrap();
    // `host` is a name in the static table.
    let also = |host: &[u8]| [&[0x0f, 0x17, 9], host].concat();
    let same = request(3, all, &[&named, &also(b"localhost")]);
    let other = request(5, all, &[&named, &also(b"lucalhost")]);
    client.write_all(&[same, other].concat()).await.unwrap();
    let read = read(&mut client).await;
    let of = |stream: u32| {
        let mut data = read
            .iter()
            .filter(|frame| (frame.0, frame.1) == (DATA, stream));
        String::from_utf8(data.next().unwrap().2.clone()).unwrap()
    };
    assert_eq!(of(1), "localhost");
    assert_eq!(of(3), "localhost");
    assert_eq!(of(5), "lucalhost and localhost", "two, which are refused");
}

#[tokio::test(start_paused = true)]
async fn only_so_many_requests_are_open() {
    let mut client = begun().await;
    // The settings of this end arrive before it may refuse.
    let settings = read(&mut client).await;
    let limit = [0, 3, 0, 0, 0, 32];
    let told = |body: &Vec<u8>| body.chunks(6).any(|setting| setting == limit);
    assert!(
        settings
            .iter()
            .any(|(kind, _, body)| *kind == SETTINGS && told(body))
    );
    client.write_all(&frame(SETTINGS, 1, 0, &[])).await.unwrap();
    let most = 40;
    for number in 0..most {
        let fields = [POST_BODY, AUTHORITY];
        let open = request(2 * number + 1, END_HEADERS, &fields);
        client.write_all(&open).await.unwrap();
    }
    let read = read(&mut client).await;
    let refused = read.iter().filter(|(kind, ..)| *kind == RESET).count();
    assert_eq!(refused, (most - MOST_STREAMS) as usize);
    let begun = Instant::now();
    let (_, after) = end(&mut client, begun).await;
    let longest = LONGEST_REQUEST + LONGEST_ANSWER;
    assert!(after <= longest, "{after:?}");
}

/// A header that never ends is given up before it takes more memory than a header may.
#[tokio::test(start_paused = true)]
async fn a_header_without_end_ends_the_connection() {
    let mut client = begun().await;
    client
        .write_all(&request(1, 0, &[GET_PAGE, AUTHORITY]))
        .await
        .unwrap();
    // A field `x` of 8,000 bytes.
    let field = [&b"\x00\x01x\x7f\xc1\x3d"[..], &[b'y'; 8_000]].concat();
    let mut sent = 0;
    while client
        .write_all(&frame(CONTINUATION, 0, 1, &field))
        .await
        .is_ok()
    {
        sent += field.len();
        assert!(sent < 1 << 22, "nobody minds");
        tokio::task::yield_now().await;
    }
    assert!(sent > usize::from(LARGEST_HEADER), "{sent}");
}

/// Pings are answered, and do not keep a connection open that asks for nothing.
#[tokio::test(start_paused = true)]
async fn pings_give_no_more_time() {
    let (mut client, since) = (begun().await, Instant::now());
    let mut answered = 0;
    while client.write_all(&frame(PING, 0, 0, &[7; 8])).await.is_ok() {
        answered += read(&mut client).await.len();
        assert!(since.elapsed() < Duration::from_mins(1), "it stays");
    }
    assert!(answered > 3, "{answered}");
    let after = since.elapsed();
    assert!(
        after >= LONGEST_HEADER && after <= LONGEST_HEADER + 2 * REST,
        "{after:?}"
    );
}

/// A request that its sender takes back is over: nobody works on it any more.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_taken_back_gives_no_more_time() {
    let (mut client, since) = (begun().await, Instant::now());
    let open = request(1, END_HEADERS, &[POST_BODY, AUTHORITY]);
    client.write_all(&open).await.unwrap();
    read(&mut client).await;
    let cancel = frame(RESET, 0, 1, &8_u32.to_be_bytes());
    client.write_all(&cancel).await.unwrap();
    let (_, after) = end(&mut client, since).await;
    assert!(
        after >= LONGEST_ANSWER && after <= LONGEST_ANSWER + 2 * REST,
        "{after:?}"
    );
}

/// Requests that are taken back at once take the host's time all the same (CVE-2023-44487).
#[tokio::test(start_paused = true)]
async fn requests_that_are_taken_back_end_the_connection() {
    let mut client = begun().await;
    let mut number = 0;
    while number < 10_000 {
        let stream = 2 * number + 1;
        let open = request(stream, END_HEADERS, &[POST_BODY, AUTHORITY]);
        let cancel = frame(RESET, 0, stream, &8_u32.to_be_bytes());
        if client.write_all(&[open, cancel].concat()).await.is_err() {
            break;
        }
        number += 1;
        if number % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let read = read(&mut client).await;
    let is_over = number < 10_000 || read.iter().any(|(kind, ..)| *kind == GOAWAY);
    assert!(is_over, "{number}");
}
