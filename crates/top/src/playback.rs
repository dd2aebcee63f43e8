//! The selected time: the newest, an earlier moment, or one that moves along a record at some speed.

use crate::model::Model;

/// Speeds of a replay, times the speed at which it was recorded.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.125..=512.0;

/// The source of the model's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A server that is queried.
    Live,
    /// A record that is still being written.
    Following,
    /// A record of a run that has ended.
    Replay,
}

/// The selected time.
#[derive(Debug, Clone)]
pub struct Playback {
    source: Source,
    /// `None` for the newest.
    at_s: Option<f64>,
    is_paused: bool,
    /// Seconds of the record per second.
    speed: f64,
}

impl Playback {
    /// The newest moment, or the beginning of a replay at `speed` (seconds of the record per second).
    pub fn new(source: Source, speed: f64) -> Self {
        Self {
            source,
            at_s: (source == Source::Replay).then_some(f64::NEG_INFINITY),
            is_paused: false,
            speed: speed.clamp(*SPEEDS.start(), *SPEEDS.end()),
        }
    }

    pub fn source(&self) -> Source {
        self.source
    }

    /// The selected time, seconds.
    pub fn at_s(&self, model: &Model) -> f64 {
        let (start_s, end_s) = bounds(model);
        self.at_s.map_or(end_s, |at_s| at_s.clamp(start_s, end_s))
    }

    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// True if a replay has reached its end.
    pub fn is_at_end(&self, model: &Model) -> bool {
        self.source == Source::Replay && self.at_s(model) >= bounds(model).1
    }

    /// Seconds of the record per second; 1 if it is not a replay.
    pub fn speed(&self) -> f64 {
        match self.source {
            Source::Replay => self.speed,
            Source::Live | Source::Following => 1.0,
        }
    }

    /// Doubles the speed of a replay, or halves it.
    pub(crate) fn change_speed(&mut self, factor: f64) {
        self.speed = (self.speed * factor).clamp(*SPEEDS.start(), *SPEEDS.end());
    }

    /// Advances the time of a replay.
    pub fn advance(&mut self, elapsed_s: f64, model: &Model) {
        if self.source == Source::Replay && !self.is_paused {
            let (_, end_s) = bounds(model);
            self.at_s = Some((self.at_s(model) + elapsed_s * self.speed).min(end_s));
        }
    }

    /// Pauses, or continues: with the newest moment, or from the time at which a replay was paused.
    pub(crate) fn toggle_pause(&mut self, model: &Model) {
        self.is_paused = !self.is_paused;
        self.at_s = match (self.source, self.is_paused) {
            (Source::Replay, false) if self.is_at_end(model) => Some(f64::NEG_INFINITY),
            (Source::Replay, _) | (_, true) => Some(self.at_s(model)),
            (_, false) => None,
        };
    }

    /// Moves forwards or backwards; this pauses everything but a replay.
    pub(crate) fn seek(&mut self, by_s: f64, model: &Model) {
        let (start_s, end_s) = bounds(model);
        self.at_s = Some((self.at_s(model) + by_s).clamp(start_s, end_s));
        self.is_paused |= self.source != Source::Replay;
    }

    pub(crate) fn rewind(&mut self, model: &Model) {
        self.seek(f64::NEG_INFINITY, model);
    }

    /// Moves to the end, the newest moment.
    pub(crate) fn catch_up(&mut self, model: &Model) {
        match self.source {
            Source::Replay => self.seek(f64::INFINITY, model),
            Source::Live | Source::Following => {
                self.at_s = None;
                self.is_paused = false;
            }
        }
    }

    /// The record that was followed has ended: the selected time stays.
    pub fn set_source(&mut self, source: Source, model: &Model) {
        if source == Source::Replay {
            self.at_s = Some(self.at_s(model));
        } else if !self.is_paused {
            self.at_s = None;
        }
        self.source = source;
    }
}

/// The range of selectable times: from the end of the first interval to that of the last one.
fn bounds(model: &Model) -> (f64, f64) {
    let end_s = model.end_s();
    let first_s = model.ticks_s().first().copied().unwrap_or(end_s);
    (first_s.min(end_s), end_s)
}

#[cfg(test)]
mod tests {
    use samples::{Line, ServerStatus};

    use super::*;

    /// Ten intervals of a second each.
    fn model() -> Model {
        let mut model = Model::default();
        for second in 0..10 {
            model.take(Line::ServerStatus(ServerStatus {
                t_s: f64::from(second),
                length_s: 1.0,
                ..ServerStatus::default()
            }));
        }
        model
    }

    #[test]
    fn a_replay_goes_on_stops_and_ends() {
        let model = model();
        let mut replay = Playback::new(Source::Replay, 2.0);
        assert_eq!(replay.at_s(&model), 1.0);
        replay.advance(1.5, &model);
        assert_eq!(replay.at_s(&model), 4.0);
        replay.toggle_pause(&model);
        replay.advance(1.5, &model);
        assert_eq!(replay.at_s(&model), 4.0);
        replay.seek(-100.0, &model);
        assert_eq!(replay.at_s(&model), 1.0);
        replay.seek(5.0, &model);
        replay.toggle_pause(&model);
        replay.advance(100.0, &model);
        assert!(replay.is_at_end(&model));
        // At the end, it restarts from the beginning.
        replay.toggle_pause(&model);
        replay.toggle_pause(&model);
        assert_eq!(replay.at_s(&model), 1.0);
    }

    #[test]
    fn what_is_live_stays_at_the_newest_unless_it_is_stopped() {
        let mut model = model();
        let mut live = Playback::new(Source::Live, 1.0);
        assert_eq!(live.at_s(&model), 10.0);
        live.seek(-3.0, &model);
        assert!(live.is_paused());
        model.take(Line::ServerStatus(ServerStatus {
            t_s: 10.0,
            length_s: 1.0,
            ..ServerStatus::default()
        }));
        assert_eq!(live.at_s(&model), 7.0);
        live.toggle_pause(&model);
        assert_eq!(live.at_s(&model), 11.0);
        live.rewind(&model);
        assert_eq!(live.at_s(&model), 1.0);
        live.catch_up(&model);
        assert!(!live.is_paused());
    }

    #[test]
    fn speed_has_limits() {
        let mut replay = Playback::new(Source::Replay, 1e9);
        assert_eq!(replay.speed(), 512.0);
        (0..20).for_each(|_| replay.change_speed(0.5));
        assert_eq!(replay.speed(), 0.125);
    }
}
