//! What a throughput needs, for people: at most twelve lines on a wide terminal.

use stats::Interval;

use crate::{
    answer_line::AnswerLine,
    limit::Limit,
    measured_records::MeasuredRecords,
    prediction_text::{drift_in_words, no_scaling_model, not_validated, rate},
    requirement::{Need, Requirement, RequirementRow, RowMemory},
};

/// Rows that are shown; formats for programs have all.
fn rows_at_most(requirement: &Requirement) -> usize {
    // One line of the answer is that of the problems.
    match requirement.conditions.problems() {
        Some(_) => 3,
        None => 4,
    }
}

/// The answer, without its remarks.
pub fn requirement_lines(requirement: &Requirement) -> Vec<AnswerLine> {
    let mut lines = vec![AnswerLine::new("", requirement_sentence(requirement))];
    for row in requirement.rows.iter().take(rows_at_most(requirement)) {
        lines.push(AnswerLine::new("memory", row_in_words(requirement, row)));
    }
    if let Some(left_out) = left_out_in_words(requirement) {
        lines.push(AnswerLine::new("left out", left_out));
    }
    for limit in [Limit::Fsyncs, Limit::Network] {
        if let Some(need) = strictest(requirement, limit) {
            lines.push(AnswerLine::new(limit.name(), need_in_words(limit, need)));
        }
    }
    if let Some(allowed) = &requirement.allowed {
        lines.push(AnswerLine::new("p99", allowed.in_words()));
    }
    if let Some(why) = no_law(requirement) {
        lines.push(AnswerLine::new("scaling", no_scaling_model(why)));
    }
    if !requirement.drifts.is_empty() {
        let text = drift_in_words(&requirement.drifts);
        lines.push(AnswerLine::new("drift", text));
    }
    if let Some(problems) = requirement.conditions.problems() {
        lines.push(AnswerLine::new("problems", problems));
    }
    lines.push(AnswerLine::new("measured", measured_in_words(requirement)));
    lines
}

/// The answer in a sentence or two.
pub fn requirement_sentence(requirement: &Requirement) -> String {
    let limit = requirement.allowed.as_ref();
    let limit = limit.map(|it| format!(" with {}", it.limit.in_words()));
    let load = format!(
        "{} operations/s{}",
        units::si(requirement.per_s),
        limit.unwrap_or_default()
    );
    if let Some(why) = &requirement.not_measured {
        return format!("The needs of {load} are not known: {why}.");
    }
    if requirement.is_impossible() {
        return format!("No machine carries {load}, by the scaling model.");
    }
    if !requirement.is_known() {
        return format!(
            "Some needs of {load} are not known: an amount is a lower bound or was not measured."
        );
    }
    let confidence = units::percent(Requirement::SUFFICES);
    // A limit on the response time leaves one.
    let no_reserve = match requirement.allowed {
        Some(_) => "",
        None => " The amounts contain no reserve.",
    };
    let suffices = format!(
        "The upper end of each interval suffices with {confidence} confidence (of the flush time, the lower end).{no_reserve}"
    );
    let rows = requirement.rows.iter();
    let known = rows.filter(|row| row.is_known()).count();
    match requirement.rows.len() {
        1 => format!("{load} need a machine with these amounts. {suffices}"),
        count if count == known => {
            format!("{load} need one of {count} combinations of memory, CPUs and IOPS. {suffices}")
        }
        count => format!(
            "Known to carry {load}: {known} of {count} combinations of memory, CPUs and IOPS. {suffices}"
        ),
    }
}

/// `24.0 GiB of buffer pool (25 % of the data): 5.12 (4.90 to 5.35) CPUs, 3.65k (...) reads/s, 2.13k (...) writes/s`
fn row_in_words(requirement: &Requirement, row: &RequirementRow) -> String {
    let memory = match &row.memory {
        Some(memory) => memory_in_words(memory),
        None => "as measured".to_owned(),
    };
    let shown = row.needs.iter();
    let shown = shown.filter(|(limit, _)| !matches!(limit, Limit::Fsyncs | Limit::Network));
    let needs: Vec<String> = shown
        .map(|(limit, need)| need_in_words(*limit, need))
        .collect();
    let connections = row.connections.map(|connections| {
        let count = units::counted_amount(connections.round(), "connection");
        format!(" with {count}")
    });
    let mut text = format!(
        "{memory}: {}{}",
        needs.join(", "),
        connections.unwrap_or_default()
    );
    if let Some(not_validated) = not_validated_in_words(requirement, row) {
        text.push_str(&format!("; {not_validated}"));
    }
    text
}

/// `not validated here (2 CPUs measured)`; `None` for a row with at most as many CPUs.
pub fn not_validated_in_words(requirement: &Requirement, row: &RequirementRow) -> Option<String> {
    let measured = requirement.measured_cpus;
    measured.filter(|it| is_above(row, *it)).map(not_validated)
}

/// Whether a row has more CPUs than were measured.
fn is_above(row: &RequirementRow, measured_cpus: f64) -> bool {
    row.needs.iter().any(|(limit, need)| {
        let is_more =
            matches!(need, Need::Amount { amount, .. } if amount.estimate > measured_cpus);
        *limit == Limit::Cpus && is_more
    })
}

/// `24.0 GiB of buffer pool (25 % of the data)`
pub fn memory_in_words(memory: &RowMemory) -> String {
    let assumed = if memory.buffer_pool.is_assumed {
        " (assumed)"
    } else {
        ""
    };
    let interpolated = if memory.is_interpolated {
        ", interpolated"
    } else {
        ""
    };
    format!(
        "{} of buffer pool{assumed} ({} of the data{interpolated})",
        units::bytes(memory.buffer_pool.bytes),
        units::percent(memory.share.min(1.0))
    )
}

/// `5.12 (4.90 to 5.35) CPUs`
pub fn need_in_words(limit: Limit, need: &Need) -> String {
    match need {
        Need::NotMeasured(why) | Need::Impossible(why) => why.clone(),
        Need::Nothing => format!("no {}", of_a_limit(limit)),
        Need::Amount {
            amount,
            at_least_why,
        } => {
            let (at_least, without) = match at_least_why {
                Some(_) => ("at least ", " (without contention)"),
                None => ("", ""),
            };
            format!("{at_least}{}{without}", amount_in_words(limit, amount))
        }
    }
}

fn of_a_limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Cpus => "CPU time",
        Limit::Reads => "reads",
        Limit::Writes => "writes",
        Limit::Fsyncs => "flushes of the log",
        Limit::Network => "bytes",
    }
}

fn amount_in_words(limit: Limit, amount: &Interval) -> String {
    match limit {
        Limit::Cpus => format!("{} CPUs", rate(amount)),
        Limit::Reads => format!("{} reads/s", rate(amount)),
        Limit::Writes => format!("{} writes/s", rate(amount)),
        Limit::Fsyncs => {
            let [estimate, low, high] = [amount.estimate, amount.low, amount.high].map(|s| s * 1e9);
            let time = units::duration_with_interval(estimate, (low, high));
            format!("at most {time} per flush")
        }
        Limit::Network => {
            let [estimate, low, high] =
                [amount.estimate, amount.low, amount.high].map(units::bits_per_s);
            format!("{estimate} ({low} to {high}) in the direction with more bytes")
        }
    }
}

/// The need of the row that allows the least: the shortest time of a flush, or what was not measured.
fn strictest(requirement: &Requirement, wanted: Limit) -> Option<&Need> {
    let rows = requirement.rows.iter();
    let needs = rows.flat_map(|row| &row.needs);
    let needs = needs.filter(|(limit, _)| *limit == wanted);
    let size = |need: &Need| match need {
        Need::Amount { amount, .. } if wanted == Limit::Fsyncs => amount.low,
        Need::Amount { amount, .. } => -amount.high,
        Need::NotMeasured(_) | Need::Impossible(_) => f64::NEG_INFINITY,
        Need::Nothing => f64::INFINITY,
    };
    needs
        .map(|(_, need)| need)
        .min_by(|a, b| size(a).total_cmp(&size(b)))
}

/// Why the CPUs are a lower bound.
fn no_law(requirement: &Requirement) -> Option<&str> {
    let needs = requirement.rows.iter().flat_map(|row| &row.needs);
    let mut whys = needs.filter_map(|(_, need)| match need {
        Need::Amount { at_least_why, .. } => at_least_why.as_deref(),
        _ => None,
    });
    whys.next()
}

/// The memories that are not better, and the number of rows that are not shown.
fn left_out_in_words(requirement: &Requirement) -> Option<String> {
    let no_better = requirement.left_out.iter().map(memory_in_words);
    let no_better: Vec<String> = no_better.collect();
    let no_better = (!no_better.is_empty())
        .then(|| format!("{}: not better than a smaller one", no_better.join(", ")));
    let hidden = requirement
        .rows
        .len()
        .saturating_sub(rows_at_most(requirement));
    let hidden = (hidden > 0).then(|| {
        let rows = units::counted(hidden, "row");
        format!("{rows} with more memory (see --format csv)")
    });
    let parts: Vec<String> = no_better.into_iter().chain(hidden).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// `45 executions of shop on 10.11.18-MariaDB in 3 blocks; 90 % intervals; not tested`
fn measured_in_words(requirement: &Requirement) -> String {
    let records = MeasuredRecords {
        executions: requirement.executions,
        subject: &requirement.subject,
        blocks: requirement.blocks,
    };
    format!("{}; not tested", records.in_words())
}
