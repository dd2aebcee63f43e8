//! Points over the time of sessions, one session after the other with a gap between them.

use std::collections::BTreeMap;

use maud::{Markup, html};
use stats::Interval;
use units::{moment, si_tick};

use super::{
    Format,
    frame::{Description, Size, labels_with_room, svg, y_axis},
    marker::{colour_class, dash, marker},
    px,
    scale::Axis,
};

/// Gap between two sessions, as a share of the axis.
const GAP: f64 = 0.03;
/// Maximum share of all gaps together.
const GAPS_AT_MOST: f64 = 0.3;
/// Wanted number of steps between ticks over all sessions.
const STEPS: u32 = 10;
/// Maximum number of ticks of one session.
const TICKS_AT_MOST: u32 = 24;

/// The time axis of sessions: each has its own seconds, all at one scale.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SessionAxis {
    sessions: Vec<SessionPart>,
    /// Distance between two ticks, seconds.
    step_s: f64,
}

/// The part of the axis that belongs to a session.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SessionPart {
    number: u32,
    /// The shown time, seconds since the start of the session.
    from_s: f64,
    to_s: f64,
    /// The ends of the part, as shares of the axis.
    begin: f64,
    end: f64,
}

impl SessionAxis {
    /// An axis that contains these times: the number of a session, and a begin and an end in its seconds.
    pub(crate) fn of(times: impl Iterator<Item = (u32, f64, f64)>) -> Self {
        let mut shown: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (session, begin_s, end_s) in times {
            let (from_s, to_s) = shown.entry(session).or_insert((begin_s, end_s));
            *from_s = from_s.min(begin_s);
            *to_s = to_s.max(end_s);
        }
        let gaps = shown.len().saturating_sub(1);
        let gap = GAP.min(GAPS_AT_MOST / gaps.max(1) as f64);
        let total_s: f64 = shown.values().map(|(from_s, to_s)| to_s - from_s).sum();
        let per_s = (1.0 - gap * gaps as f64) / total_s.max(1e-3);
        let mut next = 0.0;
        let parts = shown.into_iter().map(|(number, (from_s, to_s))| {
            let begin = next;
            let end = begin + (to_s - from_s) * per_s;
            next = end + gap;
            SessionPart {
                number,
                from_s,
                to_s,
                begin,
                end,
            }
        });
        Self {
            sessions: parts.collect(),
            step_s: Axis::from_zero(total_s, STEPS).ticks[1],
        }
    }

    /// Share of the axis at a second of a session; `None` for a session that it does not contain.
    fn share(&self, session: u32, t_s: f64) -> Option<f64> {
        let part = self.sessions.iter().find(|part| part.number == session)?;
        let length_s = (part.to_s - part.from_s).max(1e-3);
        let within = ((t_s - part.from_s) / length_s).clamp(0.0, 1.0);
        Some(part.begin + within * (part.end - part.begin))
    }

    /// The round seconds of all sessions, each with its share of the axis.
    fn ticks(&self) -> Vec<(f64, f64)> {
        let of_part = |part: &SessionPart| {
            let (number, to_s) = (part.number, part.to_s);
            let first = (part.from_s / self.step_s).ceil();
            let ticks = (0..TICKS_AT_MOST).map(move |n| (first + f64::from(n)) * self.step_s);
            let ticks = ticks.take_while(move |t_s| *t_s <= to_s);
            ticks.filter_map(move |t_s| Some((t_s, self.share(number, t_s)?)))
        };
        self.sessions.iter().flat_map(of_part).collect()
    }

    /// The name of each session below its part, with the middle of the part as a share.
    fn names(&self) -> Vec<(String, f64)> {
        let is_only = self.sessions.len() == 1;
        let named = self.sessions.iter().map(|part| {
            let name = if is_only {
                "seconds of the session".to_owned()
            } else {
                format!("session {}, seconds", part.number)
            };
            (name, (part.begin + part.end) / 2.0)
        });
        named.collect()
    }
}

/// A chart over the time of sessions.
pub(crate) struct SessionChart<'a> {
    pub(crate) description: Description<'a>,
    pub(crate) x: &'a SessionAxis,
    pub(crate) y_name: &'a str,
    pub(crate) y: &'a Axis,
    /// Formats the ticks of the y axis.
    pub(crate) tick: Format,
    /// Formats the value of a point.
    pub(crate) hint: Format,
    /// A value that has a line of its own, for example no difference.
    pub(crate) level: Option<f64>,
    pub(crate) series: Vec<SessionSeries<'a>>,
}

/// The points of one line.
pub(crate) struct SessionSeries<'a> {
    pub(crate) name: &'a str,
    /// Selects colour, marker and dash.
    pub(crate) style: usize,
    /// In the order of time.
    pub(crate) points: Vec<SessionPoint>,
    /// Their mean with its interval, which is drawn as a line in a band.
    pub(crate) mean: Option<Interval>,
}

/// The value of a batch, or of a pair of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SessionPoint {
    pub(crate) session: u32,
    /// Its number in the session.
    pub(crate) batch: u32,
    /// Seconds since the start of the session.
    pub(crate) t_s: f64,
    pub(crate) value: f64,
}

impl SessionChart<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let size = Size::SESSIONS;
        let content = html! {
            @for gap in self.x.sessions.windows(2) {
                @let (left, right) = (size.x(gap[0].end), size.x(gap[1].begin));
                rect.warm-up x=(px(left)) width=(px(right - left)) y=(px(size.top))
                    height=(px(size.y(0.0) - size.top)) { title { "between two sessions" } }
            }
            (y_axis(size, self.y, self.y_name, self.tick))
            (self.time_axis(size))
            @if let Some(level) = self.level {
                @let y = px(size.y(self.y.share(level)));
                line.axis x1=(px(size.x(0.0))) x2=(px(size.x(1.0))) y1=(y) y2=(y) {}
            }
            // Bands first, so that no band covers a line.
            @for series in &self.series {
                @if let Some(mean) = &series.mean { (self.mean(size, series.style, mean)) }
            }
            @for series in &self.series { (self.line(size, series)) }
        };
        svg(size, &self.description, content)
    }

    fn time_axis(&self, size: Size) -> Markup {
        let within = || 0.0..=size.width;
        let ticks = self.x.ticks();
        let labels: Vec<String> = ticks.iter().map(|(t_s, _)| si_tick(*t_s)).collect();
        let at = |index: usize| size.x(ticks[index].1);
        let (names, middles): (Vec<String>, Vec<f64>) = self.x.names().into_iter().unzip();
        let middle = |index: usize| size.x(middles[index]);
        let base = size.y(0.0);
        html! {
            @for (index, label) in labels_with_room(&labels, at, within()).iter().enumerate() {
                @let x = px(at(index));
                line.axis x1=(x) x2=(x) y1=(px(base)) y2=(px(base + 4.0)) {}
                @if let Some(label) = label {
                    text.tick x=(x) y=(px(base + 16.0)) text-anchor="middle" { (label) }
                }
            }
            @for (index, name) in labels_with_room(&names, middle, within()).iter().enumerate() {
                @if let Some(name) = name {
                    text.axis-name x=(px(middle(index))) y=(px(size.height - 5.0)) text-anchor="middle" { (name) }
                }
            }
        }
    }

    /// A mean over all sessions; an interval that leaves the axis is cut off.
    fn mean(&self, size: Size, style: usize, mean: &Interval) -> Markup {
        let y = |value: f64| size.y(self.y.share(value));
        let (left, right) = (size.x(0.0), size.x(1.0));
        let (top, bottom) = (y(mean.high), y(mean.low));
        html! {
            g class=(colour_class(style)) {
                rect.band x=(px(left)) width=(px(right - left)) y=(px(top)) height=(px(bottom - top)) {}
                path.stroke d={ "M" (px(left)) " " (px(y(mean.estimate))) "H" (px(right)) } stroke-dasharray="7 3" {}
            }
        }
    }

    fn line(&self, size: Size, series: &SessionSeries<'_>) -> Markup {
        let placed = series.points.iter().filter_map(|point| {
            let x = size.x(self.x.share(point.session, point.t_s)?);
            Some((x, size.y(self.y.share(point.value)), point))
        });
        let placed: Vec<(f64, f64, &SessionPoint)> = placed.collect();
        let mut path = String::new();
        let mut last = None;
        for (x, y, point) in &placed {
            // No line leads from one session to the next.
            let is_next = last.replace(point.session) == Some(point.session);
            path.push_str(if is_next { "L" } else { "M" });
            path.push_str(&format!("{} {}", px(*x), px(*y)));
        }
        let dash = Some(dash(series.style)).filter(|dash| !dash.is_empty());
        html! {
            g class=(colour_class(series.style)) {
                path.stroke d=(path) stroke-dasharray=[dash] {}
                @for (x, y, point) in &placed {
                    g {
                        title {
                            "session " (point.session) ", batch " (point.batch) ", " (moment(point.t_s)) ", " (series.name) ": "
                            ((self.hint)(point.value))
                        }
                        (marker(series.style, *x, *y))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use units::change;

    use super::*;

    /// A session of 60 s and one of 30 s.
    fn axis() -> SessionAxis {
        let times = [
            (2, 10.0, 25.0),
            (1, 5.0, 35.0),
            (1, 35.0, 65.0),
            (2, 25.0, 40.0),
        ];
        SessionAxis::of(times.into_iter())
    }

    #[test]
    fn sessions_follow_each_other_with_a_gap_at_one_scale() {
        let axis = axis();
        let share = |session, t_s| (axis.share(session, t_s).unwrap() * 1e4).round() / 1e4;
        // 97 % of the axis are 90 s.
        assert_eq!((share(1, 5.0), share(1, 65.0)), (0.0, 0.6467));
        assert_eq!((share(2, 10.0), share(2, 40.0)), (0.6767, 1.0));
        assert_eq!((share(1, 35.0), share(2, 25.0)), (0.3233, 0.8383));
        assert_eq!(axis.share(3, 10.0), None);
        let ticks: Vec<f64> = axis.ticks().iter().map(|(t_s, _)| *t_s).collect();
        assert_eq!(
            ticks,
            [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 10.0, 20.0, 30.0, 40.0]
        );
        let names: Vec<String> = axis.names().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["session 1, seconds", "session 2, seconds"]);
        let only = SessionAxis::of([(7, 3.0, 3.0)].into_iter());
        assert_eq!(only.share(7, 3.0), Some(0.0));
        assert_eq!(only.names()[0].0, "seconds of the session");
    }

    #[test]
    fn a_line_ends_with_its_session_and_its_mean_covers_all_sessions() {
        let point = |session, batch, t_s, value| SessionPoint {
            session,
            batch,
            t_s,
            value,
        };
        let chart = SessionChart {
            description: Description {
                id: "c1",
                title: "Change <by> time",
                text: "Three pairs.",
            },
            x: &axis(),
            y_name: "change of throughput",
            y: &Axis::around(0.9, 1.3, 4),
            tick: change,
            hint: change,
            level: Some(1.0),
            series: vec![SessionSeries {
                name: "flush 2",
                style: 2,
                points: vec![
                    point(1, 1, 5.0, 1.1),
                    point(1, 2, 65.0, 1.2),
                    point(2, 1, 40.0, 1.3),
                ],
                mean: Some(Interval {
                    estimate: 1.2,
                    low: 1.1,
                    high: 9.0,
                }),
            }],
        };
        let svg = chart.draw().into_string();
        // The plot is 652 units wide and begins at 58; it is 112 units high, and ends at 134.
        for part in [
            r#"d="M58 78L479.6 50M710 22""#,
            r#"<rect class="warm-up" x="479.6" width="19.6" y="22" height="112">"#,
            r#"<rect class="band" x="58" width="652" y="22" height="56">"#,
            r#"d="M58 50H710""#,
            r#"<line class="axis" x1="58" x2="710" y1="106" y2="106">"#,
            "session 2, batch 1, 40 s, flush 2: +30 %",
            "Change &lt;by&gt; time",
        ] {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
    }
}
