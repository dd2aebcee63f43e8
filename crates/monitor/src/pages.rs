//! What `top` shows, as pages for a browser and as metrics for Prometheus.

use exposition::{Labels, Metric, MetricKind};
use top::{BrowserView, Model, Reading, html, panel_at};
use web::{Content, Kind};

/// A browser asks again after this time, seconds.
const REFRESH_S: u32 = 2;
/// Begins the names of figures of now, behind the prefix that all have.
const NOW: &str = "now_";

/// The panel at a path such as `/now/waits`; `None` where there is none.
pub(crate) fn panel_page(path: &str, model: &Model, view: &BrowserView<'_>) -> Option<Content> {
    let panel = panel_at(path)?;
    Some(refreshed(html(model, panel, view)))
}

/// A page that shows what is going on now.
pub(crate) fn refreshed(page: String) -> Content {
    Content::refreshed(page, REFRESH_S)
}

/// The newest figures of a model, if there is one, behind the text of those that are finished.
pub(crate) fn metrics(finished: &str, model: Option<&Model>) -> Content {
    let gauges = model.map(gauges).unwrap_or_default();
    Content::new(Kind::Metrics, exposition::extended(finished, &gauges))
}

/// Figures of one name become one metric.
fn gauges(model: &Model) -> Vec<Metric> {
    let labels = model.labels();
    let mut gauges: Vec<Metric> = Vec::new();
    for reading in model.readings() {
        let name = format!("{NOW}{}", reading.name);
        let sample = (labels_of(&labels, &reading), reading.value);
        match gauges.iter_mut().find(|known| known.name == name) {
            Some(known) => known.samples.push(sample),
            None => gauges.push(Metric {
                kind: MetricKind::Gauge,
                name,
                unit: reading.unit,
                help: reading.help.to_owned(),
                samples: vec![sample],
            }),
        }
    }
    gauges
}

fn labels_of(common: &[(String, String)], reading: &Reading) -> Labels {
    let own = reading.label;
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    common.iter().cloned().chain(own).collect()
}
