//! The measured figures, as text and as JSON.

use std::fmt::Write as _;

use mimosa_plot::Table;
use mimosa_quality::{Distribution, FrameDifference, PlaneSize, Summary, psnr};
use serde_json::{Map, Value, json};

use super::error::QualityError;
use super::measure::Measured;

const PLANES: [&str; 3] = ["y", "u", "v"];

/// The results of one command.
pub(super) struct Results {
    /// What was compared.
    pub(super) about: String,
    pub(super) size: PlaneSize,
    /// What was done to the pictures before.
    pub(super) notes: Vec<String>,
    pub(super) measured: Vec<Figures>,
}

/// The figures of one way to pair frames.
pub(super) struct Figures {
    name: &'static str,
    measured: Measured,
}

impl Results {
    /// The results as tables.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{}, {}\n", self.about, self.size);
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        for figures in &self.measured {
            let _ = write!(text, "\n{}", figures.table().to_text());
        }
        if self
            .measured
            .iter()
            .any(|figures| figures.measured.has_psnr)
        {
            text.push_str("\nThe mean PSNR is that of the mean squared error.\n");
        }
        for figures in &self.measured {
            if let Some((program, _)) = &figures.measured.vmaf {
                let _ = writeln!(text, "VMAF of {} by {program}.", figures.name);
            }
        }
        text
    }

    /// The results as a JSON object, in which infinity is null.
    pub(super) fn to_json(&self) -> Result<String, QualityError> {
        let measured: Map<_, _> = self
            .measured
            .iter()
            .map(|figures| (figures.name.to_owned(), figures.json()))
            .collect();
        let object = json!({
            "about": self.about,
            "width": self.size.width,
            "height": self.size.height,
            "notes": self.notes,
            "measured": measured,
        });
        Ok(serde_json::to_string_pretty(&object)?)
    }
}

impl Figures {
    pub(super) const fn new(name: &'static str, measured: Measured) -> Self {
        Self { name, measured }
    }

    /// Each figure with its name, its decimals and its distribution.
    fn rows(&self) -> Vec<(String, usize, Distribution)> {
        let differences: Vec<_> = self.differences().collect();
        let mut rows = Vec::new();
        if let Some(summary) = Summary::of(&differences) {
            let with_names = |planes: [Distribution; 3], all: Distribution| {
                let planes = PLANES.into_iter().zip(planes);
                planes.chain(std::iter::once(("weighted", all)))
            };
            if self.measured.has_psnr {
                let figures = with_names(summary.psnr, summary.weighted_psnr);
                rows.extend(figures.map(|(name, of)| (format!("psnr_{name}"), 2, of)));
            }
            if self.measured.has_ssim {
                let figures = with_names(summary.ssim, summary.weighted_ssim);
                rows.extend(figures.map(|(name, of)| (format!("ssim_{name}"), 4, of)));
            }
        }
        if let Some((_, vmaf)) = &self.measured.vmaf
            && let Some(of) = Distribution::of(vmaf.iter().copied())
        {
            rows.push(("vmaf".to_owned(), 2, of));
        }
        rows
    }

    fn differences(&self) -> impl Iterator<Item = FrameDifference> {
        self.measured.differences.iter().map(|(_, of)| *of)
    }

    fn table(&self) -> Table {
        let headers = ["", "mean", "p1", "least"];
        let cells = |(name, places, of): (String, usize, Distribution)| {
            let values = [of.mean, of.p1, of.least];
            std::iter::once(name)
                .chain(values.map(|value| format!("{value:.places$}")))
                .collect()
        };
        Table {
            title: format!(
                "Quality of {}, {} frames (PSNR in dB; weighted: Y, U, V as 6:1:1)",
                self.name,
                self.measured.differences.len()
            ),
            headers: headers.map(str::to_owned).to_vec(),
            rows: self.rows().into_iter().map(cells).collect(),
        }
    }

    fn json(&self) -> Value {
        let summary: Map<_, _> = self
            .rows()
            .into_iter()
            .map(|(name, _, of)| {
                let of = json!({ "mean": of.mean, "p1": of.p1, "least": of.least });
                (name, of)
            })
            .collect();
        let vmaf = self.measured.vmaf.as_ref();
        let frames: Vec<_> = self
            .measured
            .differences
            .iter()
            .enumerate()
            .map(|(place, (number, of))| {
                let mut frame = Map::new();
                frame.insert("frame".to_owned(), json!(number));
                if self.measured.has_psnr {
                    frame.insert("squared_error".to_owned(), planes(of.squared_error));
                    frame.insert("psnr".to_owned(), planes(of.squared_error.map(psnr)));
                }
                if self.measured.has_ssim {
                    frame.insert("ssim".to_owned(), planes(of.similarity));
                }
                if let Some(value) = vmaf.and_then(|(_, values)| values.get(place)) {
                    frame.insert("vmaf".to_owned(), json!(value));
                }
                Value::Object(frame)
            })
            .collect();
        json!({
            "frames": frames.len(),
            "summary": summary,
            "vmaf_by": vmaf.map(|(program, _)| program),
            "per_frame": frames,
        })
    }
}

/// A value for each plane, by the plane's name.
fn planes(values: [f64; 3]) -> Value {
    let values = PLANES.into_iter().zip(values);
    Value::Object(
        values
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect(),
    )
}
