//! The two network namespaces that a link joins, with their devices and addresses.

use std::io::Write;
use std::process::{Command, Stdio};

use mimosa_cc::window::EcnUse;
use mimosa_scenario::{FlowKind, Scenario};

use crate::emulate::error::RealtimeError;
use crate::emulate::plan::addresses;
use crate::{Namespace, Tun};

/// Name of the device in both namespaces.
const DEVICE: &str = "mimosa0";
/// Packets that a device holds until the link reads them: more than the link is ever behind.
const DEVICE_QUEUE: u32 = 20_000;

/// Two network namespaces, which are gone when this is dropped.
#[derive(Debug)]
pub struct Ends {
    /// The namespace of the senders.
    pub(crate) left: Namespace,
    /// The namespace of the receivers.
    pub(crate) right: Namespace,
}

impl Ends {
    /// Makes two new namespaces, which are empty.
    ///
    /// # Errors
    ///
    /// [`RealtimeError::Link`] without the rights.
    pub fn create() -> Result<Self, RealtimeError> {
        Ok(Self {
            left: Namespace::private()?,
            right: Namespace::private()?,
        })
    }

    /// Makes a device in each namespace, with the addresses of the flows.
    pub(crate) fn devices(&self, scenario: &Scenario) -> Result<(Tun, Tun), RealtimeError> {
        let mut there = format!("route add 10.2.0.0/16 dev {DEVICE}\n");
        let mut back = format!("route add 10.1.0.0/16 dev {DEVICE}\n");
        for (index, flow) in scenario.flows.iter().enumerate() {
            let (left, right) = addresses(index);
            there.insert_str(0, &format!("address add {left}/32 dev {DEVICE}\n"));
            back.insert_str(0, &format!("address add {right}/32 dev {DEVICE}\n"));
            if let FlowKind::Tcp(tcp) = &flow.kind
                && tcp.ecn == EcnUse::Classic
            {
                // The connecting end asks for ECN; the other end grants it by default.
                let route = format!("route add {right}/32 dev {DEVICE} features ecn\n");
                there.push_str(&route);
            }
        }
        let device = |namespace: &Namespace, setup: &str| -> Result<Tun, RealtimeError> {
            namespace.within(|| {
                for family in ["all", "default"] {
                    let switch = format!("/proc/sys/net/ipv6/conf/{family}/disable_ipv6");
                    // Without IPv6, the kernel sends nothing of its own across the link. A kernel
                    // without IPv6 lacks the file.
                    // link; a kernel that has none lacks the file.
                    let _ = std::fs::write(switch, "1");
                }
                let tun = Tun::create(DEVICE)?;
                let up = format!("link set {DEVICE} mtu 1500 txqueuelen {DEVICE_QUEUE} up\n");
                ip(&format!("{up}{setup}"))?;
                Ok(tun)
            })?
        };
        Ok((device(&self.left, &there)?, device(&self.right, &back)?))
    }
}

/// Runs these commands of iproute2's `ip` in this thread's network namespace.
fn ip(commands: &str) -> Result<(), RealtimeError> {
    let failed_io = |error: std::io::Error| RealtimeError::Addresses(error.to_string());
    let mut child = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed_io)?;
    if let Some(mut stdin) = child.stdin.take() {
        // `ip` may have ended already, and then says why.
        let _ = stdin.write_all(commands.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed_io)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().replace('\n', "; ");
    Err(RealtimeError::Addresses(said))
}
