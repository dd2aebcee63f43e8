//! The title line: the observed subject and its state.

use super::scene::Scene;
use crate::{
    figure::{number, span},
    model::Presence,
    plain::phase_name,
    playback::Source,
};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
    widgets::Widget,
};
use samples::printable_within;
use units::duration_tick;

pub(super) fn draw(scene: Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let palette = scene.screen.palette;
    let state = format!(" {} ", state(scene));
    let subject = subject(scene);
    let room = usize::from(area.width).saturating_sub(state.chars().count());
    let is_ordinary = !scene.screen.playback.is_paused()
        && scene.model.presence == Presence::Here
        && scene.screen.silence.is_none();
    buffer.set_style(area, palette.title());
    Line::raw(shortened(&format!(" {subject}"), room)).render(area, buffer);
    let state = if is_ordinary {
        Span::raw(state)
    } else {
        Span::styled(state, palette.chosen())
    };
    Line::from(state).right_aligned().render(area, buffer);
}

/// The observed subject, the most important first.
fn subject(scene: Scene<'_>) -> String {
    let model = scene.model;
    let subject = &model.subject;
    let mut parts = vec![subject.name.clone()];
    if !subject.version.is_empty() {
        parts.push(subject.version.clone());
    }
    if let Some(header) = &model.header {
        let levels = header.combination.iter();
        let levels = levels.map(|(factor, level)| format!("{factor}={level}"));
        parts.extend(levels);
    }
    let uptime = model.server.at(scene.at_s).and_then(|it| it.uptime_s);
    if let (Some(uptime_s), None) = (uptime, &model.header) {
        parts.push(format!("up {}", span(uptime_s)));
    }
    let asked = model.server.at(scene.at_s).and_then(|it| it.asked);
    if let Some(asked) = asked {
        parts.push(format!("{asked} statements a poll"));
    }
    parts.join("  ")
}

/// The selected time, and whether data arrives as expected.
fn state(scene: Scene<'_>) -> String {
    let (model, screen, at_s) = (scene.model, scene.screen, scene.at_s);
    let playback = &screen.playback;
    let mut parts = Vec::new();
    if let Presence::Away {
        since_s, tried_s, ..
    } = &model.presence
    {
        let away = span(tried_s - since_s);
        parts.push(format!("SERVER AWAY for {away}, trying again"));
    } else if let Some(silence) = screen.silence {
        parts.push(format!("NO NEWS for {}", span(silence.as_secs_f64())));
    }
    let end_s = model.end_s();
    match (playback.source(), playback.is_paused()) {
        (Source::Live, false) => {
            parts.push(format!(
                "every {}",
                duration_tick(screen.every.as_secs_f64() * 1e9)
            ));
        }
        (Source::Live | Source::Following, true) => {
            let back = match end_s - at_s {
                back if back < 1.0 => String::new(),
                back => format!(", {} back", span(back)),
            };
            parts.push(format!("PAUSED{back}"));
        }
        (Source::Following, false) => parts.push(format!("running, {}", span(at_s))),
        (Source::Replay, is_paused) => {
            let how = match (is_paused, playback.is_at_end(model)) {
                (true, _) => "PAUSED".to_owned(),
                (false, true) => "end".to_owned(),
                (false, false) => format!("replay x{}", number(Some(playback.speed()))),
            };
            parts.push(format!("{how} {} of {}", span(at_s), span(end_s)));
        }
    }
    if playback.source() != Source::Live {
        parts.extend(phase(scene).map(str::to_owned));
        let stage = model.stage_at(at_s);
        parts.extend(stage.map(|stage| format!("stage {} ({})", stage.number, stage.in_words())));
        let event = model.event_at(at_s);
        parts.extend(event.map(|event| format!("EVENT {}", printable_within(&event.name, 40))));
    }
    parts.join("  ")
}

fn phase(scene: Scene<'_>) -> Option<&'static str> {
    let is_at_end = scene.at_s >= scene.model.end_s();
    if scene.model.has_ended() && is_at_end && scene.screen.playback.source() == Source::Following {
        return Some("run over, waiting for the next");
    }
    scene.model.phase_at(scene.at_s).map(phase_name)
}

/// The part of a text that fits; an ellipsis marks the cut.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{kept}…")
}
