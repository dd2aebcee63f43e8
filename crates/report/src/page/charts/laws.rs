//! The fitted scaling models: their curves in the charts of throughput, and their figures as a table.

use maud::{Markup, html};
use units::{percent, si};

use super::{Charts, Value, figures::scrolling};
use crate::{
    chart::line::{CurvePoint, FittedCurve},
    grid::scaling::{Scaling, range},
    sentences::nouns::{has_batches, run_nouns},
};

/// Number of points of a curve; between them it is practically straight.
const PLACES: usize = 40;
/// Maximum number of models in sentences; more of them are a table.
const SENTENCES_AT_MOST: usize = 3;

impl Charts<'_> {
    fn law(&self, facet: usize, line: usize) -> Option<&Scaling> {
        self.laws[facet][line].as_ref()
    }

    /// The model of a line of a facet as a curve; `None` if no model describes it.
    pub(super) fn course(&self, value: &Value, facet: usize, line: usize) -> Option<FittedCurve> {
        let scaling = self
            .law(facet, line)
            .filter(|it| value.laws && it.describes())?;
        let places = (0..=PLACES).map(|at| {
            let x = at as f64 / PLACES as f64;
            let concurrency = self.levels.number_at(x)?;
            let interval = scaling.fit.at(concurrency);
            Some(CurvePoint { x, interval })
        });
        let within = |concurrency: f64| {
            let last = self.levels.number_at(1.0)?;
            self.levels.share_of(concurrency.min(last))
        };
        let peak = scaling.peak().ok().and_then(|peak| {
            let from = within(peak.concurrency.low)?;
            Some((from, within(peak.concurrency.high)?, scaling.in_words()))
        });
        Some(FittedCurve {
            places: places.collect::<Option<_>>()?,
            peak,
        })
    }

    /// The highest value of the models that the axis of a facet must contain; bands of more than twice the highest
    /// measured value are cut off.
    pub(super) fn top_of_laws(&self, value: &Value, facet: usize, measured: f64) -> f64 {
        let lines = 0..self.grid.facets[facet].lines.len();
        let courses = lines.filter_map(|line| self.course(value, facet, line));
        let tops = courses.flat_map(|it| it.places).map(|it| it.interval.high);
        tops.fold(0.0, f64::max).min(measured * 2.0)
    }

    /// The models in words: sentences for few, a table for all.
    pub(super) fn laws_in_words(&self) -> Markup {
        let facets = self.grid.facets.iter().zip(&self.laws);
        let told: Vec<(String, &Scaling)> = facets
            .flat_map(|(facet, laws)| {
                let lines = facet.lines.iter().zip(laws);
                lines.filter_map(move |(line, law)| {
                    let place = [self.line_heading(line), facet.name()];
                    let place: Vec<String> = place.into_iter().flatten().collect();
                    Some((place.join(", "), law.as_ref()?))
                })
            })
            .collect();
        if told.is_empty() {
            return html! {};
        }
        let named = told
            .iter()
            .filter(|(_, it)| it.describes() && it.peak().is_ok());
        let named = named.count();
        html! {
            @if told.len() <= SENTENCES_AT_MOST {
                ul.laws { @for (place, scaling) in &told {
                    li { "Scaling model (USL)" @if !place.is_empty() { " of " (place) } ": " (scaling.in_words()) "." }
                } }
            } @else {
                p { "The scaling model has a peak for " (named) " of " (told.len()) " lines; the other lines were not measured far enough beyond the peak, or do not fit the model." }
            }
            details {
                summary { "Scaling models (USL)" }
                (scrolling("Scaling models (USL)", self.laws_table(&told)))
                p.note { "Universal Scalability Law (Gunther): N connections do λN / (1 + σ(N − 1) + κN(N − 1)) operations/s. σ is the serialised share, κ the cost per pair of connections. Curve and band are the \
                    fit and its 95 % bootstrap interval; the bar at the axis is the interval of the peak. A peak is reported only if the measured connections extend beyond it." }
            }
        }
    }

    fn laws_table(&self, told: &[(String, &Scaling)]) -> Markup {
        let [_, runs] = run_nouns(has_batches(self.grid));
        html! {
            table {
                caption { "Universal Scalability Law of each line, with 95 % intervals" }
                thead { tr {
                    @for name in ["line", "one connection, operations/s (λ)", "contention (σ)", "coherency (κ)", "peak, connections",
                        "peak, operations/s", runs, "residual"] { th scope="col" { (name) } }
                } }
                tbody { @for (place, scaling) in told {
                    @let law = &scaling.fit.law;
                    tr {
                        th scope="row" { @if place.is_empty() { "all runs" } @else { (place) } }
                        @if scaling.describes() {
                            td { (si(law.single_per_s)) }
                            td { (percent(law.contention)) }
                            td { (format!("{:.2e}", law.coherency)) }
                            @match scaling.peak() {
                                Ok(peak) => {
                                    td { (range(&peak.concurrency, |n| format!("{n:.0}"))) }
                                    td { (range(&peak.throughput_per_s, si)) }
                                }
                                Err(none) => td.text colspan="2" { "not named: " (none) },
                            }
                        } @else {
                            td.text colspan="5" { "no scaling model fits" }
                        }
                        td { (scaling.executions) }
                        td { (percent(scaling.distance)) }
                    }
                } }
            }
        }
    }
}
