//! The host as a whole: starts its threads, prints its addresses, and waits for its end.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use mimosa_discovery::{Announcement, announce};
use mimosa_protocol::pairing::Allowed;
use mimosa_settings::{Advertised, PublicHost, RelayTransport, Settings, SourceSettings, Token};
use mimosa_system::clock::Clock;
use mimosa_system::random::bits_128;
use mimosa_system::{Mailbox, mailbox, priority};
use mimosa_tls::KeyHash;
use mimosa_transport::Addresses;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use crate::controllers::Controllers;
use crate::devices::Devices;
use crate::encoding::EncoderChoices;
use crate::encoding::choose_encoder;
use crate::error::HostError;
use crate::http::{self, App, Owner};
use crate::machine;
use crate::metrics::Metrics;
use crate::network::{
    AdvertisedWatch, Forwards, Network, Outside, Sockets, ToNetwork, is_absent, watch_interfaces,
};
use crate::owning::Owning;
use crate::pairing::{Asking, Pairing};
use crate::private;
use crate::sessions;
use crate::sound::Sound;
use crate::source::Source;
use crate::tls::Tls;

/// How long a router may take to hear that its ports are wanted no longer. Our choice: it is one hop away.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where others reach the host that are in another network: places that forward to it, and where its router takes in what
/// is for its HTTP port.
type Beyond<'a> = (&'a [Advertised], Option<SocketAddr>);

/// The addresses of the host.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Urls {
    /// Addresses for playing.
    pub play: Vec<String>,
    /// Addresses for watching.
    pub watch: Vec<String>,
    /// The owner's address, if there is an owner's page.
    pub own: Option<String>,
}

/// Something to tell the host's owner. Tokens and PINs appear nowhere else.
#[derive(Clone, Debug)]
pub enum Told {
    /// The host can be reached.
    Ready(Urls),
    /// A PIN for one device.
    Pin(String),
    /// A device has paired.
    Paired {
        /// Name of the device.
        name: String,
        /// What the device may do.
        role: Allowed,
    },
}

/// The host's owner.
pub struct Audience {
    /// Whether somebody sees a PIN when it is told, and nobody else does: at a terminal.
    pub sees_pins: bool,
    /// Tells the owner something; must not block.
    pub tell: Box<dyn Fn(&Told) + Send + Sync>,
    /// What the owner sees and changes from the page; `None` for nothing.
    pub owning: Option<Box<dyn Owning>>,
}

/// Runs the host until it is interrupted or its source ends. Tells its owner the addresses once they
/// can be used.
///
/// # Errors
///
/// [`HostError`] if the host cannot start, or its source fails.
pub fn serve(mut settings: Settings, audience: Audience) -> Result<(), HostError> {
    let clock = Clock::start();
    // These errors are reported now, rather than to the first player.
    settings.encoder.name =
        choose_encoder(settings.encoder, settings.frames_per_second, settings.size)?;
    let encoders =
        EncoderChoices::open(settings.encoder, settings.frames_per_second, settings.size)?;
    for folder in [&settings.record, &settings.record_pictures] {
        folder.as_deref().map_or(Ok(()), private::probe)?;
    }
    warn_of_root(&settings);
    let settings = Arc::new(settings);
    let controllers = Controllers::new(&settings.controller)?;

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(HostError::Thread)?;
    let listeners = runtime.block_on(listen(&settings))?;
    let sockets = Sockets::bind(&settings.bind, settings.udp_port)?;
    let udp = sockets.addresses();
    let port = udp.first().map_or(settings.udp_port, SocketAddr::port);
    let ports = [listeners[0].0.port(), port];
    let forwards = runtime.block_on(forwards(&settings, ports));
    let outside = forwards.as_ref().map(Forwards::outside);
    let (said, outside) = watch::channel(outside.unwrap_or_default());
    let beyond = outside.borrow().http;
    let tls = Tls::start(&settings, beyond.map(|address| address.ip()))?;
    let (mailbox, inbox) = mailbox().map_err(HostError::Thread)?;
    let metrics = Arc::new(Metrics::new());
    let from_sound = mailbox.clone();
    let sound = Sound::start(&settings, clock, move |said| {
        from_sound.send(ToNetwork::Sound(said));
    });
    let from_source = mailbox.clone();
    let source = Source::start(&settings, clock, sound.as_ref(), move |news| {
        from_source.send(ToNetwork::Source(news));
    })?;
    let tokens = tokens(&settings);
    let (urls, owner) = owned(
        (&listeners, tls.as_ref(), (&settings.advertise, beyond)),
        tokens.as_ref(),
        audience.owning,
    );
    let devices = devices(&settings);
    let key = tls.as_ref().and_then(|tls| tls.key);
    let asking = asking(audience.sees_pins, owner.is_some()).filter(|_| devices.is_some());
    let pairing = settings.pair.zip(asking);
    let pairing = pairing.map(|(role, from)| Pairing::new(role, from, key));
    let pairs = pairing.is_some();
    let app = Arc::new(App::new(
        (
            &settings.allowed_origins,
            machine::names_with(&settings),
            settings.relay.clone(),
        ),
        (tokens, owner),
        (devices, pairing, audience.tell),
        mailbox.clone(),
        Arc::clone(&metrics),
        clock,
    ));
    let _announced = announced(&settings, listeners[0].0.port(), tls.is_some(), pairs);
    let name = source.name();
    let stream_port = stream_port(ports);
    let all_ports = (ports, stream_port);
    let owner_asks = sessions::serve(ports[0], urls.clone(), mailbox.clone());
    let attending = attend(Arc::clone(&settings), all_ports, outside, mailbox.clone());
    let network = Network::new(
        Arc::clone(&settings),
        (encoders, controllers),
        clock,
        (sockets, stream_port),
        (source, sound),
        (mailbox.clone(), inbox),
        metrics,
    );
    let (ended, end) = watch::channel(false);
    let thread = std::thread::Builder::new()
        .name("network".to_owned())
        .spawn(move || {
            priority::raise();
            let result = network.run();
            // The other side may be gone already.
            let _ = ended.send(true);
            result
        })
        .map_err(HostError::Thread)?;
    tracing::info!(source = name, ?udp, "serving");
    (app.tell)(&Told::Ready(urls));
    app.show_pin();
    runtime.block_on(async {
        tokio::spawn(async { tokio::join!(attending, owner_asks) });
        look_around(&app, settings.updates.as_deref());
        let (stop, stopped) = oneshot::channel();
        let keeping = forwards.map(|forwards| tokio::spawn(forwards.keep(said, stopped)));
        open(listeners, &app, tls, end).await;
        drop(stop);
        if let Some(keeping) = keeping {
            let _ = tokio::time::timeout(FAREWELL, keeping).await;
        }
    });
    mailbox.send(ToNetwork::Stop);
    thread.join().map_err(|_| HostError::Died("network"))?
}

/// Looks now and then whether devices were revoked, and whether there is a newer version.
fn look_around(app: &Arc<App>, updates: Option<&str>) {
    tokio::spawn(Arc::clone(app).watch_devices());
    if let Some(url) = updates {
        tokio::spawn(app.updates.clone().watch(url.to_owned()));
    }
}

/// Serves HTTP until the network's thread has ended, or the host is to stop.
async fn open(
    listeners: Vec<(SocketAddr, TcpListener)>,
    app: &Arc<App>,
    tls: Option<Tls>,
    end: watch::Receiver<bool>,
) {
    let door = tls.as_ref().map(|tls| tls.door.clone());
    let answers = tls.as_ref().map(|tls| Arc::clone(&tls.answers));
    let answers = answers.unwrap_or_default();
    for (_, listener) in listeners {
        tokio::spawn(http::serve(
            listener,
            Arc::clone(app),
            (door.clone(), Arc::clone(&answers)),
            finished(end.clone()),
        ));
    }
    if let Some(tls) = tls {
        tokio::spawn(tls.watch());
    }
    tokio::select! {
        () = finished(end) => {}
        () = interrupted() => tracing::info!("stopping"),
    }
}

/// Asks the router to forward the ports of HTTP and of UDP, if the settings say so.
async fn forwards(settings: &Settings, ports: [u16; 2]) -> Option<Forwards> {
    if !settings.forwards_ports {
        return None;
    }
    Some(Forwards::begin(&settings.bind, ports).await)
}

/// Tells the network where the host is reached, as that changes. The ports are those of HTTP and of UDP, and that of
/// sessions by TCP.
async fn attend(
    settings: Arc<Settings>,
    ([_, udp], stream_port): ([u16; 2], Option<u16>),
    outside: watch::Receiver<Outside>,
    mailbox: Mailbox<ToNetwork>,
) {
    let places = settings.advertise.clone();
    let advertised = AdvertisedWatch::new(places, (udp, stream_port), outside);
    let advertised = advertised.run("advertised", ToNetwork::Advertised, mailbox.clone());
    let relay = relay_place(&settings).into_iter().collect();
    let (_, nowhere) = watch::channel(Outside::default());
    let relay = AdvertisedWatch::new(relay, (0, None), nowhere);
    let told_as = |addresses: Addresses| ToNetwork::Relay(addresses.datagrams);
    let relay = relay.run("the relay is", told_as, mailbox.clone());
    let interfaces = watch_interfaces(settings.bind.clone(), mailbox.clone());
    tokio::join!(advertised, relay, interfaces);
}

/// Where the relay is at which the host asks for an address of its own: the first that takes datagrams.
fn relay_place(settings: &Settings) -> Option<Advertised> {
    let relay = settings.relay.as_ref()?;
    let mut urls = relay.urls.iter();
    let Some(url) = urls.find(|url| url.transport == RelayTransport::Udp) else {
        tracing::info!("no URL of the relay has `transport=udp`: only players use it");
        return None;
    };
    Some(Advertised {
        host: url.host.clone(),
        port: Some(url.port),
    })
}

/// Announces the host in its network, unless the settings say no or nobody could reach it, until the result
/// is dropped. A host plays where nothing can be announced.
fn announced(
    settings: &Settings,
    port: u16,
    is_encrypted: bool,
    pairs: bool,
) -> Option<mimosa_discovery::Standing> {
    let announcement = Announcement {
        name: machine::names().into_iter().next().unwrap_or_default(),
        addresses: settings.bind.clone(),
        port,
        is_encrypted,
        pairs,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    if !settings.announces || !announcement.leads_here() {
        return None;
    }
    announce(&announcement)
        .inspect_err(|error| tracing::warn!("the host is not announced in its network: {error}"))
        .ok()
}

/// Warns if root runs the host: displays and most games run what is typed, so that a player would
/// be root.
fn warn_of_root(settings: &Settings) {
    let runs_programs = settings.source != SourceSettings::Demo;
    if runs_programs && rustix::process::geteuid().is_root() {
        tracing::warn!(
            "running as root: whoever may play can do what root can; run it as another user"
        );
    }
}

/// Waits until the network's thread has ended.
async fn finished(mut end: watch::Receiver<bool>) {
    // An error means the same end.
    let _ = end.wait_for(|ended| *ended).await;
}

/// Waits until the host is to stop.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// Listens on all addresses, with the same port on each, also if any free port will do.
async fn listen(settings: &Settings) -> Result<Vec<(SocketAddr, TcpListener)>, HostError> {
    let mut listeners = Vec::new();
    let mut port = settings.http_port;
    for &address in &settings.bind {
        let address = SocketAddr::new(address, port);
        let failed = |error| HostError::Bind {
            protocol: "TCP",
            address,
            flag: "http-port",
            error,
        };
        let listener = match TcpListener::bind(address).await {
            Ok(listener) => listener,
            Err(error) if is_absent(address, &error) => continue,
            Err(error) => return Err(failed(error)),
        };
        let bound = listener.local_addr().map_err(failed)?;
        port = bound.port();
        listeners.push((bound, listener));
    }
    if listeners.is_empty() {
        return Err(HostError::NoAddress);
    }
    Ok(listeners)
}

/// The port at which sessions' datagrams come by TCP: that of HTTP, unless UDP has the same number. What
/// carries a datagram is told by its address.
fn stream_port([http, udp]: [u16; 2]) -> Option<u16> {
    if http == udp {
        tracing::warn!(
            port = udp,
            "no session is reached by TCP: --http-port and --udp-port have to differ for that"
        );
    }
    (http != udp).then_some(http)
}

/// The tokens for playing and watching; `None` if the host is open.
fn tokens(settings: &Settings) -> Option<(Token, Token)> {
    if settings.is_open {
        return None;
    }
    let or_made_up = |token: &Option<Token>| {
        token
            .clone()
            .unwrap_or_else(|| Token::from_bits(bits_128()))
    };
    Some((
        or_made_up(&settings.token),
        or_made_up(&settings.view_token),
    ))
}

/// The devices that have paired, unless the host is open, or they cannot be read.
fn devices(settings: &Settings) -> Option<Devices> {
    if settings.is_open {
        return None;
    }
    Devices::open()
        .inspect_err(|error| tracing::warn!("no device can come in or pair: {error}"))
        .ok()
}

/// Who may have a PIN made: nobody where there is neither a terminal nor an owner's page to show it.
const fn asking(sees_pins: bool, has_owner: bool) -> Option<Asking> {
    match (sees_pins, has_owner) {
        (true, _) => Some(Asking::Anybody),
        (false, true) => Some(Asking::Owner),
        (false, false) => None,
    }
}

/// The host's URLs, and the owner's token with what the owner sees and changes, unless the host is open.
fn owned(
    (listeners, tls, beyond): (&[(SocketAddr, TcpListener)], Option<&Tls>, Beyond<'_>),
    tokens: Option<&(Token, Token)>,
    owning: Option<Box<dyn Owning>>,
) -> (Urls, Option<Owner>) {
    let owner = tokens.and(owning);
    let owner = owner.map(|owning| (Token::from_bits(bits_128()), owning));
    let own = owner.as_ref().map(|(token, _)| token);
    let urls = urls(listeners, (tokens, own), tls, beyond);
    let owner = owner.map(|(token, owning)| {
        let invitation = owning.invite(&urls.play);
        (token, owning, invitation)
    });
    (urls, owner)
}

fn urls(
    listeners: &[(SocketAddr, TcpListener)],
    (tokens, owner): (Option<&(Token, Token)>, Option<&Token>),
    tls: Option<&Tls>,
    (advertised, forwarded): Beyond<'_>,
) -> Urls {
    let mut urls = Urls {
        play: Vec::new(),
        watch: Vec::new(),
        own: None,
    };
    let mut add = |host: &str, port: u16, secure: Option<&Tls>| {
        let scheme = if secure.is_some() { "https" } else { "http" };
        let base = format!("{scheme}://{host}:{port}/");
        // An authority vouches for a name, and what is shown for it changes its key.
        let key = secure
            .filter(|tls| !tls.is_vouched_for(host))
            .and_then(|tls| tls.key);
        let (play, watch) = tokens.map(|(play, watch)| (play, watch)).unzip();
        urls.play.push(base.clone() + &fragment(play, key));
        urls.watch
            .push(format!("{base}?role=view{}", fragment(watch, key)));
        // The first one is this machine's, where there is such a one.
        if let Some(owner) = owner {
            let own = || base + &fragment(Some(owner), key);
            urls.own.get_or_insert_with(own);
        }
    };
    for (address, _) in listeners {
        for ip in named(address.ip()) {
            let host = match ip {
                IpAddr::V4(v4) if v4.is_loopback() => "localhost".to_owned(),
                _ => in_url(ip),
            };
            let secure = tls.filter(|tls| !tls.door.takes_plain(ip));
            add(&host, address.port(), secure);
        }
    }
    // What forwards to the host is taken to use the same TCP port, and is not this machine.
    let beyond = listeners
        .iter()
        .find(|(address, _)| !address.ip().is_loopback());
    for place in advertised.iter().filter(|_| beyond.is_some()) {
        let host = match &place.host {
            PublicHost::Address(address) => in_url(*address),
            PublicHost::Name(name) => name.clone(),
        };
        add(&host, listeners[0].0.port(), tls);
    }
    if let Some(forwarded) = forwarded {
        add(&in_url(forwarded.ip()), forwarded.port(), tls);
    }
    urls
}

/// An address as URLs have it.
fn in_url(address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    }
}

/// The part of a URL that browsers keep to themselves: the token, and the host's key.
fn fragment(token: Option<&Token>, key: Option<KeyHash>) -> String {
    let token = token.map(|token| format!("token={}", token.secret()));
    let key = key.map(|key| format!("key={key}"));
    match (token, key) {
        (None, None) => String::new(),
        (Some(one), None) | (None, Some(one)) => format!("#{one}"),
        (Some(token), Some(key)) => format!("#{token}&{key}"),
    }
}

/// The addresses for which an unspecified one stands.
fn named(address: IpAddr) -> Vec<IpAddr> {
    if !address.is_unspecified() {
        return vec![address];
    }
    let mut all = machine::addresses();
    all.retain(|ip| ip.is_ipv4() == address.is_ipv4());
    all
}
