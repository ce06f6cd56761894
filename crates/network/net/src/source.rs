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
    /// An average bitrate: sizes vary, and later frames pay back what frames took above their grants.
    Abr(Abr),
}

/// An encoder that keeps an average bitrate, as libx264's ABR does (`ratecontrol.c`,
/// `rate_estimate_qscale`): a frame is smaller by the ratio of what is owed to a buffer, between
/// half as large and twice as large. What the picture demands is an autoregressive process of first
/// order in the logarithm of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Abr {
    /// Coefficient of variation of what the pictures demand; log-normal.
    pub variation: f64,
    /// Correlation of the logarithm of a picture's demand with that of the picture before.
    pub correlation: f64,
    /// The buffer, in frames of the granted size: the number of frames in which what is owed would
    /// be paid back, if each were smaller by the ratio.
    pub pay_back: f64,
}

/// Bounds of the factor by which an ABR encoder answers what is owed (libx264's `overflow`).
const ABR_FACTORS: std::ops::RangeInclusive<f64> = 0.5..=2.0;

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
    /// What frames of an ABR encoder took above their grants, in bytes; negative for less.
    owed: f64,
    /// The newest picture's demand for an ABR encoder: a normal deviate, which goes into the
    /// logarithm of the size.
    demand: Option<f64>,
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
            owed: 0.0,
            demand: None,
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
            EncoderModel::Abr(abr) => {
                let abr = *abr;
                self.abr(abr, grant)
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

    fn abr(&mut self, abr: Abr, grant: Bytes) -> Bytes {
        let normal = self.random.normal();
        let rest = (1.0 - abr.correlation * abr.correlation).sqrt();
        let demand = self
            .demand
            .map_or(normal, |before| abr.correlation * before + rest * normal);
        self.demand = Some(demand);
        let variance = libm::log(1.0 + abr.variation * abr.variation);
        let noise = libm::exp(variance.sqrt() * demand - variance / 2.0);
        let granted = grant.get() as f64;
        let buffer = (abr.pay_back * granted).max(1.0);
        let factor = (1.0 + self.owed / buffer).clamp(*ABR_FACTORS.start(), *ABR_FACTORS.end());
        let size = grant.scale(noise / factor);
        // What is owed is bounded by what the factor can answer, so that a fall of the grant does not
        // leave a debt of many seconds.
        self.owed = (self.owed + size.get() as f64 - granted).clamp(-buffer, buffer);
        size
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

    /// The sum of the sizes stays within the buffer of the sum of the grants, where independent sizes
    /// wander; and the sizes still vary.
    #[test]
    fn an_average_bitrate_is_paid_back() {
        let grants = vec![10_000; 5_000];
        let furthest = |model| {
            let mut owed = 0.0_f64;
            let all = sizes(model, &grants);
            let owed = all.iter().map(|size| {
                owed += size - 10_000.0;
                owed.abs()
            });
            (owed.fold(0.0, f64::max), all)
        };
        for correlation in [0.0, 0.8] {
            let abr = EncoderModel::Abr(Abr {
                variation: 0.5,
                correlation,
                pay_back: 20.0,
            });
            let (paid_back, all) = furthest(abr);
            assert!(paid_back < 20.0 * 10_000.0, "{correlation}: {paid_back}");
            let large = all.iter().filter(|size| **size > 15_000.0).count();
            assert!(
                (250..1_000).contains(&large),
                "{correlation}: {large} large"
            );
            let pairs = all
                .windows(2)
                .filter(|pair| (pair[0] > 10_000.0) == (pair[1] > 10_000.0));
            let alike = pairs.count() as f64 / all.len() as f64;
            assert_eq!(alike > 0.55, correlation > 0.5, "{correlation}: {alike}");
        }
        let (wanders, _) = furthest(EncoderModel::LogNormal(0.5));
        assert!(wanders > 20.0 * 10_000.0, "{wanders}");
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
