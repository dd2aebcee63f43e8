//! The classification of a whole run: steady, still warming up, slowing down, cyclic, or never steady.

use std::fmt;

use crate::{
    levels::{Level, levels},
    mean_interval::Interval,
    mser::{batch_of, mser_cut},
    trend::{drift, median},
};

mod evidence;

pub use evidence::{Change, Evidence};

use evidence::{LOOKS_AT_LEAST, ObservedChanges};
use units::{mean_bytes, percent, si, signed_percent};

/// Observations below which a run is not judged.
const OBSERVATIONS_AT_LEAST: usize = 12;

/// The latest end of a warm-up, as a share of the series: the rest must be the larger part, or the best cut may just as
/// well lie after the end.
const CUT_AT_MOST: f64 = 0.4;

/// Step by which the cut moves while the rest has a trend, as a share of the series.
const STEP: f64 = 1.0 / 30.0;

/// Change over the steady part that is too small to matter, as a share of its median.
const DRIFT_IGNORED: f64 = 0.01;

/// The largest change that the noise may hide, as a share of the median: above it the run is not judged.
const DRIFT_POSSIBLE_AT_MOST: f64 = 0.3;

/// The largest change that the noise may hide at the end of a warm-up, as a share of the median.
const POSSIBLE_AFTER_WARM_UP: f64 = 0.2;

/// Difference below which two levels count as one, as a share of the median.
const STEP_IGNORED: f64 = 0.05;

/// Shortest duration of a level, as a share of the judged part; anything shorter is a stall or a spike.
const LEVEL_LASTS: f64 = 0.08;

/// Changes of direction, up or down, of a cyclic run: two whole cycles.
const TURNS_AT_LEAST: usize = 3;

/// Largest number of batches of a series of any length, so that judging a day takes no longer than judging an hour.
const BATCHES_AT_MOST: usize = 240;

/// The class of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadiness {
    /// It reached a level and stayed there.
    Steady,
    /// It was still becoming faster, or its cache was still filling.
    Warming,
    /// It was becoming slower, or deferred work that will make it slower.
    Slowing,
    /// It alternates between levels: its mean holds over whole cycles.
    Cyclic,
    /// It moved from level to level without a pattern.
    NeverSteady,
}

impl Steadiness {
    /// The class in one or two words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Warming => "warming",
            Self::Slowing => "slowing",
            Self::Cyclic => "cyclic",
            Self::NeverSteady => "never steady",
        }
    }
}

/// Why a run is not steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The best cut between warm-up and the rest is too late, at this share of the run: the warm-up may still continue.
    LateCut(f64),
    /// The throughput changed by this share over the judged part, with its 95 % interval.
    Drift(Interval),
    /// The throughput moved between several levels.
    Levels {
        count: usize,
        /// The lowest, as a share of the median.
        lowest: f64,
        /// The highest, as a share of the median.
        highest: f64,
    },
    /// An early part of the measurement moves the mean: the warm-up extended into it.
    EarlyPart {
        /// Length of that part, as a share of the measured time.
        early: f64,
        /// Deviation of the mean from the level of the rest, as a share.
        moved: f64,
    },
    /// Misses per second changed over the judged part.
    Misses(Change),
    /// The age of the checkpoint, in bytes, was still growing: deferred work.
    CheckpointAge(Change),
    /// The number of dirty pages was still growing: deferred work.
    DirtyPages(Change),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = |by: &f64| signed_percent(*by);
        match self {
            Self::LateCut(at) => write!(
                out,
                "the first {} of the run look like warm-up",
                percent(*at)
            ),
            Self::Drift(drift) => write!(
                out,
                "throughput changed by {} of its median (95 % interval {} to {})",
                changed(&drift.estimate),
                changed(&drift.low),
                changed(&drift.high)
            ),
            Self::Levels {
                count,
                lowest,
                highest,
            } => write!(
                out,
                "throughput moved between {count} levels, {} to {} of the median",
                percent(*lowest),
                percent(*highest)
            ),
            Self::EarlyPart { early, moved } => write!(
                out,
                "the first {} of the measurement changes its mean by {}",
                percent(*early),
                changed(moved)
            ),
            Self::Misses(change) => {
                write!(out, "misses per second changed {}", change.in_words(si))
            }
            Self::CheckpointAge(change) => {
                let grew = change.in_words(mean_bytes);
                write!(out, "the checkpoint age grew {grew}")
            }
            Self::DirtyPages(change) => {
                write!(out, "dirty pages grew {}", change.in_words(si))
            }
        }
    }
}

/// The judgement of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    pub steadiness: Steadiness,
    /// First observation of the judged part; for a steady run, the end of its warm-up.
    pub from: usize,
    /// Change of the throughput over the judged part, as a share of its median, with its 95 % interval: the change that
    /// the noise may hide even in a steady run.
    pub drift: Interval,
    /// Why the run is not steady; empty for a steady run.
    pub reasons: Vec<Reason>,
    /// Number of readings of the server's counters in the judged part, if there are too few to judge them; `None` if
    /// they were judged, and if there are no readings at all.
    pub looks_too_few: Option<usize>,
}

impl RunState {
    /// True if the run reached its level and stayed there.
    pub fn is_steady(&self) -> bool {
        self.steadiness == Steadiness::Steady
    }

    /// True if a warm-up with this judgement is over: it is steady, the noise can hide a change of less than 20 %, and
    /// the server's counters, if they are read, have enough readings. The noisier the throughput, the longer that
    /// takes.
    pub fn ends_warm_up(&self) -> bool {
        self.why_no_end().is_none() && self.is_steady()
    }

    /// Why a steady level does not end a warm-up, as text; `None` if it does.
    pub fn why_no_end(&self) -> Option<String> {
        let possible = self.drift.low.abs().max(self.drift.high.abs());
        if possible > POSSIBLE_AFTER_WARM_UP {
            return Some(format!(
                "level, but the noise could hide a change of {}",
                percent(possible)
            ));
        }
        let looks = self.looks_too_few?;
        Some(format!(
            "level, but the server's counters were sampled {looks} times, fewer than {LOOKS_AT_LEAST}"
        ))
    }

    /// True if more time may make the run steady: a cyclic run remains cyclic.
    pub fn wants_time(&self) -> bool {
        !matches!(self.steadiness, Steadiness::Steady | Steadiness::Cyclic)
    }
}

/// Why a run cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Indeterminate {
    /// A value is not finite, or no operation was completed in half of the time.
    Undefined,
    /// Too few observations; their number.
    Short(usize),
    /// The noise could hide a change of this share of the median.
    Noisy(f64),
}

impl fmt::Display for Indeterminate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => write!(out, "no operation ended during half of the time or more"),
            Self::Short(observations) => write!(
                out,
                "{observations} observations, fewer than {OBSERVATIONS_AT_LEAST}"
            ),
            Self::Noisy(share) => write!(
                out,
                "so noisy that a change of {} could be hidden",
                percent(*share)
            ),
        }
    }
}

/// Judges a whole throughput series (operations per second, one value per equal interval) together with the server's
/// counters.
///
/// The cut of MSER-5 ends the warm-up. If the rest has a trend, the cut moves on; a run of which less than six tenths
/// remain is not steady. The cut also moves on if the counters still change. The rest must then stay at its level,
/// misses per second must be flat, and the age of the checkpoint and the dirty pages bounded. A run that is still
/// warming up needs more time.
///
/// For exponential warm-ups with 5 % noise, a time constant of a tenth of the run leaves a bias of about half a percent
/// in the steady part; a fifth is called warming in 19 of 20 runs, a half always.
///
/// # Errors
/// [`Indeterminate`] if the series does not allow a judgement.
///
/// Source: MSER-5 (White 1997, Spratt 1998); trend by Theil and Sen with the test of Mann and Kendall, corrected for
/// correlated errors; levels by PELT, and the classes, as in E. Barrett et al., "Virtual machine warmup blows hot and
/// cold", OOPSLA 2017. The physical criteria are our own.
pub fn judge_run(series: &[f64], evidence: &Evidence<'_>) -> Result<RunState, Indeterminate> {
    if series.iter().any(|value| !value.is_finite()) {
        return Err(Indeterminate::Undefined);
    }
    if series.len() < OBSERVATIONS_AT_LEAST {
        return Err(Indeterminate::Short(series.len()));
    }
    let batch = batch_of(series.len()).max(series.len() / BATCHES_AT_MOST);
    let latest = (series.len() as f64 * CUT_AT_MOST) as usize;
    let cut = mser_cut(series, batch).at;
    let (from, drift) = level_part(series, batch, cut, latest)?;
    let moves = Moves::of(&series[from..]);
    let mut reasons = Vec::new();
    if cut > latest {
        reasons.push(Reason::LateCut(cut as f64 / series.len() as f64));
    }
    if is_drift(&drift) {
        reasons.push(Reason::Drift(drift));
    }
    reasons.extend(moves.reason());
    let in_order = if moves.net + drift.estimate + rise_at(series, cut) > 0.0 {
        Steadiness::Warming
    } else {
        Steadiness::Slowing
    };
    let by_throughput = match reasons.is_empty() {
        _ if Moves::of(series).turns >= TURNS_AT_LEAST => Some(Steadiness::Cyclic),
        _ if moves.turns > 0 => Some(Steadiness::NeverSteady),
        true => None,
        false => Some(in_order),
    };
    let (flat_from, seen) = flat_part(evidence, from as f64 / series.len() as f64);
    let from = from.max((flat_from * series.len() as f64) as usize);
    reasons.extend(seen.misses.map(Reason::Misses));
    reasons.extend(seen.checkpoint_age_bytes.map(Reason::CheckpointAge));
    reasons.extend(seen.dirty_pages.map(Reason::DirtyPages));
    let by_evidence = match seen.misses {
        Some(change) if change.share < 0.0 => Some(Steadiness::Warming),
        Some(_) => Some(Steadiness::Slowing),
        None if seen.work_piles_up() => Some(Steadiness::Slowing),
        None => None,
    };
    let possible = drift.low.abs().max(drift.high.abs());
    let steadiness = by_throughput.or(by_evidence);
    if steadiness.is_none() && possible > DRIFT_POSSIBLE_AT_MOST {
        return Err(Indeterminate::Noisy(possible));
    }
    Ok(RunState {
        steadiness: steadiness.unwrap_or(Steadiness::Steady),
        from,
        drift,
        reasons,
        looks_too_few: seen.looks_too_few,
    })
}

/// Judges the measured part of a series whose first observations, before `measured_from`, are its warm-up.
///
/// A slow rise is easier to detect together with what preceded it: the same number of observations of the warm-up is
/// judged as well. The measurement is steady if all of it is, or if its mean is within 1 % of the mean of its steady
/// rest.
///
/// # Errors
/// As [`judge_run`].
///
/// Source: as [`judge_run`]; the use of the warm-up is our own.
pub fn judge_measurement(
    series: &[f64],
    measured_from: usize,
    evidence: &Evidence<'_>,
) -> Result<RunState, Indeterminate> {
    let measured = series.len().saturating_sub(measured_from);
    if measured < OBSERVATIONS_AT_LEAST {
        return Err(Indeterminate::Short(measured));
    }
    let begin = measured_from.saturating_sub(measured);
    let share = begin as f64 / series.len() as f64;
    let mut state = judge_run(&series[begin..], &evidence.since(share))?;
    state.from += begin;
    let level = mean(&series[state.from..]);
    let moved = mean(&series[measured_from..]) / level - 1.0;
    if state.is_steady() && state.from > measured_from && moved.abs() > DRIFT_IGNORED {
        let early = (state.from - measured_from) as f64 / measured as f64;
        state.reasons.push(Reason::EarlyPart { early, moved });
        state.steadiness = if moved < 0.0 {
            Steadiness::Warming
        } else {
            Steadiness::Slowing
        };
    }
    Ok(state)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Why a run is not steady, as text: `still warming: throughput changed by +12 % of its median (95 % interval +8 % to +15 %)`; `None`
/// if it is.
pub fn why_not_steady(judged: &Result<RunState, Indeterminate>) -> Option<String> {
    let state = match judged {
        Ok(state) if state.is_steady() => return None,
        Ok(state) => state,
        Err(why) => return Some(format!("undecided: {why}")),
    };
    let word = match state.steadiness {
        Steadiness::Warming => "still warming",
        other => other.word(),
    };
    let reasons: Vec<String> = state.reasons.iter().map(Reason::to_string).collect();
    Some(format!("{word}: {}", reasons.join(", ")))
}

/// The first observation, at or after the cut, from which there is no trend, and the drift from there; if there is
/// none, the latest cut with its drift.
fn level_part(
    series: &[f64],
    batch: usize,
    cut: usize,
    latest: usize,
) -> Result<(usize, Interval), Indeterminate> {
    let step = ((series.len() as f64 * STEP) as usize).max(1);
    let mut from = cut.min(latest);
    loop {
        let drift = drift(&series[from..], batch).ok_or(Indeterminate::Undefined)?;
        if !is_drift(&drift) || from == latest {
            return Ok((from, drift));
        }
        from = (from + step).min(latest);
    }
}

/// The first share of the run, at or after `from`, from which the counters are flat; if there is none, `from` with the
/// changes. Misses of a cache that is now full may lie after the cut, so it moves on as for the throughput.
fn flat_part(evidence: &Evidence<'_>, from: f64) -> (f64, ObservedChanges) {
    let part = |share| (share, evidence.since(share).judge());
    let first = part(from);
    if first.1.is_flat() {
        return first;
    }
    let steps = ((CUT_AT_MOST - from) / STEP).floor().max(0.0) as usize;
    let mut later = (1..=steps).map(|step| part(from + step as f64 * STEP));
    later.find(|(_, seen)| seen.is_flat()).unwrap_or(first)
}

fn is_drift(drift: &Interval) -> bool {
    (drift.low > 0.0 || drift.high < 0.0) && drift.estimate.abs() > DRIFT_IGNORED
}

/// The rise from before a cut to after it, as a share of the level after it; 0 without observations before it.
fn rise_at(series: &[f64], cut: usize) -> f64 {
    match series.split_at(cut) {
        ([], _) | (_, []) => 0.0,
        (before, after) => 1.0 - median(before) / median(after).max(f64::MIN_POSITIVE),
    }
}

/// The moves of a series between its levels.
struct Moves {
    /// Number of lasting, different levels.
    count: usize,
    /// Lowest level, as a share of the median.
    lowest: f64,
    /// Highest level, as a share of the median.
    highest: f64,
    /// Last level divided by the first, minus one.
    net: f64,
    /// Changes of direction.
    turns: usize,
}

impl Moves {
    fn of(series: &[f64]) -> Self {
        let median = median(series).max(f64::MIN_POSITIVE);
        let lasts =
            |level: &Level| level.observations.len() as f64 >= LEVEL_LASTS * series.len() as f64;
        let mut means: Vec<f64> = Vec::new();
        for level in levels(series).iter().filter(|level| lasts(level)) {
            let mean = level.mean / median;
            match means.last() {
                Some(last) if (mean - last).abs() < STEP_IGNORED => {}
                _ => means.push(mean),
            }
        }
        let ups: Vec<bool> = means.windows(2).map(|pair| pair[0] < pair[1]).collect();
        let (first, last) = (means.first().unwrap_or(&1.0), means.last().unwrap_or(&1.0));
        Self {
            count: means.len(),
            lowest: means.iter().copied().fold(1.0, f64::min),
            highest: means.iter().copied().fold(1.0, f64::max),
            net: last - first,
            turns: ups.windows(2).filter(|pair| pair[0] != pair[1]).count(),
        }
    }

    fn reason(&self) -> Option<Reason> {
        (self.count > 1).then_some(Reason::Levels {
            count: self.count,
            lowest: self.lowest,
            highest: self.highest,
        })
    }
}

#[cfg(test)]
mod tests;
