//! The data for the page's script: charts as columns of short numbers, thinned if a run has too many.

use serde::{Serialize, Serializer, ser::SerializeStruct};

/// Maximum number of points of all runs together per chart: that keeps 100 runs of a minute complete, and below 3 MB.
const POINTS_OF_ALL_RUNS: usize = 7_000;
/// Minimum and maximum number of points of a run: no screen shows more.
const POINTS_OF_A_RUN: (usize, usize) = (30, 1_200);
/// Distances that differ by less than this are considered equal, seconds: it is the usual delay of a sampler's wakeup.
const EQUAL_WITHIN_S: f64 = 0.002;

/// Maximum number of points of each run, by the number of runs.
pub(super) fn points_at_most(runs: usize) -> usize {
    let (least, most) = POINTS_OF_A_RUN;
    (POINTS_OF_ALL_RUNS / runs.max(1)).clamp(least, most)
}

/// Number of values per point when this many values become at most `points`.
pub(super) fn values_per_point(values: usize, points: usize) -> usize {
    values.div_ceil(points.max(1)).max(1)
}

/// A column of numbers: four significant digits, no `.0`, `null` for a gap. That keeps 100 runs under 3 MB.
#[derive(Debug, PartialEq)]
pub(super) struct Column(pub(super) Vec<Option<f64>>);

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|value| value.map(compact)))
    }
}

impl Column {
    /// Each value is the mean of `per_point` values; a gap if all of them are gaps.
    fn thinned(&self, per_point: usize) -> Self {
        let mean = |values: &[Option<f64>]| {
            let known: Vec<f64> = values.iter().flatten().copied().collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        Self(self.0.chunks(per_point).map(mean).collect())
    }
}

/// Instants, seconds: as first, distance and count if the distances are equal.
#[derive(Debug, PartialEq)]
pub(super) struct Instants(pub(super) Vec<f64>);

impl Serialize for Instants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let instants = &self.0;
        let Some(step) = distance(instants) else {
            return serializer.collect_seq(instants.iter().copied().map(compact));
        };
        let mut regular = serializer.serialize_struct("Instants", 3)?;
        regular.serialize_field("from", &compact(instants[0]))?;
        regular.serialize_field("step", &compact(step))?;
        regular.serialize_field("count", &instants.len())?;
        regular.end()
    }
}

/// The distance of equidistant instants; `None` for others.
fn distance(instants: &[f64]) -> Option<f64> {
    let [first, .., last] = instants else {
        return None;
    };
    let step = (last - first) / (instants.len() - 1) as f64;
    // The script adds up the distance as it is written.
    let step = compact(step).as_f64()?;
    let is_regular = instants.iter().enumerate().all(|(at, instant)| {
        (first + at as f64 * step - instant).abs() < EQUAL_WITHIN_S * (1.0 + at as f64 / 100.0)
    });
    is_regular.then_some(step)
}

fn compact(value: f64) -> serde_json::Number {
    let rounded = if value == 0.0 || !value.is_finite() {
        0.0
    } else {
        let scale = 10f64.powf(3.0 - value.abs().log10().floor());
        (value * scale).round() / scale
    };
    // A whole number is shorter than a float; beyond 2^53 floats are whole anyway.
    let whole = rounded as i64;
    if whole as f64 == rounded {
        return whole.into();
    }
    serde_json::Number::from_f64(rounded).unwrap_or_else(|| 0.into())
}

/// Charts of one run share the time axis; each has its own instants, because load and telemetry have different clocks.
#[derive(Serialize)]
pub(super) struct ChartData {
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    /// True if the lines differ by orders of magnitude.
    pub(super) logarithmic: bool,
    pub(super) t: Instants,
    pub(super) lines: Vec<LineData>,
    /// The bands between two lines: the upper, the lower, and the number of the colour.
    pub(super) bands: Vec<(usize, usize, usize)>,
}

impl ChartData {
    /// The same with at most this number of points, each the mean of as many values.
    pub(super) fn thinned(self, points: usize) -> Self {
        let per_point = values_per_point(self.t.0.len(), points);
        if per_point == 1 {
            return self;
        }
        let lines = self.lines.into_iter().map(|line| LineData {
            values: line.values.thinned(per_point),
            ..line
        });
        Self {
            t: Instants(self.t.0.iter().step_by(per_point).copied().collect()),
            lines: lines.collect(),
            ..self
        }
    }
}

#[derive(Serialize)]
pub(super) struct LineData {
    pub(super) name: &'static str,
    /// Index of the colour in the style sheet.
    pub(super) style: usize,
    pub(super) values: Column,
}

/// Leaves out lines that were never observed.
pub(super) fn lines_with_values<const N: usize>(
    lines: [(&'static str, usize, Vec<Option<f64>>); N],
) -> Vec<LineData> {
    lines
        .into_iter()
        .filter(|(_, _, values)| values.iter().any(Option::is_some))
        .map(|(name, style, values)| LineData {
            name,
            style,
            values: Column(values),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let column = Column(vec![
            Some(12_345.678),
            Some(0.012_345),
            Some(3.0),
            Some(0.0),
            None,
            Some(f64::NAN),
        ]);
        let text = serde_json::to_string(&column).unwrap();
        assert_eq!(text, "[12350,0.01235,3,0,null,0]");
    }

    #[test]
    fn equal_distances_are_told_by_one_number() {
        let text = |instants: &[f64]| serde_json::to_string(&Instants(instants.to_vec())).unwrap();
        assert_eq!(
            text(&[0.05, 1.051, 2.05]),
            r#"{"from":0.05,"step":1,"count":3}"#
        );
        assert_eq!(text(&[0.0, 1.0, 3.0]), "[0,1,3]");
        assert_eq!(text(&[2.5]), "[2.5]");
        assert_eq!(text(&[]), "[]");
    }

    #[test]
    fn many_values_become_means_of_few() {
        let chart = ChartData {
            title: "",
            unit: "",
            logarithmic: false,
            t: Instants(vec![0.0, 1.0, 2.0, 3.0, 4.0]),
            lines: lines_with_values([("a", 0, vec![Some(1.0), Some(3.0), None, Some(5.0), None])]),
            bands: Vec::new(),
        };
        let thin = chart.thinned(3);
        assert_eq!(thin.t.0, [0.0, 2.0, 4.0]);
        assert_eq!(
            thin.lines[0].values,
            Column(vec![Some(2.0), Some(5.0), None])
        );
        assert_eq!(thin.thinned(3).t.0.len(), 3);
        assert_eq!((points_at_most(100), points_at_most(1)), (70, 1_200));
        assert_eq!(points_at_most(10_000), 30);
    }
}
