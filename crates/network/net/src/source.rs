//! Models of an encoder: the size of each frame, from the size that was granted to it.

use mimosa_units::Bytes;

use crate::random::Random;

/// How the sizes of an encoder's frames differ from the granted sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum EncoderModel {
    /// Every frame has exactly the granted size.
    Perfect,
    /// The size is log-normal, with the grant as its mean and this coefficient of variation.
    LogNormal(f64),
    /// RFC 8593, section 5.2: the size is the grant times 1 + Laplace(0,
    /// scale), with a scale of 0.15 in the RFC. The RFC's varying frame
    /// intervals and delayed reaction are not modelled: the frame clock is the
    /// stream's own.
    Laplace(f64),
    /// The sizes are recorded ones, in order and repeating, scaled so that
    /// their mean is the grant. Recorded sizes that are all equal scale to
    /// exactly the grant.
    Recorded(Vec<Bytes>),
    /// libx264 with a buffer of one frame, as measured on games at 720p60: a
    /// frame never exceeds its grant, follows a fall of the grant at once and a
    /// rise one frame late, and uses 0.79 of the grant on average, 0.91 at the
    /// 95th percentile.
    X264,
}

/// Mean share of its grant that libx264 uses.
const X264_MEAN: f64 = 0.79;
/// Standard deviation of the share of its grant that libx264 uses: its 95th
/// percentile is 0.91, which gives (0.91 - 0.79) / 1.645.
const X264_DEVIATION: f64 = 0.073;
/// Least share of its grant that a frame of libx264 was seen to use, except after a rise.
const X264_LEAST: f64 = 0.5;

/// A running encoder.
#[derive(Debug)]
pub struct Encoder {
    model: EncoderModel,
    random: Random,
    /// Mean of the recorded sizes in bytes; zero for every other model.
    mean: f64,
    /// Index of the next recorded size.
    next: usize,
    last_grant: Option<Bytes>,
}

impl Encoder {
    /// An encoder whose random numbers follow from the run's `seed` and the flow's `name`.
    #[must_use]
    pub fn new(model: EncoderModel, seed: u64, name: &str) -> Self {
        let mean = match &model {
            EncoderModel::Recorded(sizes) => {
                let sum: Bytes = sizes.iter().copied().sum();
                sum.get() as f64 / (sizes.len().max(1) as f64)
            }
            _ => 0.0,
        };
        Self {
            model,
            random: Random::new(seed, &format!("{name} encoder")),
            mean,
            next: 0,
            last_grant: None,
        }
    }

    /// Encodes a frame for which `grant` is granted. Returns the size of the
    /// frame, at least one byte.
    pub fn encode(&mut self, grant: Bytes) -> Bytes {
        let size = match &self.model {
            EncoderModel::Perfect => grant,
            EncoderModel::LogNormal(cv) => grant.scale(self.random.log_normal(*cv)),
            EncoderModel::Laplace(scale) => grant.scale(1.0 + self.random.laplace(*scale)),
            EncoderModel::Recorded(sizes) => {
                let size = sizes.get(self.next).copied().unwrap_or(grant);
                self.next = (self.next + 1) % sizes.len().max(1);
                if self.mean > 0.0 {
                    grant.scale(size.get() as f64 / self.mean)
                } else {
                    grant
                }
            }
            EncoderModel::X264 => {
                let share = X264_MEAN + X264_DEVIATION * self.random.normal();
                let possible = self.last_grant.map_or(grant, |last| last.min(grant));
                possible.scale(share.clamp(X264_LEAST, 1.0))
            }
        };
        self.last_grant = Some(grant);
        size.max(Bytes::new(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(model: EncoderModel, grants: &[u64]) -> Vec<f64> {
        let mut encoder = Encoder::new(model, 1, "test");
        let encode = |grant: &u64| encoder.encode(Bytes::new(*grant)).get() as f64;
        grants.iter().map(encode).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn noise_keeps_the_mean() {
        let grants = vec![10_000; 20_000];
        for model in [
            EncoderModel::LogNormal(0.3),
            EncoderModel::Laplace(0.15),
            EncoderModel::Recorded(vec![Bytes::new(10), Bytes::new(30), Bytes::new(20)]),
        ] {
            let mean = mean(&sizes(model.clone(), &grants));
            assert!((mean - 10_000.0).abs() < 100.0, "{model:?}: {mean}");
        }
        assert_eq!(sizes(EncoderModel::Perfect, &[7, 0]), [7.0, 1.0]);
    }

    #[test]
    fn x264_obeys_a_fall_at_once_and_a_rise_one_frame_late() {
        let mut grants = vec![60_000; 5000];
        grants.resize(10_000, 10_000);
        grants.resize(15_000, 60_000);
        let sizes = sizes(EncoderModel::X264, &grants);
        assert!(sizes.iter().zip(&grants).all(|(s, g)| *s <= *g as f64));
        assert!(sizes[5000] <= 10_000.0, "the fall");
        assert!(sizes[10_000] <= 10_000.0, "the first frame of the rise");
        assert!(sizes[10_001] > 29_000.0, "the second");
        let used = mean(&sizes[..5000]) / 60_000.0;
        assert!((used - 0.79).abs() < 0.01, "{used}");
    }
}
