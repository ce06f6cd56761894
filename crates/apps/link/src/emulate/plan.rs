//! Checks what of a scenario can be run in real time.

use std::net::Ipv4Addr;

use mimosa_cc::window::Algorithm;
use mimosa_net::PathConfig;
use mimosa_scenario::{FlowConfig, FlowKind, Scenario};
use mimosa_units::{Bytes, TimeDelta};

use crate::emulate::error::{RealtimeError, Unsupported};
use crate::emulate::wire;

/// Size of the IPv4 and UDP headers, which are part of a packet's size on the link.
pub(crate) const UDP_HEADERS: Bytes = Bytes::new(28);
/// Largest packet that the devices carry.
pub(crate) const LARGEST: Bytes = Bytes::new(1_500);
/// Most flows: their addresses differ in two bytes.
const MOST_FLOWS: usize = 1 << 16;

/// Size of the smallest packet of a video flow.
pub(crate) const fn smallest() -> Bytes {
    Bytes::new(UDP_HEADERS.get() + wire::HEADER as u64)
}

/// The paths that all flows share, in each direction. The path back is `None` if there is only
/// cross traffic, which does not need one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paths {
    pub(crate) there: PathConfig,
    pub(crate) back: Option<PathConfig>,
}

/// The addresses of a flow, which its simulated packets have as well (`Header::of_flow`).
pub(crate) fn addresses(flow: usize) -> (Ipv4Addr, Ipv4Addr) {
    let [.., high, low] = flow.to_be_bytes();
    (
        Ipv4Addr::new(10, 1, high, low),
        Ipv4Addr::new(10, 2, high, low),
    )
}

/// Refuses what cannot be run here. `kernel` names the kernel's congestion control algorithms.
pub(crate) fn check(scenario: &Scenario, kernel: &[String]) -> Result<Paths, RealtimeError> {
    let mut paths: Option<Paths> = None;
    for (index, flow) in scenario.flows.iter().enumerate() {
        let refused = |problem| RealtimeError::Unsupported {
            flow: flow.name.clone(),
            problem,
        };
        if index >= MOST_FLOWS {
            return Err(refused(Unsupported::Many(MOST_FLOWS)));
        }
        if scenario.links().any(|link| link.medium.is_some()) {
            return Err(refused(Unsupported::Links("medium")));
        }
        if scenario.reverse.is_some() {
            return Err(refused(Unsupported::Links("[link.reverse]")));
        }
        if !scenario.next.is_empty() {
            return Err(refused(Unsupported::Links("[[link.next]]")));
        }
        check_kind(flow, kernel).map_err(refused)?;
        let back = match &flow.kind {
            FlowKind::Video(video) => Some(video.reverse),
            FlowKind::Tcp(tcp) => Some(tcp.reverse),
            FlowKind::Cbr(_) => None,
        };
        let Some(first) = &mut paths else {
            let there = flow.forward;
            paths = Some(Paths { there, back });
            continue;
        };
        if flow.forward != first.there {
            return Err(refused(Unsupported::Path("path")));
        }
        if back.is_some() && first.back.is_some() && back != first.back {
            return Err(refused(Unsupported::Path("way back")));
        }
        first.back = first.back.or(back);
    }
    Ok(paths.unwrap_or(Paths {
        there: PLAIN,
        back: None,
    }))
}

/// The path of a scenario without flows.
const PLAIN: PathConfig = PathConfig {
    delay: TimeDelta::ZERO,
    jitter: None,
    loss: mimosa_net::LossModel::Random(0.0),
    reordering: None,
    remark: None,
};

fn check_kind(flow: &FlowConfig, kernel: &[String]) -> Result<(), Unsupported> {
    match &flow.kind {
        FlowKind::Video(video) => {
            if video.aggregation > TimeDelta::ZERO {
                return Err(Unsupported::Aggregation);
            }
            let bounds = &video.sender.bounds;
            fits(bounds.smallest_packet, smallest())?;
            fits(video.packet_size + video.overhead, smallest())
        }
        FlowKind::Cbr(cbr) => fits(cbr.packet_size, UDP_HEADERS),
        FlowKind::Tcp(tcp) => {
            if tcp.pages.is_some() {
                return Err(Unsupported::Pages);
            }
            let size = tcp.packet_size + tcp.overhead;
            if size != LARGEST {
                return Err(Unsupported::Segments(size));
            }
            let name = Algorithm::name(tcp.algorithm);
            if kernel.iter().any(|known| known == name) {
                Ok(())
            } else {
                let known = kernel.join(", ");
                Err(Unsupported::Algorithm { name, known })
            }
        }
    }
}

fn fits(size: Bytes, least: Bytes) -> Result<(), Unsupported> {
    if size < least {
        Err(Unsupported::Small { size, least })
    } else if size > LARGEST {
        let most = LARGEST;
        Err(Unsupported::Large { size, most })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::Header;

    use super::*;

    fn refusal(flows: &str) -> Option<String> {
        let text = format!("duration = \"1s\"\n[link]\nrate = \"10Mbit/s\"\n{flows}");
        let loaded = mimosa_scenario::load(&text, "test", &mut ()).unwrap();
        let kernel = ["reno", "cubic", "bbr"].map(str::to_owned);
        let result = check(&loaded.variants[0].1, &kernel);
        result.err().map(|error| error.to_string())
    }

    #[test]
    fn addresses_are_those_of_simulated_packets() {
        for flow in [0, 1, 300] {
            let header = Header::of_flow(u32::try_from(flow).unwrap(), Header::UDP, 0);
            let (from, to) = addresses(flow);
            assert_eq!(
                (header.source, header.destination),
                (from.into(), to.into())
            );
        }
    }

    #[test]
    fn other_links_are_refused() {
        for table in ["[link.reverse]", "[[link.next]]"] {
            let refusal = refusal(&format!("{table}\nrate = \"1Mbit/s\"\n[[flow]]\n"));
            let said = format!("the scenario has `{table}`");
            assert!(refusal.unwrap_or_default().contains(&said), "{table}");
        }
    }

    #[test]
    fn what_has_no_counterpart_is_refused_by_name() {
        let video = "[[flow]]\nname = \"game\"\n";
        assert_eq!(refusal(video), None);
        assert_eq!(refusal(&format!("{video}[[flow]]\nkind = \"tcp\"\n")), None);
        for (more, said) in [
            ("[[flow]]\none_way_delay = \"9ms\"\n", "its path differs"),
            ("[[flow]]\nreturn_delay = \"9ms\"\n", "its way back differs"),
            (
                "[[flow]]\nprobe_size = \"43B\"\n",
                "smaller than their headers, 44B",
            ),
            (
                "[[flow]]\npacket_size = \"1501B\"\n",
                "larger than the device's 1.5kB",
            ),
            (
                "[[flow]]\nkind = \"tcp\"\ncontroller = \"bbr3\"\n",
                "this kernel has no `bbr3`; it has reno, cubic, bbr",
            ),
            (
                "[[flow]]\nkind = \"tcp\"\npacket_size = \"1000B\"\n",
                "this flow's have 1040B",
            ),
        ] {
            let refusal = refusal(&format!("{video}{more}")).unwrap_or_default();
            assert!(refusal.contains(said), "{more}: {refusal}");
            assert!(refusal.contains("flow2"), "{refusal}");
        }
    }
}
