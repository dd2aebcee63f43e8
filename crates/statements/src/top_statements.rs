//! The statements that take most of a server's time, out of a slow query log or the digests of performance_schema.

use std::{collections::HashMap, path::Path};

use blame::{Blame, Blamed};
use protocol::Endpoint;
use runs::{Purpose, backticked};
use sqltext::SqlStatement;
use telemetry::{SlowEntries, fingerprint};

use super::{
    effect::{Effect, effect_of},
    execution_counts::ExecutionCounts,
    system_schemas::uses_only_system_schemas,
};

/// Kinds of statements that are kept apart at most, since each has a sample.
const KINDS_AT_MOST: usize = 20_000;

const LOG_BYTES_MAX: u64 = 64 << 30;

/// ER_BAD_FIELD_ERROR
const UNKNOWN_COLUMN: u16 = 1054;

/// Statements of one kind: equal but for their values, in one database.
#[derive(Debug, Clone, Default)]
struct Kind {
    schema: Option<String>,
    /// Number of executions.
    count: u64,
    /// Time of all executions, seconds.
    total_s: f64,
    /// Text of the longest execution that can be executed again.
    sample: Option<Sample>,
}

#[derive(Debug, Clone)]
struct Sample {
    text: String,
    /// Its line in the log.
    line: u64,
    time_s: f64,
}

/// The kinds of statements of a server's life.
#[derive(Debug, Default)]
pub struct TopStatements {
    kinds: Vec<Kind>,
    /// The log, or the server.
    source: String,
    /// Entries that are not UTF-8, so that their text is not known.
    not_utf8: u64,
}

impl TopStatements {
    pub fn of_slow_log(path: &Path) -> Result<Self, Blamed> {
        let blamed = Blamed::io(Blame::Input, path);
        let file = files::UserText::open_within(path, LOG_BYTES_MAX).map_err(blamed)?;
        let (mut kinds, mut not_utf8): (Vec<Kind>, u64) = (Vec::new(), 0);
        let mut known: HashMap<(Option<String>, String), usize> = HashMap::new();
        for entry in SlowEntries::of(file) {
            let entry = entry.map_err(blamed)?;
            if entry.is_command() {
                continue;
            }
            let mut key = (entry.schema.clone(), fingerprint(&entry.text));
            if kinds.len() >= KINDS_AT_MOST && !known.contains_key(&key) {
                // Their time counts, and they have no sample.
                key = (None, String::new());
            }
            not_utf8 += u64::from(entry.is_changed);
            let has_sample = !key.1.is_empty() && !entry.is_cut && !entry.is_changed;
            let at = *known.entry(key).or_insert_with(|| {
                kinds.push(Kind {
                    schema: entry.schema.clone(),
                    ..Kind::default()
                });
                kinds.len() - 1
            });
            let kind = &mut kinds[at];
            kind.count += entry.stands_for;
            kind.total_s += entry.time_s * entry.stands_for as f64;
            let longest_s = kind.sample.as_ref().map_or(-1.0, |it| it.time_s);
            if has_sample && entry.time_s > longest_s {
                kind.sample = Some(Sample {
                    text: entry.text,
                    line: entry.line,
                    time_s: entry.time_s,
                });
            }
        }
        if kinds.is_empty() {
            let message = format!(
                "{}: it contains no statement of a slow query log",
                path.display()
            );
            let hint = "a log has lines such as '# Query_time: 0.3  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 9'";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        Ok(Self {
            kinds,
            source: path.display().to_string(),
            not_utf8,
        })
    }

    /// Reads the digests of performance_schema, with their samples.
    pub fn of_digests(endpoint: &Endpoint) -> Result<Self, Blamed> {
        let sql = "SELECT schema_name, count_star, sum_timer_wait / 1e12, query_sample_text, \
                   query_sample_timer_wait / 1e12 FROM performance_schema.events_statements_summary_by_digest \
                   WHERE digest IS NOT NULL AND count_star > 0";
        let asked = Purpose::Question.control(endpoint, async |connection| {
            let version = connection.server_version().to_owned();
            match connection.rows(sql).await {
                Err(error) if error.server_number() == Some(UNKNOWN_COLUMN) => Ok(Err(version)),
                sets => Ok(Ok(sets?)),
            }
        });
        let sets = asked?.map_err(|version| {
            let message = format!(
                "server {version} keeps no samples of statements in its digests; MySQL 8.0 and later do"
            );
            Blamed::new(Blame::Input, message)
                .hint("--from FILE reads a slow query log of any version".to_owned())
        })?;
        let text = |value: &Option<Vec<u8>>| {
            let bytes = value.as_deref()?;
            Some(String::from_utf8_lossy(bytes).into_owned())
        };
        let number = |value: &Option<Vec<u8>>| text(value)?.parse::<f64>().ok();
        let mut kinds = Vec::new();
        for (row, place) in sets.iter().flat_map(|set| &set.rows).zip(1..) {
            let [schema, count, total_s, sample, time_s] = row.as_slice() else {
                continue;
            };
            // A text longer than performance_schema_max_sql_text_length ends so.
            let sample = text(sample).filter(|text| !text.is_empty() && !text.ends_with("..."));
            kinds.push(Kind {
                schema: text(schema),
                count: number(count).unwrap_or(0.0) as u64,
                total_s: number(total_s).unwrap_or(0.0),
                sample: sample.map(|text| Sample {
                    text: text.trim_end().trim_end_matches(';').to_owned(),
                    line: place,
                    time_s: number(time_s).unwrap_or(0.0),
                }),
            });
        }
        if kinds.is_empty() {
            let message = "the server has no digests of statements: performance_schema is off, or their table was emptied";
            return Err(Blamed::new(Blame::Input, message)
                .hint("--from FILE reads a slow query log".to_owned()));
        }
        Ok(Self {
            kinds,
            source: "digest".to_owned(),
            not_utf8: 0,
        })
    }

    /// The executions of each kind, for its sample.
    pub fn execution_counts(&self) -> ExecutionCounts {
        let kinds = self.kinds.iter();
        let samples = kinds.filter_map(|kind| Some((kind.statement(&self.source)?, kind.count)));
        ExecutionCounts::of(samples)
    }

    /// The samples of the `top` kinds with the most time, each after a `USE` of its database where that changes, and a
    /// sentence about them. A kind without a sample that can be executed and taken back is left out, and so is one that the
    /// server refuses: `refusal` is its error in this database. Kinds without a database come first, so that they do not run
    /// in that of another one. What reads only tables of the server itself, such as the questions of a monitor, does not
    /// count.
    pub(super) async fn statements(
        mut self,
        top: usize,
        mut refusal: impl AsyncFnMut(
            Option<&SqlStatement>,
            &SqlStatement,
        ) -> Result<Option<String>, Blamed>,
    ) -> Result<(Vec<SqlStatement>, String), Blamed> {
        let (about_server, kinds): (Vec<Kind>, Vec<Kind>) = std::mem::take(&mut self.kinds)
            .into_iter()
            .partition(|kind| kind.is_about_server(&self.source));
        self.kinds = kinds;
        self.kinds.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
        let total_s: f64 = self.kinds.iter().map(|kind| kind.total_s).sum();
        let count: u64 = self.kinds.iter().map(|kind| kind.count).sum();
        let (mut statements, mut without_schema, mut current) = (Vec::new(), Vec::new(), None);
        let (mut taken, mut taken_s, mut left_out, mut refused) = (0, 0.0, 0, Vec::new());
        for kind in &self.kinds {
            if taken == top {
                break;
            }
            let Some(statement) = kind.statement(&self.source) else {
                left_out += 1;
                continue;
            };
            let change = kind.use_of_schema(&statement, &self.source);
            if let Some(why) = refusal(change.as_ref(), &statement).await? {
                refused.push(why);
                continue;
            }
            match change {
                Some(change) => {
                    if kind.schema != current {
                        current.clone_from(&kind.schema);
                        statements.push(change);
                    }
                    statements.push(statement);
                }
                None => without_schema.push(statement),
            }
            taken += 1;
            taken_s += kind.total_s;
        }
        without_schema.append(&mut statements);
        let statements = without_schema;
        let mut notes = String::new();
        if let Some(first) = refused.first() {
            let kinds = units::counted(refused.len(), "more expensive kind");
            notes = format!(
                "; {kinds} left out because this server refuses them, the first with: {first}"
            );
        }
        if self.not_utf8 > 0 {
            let entries = units::counted(
                usize::try_from(self.not_utf8).unwrap_or(usize::MAX),
                "entry",
            );
            notes += &format!("; {entries} not in UTF-8, so there is no sample");
        }
        if !about_server.is_empty() {
            notes += &format!(
                "; {} not counted because they use only tables of the server itself",
                units::counted(about_server.len(), "kind")
            );
        }
        if taken == 0 {
            let message = format!(
                "{}: none of its {} of statements can be executed again: definitions, transactions, truncated texts \
                 or placeholders{notes}",
                self.source,
                units::counted(self.kinds.len(), "kind")
            );
            return Err(Blamed::new(Blame::Input, message));
        }
        let left_out = match left_out {
            0 => String::new(),
            number => format!(
                "; {} before them left out: not a SELECT, INSERT, UPDATE or DELETE, or not the whole text",
                units::counted(number, "more expensive kind")
            ),
        };
        let share = if total_s > 0.0 {
            taken_s / total_s
        } else {
            0.0
        };
        let note = format!(
            "{}: {} statements of {}; the longest one of each of the {taken} most expensive kinds, which took {} of \
             {}{left_out}{notes}",
            self.source,
            units::count(count as f64),
            units::counted(self.kinds.len(), "kind"),
            units::percent(share),
            units::seconds(total_s),
        );
        Ok((statements, note))
    }
}

impl Kind {
    /// Whether its sample reads only tables of the schemas of the server.
    fn is_about_server(&self, source: &str) -> bool {
        let statement = self.statement(source);
        statement.is_some_and(|it| {
            effect_of(&it) == Effect::Reads && uses_only_system_schemas(&it, self.schema.as_deref())
        })
    }

    /// The `USE` of its database, at the place of its sample.
    fn use_of_schema(&self, statement: &SqlStatement, source: &str) -> Option<SqlStatement> {
        let name = self.schema.as_deref()?;
        let text = format!("use {}", backticked(name));
        let line = statement.place().line;
        Some(SqlStatement::of_line(source, line, text.into_bytes()))
    }

    /// Its sample, if it can be executed again.
    fn statement(&self, source: &str) -> Option<SqlStatement> {
        let sample = self.sample.as_ref()?;
        let line = usize::try_from(sample.line).unwrap_or(usize::MAX);
        let statement = SqlStatement::of_line(source, line, sample.text.clone().into_bytes());
        let can_be_executed =
            effect_of(&statement) != Effect::Other && !statement.has_placeholder();
        can_be_executed.then_some(statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(entries: &[(&str, f64, &str)]) -> String {
        let entry = |(schema, time_s, text): &(&str, f64, &str)| {
            format!(
                "# User@Host: a[a] @ b []\n# Thread_id: 1  Schema: {schema}  QC_hit: No\n\
                 # Query_time: {time_s}  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1;\n{text};\n"
            )
        };
        entries.iter().map(entry).collect()
    }

    fn of(text: impl AsRef<[u8]>, top: usize) -> Result<(Vec<String>, String), String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("slow.log");
        std::fs::write(&path, text).unwrap();
        let found = TopStatements::of_slow_log(&path).and_then(|found| {
            let found = found.statements(top, async |_, statement| {
                let is_gone = statement.has_word("gone");
                Ok(is_gone.then(|| "no table gone".to_owned()))
            });
            reactor::block_on(found).map_err(Blamed::machine)?
        });
        let (statements, note) = found.map_err(|error| error.message)?;
        let name = directory.path().display().to_string();
        let texts = statements.iter().map(|it| {
            let text = String::from_utf8_lossy(it.text()).into_owned();
            format!("{}: {text}", it.place()).replace(&format!("{name}/"), "")
        });
        Ok((texts.collect(), note.replace(&format!("{name}/"), "")))
    }

    #[test]
    fn the_costliest_kinds_come_first_with_their_longest_sample() {
        let text = log(&[
            ("shop", 1.0, "select a from t where b = 1"),
            ("shop", 2.0, "select a from t where b = 2"),
            ("wiki", 2.5, "select a from t where b = 3"),
            ("shop", 9.0, "drop table t"),
            ("shop", 0.5, "select 1"),
        ]);
        let (texts, note) = of(&text, 2).unwrap();
        assert_eq!(
            texts,
            [
                "slow.log:10:1: use `shop`",
                "slow.log:10:1: select a from t where b = 2",
                "slow.log:15:1: use `wiki`",
                "slow.log:15:1: select a from t where b = 3"
            ]
        );
        assert!(
            note.starts_with(
                "slow.log: 5 statements of 4 kinds; the longest one of each of the 2 most expensive kinds"
            ),
            "{note}"
        );
        assert!(
            note.contains("1 more expensive kind before them left out"),
            "{note}"
        );
    }

    #[test]
    fn a_sample_weighs_as_much_as_all_executions_of_its_kind() {
        let text = log(&[
            ("shop", 1.0, "select a from t where b = 1"),
            ("shop", 0.5, "select 1"),
            ("shop", 2.0, "select a from t where b = 2"),
        ]);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("slow.log");
        std::fs::write(&path, text).unwrap();
        let found = TopStatements::of_slow_log(&path).unwrap();
        let counts = found.execution_counts();
        let sample = found.kinds[0].statement(&found.source).unwrap();
        assert_eq!(counts.weight(&sample), 2.0);
        assert_eq!(counts.weight(&sample.reworded(b"select 2")), 2.0);
        let other = SqlStatement::of_line("-e", 1, b"select 1".to_vec());
        assert_eq!(counts.weight(&other), 1.0);
    }

    #[test]
    fn the_next_kind_follows_one_that_the_server_refuses() {
        let text = log(&[
            ("shop", 9.0, "select a from gone"),
            ("shop", 3.0, "select a from t"),
            ("", 2.0, "select b from wiki.t"),
            ("shop", 1.0, "select 1"),
        ]);
        let (texts, note) = of(&text, 2).unwrap();
        assert_eq!(
            texts,
            [
                "slow.log:15:1: select b from wiki.t",
                "slow.log:10:1: use `shop`",
                "slow.log:10:1: select a from t",
            ]
        );
        assert!(note.contains("1 more expensive kind left out"), "{note}");
        assert!(note.contains("the first with: no table gone"), "{note}");
    }

    #[test]
    fn statements_about_the_server_itself_do_not_count() {
        let text = log(&[
            ("shop", 9.0, "select * from performance_schema.threads"),
            ("sys", 8.0, "select * from host_summary"),
            (
                "shop",
                7.0,
                "select * from t join mysql.user u on u.a = t.a",
            ),
            ("shop", 3.0, "select a from t"),
        ]);
        let (texts, note) = of(&text, 2).unwrap();
        assert_eq!(
            texts,
            [
                "slow.log:15:1: use `shop`",
                "slow.log:15:1: select * from t join mysql.user u on u.a = t.a",
                "slow.log:20:1: select a from t",
            ]
        );
        assert!(
            note.starts_with("slow.log: 2 statements of 2 kinds"),
            "{note}"
        );
        let end = "; 2 kinds not counted because they use only tables of the server itself";
        assert!(note.ends_with(end), "{note}");
    }

    #[test]
    fn a_text_that_is_not_utf8_is_no_sample() {
        let text = log(&[("a", 2.0, "select '#'"), ("a", 1.0, "select 1")]);
        let mut bytes = text.into_bytes();
        let at = bytes.windows(3).position(|it| it == b"'#'").unwrap();
        bytes[at + 1] = 0xe9;
        let (texts, note) = of(bytes, 3).unwrap();
        assert_eq!(texts.last().unwrap(), "slow.log:10:1: select 1");
        assert!(note.contains("1 entry not in UTF-8"), "{note}");
    }

    #[test]
    fn what_cannot_be_executed_again_is_said() {
        let text = log(&[("a", 1.0, "commit"), ("a", 1.0, "select ? + 1")]);
        assert!(of(&text, 3).unwrap_err().contains("none of its 2 kinds"));
        assert!(
            of("select 1;\n", 3)
                .unwrap_err()
                .contains("no statement of a slow query log")
        );
    }
}
