//! Watches the machine's addresses, which come and go with cables and networks.

use std::net::IpAddr;
use std::time::Duration;

use mimosa_system::Mailbox;

use super::ToNetwork;
use super::sockets::resolved;

/// How often the addresses are looked at. Our choice: below the time after which a browser looks for another
/// way (`libwebrtc`: 2.5 s without an answer, `WEAK_CONNECTION_RECEIVE_TIMEOUT`), and a look is a
/// few system calls.
const EVERY: Duration = Duration::from_secs(2);

/// Tells the network, again and again, for which addresses those in `bind` stand. Completes at once if
/// none of these stands for others.
pub(crate) async fn watch(bind: Vec<IpAddr>, mailbox: Mailbox<ToNetwork>) {
    let mut has_failed = false;
    while bind.iter().any(IpAddr::is_unspecified) {
        tokio::time::sleep(EVERY).await;
        match resolved(&bind) {
            // Told each time, since the network may have been unable to bind some.
            Ok(addresses) => {
                mailbox.send(ToNetwork::Interfaces(addresses));
                has_failed = false;
            }
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    tracing::warn!("the addresses stay as they are: {error}");
                }
            }
        }
    }
}
