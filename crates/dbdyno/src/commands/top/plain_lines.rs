//! One line per interval on stdout.

use std::{
    io::{Write, stdout},
    process::ExitCode,
    time::Duration,
};

use blame::{Blame, Blamed};
use monitor::{Feed, Viewers};
use reactor::{Interrupt, system_now};
use top::{Model, Plain, Playback, Source};

use crate::commands::top::hang_up::has_hung_up;

/// Polling interval of the feed.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// What the command line chose.
pub(super) struct Choices {
    /// A replay that takes its time; without one the lines of a record come at once.
    pub(super) paced: Option<Playback>,
    /// Lines after which it ends.
    pub(super) count: Option<u64>,
    /// The polling interval.
    pub(super) every: Duration,
    /// Those who look on from elsewhere.
    pub(super) viewers: Option<Viewers>,
}

/// Writes lines until the feed is over, as many as wanted are written, or the user ends it.
pub(super) fn write_lines(
    feed: &mut dyn Feed,
    model: &mut Model,
    choices: Choices,
    interrupt: &Interrupt,
) -> anyhow::Result<ExitCode> {
    let Choices {
        mut paced,
        count,
        every,
        viewers,
    } = choices;
    let mut plain = Plain::new(count);
    let mut last = system_now();
    loop {
        if feed.poll(model)?.is_new_run {
            plain.begin_run();
        }
        let now = system_now();
        let until_s = match &mut paced {
            Some(playback) => {
                playback.advance((now - last).as_secs_f64(), model);
                playback.at_s(model)
            }
            None => f64::INFINITY,
        };
        last = now;
        if let Some(viewers) = &viewers {
            // Without a pace of its own everything that has come is shown.
            let newest = match feed.source() {
                Source::Replay => Source::Following,
                source => source,
            };
            let newest = Playback::new(newest, 1.0);
            let playback = paced.as_ref().unwrap_or(&newest);
            viewers.answer(model, playback, every, feed.silent_for());
        }
        let is_over = feed.is_over();
        let lines = plain.lines(model, until_s, is_over);
        if !lines.is_empty() {
            let mut out = stdout().lock();
            let written = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
            match written {
                // A closed pipe is not an error.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                    return Ok(ExitCode::SUCCESS);
                }
                written => written.map_err(Blamed::machine)?,
            }
        }
        let is_told = paced.as_ref().is_none_or(|it| it.is_at_end(model));
        // Where no line comes, no line can fail.
        if plain.is_done() || (is_over && is_told) || has_hung_up(stdout()) {
            return Ok(ExitCode::SUCCESS);
        }
        if interrupt.is_raised() {
            return match count {
                // Without a count an interrupt is the normal end.
                None => Ok(ExitCode::SUCCESS),
                Some(_) => Ok(ExitCode::from(Blame::Interrupted as u8)),
            };
        }
        interrupt.wait(POLL_EVERY);
    }
}
