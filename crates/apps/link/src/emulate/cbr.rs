//! Cross traffic of constant rate over UDP. Its receiver is a socket that is never read.

use std::net::UdpSocket;

use mimosa_scenario::{CbrConfig, FlowConfig};
use mimosa_system::clock::sleep_exactly;
use mimosa_units::Time;

use crate::emulate::error::RealtimeError;
use crate::emulate::plan::UDP_HEADERS;
use crate::emulate::run::Stage;
use crate::emulate::video::Sending;
use crate::emulate::wait::{self, Readiness};

/// Sends until the run is over, each packet at its time in the simulation.
pub(crate) fn send(
    stage: &Stage<'_>,
    flow: &FlowConfig,
    cbr: CbrConfig,
    socket: &UdpSocket,
) -> Result<Sending, RealtimeError> {
    sleep_exactly();
    let mut sending = Sending::default();
    let payload = (cbr.packet_size - UDP_HEADERS).get();
    let payload = vec![0; usize::try_from(payload).unwrap_or(0)];
    let gap = cbr.rate.transmit_time(cbr.packet_size);
    let mut next = flow.active_from(Time::ZERO);
    while let Some(due) = next {
        wait::towards(stage.clock, due.min(stage.end), Readiness::Nothing);
        let now = stage.clock.now();
        if now >= stage.end || stage.is_over() {
            break;
        }
        if due <= now {
            sending.late.push(now.since(due));
            sending.sent.push((now, cbr.packet_size));
            stage.io("send a packet", socket.send(&payload))?;
            next = flow.active_from(due + gap);
        }
    }
    Ok(sending)
}
