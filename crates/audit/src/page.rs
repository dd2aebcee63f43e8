//! The page of the rules, generated from them.

use std::fmt::Write;

use samples::{OF_THE_INSTANCE, OF_THE_SERVER};

use crate::{
    difference::follows,
    grade::FORMULA,
    rule::{Judge, Rule},
    rules::RULES,
};

const HEAD: &str = "\
# The rules of the audit

<!-- Generated from the rules: `UPDATE_PAGES=1 cargo test -p audit page` rewrites this page. -->

`dbdyno audit DIR` (or one record) asks the questions of a sceptical colleague. Was the client the bottleneck? Was
durability given up for speed? Does anything differ besides the setting under study? Were there enough runs, and were
they long enough? The report page of every result contains the answers. The rules read only the run records, so any
result can be audited later and on another machine. Rules marked `storage` in the table also apply to a record of
`dbdyno storage`; the other rules do not.

Each finding has a level: **invalid** (do not compare or publish the figures), **fail** (the figures do not support a
claim), **warn** (the figures mean less than they seem to), **note** (for information) or **pass**. A rule whose input
is missing is **not evaluated**, which never counts as a pass. A rule that has nothing to judge does not apply.

";

const SEVERAL_LOADS: &str = "\
The loads of a run (`[[load]]`) have one record each, and a finding names the load, as in \"run 3 (batch)\". The \
server's counters cover all loads. Rules that relate these counters to operations, statements or connections \
therefore use the totals of all loads: C05, C06, M02, M11, T04, W08, W12, W13. If the record of a load is missing, \
M02, M11, T04 and W08 are not evaluated. Rule H07 does not judge the time per row, because the rows are not counted \
per load. Loads are not compared with each other, and C03 looks for interactions within each load.";

const STAGES: &str = "\
If a load has stages (`stages` in `[load]`), a step from one stage to the next does not make the run unsteady, and the
mean over all stages describes none of them. The rules about the figures of a load and their changes over time therefore
judge each stage separately, and a finding names the stage. A ramp is never steady: M03, M04 and M06 skip it. All other
rules judge whole runs. Rules that judge each stage:";

const SIDE_BY_SIDE: &str = "\
If the runs of a block were side by side (`design = \"side by side\"`), their loads took turns: each load was measured in
slices, with pauses between them. The pauses are no part of the measured phase. Batches of slices are the executions
that are compared, and a finding names the batch. M07 does not apply, because the order of the slices is drawn for each
block of slices. M03 also warns if a server was to be steady and was not when its slices began, and if the misses of its
buffer pool, its checkpoint age or its dirty pages still changed over the slices. M13 judges only runs side by side, and
is left out of the audit of other runs. All other rules judge whole runs. Rules that judge batches:";

const SEARCHES: &str = "\
If the runs search for the highest rate that keeps a limit (`find` in `[load]`), each run has another rate, and rates
are not compared with each other. M01 and M07 do not apply: the interval of the answer shows whether the runs were
enough, and each rate follows from the runs before it. The runs of all rates of a combination are the executions of
its answer.";

/// The page as Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut line = |text: &str| {
        writeln!(page, "{text}").expect("writing to a string does not fail");
    };
    line("## The grade\n");
    line(FORMULA);
    line("");
    line("## All rules\n");
    line("| rule | requirement | applies to |");
    line("| --- | --- | --- |");
    for rule in RULES {
        line(&format!(
            "| [{}](#{}) | {} | {} |",
            rule.id,
            anchor(rule),
            rule.name,
            judges(rule)
        ));
    }
    line("");
    line(&format!("{} rules are evaluated.", RULES.len()));
    line("");
    line("## Several loads\n");
    line(&format!("{SEVERAL_LOADS}\n"));
    line("## Loads with stages\n");
    let by_stage = RULES.iter().filter(|rule| rule.judges_stages());
    let by_stage: Vec<_> = by_stage.map(|rule| rule.id).collect();
    line(&format!("{STAGES} {}.\n", by_stage.join(", ")));
    line("## Runs side by side\n");
    let by_batch = RULES.iter().filter(|rule| rule.judges_batches());
    let by_batch: Vec<_> = by_batch.map(|rule| rule.id).collect();
    line(&format!("{SIDE_BY_SIDE} {}.\n", by_batch.join(", ")));
    line("## Searches\n");
    line(&format!("{SEARCHES}\n"));
    for rule in RULES {
        line(&format!("## {}: {}\n", rule.id, rule.name));
        line(&format!("- **Finding:** {}", rule.found));
        line(&format!("- **Measures:** {}", rule.measures));
        line(&format!("- **Threshold:** {}.", rule.threshold));
        line(&format!("- **Consequence:** {}", rule.consequence));
        line(&format!("- **Remedy:** {}", rule.remedy));
        line(&format!("- **Source:** {}.\n", rule.source));
    }
    line("## Variables that C02 leaves out\n");
    line(
        "These variables change at every server start and are irrelevant to the comparison. A variable is left out if its name contains one of these:\n",
    );
    let listed = |parts: &[&str]| {
        let names: Vec<_> = parts.iter().map(|part| format!("`{part}`")).collect();
        names.join(", ")
    };
    line(&format!(
        "{}. A variable is kept if its name contains one of these: {}.",
        listed(OF_THE_INSTANCE),
        listed(OF_THE_SERVER)
    ));
    line(
        "\nIf two runs differ in a variable, the variables that servers derive from it do not count as further differences:\n",
    );
    for (from, follow) in follows() {
        let follow: Vec<_> = follow.iter().map(|name| format!("`{name}`")).collect();
        line(&format!("- from `{from}`: {}", follow.join(", ")));
    }
    page
}

/// The anchor that GitHub generates for the heading of a rule.
fn anchor(rule: &Rule) -> String {
    let heading = format!("{}: {}", rule.id, rule.name).to_lowercase();
    let kept = heading
        .chars()
        .filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.collect::<String>().replace(' ', "-")
}

fn judges(rule: &Rule) -> &'static str {
    match rule.judge {
        Judge::Run(_) => "each run",
        Judge::Set(_) => "all runs together",
        Judge::Storage(_) => "storage",
        Judge::RunOrStorage(..) => "each run; storage",
        Judge::SetOrStorage(..) => "all runs together; storage",
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn the_page_is_that_of_the_rules() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit-rules.md");
        if std::env::var_os("UPDATE_PAGES").is_some() {
            fs::write(&path, page()).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == page(),
            "docs/audit-rules.md is not that of the rules: UPDATE_PAGES=1 cargo test -p audit page"
        );
    }

    #[test]
    fn every_rule_is_told_once_and_whole() {
        let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        assert_eq!(ids.len(), 63);
        for rule in RULES {
            for text in [
                rule.measures,
                rule.threshold,
                rule.source,
                rule.consequence,
                rule.remedy,
            ] {
                assert!(text.len() > 8, "{}", rule.id);
                assert!(!text.contains("  "), "{}: {text}", rule.id);
            }
        }
    }

    #[test]
    fn every_rule_has_a_file_of_its_own_with_both_fixtures() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        let mut ids = BTreeSet::new();
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if name == "mod" {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                text.contains("fn found()") && text.contains("fn passes()"),
                "{name}"
            );
            ids.insert(name[..3].to_uppercase());
        }
        let known: BTreeSet<String> = RULES.iter().map(|rule| rule.id.to_owned()).collect();
        assert_eq!(ids, known);
    }
}
