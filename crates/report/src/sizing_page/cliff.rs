//! The picture of the cliff: throughput over data/memory, with its figures as a table.

use maud::{Markup, html};
use sizing::{CurvePoint, MemoryCurve, rate_in_words};
use units::{si, si_tick};

use crate::{
    chart::{
        curve::{CurveChart, CurvePlace, MarkedPoint},
        frame::{Description, Size},
        scale::Axis,
    },
    page::{scrolling, unbroken},
};

const TITLE: &str = "Throughput over data/memory";
/// Multiple of the highest throughput beyond which the band is cut off, so that it does not compress the curve.
const BAND_AT_MOST: f64 = 1.5;

pub(super) fn section(curve: &Result<MemoryCurve, String>) -> Markup {
    html! {
        section aria-labelledby="cliff" {
            h2 id="cliff" { "The cliff" }
            @match curve {
                Ok(curve) => { (picture(curve)) }
                Err(why) => { p { "Not known: " (unbroken(why)) "." } }
            }
        }
    }
}

fn picture(curve: &MemoryCurve) -> Markup {
    let [first, last] = curve.ends();
    let (low, high) = (first.data_by_memory, last.data_by_memory);
    let x = Axis::around(low.min(curve.today), high.max(curve.today), 6);
    let highest = curve.points.iter().map(|it| it.per_s.estimate);
    let highest = highest.fold(0.0, f64::max);
    let upper = curve.points.iter().map(|it| it.per_s.high);
    let y = Axis::from_zero(upper.fold(0.0, f64::max).min(BAND_AT_MOST * highest), 4);
    let text = format!(
        "The target can do {} operations/s at data/memory {}, and {} at {}.",
        si(first.per_s.estimate),
        si(low),
        si(last.per_s.estimate),
        si(high)
    );
    let chart = CurveChart {
        size: Size::LARGE,
        description: Description {
            id: "curve",
            title: TITLE,
            text: &text,
        },
        x_name: "data/memory",
        x: &x,
        y_name: "operations/s",
        y: &y,
        tick: si_tick,
        places: curve.points.iter().map(place).collect(),
        line: Some((curve.today, "today")),
        point: marked(curve),
    };
    html! {
        div.charts { figure {
            figcaption { (TITLE) }
            (chart.draw())
            p.note {
                "data/memory is the size of the data divided by the size of the buffer pool. Points: the demands were measured at this "
                "data/memory. The band is the interval. The bar on the axis is the interval of the cliff, where the throughput is half "
                "of that at the first point."
            }
        } }
        details {
            summary { "The figures of the curve" }
            (scrolling("The figures of the curve", table(curve)))
        }
    }
}

fn place(point: &CurvePoint) -> CurvePlace {
    let words = || {
        format!(
            "data/memory {}: {} operations/s",
            si(point.data_by_memory),
            rate_in_words(&point.per_s)
        )
    };
    CurvePlace {
        x: point.data_by_memory,
        interval: point.per_s,
        measured: point.is_measured.then(words),
    }
}

/// The cliff; `None` if it was not reached.
fn marked(curve: &MemoryCurve) -> Option<MarkedPoint> {
    let [first, last] = curve.ends();
    let at = curve.cliff.estimate?;
    let latest = curve.cliff.latest.unwrap_or(last.data_by_memory);
    Some(MarkedPoint {
        at: (at, first.per_s.estimate / 2.0),
        between: (curve.cliff.earliest.unwrap_or(at), latest),
        name: "cliff".to_owned(),
        words: sizing::cliff_in_words(curve),
    })
}

fn table(curve: &MemoryCurve) -> Markup {
    html! {
        table {
            thead { tr {
                @for name in ["data/memory", "operations/s", "limit that binds", "demands"] { th scope="col" { (name) } }
            } }
            tbody { @for point in &curve.points { tr {
                th scope="row" { (si(point.data_by_memory)) }
                td { (rate_in_words(&point.per_s)) }
                td { (point.binding.name()) }
                td { (if point.is_measured { "measured" } else { "interpolated" }) }
            } } }
        }
    }
}
