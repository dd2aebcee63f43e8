//! The end of a warm-up, at the cut with the smallest standard error of the mean (MSER).

/// Batch size of MSER-5, in observations.
const BATCH_AT_MOST: usize = 5;

/// Approximate number of batches of a short series: whole batches of five would leave too few possible cuts.
const BATCHES_WANTED: usize = 20;

/// The end of the warm-up by MSER.
pub(crate) struct Cut {
    /// Observations before the cut.
    pub(crate) at: usize,
}

/// Observations per batch of a series: five, fewer in a series of less than a hundred.
pub(crate) fn batch_of(length: usize) -> usize {
    (length / BATCHES_WANTED).clamp(1, BATCH_AT_MOST)
}

/// The means of consecutive batches. If the length is not a multiple of the batch, the oldest observations are dropped:
/// the newest matter most.
pub(crate) fn batch_means(series: &[f64], batch: usize) -> Vec<f64> {
    series[series.len() % batch..]
        .chunks_exact(batch)
        .map(|chunk| chunk.iter().sum::<f64>() / batch as f64)
        .collect()
}

/// The cut with the smallest squared standard error of the remaining mean, no later than the middle.
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

/// The criterion of MSER: the sum of squares around the mean, divided by the square of the count.
fn squared_error_of_mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (count * count)
}
