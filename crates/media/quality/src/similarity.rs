//! The structural similarity of two planes.

/// The side of a step; a window is two steps wide and high.
const STEP: usize = 4;
/// The number of samples in a window.
const WINDOW: f64 = 64.0;
/// (K L)^2 with K1 = 0.01 and K2 = 0.03, L = 255.
const C1: f64 = 6.502_5;
const C2: f64 = 58.522_5;

/// Sums over the samples of a part of both planes.
#[derive(Clone, Copy, Default)]
struct Sums {
    reference: u32,
    other: u32,
    /// The sum of the squares of both planes' samples.
    squares: u32,
    /// The sum of the products of one plane's samples with the other's.
    products: u32,
}

impl std::ops::Add for Sums {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            reference: self.reference + more.reference,
            other: self.other + more.other,
            squares: self.squares + more.squares,
            products: self.products + more.products,
        }
    }
}

impl Sums {
    /// The similarity in a window with these sums.
    fn similarity(self) -> f64 {
        let [reference, other, squares, products] =
            [self.reference, self.other, self.squares, self.products].map(f64::from);
        let (mean, other_mean) = (reference / WINDOW, other / WINDOW);
        let (product, square) = (mean * other_mean, mean * mean + other_mean * other_mean);
        let covariance = (products - WINDOW * product) / (WINDOW - 1.0);
        let variances = (squares - WINDOW * square) / (WINDOW - 1.0);
        (2.0 * product + C1) * (2.0 * covariance + C2) / ((square + C1) * (variances + C2))
    }
}

/// The mean similarity of the windows of two planes of `width`, both at least 8 samples
/// wide and high.
pub(crate) fn similarity(width: usize, reference: &[u8], other: &[u8]) -> f64 {
    let bands = reference
        .chunks_exact(STEP * width)
        .zip(other.chunks_exact(STEP * width));
    let mut columns = vec![Sums::default(); width];
    let (mut above, mut below) = (Vec::new(), Vec::new());
    let (mut total, mut windows) = (0.0, 0_u32);
    for (reference, other) in bands {
        band(width, reference, other, &mut columns, &mut below);
        for (above, below) in above.windows(2).zip(below.windows(2)) {
            let window: Sums = [above[0], above[1], below[0], below[1]]
                .into_iter()
                .fold(Sums::default(), std::ops::Add::add);
            total += window.similarity();
            windows += 1;
        }
        std::mem::swap(&mut above, &mut below);
    }
    total / f64::from(windows.max(1))
}

/// Sums the steps that stand beside each other in four rows.
fn band(width: usize, reference: &[u8], other: &[u8], columns: &mut [Sums], steps: &mut Vec<Sums>) {
    columns.fill(Sums::default());
    let rows = reference.chunks_exact(width).zip(other.chunks_exact(width));
    for (reference, other) in rows {
        for (sums, (reference, other)) in columns.iter_mut().zip(reference.iter().zip(other)) {
            let (a, b) = (u32::from(*reference), u32::from(*other));
            sums.reference += a;
            sums.other += b;
            sums.squares += a * a + b * b;
            sums.products += a * b;
        }
    }
    steps.clear();
    steps.extend(columns.chunks_exact(STEP).map(|four| {
        four.iter()
            .copied()
            .fold(Sums::default(), std::ops::Add::add)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the similarity of a window by the formula in full.
    fn window(a: &[f64; 64], b: &[f64; 64]) -> f64 {
        let mean = |samples: &[f64; 64]| samples.iter().sum::<f64>() / 64.0;
        let (am, bm) = (mean(a), mean(b));
        let covariance = |a: &[f64; 64], am: f64, b: &[f64; 64], bm: f64| {
            let products = a.iter().zip(b).map(|(a, b)| (a - am) * (b - bm));
            products.sum::<f64>() / 63.0
        };
        let (aa, bb) = (covariance(a, am, a, am), covariance(b, bm, b, bm));
        let ab = covariance(a, am, b, bm);
        let (c1, c2) = (2.55 * 2.55, 7.65 * 7.65);
        (2.0 * am * bm + c1) * (2.0 * ab + c2) / ((am * am + bm * bm + c1) * (aa + bb + c2))
    }

    #[test]
    fn every_window_counts_once() {
        let (width, height) = (23, 18);
        let sample =
            |seed: usize| move |i: usize| ((i * i * seed + i * 31) / 7 % 256).to_le_bytes()[0];
        let a: Vec<_> = (0..width * height).map(sample(3)).collect();
        let b: Vec<_> = (0..width * height).map(sample(5)).collect();
        let at = |plane: &[u8], left: usize, top: usize| {
            let mut samples = [0.0; 64];
            for (i, to) in samples.iter_mut().enumerate() {
                *to = f64::from(plane[(top + i / 8) * width + left + i % 8]);
            }
            samples
        };
        let mut all = Vec::new();
        for top in [0, 4, 8] {
            for left in [0, 4, 8, 12] {
                all.push(window(&at(&a, left, top), &at(&b, left, top)));
            }
        }
        let expected = all.iter().sum::<f64>() / 12.0;
        let got = similarity(width, &a, &b);
        assert!((got - expected).abs() < 1e-12, "{got} for {expected}");
        assert!(got < 0.5, "{got}: the planes are alike");
    }

    #[test]
    fn the_opposite_is_below_zero() {
        let checks: Vec<u8> = (0..256)
            .map(|i| if (i / 16 + i) % 2 == 0 { 0 } else { 255 })
            .collect();
        let opposite: Vec<u8> = checks.iter().map(|sample| 255 - sample).collect();
        let got = similarity(16, &checks, &opposite);
        assert!((-1.0..-0.95).contains(&got), "{got}");
    }
}
