//! The review of a file and the check of a private server by the catalogue refuse the same lines.

use std::collections::BTreeSet;
use std::path::Path;

use mycnf::{
    Family, Finding, Level, Machine, OptionFile, Options, Startup, Target, judge, lint, traps,
};

use crate::generated_files::generated_file;

#[test]
fn review_and_check_agree_on_200_files() {
    let mut wrong = Vec::new();
    let (mut refused, mut taken) = (0, 0);
    for number in 0..200 {
        let text = generated_file(number);
        assert_eq!(text, generated_file(number));
        let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
        let options = Options::from_groups(&file, &["mysqld"]);
        // One version of each family for each file.
        let one_of = |family: Family| {
            let of_family = Target::all()
                .into_iter()
                .filter(|one| one.family() == family);
            let of_family: Vec<Target> = of_family.collect();
            of_family[number as usize % of_family.len()].clone()
        };
        for target in [one_of(Family::MySql), one_of(Family::MariaDb)] {
            let findings = judge(&target.catalogue(), options.entries()).into_iter();
            let findings = findings
                .chain(traps(&options, &target))
                .filter(Finding::is_refusal);
            let of_check: BTreeSet<_> = findings.filter_map(|one| one.at.number()).collect();
            let found = lint(&file, &target, &Machine::default());
            let remarks = found.advice.iter().map(|advice| &advice.remark);
            // The time zone tables of the check's new data directory are empty; those of other servers may not be.
            let remarks = remarks.filter(|remark| {
                remark.level == Level::Refused || remark.startup() == Startup::WithTimeZones
            });
            let of_lint: BTreeSet<_> = remarks
                .filter_map(|one| one.at.as_ref()?.number())
                .collect();
            if of_check != of_lint {
                wrong.push(format!(
                    "{target}: check {of_check:?}, lint {of_lint:?} of\n{text}"
                ));
            }
            if of_lint.is_empty() {
                taken += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{} files, {}", wrong.len(), wrong[0]);
    assert!(refused > 50 && taken > 50, "{refused} and {taken}");
}
