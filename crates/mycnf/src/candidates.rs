//! What of a file can change how fast a server is, and what cannot: the lines to test, in groups that make sense only
//! together, against another file or the defaults.

mod candidate;
mod grouping;

use std::collections::BTreeSet;

use crate::assignment::{Assignment, is_same_setting};
use crate::behaviour::behaviour;
use crate::catalogue::Kind;
use crate::comparison::OF_INSTANCES;
use crate::data_format_options::SHAPING;
use crate::entry::Entry;
use crate::error::Error;
use crate::file::OptionFile;
use crate::lint::lint;
use crate::machine::Machine;
use crate::name::OptionName;
use crate::private::{DECIDED, DIRECTORIES, FILES, FIXED_AT_CREATION, TEMPORARY};
use crate::rule::Level;
use crate::rules::LOG_WITHOUT_SWITCH;
use crate::secret::is_secret;
use crate::subject::Subject;
use crate::target::Target;

pub use candidate::Candidate;
use grouping::grouped;

/// The group that lines are written into; every server reads it.
const GROUP: &str = "mysqld";

/// Options of one instance, besides those of [`OF_INSTANCES`] and those that a private server has its own of.
const OWN: [&str; 4] = ["mysqlx", "mysqlx_port", "plugin_load", "plugin_load_add"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntestedLine {
    pub entry: Entry,
    pub why: String,
    /// Whether the line stays in the file all the same: it is about something else than speed.
    pub stays: bool,
    /// Whether every measured file has it, the base as well: what is tested is then tested beside it.
    pub is_measured: bool,
}

/// Options by name that the user decides about, in any spelling.
#[derive(Debug, Clone, Copy, Default)]
pub struct OptionSelection<'a> {
    /// Options to test together.
    pub groups: &'a [Vec<String>],
    /// Additional options to test, even though they normally do not affect speed.
    pub tested: &'a [String],
}

/// The lines of a file against a base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    /// What is tested, in the order of the file.
    pub groups: Vec<Candidate>,
    /// What is not tested, in the order of the file.
    pub untested: Vec<UntestedLine>,
    /// Lines that file and base have in common.
    pub common: Vec<Entry>,
}

impl Candidates {
    /// The lines of a file against those of a base, or against the defaults of the version. An error if an option that
    /// is wanted is not tested.
    pub fn new(
        file: &OptionFile,
        base: Option<&OptionFile>,
        target: &Target,
        wanted: &OptionSelection<'_>,
    ) -> Result<Self, Error> {
        let (machine, empty) = (Machine::default(), OptionFile::default());
        let subject = Subject::new(file, target, &machine);
        let base = Subject::new(base.unwrap_or(&empty), target, &machine);
        let mut made = Self {
            groups: Vec::new(),
            untested: Vec::new(),
            common: Vec::new(),
        };
        let asked = asked(wanted.tested, &subject);
        let mut single = Vec::new();
        for line in deciding(&subject) {
            made.sort(line, &subject, &base, &asked, &mut single);
        }
        for line in deciding(&base).filter(|line| subject.set(line.name()).is_none()) {
            let is_tested = reason(line, &asked).is_none()
                && (differs(line, subject.value(line.name())) || base.decides_another(line));
            if is_tested {
                single.push(Candidate {
                    options: vec![line.name().to_owned()],
                    lines: Vec::new(),
                    base: vec![line.entry.clone()],
                });
            }
        }
        for (written, known) in wanted.tested.iter().zip(&asked) {
            if !single.iter().any(|one| one.options.contains(known)) {
                let name = written.clone();
                return Err(Error::NotTested { name });
            }
        }
        made.groups = grouped(single, wanted.groups, &subject.catalogue)?;
        Ok(made)
    }

    /// Adds a line of the file to what is tested, to what is not, or to what both files have.
    fn sort(
        &mut self,
        line: &Assignment<'_>,
        subject: &Subject<'_>,
        base: &Subject<'_>,
        asked: &[String],
        single: &mut Vec<Candidate>,
    ) {
        let entry = line.entry.clone();
        if let Some(reason) = reason(line, asked) {
            self.untested.push(reason.of(entry));
            return;
        }
        let of_base = base.set(line.name());
        let is_effective = of_base.is_none() && subject.decides_another(line);
        if is_effective || differs(line, base.value(line.name())) {
            single.push(Candidate {
                options: vec![line.name().to_owned()],
                lines: vec![entry],
                base: of_base.iter().map(|line| line.entry.clone()).collect(),
            });
        } else if of_base.is_some() {
            self.common.push(entry);
        } else {
            self.untested
                .push(Reason::left_out("equal to the default").of(entry));
        }
    }

    /// The file with these groups' lines, and the base's in place of the others'. It has the untested lines that every
    /// measured file has.
    pub fn with(&self, present: &BTreeSet<usize>) -> Result<OptionFile, Error> {
        let groups = self.groups.iter().enumerate();
        let lines = groups.flat_map(|(at, group)| {
            if present.contains(&at) {
                &group.lines
            } else {
                &group.base
            }
        });
        let mut file = OptionFile::default();
        let measured = self.untested.iter().filter(|it| it.is_measured);
        let measured = measured.map(|it| &it.entry);
        for line in self.common.iter().chain(measured).chain(lines) {
            file.push(GROUP, line.name.as_written(), line.value.clone())?;
        }
        Ok(file)
    }

    /// Joins two groups into the first of them.
    pub fn join(&mut self, one: usize, other: usize) {
        let (first, second) = (one.min(other), one.max(other));
        if first == second {
            return;
        }
        let joined = self.groups.remove(second);
        let group = &mut self.groups[first];
        group.options.extend(joined.options);
        group.lines.extend(joined.lines);
        group.base.extend(joined.base);
    }

    /// Joins groups of which one needs the other: without it the file gets a refusal, or an option without its switch.
    /// A group that a line needs which is in every measured file is not tested.
    pub fn join_dependent(&mut self, target: &Target) -> Result<(), Error> {
        while let Some((one, other)) = self.dependent(target)? {
            match other {
                Some(other) => self.join(one, other),
                None => self.fix(one),
            }
        }
        Ok(())
    }

    /// Takes a group out of the test: its lines stay, in every measured file.
    fn fix(&mut self, group: usize) {
        let lines = self.groups.remove(group).lines;
        let fixed = lines.into_iter().map(|entry| UntestedLine {
            entry,
            why: "required by a line that is not tested".to_owned(),
            stays: true,
            is_measured: true,
        });
        self.untested.extend(fixed);
    }

    /// Two groups of which the second needs the first; no second one if a line outside of the groups does.
    fn dependent(&self, target: &Target) -> Result<Option<(usize, Option<usize>)>, Error> {
        let whole: BTreeSet<usize> = (0..self.groups.len()).collect();
        let complaints = |present: &BTreeSet<usize>| -> Result<BTreeSet<String>, Error> {
            let found = lint(&self.with(present)?, target, &Machine::default());
            let found = found.advice.into_iter().filter(|advice| {
                advice.remark.level == Level::Refused || advice.rule.is(LOG_WITHOUT_SWITCH)
            });
            Ok(found.map(|advice| advice.remark.option).collect())
        };
        let known = complaints(&whole)?;
        for one in &whole {
            let without = whole.iter().copied().filter(|at| at != one).collect();
            for option in complaints(&without)?.difference(&known) {
                let name = option.split('=').next().unwrap_or(option);
                let name = OptionName::new(name);
                let sets = |group: &Candidate| {
                    group
                        .lines
                        .iter()
                        .any(|line| line.name.base() == name.base())
                };
                let is_fixed =
                    |line: &UntestedLine| line.is_measured && line.entry.name.base() == name.base();
                let other = self.groups.iter().position(sets);
                let other = other.filter(|other| other != one);
                if other.is_some() || self.untested.iter().any(is_fixed) {
                    return Ok(Some((*one, other)));
                }
            }
        }
        Ok(None)
    }

    /// Whether file and base make data of different form, so that they cannot use one copy of it.
    pub fn shape_data(&self, target: &Target) -> bool {
        let of_groups = self.groups.iter().flat_map(|group| &group.options);
        let mut options = of_groups.map(String::as_str);
        // MySQL 5.5 does not start with a redo log of another size.
        let is_fixed_log = !target.is_at_least(target.family(), &[5, 6]);
        options.any(|name| {
            SHAPING.contains(&name) || is_fixed_log && name.starts_with("innodb_log_file")
        })
    }
}

/// The lines that decide an option, in the order of the file.
fn deciding<'s, 'a>(subject: &'s Subject<'a>) -> impl Iterator<Item = &'s Assignment<'a>> {
    subject.read().filter(|line| {
        let last = subject.set(line.name());
        last.is_some_and(|last| last.entry.origin == line.entry.origin)
    })
}

/// Why a line is not tested whatever its value is.
struct Reason {
    why: String,
    stays: bool,
    is_measured: bool,
}

impl Reason {
    fn left_out(why: &str) -> Self {
        Self {
            why: why.to_owned(),
            stays: false,
            is_measured: false,
        }
    }

    fn stays(why: &str) -> Self {
        Self {
            stays: true,
            ..Self::left_out(why)
        }
    }

    fn of(self, entry: Entry) -> UntestedLine {
        UntestedLine {
            entry,
            why: self.why,
            stays: self.stays,
            is_measured: self.is_measured,
        }
    }
}

/// The reason of a line that is not tested; options that were asked for are tested although they are about something else
/// than speed.
fn reason(line: &Assignment<'_>, asked: &[String]) -> Option<Reason> {
    let name = line.name();
    let base = line.entry.name.base();
    let is_own = |list: &[&str]| list.contains(&name) || list.contains(&base);
    let is_file = is_own(&FILES) && name != "log_bin";
    let is_directory = is_own(&DIRECTORIES) || is_own(&TEMPORARY);
    let is_of_instance = is_own(&OF_INSTANCES) || is_own(&OWN) || is_own(&DECIDED);
    let is_of_security = is_secret(&line.entry.name)
        || name.contains("password")
        || name.starts_with("ssl")
        || name.starts_with("tls");
    match line.option {
        None => {
            return Some(Reason::stays(
                "unknown to this version without its plugin; not tested",
            ));
        }
        Some(option) if option.kind == Kind::NoEffect => {
            return Some(Reason::left_out("has no effect in this version"));
        }
        _ if is_of_instance || is_file || is_directory => {
            return Some(Reason::stays(
                "specific to the instance: a private server has its own value",
            ));
        }
        _ if is_own(&FIXED_AT_CREATION) => {
            return Some(Reason::stays("fixed when the data directory is created"));
        }
        _ if is_of_security => return Some(Reason::stays("controls access, not speed")),
        _ => {}
    }
    let found = behaviour(name).or_else(|| behaviour(base))?;
    let is_asked = asked.iter().any(|it| it == name);
    (!is_asked).then_some(Reason {
        why: found.why(),
        stays: true,
        is_measured: found.is_measurable,
    })
}

/// The catalogue's names of options that were asked for.
fn asked(written: &[String], subject: &Subject<'_>) -> Vec<String> {
    let names = written.iter().map(|name| {
        let written = OptionName::new(name);
        let known = subject.catalogue.find(&written);
        known
            .map_or(written.base(), |option| option.name)
            .to_owned()
    });
    names.collect()
}

/// Whether a line sets another value than this one; a value that is not known differs.
fn differs(line: &Assignment<'_>, other: Option<String>) -> bool {
    let values = line.value().zip(other);
    values.is_none_or(|(value, other)| !is_same_setting(line.name(), &value, &other))
}

#[cfg(test)]
mod tests;
