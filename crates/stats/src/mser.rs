//! Where a warm-up ends, by the cut that leaves the smallest standard error of the mean.

/// The batch that MSER-5 is named after, in observations.
const BATCH_AT_MOST: usize = 5;

/// A short series is cut into about so many batches: whole batches of five would leave too few to choose from.
const BATCHES_WANTED: usize = 20;

/// Where MSER ends the warm-up.
pub(crate) struct Cut {
    /// Observations before the cut.
    pub(crate) at: usize,
}

/// Observations that make a batch of so long a series: five, fewer in a series of less than a hundred.
pub(crate) fn batch_of(length: usize) -> usize {
    (length / BATCHES_WANTED).clamp(1, BATCH_AT_MOST)
}

/// The means of consecutive batches. When the batches do not fill the series, the oldest observations are left over: the
/// newest ones count most.
pub(crate) fn batch_means(series: &[f64], batch: usize) -> Vec<f64> {
    series[series.len() % batch..]
        .chunks_exact(batch)
        .map(|chunk| chunk.iter().sum::<f64>() / batch as f64)
        .collect()
}

/// The cut with the smallest squared standard error of the rest's mean, no later than the middle.
///
/// Source: K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69
/// (1997), with the batches of S. C. Spratt (1998), MSER-5.
pub(crate) fn mser_cut(series: &[f64], batch: usize) -> Cut {
    let means = batch_means(series, batch);
    let latest = means.len() / 2;
    let mut best = (0, f64::INFINITY);
    for cut in 0..=latest {
        let error = squared_error_of_mean(&means[cut..]);
        if error < best.1 {
            best = (cut, error);
        }
    }
    let (cut, _) = best;
    let left_over = series.len() % batch;
    Cut {
        at: if cut == 0 { 0 } else { left_over + cut * batch },
    }
}

/// MSER's measure: the squares around the mean, over the square of the count.
fn squared_error_of_mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (count * count)
}
