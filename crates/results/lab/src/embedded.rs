//! The suites that are part of the program.

use mimosa_scenario::Files;

/// Name and content of a suite's file.
type Embedding = (&'static str, &'static str);

/// The names of the suites, with their files.
pub const SUITES: &[(&str, &[Embedding])] = &[
    ("ace", ACE),
    ("c3g", C3G),
    ("coexistence", COEXISTENCE),
    ("feedback", FEEDBACK),
    ("htb-causes", HTB_CAUSES),
    ("htb-l4s", HTB_L4S),
    ("last-mile", LAST_MILE),
    ("loss-recovery", LOSS_RECOVERY),
    ("pudica-causes", PUDICA_CAUSES),
    ("pudica-fig7", PUDICA_FIG7),
    ("pudica-fig12", PUDICA_FIG12),
    ("pudica-fig13", PUDICA_FIG13),
    ("pudica-fig15", PUDICA_FIG15),
    ("pudica-fig16", PUDICA_FIG16),
    ("pudica-fig17", PUDICA_FIG17),
    ("pudica-fig18", PUDICA_FIG18),
    ("pudica-sessions", PUDICA_SESSIONS),
    ("pudica-wild", PUDICA_WILD),
    ("rfc8867", RFC8867),
    ("rfc8869", RFC8869),
    ("robust", ROBUST),
    ("scoreboard", SCOREBOARD),
];

/// Declares the files of one suite.
macro_rules! suite {
    ($folder:literal: $($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../../../lab/", $folder, "/", $file)))),*]
    };
}

const ACE: &[Embedding] = suite!("ace":
    "suite.toml",
    "buffers.toml",
    "fall.toml",
    "oversized.toml",
    "traces-30.toml",
    "traces-classic.toml",
    "traces-far.toml",
    "traces-quarter.toml",
    "traces-second.toml",
    "traces-small.toml",
    "traces-vary.toml",
    "traces.toml",
    "../../traces/wifi.txt",
    "../../traces/4g.txt",
    "../../traces/5g.txt",
);

const C3G: &[Embedding] = suite!("c3g":
    "suite.toml",
    "deep-fifth.toml",
    "deep-instant.toml",
    "deep-memory.toml",
    "deep-tenth.toml",
    "deep-third.toml",
    "deep-two-fifths.toml",
    "example-tenth.toml",
    "example-third.toml",
    "phases.toml",
    "shallow-burst.toml",
    "shallow-fifth.toml",
    "shallow-half.toml",
    "shallow-memory.toml",
    "shallow-tenth.toml",
    "shallow-third.toml",
);

const COEXISTENCE: &[Embedding] = suite!("coexistence":
    "suite.toml",
    "pairs.toml",
    "round-trips-drop-tail.toml",
    "round-trips-dualpi2.toml",
    "alone.toml",
    "three.toml",
);

const FEEDBACK: &[Embedding] = suite!("feedback":
    "suite.toml",
    "constant.toml",
    "steps.toml",
);

const HTB_CAUSES: &[Embedding] = suite!("htb-causes":
    "suite.toml",
    "bbr2-twenty.toml",
    "cubic-30ms.toml",
    "cubic-450.toml",
    "cubic-500.toml",
    "cubic-twenty.toml",
    "far.toml",
    "htb-ten.toml",
);

const HTB_L4S: &[Embedding] = suite!("htb-l4s":
    "suite.toml",
    "cellular-01.toml",
    "cellular-10.toml",
    "cellular-11.toml",
    "cellular-150ms.toml",
    "cellular-30.toml",
    "cellular-40ms.toml",
    "cellular-9.toml",
    "cellular-libwebrtc.toml",
    "cellular.toml",
    "drop-tail-bbr2-elsewhere.toml",
    "drop-tail-bbr2-game.toml",
    "drop-tail-bbr2.toml",
    "drop-tail-cubic-elsewhere.toml",
    "drop-tail-cubic-game.toml",
    "drop-tail-cubic-ten.toml",
    "drop-tail-cubic.toml",
    "htb-bbr2-elsewhere.toml",
    "htb-bbr2-game.toml",
    "htb-bbr2.toml",
    "htb-cubic-elsewhere.toml",
    "htb-cubic-game.toml",
    "htb-cubic-ten.toml",
    "htb-cubic.toml",
    "l4s-bbr2-elsewhere.toml",
    "l4s-bbr2-game.toml",
    "l4s-bbr2.toml",
    "l4s-cubic-elsewhere.toml",
    "l4s-cubic-game.toml",
    "l4s-cubic.toml",
    "../../traces/4g.txt",
);

const LAST_MILE: &[Embedding] = suite!("last-mile":
    "suite.toml",
    "wifi.toml",
    "cell.toml",
    "cable.toml",
    "cable-upload.toml",
    "satellite.toml",
    "turns.toml",
    "jitter.toml",
);

const LOSS_RECOVERY: &[Embedding] = suite!("loss-recovery":
    "suite.toml",
    "10-10-50.toml",
    "10-10-100.toml",
    "10-30-50.toml",
    "10-30-100.toml",
    "10-60-50.toml",
    "10-60-100.toml",
    "20-10-50.toml",
    "20-10-100.toml",
    "20-30-50.toml",
    "20-30-100.toml",
    "20-60-50.toml",
    "20-60-100.toml",
);

const PUDICA_CAUSES: &[Embedding] = suite!("pudica-causes":
    "suite.toml",
    "constant.toml",
    "cubic.toml",
    "fall.toml",
    "gcc-classic.toml",
    "jitter.toml",
    "late-response.toml",
    "sqp-memory.toml",
    "three-trips.toml",
    "three.toml",
);

const PUDICA_SESSIONS: &[Embedding] = suite!("pudica-sessions":
    "suite.toml",
    "ethernet-busy-copa.toml",
    "ethernet-busy-salsify.toml",
    "ethernet-busy-sqp.toml",
    "ethernet-copa-115.toml",
    "ethernet-copa-130.toml",
    "ethernet-copa-80.toml",
    "ethernet-deep-sqp.toml",
    "ethernet-deeper-salsify.toml",
    "ethernet-deepest-salsify.toml",
    "ethernet-long.toml",
    "ethernet-noisy-salsify-20.toml",
    "ethernet-noisy-sqp-half.toml",
    "ethernet-noisy.toml",
    "ethernet-outage.toml",
    "ethernet-salsify-budget.toml",
    "ethernet-silent-copa-130.toml",
    "ethernet-silent-copa-60.toml",
    "ethernet-silent.toml",
    "ethernet-sqp-half.toml",
    "ethernet.toml",
    "wifi-brief.toml",
    "wifi-busy-copa.toml",
    "wifi-copa-55.toml",
    "wifi-copa-80.toml",
    "wifi-copa-90.toml",
    "wifi-copa-rate.toml",
    "wifi-deepest.toml",
    "wifi-outage.toml",
    "wifi-salsify-fifth.toml",
    "wifi-salsify-quarter.toml",
    "wifi-salsify-unbounded.toml",
    "wifi-silent.toml",
    "wifi-sqp-fiftieth.toml",
    "wifi-sqp-half.toml",
    "wifi-sqp-one.toml",
    "wifi-sqp-twentieth.toml",
    "wifi.toml",
);

const PUDICA_WILD: &[Embedding] = suite!("pudica-wild":
    "suite.toml",
    "one-budget.toml",
    "one-copa.toml",
    "one-salsify.toml",
    "one-sqp.toml",
    "one-still-copa.toml",
    "one-still-pudica.toml",
    "one-still-salsify.toml",
    "one-still-sqp.toml",
    "one.toml",
    "three-budget.toml",
    "three-uneven.toml",
    "three.toml",
);

const PUDICA_FIG7: &[Embedding] = suite!("pudica-fig7":
    "suite.toml",
    "adaptive.toml",
    "burst.toml",
    "fixed.toml",
    "noisy-adaptive.toml",
    "noisy-even.toml",
    "noisy-no-floor.toml",
    "noisy-probes.toml",
    "probes.toml",
    "random-adaptive.toml",
    "random-burst.toml",
    "random-fixed.toml",
    "random-probes.toml",
);

const PUDICA_FIG12: &[Embedding] = suite!("pudica-fig12":
    "suite.toml",
    "deep-fall.toml",
    "fall-and-rise.toml",
    "gathered.toml",
    "mahimahi.toml",
    "salsify-budget.toml",
);

const PUDICA_FIG13: &[Embedding] = suite!("pudica-fig13":
    "suite.toml",
    "drifting.toml",
    "mahimahi.toml",
    "small-buffer.toml",
    "three-flows.toml",
);

const PUDICA_FIG15: &[Embedding] = suite!("pudica-fig15":
    "suite.toml",
    "controllers.toml",
    "schemes.toml",
    "locked.toml",
);

const PUDICA_FIG16: &[Embedding] = suite!("pudica-fig16":
    "suite.toml",
    "constant.toml",
    "mahimahi.toml",
);

const PUDICA_FIG17: &[Embedding] = suite!("pudica-fig17":
    "suite.toml",
    "jitter.toml",
    "mahimahi.toml",
);

const PUDICA_FIG18: &[Embedding] = suite!("pudica-fig18":
    "suite.toml",
    "cubic.toml",
    "mahimahi.toml",
);

const RFC8867: &[Embedding] = suite!("rfc8867":
    "suite.toml",
    "5.1-variable-capacity.toml",
    "5.2-variable-capacity-two-flows.toml",
    "5.3-congested-feedback.toml",
    "5.3-reference.toml",
    "5.4-three-flows.toml",
    "5.5-round-trip-fairness.toml",
    "5.6-long-tcp.toml",
    "5.7-short-tcp.toml",
    "5.8-pause-and-resume.toml",
    "6.1-priority.toml",
    "6.3-multiple-bottlenecks.toml",
);

const RFC8869: &[Embedding] = suite!("rfc8869":
    "suite.toml",
    "2.1-cellular.toml",
    "2.1-cellular.txt",
    "3.1-wired-bottleneck.toml",
    "3.1-on-off.toml",
    "3.1-pair.toml",
    "3.1-off-on.toml",
    "3.1-tcp.toml",
    "3.2-wifi-downlink.toml",
    "3.2-wifi.txt",
);

const ROBUST: &[Embedding] = suite!("robust":
    "suite.toml",
    "rates.toml",
    "frame-rates.toml",
    "round-trips.toml",
    "reports.toml",
    "path-change.toml",
    "beside-cubic.toml",
    "beside-bbr.toml",
    "two-round-trips.toml",
    "three-in-turn.toml",
    "five-flows.toml",
    "losses.toml",
    "pauses.toml",
    "encoder.toml",
    "jitter.toml",
    "clock.toml",
    "queues.toml",
);

const SCOREBOARD: &[Embedding] = suite!("scoreboard":
    "suite.toml",
    "constant.toml",
    "steps.toml",
    "noise.toml",
    "jitter.toml",
    "loss.toml",
    "two-flows.toml",
    "three-flows.toml",
    "trace.toml",
    "../../traces/ethernet.txt",
    "../../traces/wifi.txt",
    "../../traces/4g.txt",
    "../../traces/5g.txt",
);

/// The files of one of the [`SUITES`].
#[derive(Clone, Copy, Debug)]
pub struct Embedded(&'static [Embedding]);

impl Embedded {
    /// The files of the suite called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = SUITES.iter().find(|(known, _)| *known == name);
        found.map(|(_, files)| Self(files))
    }
}

impl Files for Embedded {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let found = self.0.iter().find(|(file, _)| *file == path);
        let text = found.map(|(_, text)| (*text).to_owned());
        text.ok_or_else(|| "the suite has no such file".to_owned())
    }
}
