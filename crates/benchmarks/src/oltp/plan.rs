//! The statements that every connection of a run executes.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{script::Script, settings::Settings, statement::Kind};

/// Errors after which an event is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IgnoredErrors {
    All,
    Numbers(Vec<u16>),
}

impl IgnoredErrors {
    /// Error numbers by which a C client reports a lost connection.
    const LOST: [u16; 4] = [2006, 2011, 2013, 2055];

    pub(super) fn holds(&self, number: u16, is_lost: bool) -> bool {
        match self {
            Self::All => true,
            Self::Numbers(numbers) if is_lost => {
                numbers.iter().any(|number| Self::LOST.contains(number))
            }
            Self::Numbers(numbers) => numbers.contains(&number),
        }
    }
}

/// Several statements of one kind, all on the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) times: u32,
}

/// The statements that every connection of a run executes.
#[derive(Debug)]
pub struct Plan {
    pub(super) script: Script,
    pub(super) settings: Settings,
    pub(super) ignored: IgnoredErrors,
    pub(super) steps: Vec<Step>,
    operations: Vec<String>,
    statements: Vec<String>,
    /// Index in `statements` of a kind's name.
    name_of: [usize; Kind::COUNT],
    /// All statements with `?` for their values.
    texts: Vec<String>,
    /// Index in `texts` of a kind's first statement.
    first_text: [usize; Kind::COUNT],
    restarts: AtomicU64,
}

impl Plan {
    /// The plan of a workload.
    pub fn new(script: Script, settings: Settings, ignored: IgnoredErrors) -> Self {
        let steps = steps(script, &settings);
        let mut kinds: Vec<Kind> = steps.iter().map(|step| step.kind).collect();
        if let Some(deletes) = kinds.iter().position(|kind| *kind == Kind::Delete)
            && script.is_transaction()
        {
            kinds.insert(deletes + 1, Kind::Insert);
        }
        if kinds.contains(&Kind::Begin) {
            kinds.push(Kind::Rollback);
        }
        let mut plan = Self {
            operations: vec![script.name().to_owned()],
            statements: if script.is_one_read() {
                Vec::new()
            } else {
                kinds.iter().map(|kind| kind.name().to_owned()).collect()
            },
            name_of: [0; Kind::COUNT],
            texts: Vec::new(),
            first_text: [0; Kind::COUNT],
            restarts: AtomicU64::new(0),
            script,
            settings,
            ignored,
            steps,
        };
        for (index, kind) in kinds.into_iter().enumerate() {
            plan.name_of[kind as usize] = index;
            plan.first_text[kind as usize] = plan.texts.len();
            let of = match (kind, kind.is_of_a_table()) {
                (Kind::BulkInsert, _) => plan.settings.connections,
                (_, true) => plan.settings.tables,
                (_, false) => 1,
            };
            let texts = (1..=of).map(|table| kind.sql(table, &plan.settings));
            plan.texts.extend(texts);
        }
        plan
    }

    /// The workload.
    pub fn script(&self) -> Script {
        self.script
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The only operation type: an event of sysbench.
    pub fn operations(&self) -> &[String] {
        &self.operations
    }

    /// Names of the statements inside it; empty where it is one select, so that its class is known.
    pub fn statements(&self) -> &[String] {
        &self.statements
    }

    /// Number of statements that each connection prepares.
    pub fn prepared_statements(&self) -> u64 {
        if self.is_prepared() {
            self.texts.len() as u64
        } else {
            0
        }
    }

    /// Whether statements are prepared; sysbench sends some as text regardless of the option.
    pub fn is_prepared(&self) -> bool {
        self.settings.is_prepared && !matches!(self.script, Script::Insert | Script::BulkInsert)
    }

    /// Number of errors so far after which an event was restarted.
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    pub(super) fn count_restart(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    /// Index of a kind's name in [`Plan::statements`].
    pub(super) fn name_of(&self, kind: Kind) -> usize {
        self.name_of[kind as usize]
    }

    /// All statements, with `?` for their values.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Index in [`Plan::texts`] of the statement of a kind for a table (from 1).
    pub(super) fn text_of(&self, kind: Kind, table: u32) -> usize {
        let first = self.first_text[kind as usize];
        if kind.is_of_a_table() {
            first + table as usize - 1
        } else {
            first
        }
    }
}

fn steps(script: Script, settings: &Settings) -> Vec<Step> {
    let once = |kind| vec![Step { kind, times: 1 }];
    let reads = [
        (Kind::PointSelect, settings.point_selects, true),
        (
            Kind::SimpleRange,
            settings.simple_ranges,
            settings.range_selects,
        ),
        (Kind::SumRange, settings.sum_ranges, settings.range_selects),
        (
            Kind::OrderRange,
            settings.order_ranges,
            settings.range_selects,
        ),
        (
            Kind::DistinctRange,
            settings.distinct_ranges,
            settings.range_selects,
        ),
    ];
    let writes = [
        (Kind::IndexUpdate, settings.index_updates, true),
        (Kind::NonIndexUpdate, settings.non_index_updates, true),
        (Kind::Delete, settings.delete_inserts, true),
    ];
    let parts: Vec<_> = match script {
        Script::PointSelect => return once(Kind::PointSelect),
        Script::Insert => return once(Kind::Insert),
        Script::BulkInsert => return once(Kind::BulkInsert),
        Script::Delete => return once(Kind::Delete),
        Script::UpdateIndex => return once(Kind::IndexUpdate),
        Script::UpdateNonIndex => return once(Kind::NonIndexUpdate),
        Script::SelectRandomPoints => return once(Kind::RandomPoints),
        Script::SelectRandomRanges => return once(Kind::RandomRanges),
        Script::ReadOnly => reads.to_vec(),
        Script::WriteOnly => writes.to_vec(),
        Script::ReadWrite => [&reads[..], &writes[..]].concat(),
    };
    let inner = parts
        .into_iter()
        .filter(|(_, times, is_wanted)| *is_wanted && *times > 0)
        .map(|(kind, times, _)| Step { kind, times });
    if settings.skip_trx {
        return inner.collect();
    }
    once(Kind::Begin)
        .into_iter()
        .chain(inner)
        .chain(once(Kind::Commit))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::settings, *};

    fn plan(script: Script, settings: Settings) -> Plan {
        Plan::new(script, settings, IgnoredErrors::All)
    }

    #[test]
    fn transactions_are_those_of_sysbench() {
        let told = |plan: &Plan| {
            let steps = plan.steps.iter();
            let told = steps.map(|step| format!("{} {}", step.times, step.kind.name()));
            told.collect::<Vec<_>>().join(", ")
        };
        let read_write = plan(Script::ReadWrite, settings());
        assert_eq!(
            told(&read_write),
            "1 begin, 10 point_selects, 1 simple_ranges, 1 sum_ranges, 1 order_ranges, 1 distinct_ranges, \
             1 index_updates, 1 non_index_updates, 1 deletes, 1 commit"
        );
        assert_eq!(read_write.statements()[9], "inserts");
        // Nine for each of four tables, BEGIN, COMMIT and ROLLBACK.
        assert_eq!(read_write.prepared_statements(), 9 * 4 + 3);
        let less = Settings {
            skip_trx: true,
            range_selects: false,
            index_updates: 0,
            ..settings()
        };
        let less = plan(Script::ReadWrite, less);
        assert_eq!(
            told(&less),
            "10 point_selects, 1 non_index_updates, 1 deletes"
        );
        assert_eq!(told(&plan(Script::Insert, settings())), "1 inserts");
    }

    #[test]
    fn lost_connections_are_ignored_only_where_listed() {
        for (numbers, number, is_lost, holds) in [
            (&[1213, 1205][..], 1213, false, true),
            (&[1213], 1062, false, false),
            (&[1213], 0, true, false),
            (&[2013], 0, true, true),
            (&[2013], 1053, true, true),
        ] {
            let ignored = IgnoredErrors::Numbers(numbers.to_vec());
            assert_eq!(
                ignored.holds(number, is_lost),
                holds,
                "{numbers:?} {number}"
            );
        }
        assert!(IgnoredErrors::All.holds(1064, false));
    }
}
