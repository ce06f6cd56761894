//! Renders a made-up run to `/tmp/sample.{svg,png,html}`.

use std::error::Error;

use mimosa_plot::{Figure, Kind, Panel, Series, Table};

fn main() -> Result<(), Box<dyn Error>> {
    let figure = figure();
    let table = Table {
        headers: ["Flow", "Mean rate", "Delay p50", "Delay p99"]
            .map(String::from)
            .to_vec(),
        rows: vec![
            ["game", "13.9 Mbit/s", "24 ms", "61 ms"]
                .map(String::from)
                .to_vec(),
            ["video call", "2.0 Mbit/s", "25 ms", "44 ms"]
                .map(String::from)
                .to_vec(),
        ],
    };
    std::fs::write("/tmp/sample.svg", figure.to_svg()?)?;
    std::fs::write("/tmp/sample.png", figure.to_png()?)?;
    std::fs::write("/tmp/sample.html", figure.to_html(&table)?)?;
    Ok(())
}

/// A game, a call and a download on a link that loses half of its rate.
fn figure() -> Figure {
    let link = |time: f64| {
        if (20.0..40.0).contains(&time) {
            20.0
        } else {
            40.0
        }
    };
    let times =
        |count: u32| (0..count).map(move |index| 60.0 * f64::from(index) / f64::from(count));
    let noise = |time: f64| {
        let wave = libm::sin(time * 37_411.0) * 43_758.5;
        wave - libm::floor(wave)
    };
    let game =
        |time: f64| 0.55 * link(time - 0.6) * (1.0 - 0.5 * libm::exp(-time)) + 2.0 * noise(time);
    let call = |time: f64| 2.0 + 0.4 * noise(time + 0.5);
    let bulk = |time: f64| {
        (link(time - 0.2) - game(time) - call(time)).max(0.5) * (0.8 + 0.2 * noise(time))
    };
    let delay = |time: f64| {
        let queue = 55.0 * libm::exp(-(time - 20.0).max(0.0)) * f64::from(u8::from(time >= 20.0));
        let spike = if noise(time + 7.0) > 0.998 { 40.0 } else { 0.0 };
        22.0 + 4.0 * noise(time) + queue + spike
    };
    let series = |name: &str, kind, points: Vec<(f64, f64)>| Series {
        name: name.into(),
        points,
        kind,
    };
    Figure {
        title: "Game beside a call and a download, link rate halved for 20 s".into(),
        subtitle: "40 Mbit/s, 20 ms round trip, DualPI2, seed 7".into(),
        x_label: "Time (s)".into(),
        panels: vec![
            Panel {
                title: "Sending rate".into(),
                y_label: "Mbit/s".into(),
                y_range: None,
                series: vec![
                    series(
                        "link",
                        Kind::Reference,
                        vec![(0.0, 40.0), (20.0, 20.0), (40.0, 40.0)],
                    ),
                    series(
                        "game",
                        Kind::Steps,
                        times(300).map(|time| (time, game(time))).collect(),
                    ),
                    series(
                        "video call",
                        Kind::Line,
                        times(300).map(|time| (time, call(time))).collect(),
                    ),
                    series(
                        "download",
                        Kind::Line,
                        times(300).map(|time| (time, bulk(time))).collect(),
                    ),
                ],
            },
            Panel {
                title: "Frame delay, from capture to display".into(),
                y_label: "ms".into(),
                y_range: None,
                series: vec![
                    series(
                        "game",
                        Kind::Line,
                        times(3_600).map(|time| (time, delay(time))).collect(),
                    ),
                    series(
                        "late frame",
                        Kind::Dots,
                        times(3_600)
                            .map(|time| (time, delay(time)))
                            .filter(|point| point.1 > 60.0)
                            .collect(),
                    ),
                ],
            },
        ],
    }
}
