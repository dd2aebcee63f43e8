//! Rule W03: a claim about data sizes rests on fewer than three of them.

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    set::Set,
};

/// Ratio below which two sizes count as the same.
const SAME: f64 = 1.1;

pub(super) const RULE: Rule = Rule {
    id: "W03",
    name: "a claim about data sizes is based on at least three sizes",
    found: "too few data sizes for a conclusion",
    measures: "The ratios of data size to buffer pool size, if the runs of an experiment have different numbers of rows.",
    threshold: "warn if there are only two data sizes. Warn if no data size is smaller than the buffer pool, or if no data size is larger",
    source: "HP Japan, MySQL Server 5.0 sizing information, which measures sizes below, near and far above the memory size",
    consequence: "Throughput drops sharply at the size at which the data no longer fits into memory. Two sizes cannot show which size that is.",
    remedy: "Use at least three sizes: one that fits into the buffer pool, one about as large as it, and one several times as large.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let ratio =
        |run: &crate::run::Run<'_>| Some(run.data_bytes().ok()? / run.buffer_pool_bytes().ok()?);
    let ratios: Option<Vec<f64>> = set.complete().map(ratio).collect();
    let mut ratios =
        ratios.ok_or_else(|| missing("the data size or the buffer pool size of some runs"))?;
    ratios.sort_by(f64::total_cmp);
    let mut sizes: Vec<f64> = Vec::new();
    for ratio in ratios {
        if sizes.last().is_none_or(|last| ratio > last * SAME) {
            sizes.push(ratio);
        }
    }
    let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else {
        return Err(missing("complete runs"));
    };
    if sizes.len() == 1 || !set.compares() {
        return Err(no_subject("all runs had the same data size"));
    }
    if !has_several_row_counts(set) {
        return Err(no_subject("all runs had the same number of rows"));
    }
    let is_around = *least < 1.0 && *most > 1.0;
    let level = if sizes.len() >= 3 && is_around {
        Level::Pass
    } else {
        Level::Warn
    };
    let told: Vec<_> = sizes.iter().map(|ratio| format!("{ratio:.2}")).collect();
    let evidence = format!(
        "{} data sizes: {} times the buffer pool",
        sizes.len(),
        told.join(", ")
    );
    Ok(Finding::new(level, evidence).with("sizes", sizes.len() as f64))
}

/// True if the runs differ in the number of rows that were loaded. Engines and versions need different numbers of bytes for
/// the same rows: their experiments have no factor with a third size.
fn has_several_row_counts(set: &Set<'_>) -> bool {
    let rows = set.complete().map(|run| run.record.dataset.as_ref());
    let rows: Option<Vec<u64>> = rows.map(|data| data.map(|it| it.rows)).collect();
    let rows = rows.unwrap_or_default();
    let (least, most) = (rows.iter().min(), rows.iter().max());
    least
        .zip(most)
        .is_some_and(|(least, most)| *most as f64 > *least as f64 * SAME)
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;
    use crate::fixture::*;

    fn sizes(sizes: &[(&str, u64)]) -> Vec<Record> {
        let runs = sizes.iter().enumerate();
        runs.map(|(at, (level, gib))| {
            let mut run = run_of(at as u32 + 1, 1, &[("rows", *level)]);
            let data = run.dataset.as_mut().unwrap();
            (data.rows, data.disk_bytes) = (*gib * 500_000, Some(*gib << 30));
            run
        })
        .collect()
    }

    #[test]
    fn found() {
        let outcome = judged_together(&RULE, &sizes(&[("0.5x", 4), ("4x", 32)]), over(&["rows"]));
        assert_found(&outcome, Level::Warn, "2 data sizes: 0.50, 4.00 times");
        let outcome = judged_together(
            &RULE,
            &sizes(&[("a", 1), ("b", 2), ("c", 4)]),
            over(&["rows"]),
        );
        assert_eq!(level(&outcome), Level::Warn);
    }

    #[test]
    fn the_same_rows_in_other_bytes_are_no_other_data_size() {
        let mut runs = sizes(&[("mysql-8.0", 4), ("mariadb-11.4", 5)]);
        for run in &mut runs {
            run.dataset.as_mut().unwrap().rows = 2_000_000;
        }
        assert_no_subject(&judged_together(&RULE, &runs, over(&["version"])));
    }

    #[test]
    fn passes() {
        let outcome = judged_together(
            &RULE,
            &sizes(&[("a", 4), ("b", 8), ("c", 32)]),
            over(&["rows"]),
        );
        assert_found(&outcome, Level::Pass, "3 data sizes");
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
