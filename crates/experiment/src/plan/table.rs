//! A plan as text for `--plan`.

use std::{ops::RangeInclusive, time::Duration};

use units::{counted, elapsed, span};

use settings::WarmUp;

use crate::{
    plan::{Plan, PlannedRun, estimate::Costs, order::Order},
    spec::{
        compared_versions::compared_versions_in_words,
        design::{Design, Slicing},
        repeats::Repeats,
        server::ServerSpec,
    },
};

/// Maximum number of runs that are listed; the others are counted.
const LISTED_AT_MOST: usize = 20;

/// Runs of a combination after which a search usually ends: 20 to 30 in the simulations of `stats`, and 34 to 40 on a
/// MariaDB server whose response times differed more from run to run.
const USUAL_OF_SEARCH: RangeInclusive<u32> = 20..=40;

impl Plan {
    /// The plan as text: factors, number of runs, estimated time, and the first runs in their order.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        let width = self
            .factors
            .iter()
            .map(|factor| factor.name.chars().count());
        let width = width.max().unwrap_or(0);
        for factor in &self.factors {
            let levels = factor.levels.iter().map(|level| {
                let key = (factor.name.clone(), level.clone());
                match self.meanings.get(&key) {
                    Some(meaning) => format!("{level} ({meaning})"),
                    None => level.clone(),
                }
            });
            let levels = levels.collect::<Vec<_>>().join("  ");
            text.push_str(&format!("factor  {:width$}  {levels}\n", factor.name));
        }
        if !self.loads.is_empty() {
            text.push_str(&format!("loads   {}\n", self.loads.join("  ")));
        }
        let order = match self.order {
            Order::Random => "random",
            Order::Grouped => "grouped",
            Order::File => "file",
        };
        let combinations = self.runs.len() / self.repeats.blocks() as usize;
        let (combinations, runs) = (counted(combinations, "combination"), self.runs.len());
        let (planned, seed) = (counted(runs, "run"), self.seed);
        let repeats = |count: u32| match self.design {
            Design::Classical => counted(count as usize, "repeat"),
            Design::SideBySide(_) => counted(count as usize, "session"),
        };
        let count = match self.repeats {
            Repeats::Times(times) => format!("{} = {planned}", repeats(times)),
            Repeats::UntilDecided { at_most, time } => {
                let within = time.map(|time| format!(" within {}", span(time)));
                let (at_most, within) = (repeats(at_most), within.unwrap_or_default());
                format!("at most {at_most}, until decided{within} = at most {planned}")
            }
        };
        text.push_str(&format!(
            "plan    {combinations} x {count}, order {order}, seed {seed}\n"
        ));
        if let Some(limits) = self.limits_in_words() {
            text.push_str(&format!("find    the highest rate with {limits}\n"));
        }
        if let Some(slices) = self.slices_in_words() {
            text.push_str(&format!("design  side by side, {slices}\n"));
        }
        if let Some(alike) = self.of_compared_versions() {
            text.push_str(&format!("alike   {alike}\n"));
        }
        if let Some(moved) = self.moved_baseline() {
            text.push_str(&format!("against {moved}\n"));
        }
        if self.identity.scale() < 1.0 {
            text.push_str(&format!("scale   {}\n", self.identity.scale()));
        }
        for equal in &self.equal_levels {
            text.push_str(&format!("equal   {equal}\n"));
        }
        let until_steady = |run: &PlannedRun| {
            let mut loads = run.loads.iter();
            loads.any(|load| matches!(load.spec.warmup, WarmUp::UntilSteady { .. }))
        };
        let until_decided = matches!(self.repeats, Repeats::UntilDecided { .. });
        let bound = if until_decided || self.runs.iter().any(until_steady) {
            "at most "
        } else {
            ""
        };
        let estimate = self.estimate(&Costs::default());
        let budget = self.repeats.time().unwrap_or(Duration::MAX);
        let estimate = span(estimate.min(budget));
        text.push_str(&format!("time    {bound}about {estimate}\n"));
        if let Some(usual) = self.usual_of_search(budget) {
            text.push_str(&format!("usual   {usual}\n"));
        }
        text.push('\n');
        text.push_str(&self.table());
        text
    }

    /// After how many runs a search usually ends, and how long they take within a budget, in words; `None` without a
    /// search, and if it cannot have more runs than the fewest of them.
    fn usual_of_search(&self, budget: Duration) -> Option<String> {
        let (fewest, most) = USUAL_OF_SEARCH.into_inner();
        let most = most.min(self.repeats.blocks());
        self.limits_in_words()?;
        let time_of = |runs| {
            let time = self.estimate_of_blocks(runs, &Costs::default());
            span(time.min(budget))
        };
        let (shortest, longest) = (time_of(fewest), time_of(most));
        (fewest < most).then(|| {
            format!("{fewest} to {most} runs of each combination, about {shortest} to {longest}")
        })
    }

    /// The limits for which the highest rate is searched, each once: `p99 < 20 ms`; `None` without a search.
    fn limits_in_words(&self) -> Option<String> {
        let loads = self.runs.iter().flat_map(|run| &run.loads);
        let mut limits = Vec::new();
        for limit in loads.filter_map(|load| load.spec.find.as_ref()) {
            let limit = limit.in_words();
            if !limits.contains(&limit) {
                limits.push(limit);
            }
        }
        (!limits.is_empty()).then(|| limits.join(" or "))
    }

    /// What a session measures of each combination, in words; `None` of a classical design.
    fn slices_in_words(&self) -> Option<String> {
        let Design::SideBySide(slicing) = self.design else {
            return None;
        };
        let duration = self.runs.first()?.data_load.duration;
        let slices = slicing.slices_at_most(duration);
        let (slice, settle) = (elapsed(slicing.slice), elapsed(slicing.settle));
        let quiet = if slicing.quiet {
            let most = span(Slicing::QUIET_AT_MOST);
            format!(", a pause of at most {most} after each until its server is quiet")
        } else {
            String::new()
        };
        Some(format!(
            "at most {slices} slices of {slice} per combination and session, {settle} to settle before each{quiet}"
        ))
    }

    /// What servers of different versions have alike, in words; `None` where there is one version.
    pub fn of_compared_versions(&self) -> Option<String> {
        let has = |run: &PlannedRun| matches!(&run.server, ServerSpec::Private { defaults, .. } if !defaults.is_empty());
        self.runs.iter().any(has).then(compared_versions_in_words)
    }

    /// What is compared with in place of a baseline that `--only` leaves out, in words; `None` where it runs.
    pub fn moved_baseline(&self) -> Option<String> {
        (!self.moved_baselines.is_empty()).then(|| self.moved_baselines.join("; "))
    }

    /// Pairs of levels that measure the same because of `--scale`, in words: `rows 3k and 4k measure the same with this
    /// scale`.
    pub fn equal_levels(&self) -> &[String] {
        &self.equal_levels
    }

    fn table(&self) -> String {
        let names = self.factors.iter().map(|factor| factor.name.clone());
        let block = match self.design {
            Design::Classical => "block",
            Design::SideBySide(_) => "session",
        };
        let heading = ["run", block].map(str::to_owned).into_iter().chain(names);
        let mut rows: Vec<Vec<String>> = vec![heading.collect()];
        let listed = self.runs.iter().take(LISTED_AT_MOST);
        rows.extend(listed.map(|run| self.row(run)));
        let widths: Vec<usize> = (0..rows[0].len())
            .map(|at| {
                rows.iter()
                    .map(|row| row[at].chars().count())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in rows {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:>width$}"))
                .collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        let more = self.runs.len().saturating_sub(LISTED_AT_MOST);
        if more > 0 {
            text.push_str(&format!("and {more} more\n"));
        }
        text
    }

    fn row(&self, run: &PlannedRun) -> Vec<String> {
        let levels = self.factors.iter().map(|factor| {
            let level = run.combination.get(&factor.name);
            level.cloned().unwrap_or_default()
        });
        let position = [run.run.to_string(), run.block.to_string()];
        position.into_iter().chain(levels).collect()
    }
}
