//! Runs between two real network namespaces, which need root. Without it, the tests say so and do
//! nothing, unless `CI` is set.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::sync::Mutex;

use mimosa_figures::{RunFigures, Window, measure};
use mimosa_link::LinkError;
use mimosa_link::emulate::{Emulated, Ends, RealtimeError, run};
use mimosa_scenario::Scenario;

/// Lets one run at a time happen, because two would disturb each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
/// Number of tries on a busy machine.
const TRIES: u32 = 3;

fn scenario(text: &str) -> Scenario {
    let loaded = mimosa_scenario::load(text, "test", &mut ()).unwrap();
    loaded.variants.into_iter().next().unwrap().1
}

/// The run's figures beside the simulation's; `None` when there is nothing to judge: no
/// rights, or a machine that is too busy.
fn both(text: &str) -> Option<(Emulated, RunFigures)> {
    let _alone = ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let scenario = scenario(text);
    for _ in 0..TRIES {
        let ends = match Ends::create() {
            Err(error @ RealtimeError::Link(LinkError::Rights(_))) => {
                assert!(std::env::var_os("CI").is_none(), "{error}");
                eprintln!("skipped: {error}");
                return None;
            }
            ends => ends.unwrap(),
        };
        let emulated = run(&scenario, 1, Window::WHOLE, &ends, &mut |_| {}).unwrap();
        // These hold however late anybody was.
        let figures = &emulated.figures;
        assert!(figures.balance.is_even(), "{:?}", figures.balance);
        let link = &figures.link;
        assert_eq!(link.offered, link.delivered + link.dropped + link.left);
        assert_eq!(emulated.punctuality.vanished, 0);
        if emulated.punctuality.is_valid() {
            eprintln!("{}", emulated.punctuality);
            let simulated = measure(&scenario, Window::WHOLE, &mut (), |observer| {
                mimosa_sim::run(&scenario, 1, observer);
            });
            return Some((emulated, simulated));
        }
        eprintln!("not valid: {}", emulated.punctuality);
    }
    eprintln!("skipped: the machine is too busy for times of a millisecond");
    None
}

/// Whether `there` is within this share of `here`.
fn near(there: f64, here: f64, share: f64) -> bool {
    (there - here).abs() <= here * share
}

#[test]
fn a_stream_uses_the_link_and_waits_as_in_the_simulation() {
    let Some((emulated, simulated)) = both(
        "duration = \"3s\"\n[link]\nrate = \"20Mbit/s\"\none_way_delay = \"5ms\"\n\
         [[flow]]\nname = \"game\"\nframe_noise = 0.1\n",
    ) else {
        return;
    };
    let (there, here) = (&emulated.figures, &simulated);
    assert!(there.balance.arrived > 2_000, "{:?}", there.balance);
    let flows = (&there.flows[0], &here.flows[0]);
    assert_eq!((flows.0.frames, flows.0.kind), (flows.1.frames, "video"));
    let used = (
        there.link.utilization.unwrap(),
        here.link.utilization.unwrap(),
    );
    assert!(near(used.0, used.1, 0.15), "{used:?}");
    let delays = (
        flows.0.frame_delay_ms.unwrap(),
        flows.1.frame_delay_ms.unwrap(),
    );
    assert!(near(delays.0.mean, delays.1.mean, 0.25), "{delays:?}");
    // The delay is that of two ways of 5 ms, and of a frame of 30 kB at 20 Mbit/s.
    assert!(delays.0.p50 > 10.0, "{delays:?}");
}

#[test]
fn a_queue_that_is_too_short_drops_and_delays_as_in_the_simulation() {
    // The load is a quarter more than the link carries.
    let Some((emulated, simulated)) = both(
        "duration = \"2s\"\n[link]\nrate = \"10Mbit/s\"\nqueue = { kind = \"droptail\", limit = \"20packets\" }\n\
         [[flow]]\nname = \"cross\"\nkind = \"cbr\"\nrate = \"12.5Mbit/s\"\npacket_size = \"1250B\"\n",
    ) else {
        return;
    };
    let (there, here) = (&emulated.figures, &simulated);
    let loss = (
        there.flows[0].loss_rate.unwrap(),
        here.flows[0].loss_rate.unwrap(),
    );
    assert!(near(loss.0, loss.1, 0.1) && loss.1 > 0.15, "{loss:?}");
    let waits = (
        there.link.queue_delay_ms.unwrap(),
        here.link.queue_delay_ms.unwrap(),
    );
    assert!(near(waits.0.p95, waits.1.p95, 0.1), "{waits:?}");
    // Of the same size, at the same times: as many.
    assert!(near(
        there.balance.offered as f64,
        here.balance.offered as f64,
        0.01
    ));
}

#[test]
fn the_kernels_tcp_fills_the_link() {
    let Some((emulated, _)) = both(
        "duration = \"3s\"\n[link]\nrate = \"20Mbit/s\"\none_way_delay = \"10ms\"\nqueue = { kind = \"droptail\", limit = \"100packets\" }\n\
         [[flow]]\nname = \"bulk\"\nkind = \"tcp\"\ncontroller = \"cubic\"\n\
         [[flow]]\nname = \"short\"\nkind = \"tcp\"\ncontroller = \"reno\"\nsize = \"100kB\"\nstart = \"1s\"\nstop = \"2.5s\"\n",
    ) else {
        return;
    };
    let [bulk, short] = &emulated.figures.flows[..] else {
        panic!("two flows");
    };
    assert_eq!(
        (bulk.kind, bulk.controller.as_deref()),
        ("tcp", Some("cubic"))
    );
    // All but slow start and what the other has.
    assert!((14.0..=20.0).contains(&bulk.throughput_mbps), "{bulk:?}");
    // 100 kB in 1.5 s, with headers and what was sent again.
    assert!((0.53..=0.8).contains(&short.throughput_mbps), "{short:?}");
    let used = emulated.figures.link.utilization.unwrap();
    assert!((0.8..=1.0).contains(&used), "{used}");
}

#[test]
fn a_packet_too_small_to_exist_ends_the_run_with_its_flow() {
    let ends = match Ends::create() {
        Err(error @ RealtimeError::Link(LinkError::Rights(_))) => {
            assert!(std::env::var_os("CI").is_none(), "{error}");
            return eprintln!("skipped: {error}");
        }
        ends => ends.unwrap(),
    };
    let scenario = scenario(
        "duration = \"60s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\nname = \"tiny\"\ncontent_bitrate = \"10kbit/s\"\nprobe_size = \"64B\"\n",
    );
    let error = run(&scenario, 1, Window::WHOLE, &ends, &mut |_| {}).unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with("flow `tiny` sent a packet of 21B"),
        "{said}"
    );
}
