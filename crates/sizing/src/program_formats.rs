//! The answer for programs: JSON and CSV.

use serde_json::{Map, Value, json};

use crate::{
    consolidation::{Consolidation, GroupLoad, ResourceSum},
    day_bootstrap::CONFIDENCE,
    partition::Search,
};

/// One JSON object with all figures, and a line end.
pub fn consolidation_json(answer: &Consolidation) -> String {
    let systems = answer.systems.iter().map(|system| {
        json!({
            "system": system.name,
            "formats": system.kinds,
            "days": system.days,
            "interval_s": system.interval_s,
        })
    });
    let resources = answer
        .resources
        .iter()
        .map(|sum| resource_json(answer, sum));
    let left_out = answer
        .left_out
        .iter()
        .map(|(resource, why)| json!({ "resource": resource.name(), "why": why }));
    let (search, partitions_tried) = match answer.search {
        Search::Exhaustive(tried) => ("exhaustive", Some(tried)),
        Search::Greedy => ("greedy", None),
    };
    let capacity = answer.capacity.iter();
    let capacity: Map<String, Value> = capacity
        .map(|(resource, value)| (resource.name().to_owned(), json!(value)))
        .collect();
    let groups = answer.groups.iter().map(|group| group_json(answer, group));
    let object = json!({
        "systems": systems.collect::<Vec<_>>(),
        "step_s": answer.step_s,
        "aligned_by": answer.alignment.name(),
        "compared_share": answer.compared_share,
        "resources": resources.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "capacity": capacity,
        "search": search,
        "partitions_tried": partitions_tried,
        "groups": groups.collect::<Vec<_>>(),
        "fits": answer.fits(),
        "worst_pair": answer.worst_pair.as_ref().map(|pair| group_json(answer, pair)),
        "intervals": answer.intervals,
        "notes": answer.remarks,
    });
    format!("{object:#}\n")
}

fn names<'a>(answer: &'a Consolidation, systems: &[usize]) -> Vec<&'a str> {
    let names = systems.iter().map(|it| answer.systems[*it].name.as_str());
    names.collect()
}

fn resource_json(answer: &Consolidation, sum: &ResourceSum) -> Value {
    let peaks = answer.systems.iter().zip(&sum.peaks);
    let peaks: Map<String, Value> = peaks
        .map(|(system, peak)| (system.name.clone(), json!(peak)))
        .collect();
    let interval = sum.interval.map(
        |interval| json!({ "low": interval.low, "high": interval.high, "confidence": CONFIDENCE }),
    );
    json!({
        "resource": sum.resource.name(),
        "unit": sum.resource.unit(),
        "peak_of_sum": sum.peak,
        "at": sum.at,
        "interval": interval,
        "sum_of_peaks": sum.sum_of_peaks(),
        "saving": sum.saving(),
        "peaks": peaks,
    })
}

fn group_json(answer: &Consolidation, group: &GroupLoad) -> Value {
    let peaks = answer.resources.iter().zip(&group.peaks);
    let peaks: Map<String, Value> = peaks
        .map(|(sum, peak)| (sum.resource.name().to_owned(), json!(peak)))
        .collect();
    json!({
        "systems": names(answer, &group.systems),
        "share": group.share,
        "resource": group.resource.name(),
        "at": group.at,
        "sum_of_peaks": group.sum_of_peaks,
        "peaks": peaks,
    })
}

/// A table with a header line: the peaks of all systems together (`sum`), of each system, of each group and of the
/// worst pair, by resource.
pub fn consolidation_csv(answer: &Consolidation) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |cells: [String; 8]| {
        let written = writer.write_record(cells);
        written.expect("memory takes all that is written");
    };
    write(
        [
            "of",
            "systems",
            "resource",
            "unit",
            "peak",
            "low",
            "high",
            "sum_of_peaks",
        ]
        .map(str::to_owned),
    );
    let all: Vec<usize> = (0..answer.systems.len()).collect();
    let optional = |value: Option<f64>| value.map(|it| it.to_string()).unwrap_or_default();
    for (at, sum) in answer.resources.iter().enumerate() {
        let mut row = |of: &str, systems: &[usize], peak: f64, bounds: [Option<f64>; 2]| {
            let sum_of_peaks: f64 = systems.iter().map(|it| sum.peaks[*it]).sum();
            write([
                of.to_owned(),
                names(answer, systems).join("+"),
                sum.resource.name().to_owned(),
                sum.resource.unit().to_owned(),
                peak.to_string(),
                optional(bounds[0]),
                optional(bounds[1]),
                sum_of_peaks.to_string(),
            ]);
        };
        let bounds = sum.interval.map(|it| [it.low, it.high].map(Some));
        row("sum", &all, sum.peak, bounds.unwrap_or_default());
        for (system, peak) in sum.peaks.iter().enumerate() {
            row("system", &[system], *peak, [None; 2]);
        }
        for group in &answer.groups {
            row("group", &group.systems, group.peaks[at], [None; 2]);
        }
        if let Some(pair) = &answer.worst_pair {
            row("worst pair", &pair.systems, pair.peaks[at], [None; 2]);
        }
    }
    let bytes = writer
        .into_inner()
        .expect("memory takes all that is written");
    String::from_utf8(bytes).expect("only text was written")
}
