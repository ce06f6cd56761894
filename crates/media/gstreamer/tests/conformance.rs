//! The checks that every encoder passes, with the elements of software. They need Debian's
//! gstreamer1.0-plugins-base, -bad and -ugly.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_conformance::{Budgets, MissingFrame, Pictures, QuantiserLimit, Sizes, Subject};
use mimosa_facts::Codec;
use mimosa_gstreamer::{Config, GStreamer};
use mimosa_video::Size;

fn subject(element: &'static str) -> Subject {
    let pictures = Pictures {
        size: Size::new(320, 240).unwrap(),
        noise: 6,
        highest: 6.0,
        steps: (1.5, 6.0),
    };
    Subject {
        name: element,
        codec: match element {
            "x265enc" => Codec::H265,
            _ => Codec::H264,
        },
        open: Box::new(move |setup| {
            let config = Config::new(setup.size, setup.frames_per_second);
            let config = Config {
                element: element.to_owned(),
                threads: setup.threads,
                finest: setup.finest.unwrap_or(config.finest),
                ..config
            };
            let encoder = GStreamer::open(&config).map_err(|error| error.to_string())?;
            Ok(Box::new(encoder))
        }),
        large: pictures,
        small: pictures,
        budgets: Budgets::OnAverage {
            low: (0.4, 1.3),
            high: (0.3, 1.3),
            // libx265 takes more than it is given when the bitrate changes every frame.
            random: match element {
                "x265enc" => (1.3, 2.5),
                _ => (0.3, 1.3),
            },
        },
        cut: 50,
        units: None,
        // OpenH264's element writes no description of the colours.
        states_colours: element != "openh264enc",
        states: &[],
        quantiser_limit: match element {
            "x265enc" => QuantiserLimit::None,
            _ => QuantiserLimit::Unstated,
        },
        repeatable: &[1],
        sizes: Sizes {
            work: &[(642, 362), (322, 182)],
            refused: &[],
            threads: &[1],
            frames_per_second: 60,
        },
        missing: match element {
            "x265enc" => MissingFrame::IsRefused(30, "Could not find ref"),
            _ => MissingFrame::Worsens(30),
        },
    }
}

mod x264enc {
    mimosa_conformance::suite!(super::subject("x264enc"));
}

mod openh264enc {
    mimosa_conformance::suite!(super::subject("openh264enc"));
}

mod x265enc {
    mimosa_conformance::suite!(super::subject("x265enc"));
}
