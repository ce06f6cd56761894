//! Renders a made-up run to `/tmp/sample.svg`, `.png` and `.html`.

use std::error::Error;

use mimosa_plot::{Figure, Kind, Panel, Series, Table};

fn main() -> Result<(), Box<dyn Error>> {
    let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
    let table = Table {
        title: "Two flows".into(),
        headers: row(["Flow", "Mean rate", "Delay p99"]),
        rows: vec![
            row(["game", "19.0 Mbit/s", "61 ms"]),
            row(["video call", "2.2 Mbit/s", "44 ms"]),
        ],
    };
    let figure = figure();
    std::fs::write("/tmp/sample.svg", figure.to_svg()?)?;
    std::fs::write("/tmp/sample.png", figure.to_png()?)?;
    std::fs::write("/tmp/sample.html", figure.to_html(&[table])?)?;
    Ok(())
}

/// A game, a call and a download on a link that loses half of its rate.
fn figure() -> Figure {
    let link = vec![(0.0, 40.0), (20.0, 20.0), (40.0, 40.0)];
    let rate = |time: f64| {
        if (20.0..40.0).contains(&time) {
            20.0
        } else {
            40.0
        }
    };
    let game = move |time: f64| {
        0.5 * rate(time - 0.6) * (1.0 - 0.6 * libm::exp(-time)) + 2.0 * noise(time)
    };
    let call = |time: f64| 2.0 + 0.4 * noise(time + 0.5);
    let download = move |time: f64| {
        (rate(time - 0.2) - game(time) - call(time)).max(0.5) * (0.8 + 0.2 * noise(time))
    };
    let delay = |time: f64| {
        let queue = if time < 20.0 {
            0.0
        } else {
            55.0 * libm::exp(20.0 - time)
        };
        let spike = if noise(time + 7.0) > 0.998 { 40.0 } else { 0.0 };
        22.0 + 4.0 * noise(time) + queue + spike
    };
    let mut late = sampled("late frame", Kind::Dots, 3_600, &delay);
    late.points.retain(|point| point.1 > 60.0);
    Figure {
        title: "A game beside a call and a download while the link halves its rate".into(),
        subtitle: "40 Mbit/s, 20 ms round trip, DualPI2, seed 7".into(),
        x_label: "Time (s)".into(),
        panels: vec![
            Panel {
                title: "Sending rate".into(),
                y_label: "Mbit/s".into(),
                y_range: None,
                series: vec![
                    Series {
                        name: "link".into(),
                        points: link,
                        kind: Kind::Reference,
                    },
                    sampled("game", Kind::Steps, 300, &game),
                    sampled("video call", Kind::Line, 300, &call),
                    sampled("download", Kind::Line, 300, &download),
                ],
            },
            Panel {
                title: "Frame delay, from capture to display".into(),
                y_label: "ms".into(),
                y_range: None,
                series: vec![sampled("game", Kind::Line, 3_600, &delay), late],
            },
        ],
    }
}

/// `count` points of `value` over a minute.
fn sampled(name: &str, kind: Kind, count: u32, value: &dyn Fn(f64) -> f64) -> Series {
    let times = (0..count).map(|index| 60.0 * f64::from(index) / f64::from(count));
    Series {
        name: name.into(),
        points: times.map(|time| (time, value(time))).collect(),
        kind,
    }
}

/// A value from zero to one that looks random.
fn noise(time: f64) -> f64 {
    let wave = libm::sin(time * 37_411.0) * 43_758.5;
    wave - libm::floor(wave)
}
