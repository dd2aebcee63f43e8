//! What statements cost on a server, and the candidates by that.

use std::{collections::BTreeMap, iter, time::Duration};

use blame::{Blame, Blamed};
use plans::column_uses;
use runs::{Context, Length, backticked};
use sqltext::SqlStatement;

use super::{
    candidate::{Buffers, Candidate, Remedy, Subject},
    index_review::{NeedlessIndex, is_read, needless},
    proof::Proof,
    table_facts::TableFacts,
};
use crate::{
    compare::{are_hints_known, are_order_hints_known},
    execution::GuardedStatements,
    execution_counts::ExecutionCounts,
    explain::{ExplainedPlan, explained_plan},
    guard::NOT_COMPLETE,
    server_version::is_from,
    session::Session,
    setting::is_setting,
    statement_text::statement_name,
};

/// MySQL's version that joins by hash tables where no index fits. MariaDB does it with another `join_cache_level` only.
const HASH_JOIN_FROM: u32 = 80_018;

/// Statements with the candidates for them, in the order in which they are tried.
#[derive(Debug, Default)]
pub struct Diagnosis {
    pub(super) statements: Vec<DiagnosedStatement>,
    pub(super) failed: Vec<FailedStatement>,
    pub(super) advice: Vec<Advice>,
    /// Indexes of their tables that may not be worth their price.
    pub(super) needless: Vec<NeedlessIndex>,
    /// Full names of their tables in backticks.
    pub(super) tables: Vec<String>,
    /// Whether a plan has no measurements, so that wrong statistics do not show.
    pub(super) is_estimated: bool,
    /// What the server does not show.
    pub notes: Vec<String>,
    /// Time of all timed blocks of a trial.
    pub(super) blocks_took: Duration,
    /// The budget of these blocks, and the time of the whole trial; `None` without one.
    pub(super) trial: Option<TrialTime>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TrialTime {
    /// What its timed blocks may take.
    pub(super) budget: Duration,
    /// What it took with copies, indexes and untimed executions.
    pub(super) whole: Duration,
}

/// A statement that the server could not execute.
#[derive(Debug)]
pub(super) struct FailedStatement {
    /// Index among all statements.
    pub(super) at: usize,
    pub(super) error: Blamed,
}

/// A statement that was executed.
#[derive(Debug)]
pub(super) struct DiagnosedStatement {
    /// Index among the statements that did not fail, with settings.
    pub(super) at: usize,
    pub(super) name: String,
    /// Its text in one line.
    pub(super) text: String,
    /// Time of a warm execution, seconds.
    pub(super) time_s: f64,
    /// Number of its executions, by which its time counts among those of other statements; 1 if it is not known.
    pub(super) executions: f64,
}

/// A candidate with the statement that it is for, and what came of it.
#[derive(Debug)]
pub(super) struct Advice {
    /// Index of the statement.
    pub(super) at: usize,
    /// Name of the statement.
    pub(super) statement: String,
    /// Names of the other statements that have the same candidate.
    pub(super) also_for: Vec<String>,
    pub(super) candidate: Candidate,
    /// Time that it saves by the plans of all executions of all statements, seconds, about.
    pub(super) saving_s: f64,
    /// The part of its statement, which is the one that it saves most of.
    pub(super) own_saving_s: f64,
    /// `None` if it was not tried.
    pub(super) proof: Option<Proof>,
    /// Number of statements that the trial did not execute, because they are executed as before.
    pub(super) unaffected: usize,
}

impl Advice {
    /// Whether a comparison can measure it.
    pub(super) fn is_measurable(&self) -> bool {
        !matches!(self.candidate.remedy, Remedy::Author(_))
    }

    /// Names of all statements that it was proposed for.
    pub(super) fn statements(&self) -> Vec<&str> {
        let others = self.also_for.iter().map(String::as_str);
        iter::once(self.statement.as_str()).chain(others).collect()
    }

    /// Whether it could have been measured in a trial, and was not.
    pub(super) fn is_untried(&self) -> bool {
        self.is_measurable() && matches!(self.proof, None | Some(Proof::NotTried))
    }

    pub(super) fn is_statistics(&self) -> bool {
        matches!(self.candidate.remedy, Remedy::Statistics(_))
    }
}

impl Diagnosis {
    /// Explains and executes the statements, each within its guard.
    pub(super) async fn of(
        session: &mut Session,
        statements: &[SqlStatement],
        counts: &ExecutionCounts,
        context: &Context,
    ) -> Result<Self, Blamed> {
        let guarded = GuardedStatements::new(statements, false, None);
        guarded.check(session, iter::empty()).await?;
        let larger_pool_bytes = larger_pool(session, &statements[0]).await?;
        let uptime = uptime(session, &statements[0]).await?;
        let mut diagnosis = Self::default();
        let mut plans = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            let _step = (!is_setting(statement)).then(|| {
                let what = format!("executing {}", statement_in_words(statement, statements));
                context.step(&what, Length::Unknown)
            });
            let Some(executed) = diagnosis.executed(session, &guarded, at).await? else {
                continue;
            };
            let Executed {
                explained,
                time_s,
                costs,
            } = executed;
            let buffers = buffers(session, statement, larger_pool_bytes).await?;
            let at = at - diagnosis.failed.len();
            if explained.rewritten.is_none() {
                diagnosis.notes.push(format!(
                    "{}: this version does not show which columns the statement uses, so no index is proposed for it",
                    statement.place()
                ));
            }
            diagnosis.is_estimated |= !explained.plan.root.is_measured();
            let uses = column_uses(explained.rewritten.as_deref().unwrap_or_default());
            let mut facts = Vec::new();
            for table in &uses {
                let of_table =
                    TableFacts::read(session, statement, &table.schema, &table.table).await?;
                let name = format!("{}.{}", backticked(&table.schema), backticked(&table.table));
                if of_table.is_base_table() && !diagnosis.tables.contains(&name) {
                    diagnosis.tables.push(name);
                    let name = format!("{}.{}", table.schema, table.table);
                    diagnosis
                        .needless
                        .extend(needless(&name, &of_table, uptime));
                }
                facts.push(of_table);
            }
            let name = statement_name(statement, diagnosis.statements.len());
            let text = String::from_utf8_lossy(statement.text()).into_owned();
            diagnosis.statements.push(DiagnosedStatement {
                at,
                name: name.clone(),
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                time_s,
                executions: counts.weight(statement),
            });
            let subject = Subject {
                statement,
                number: diagnosis.statements.len(),
                has_hints: are_hints_known(session.version()),
                has_order_hints: are_order_hints_known(session.version()),
                has_hash_join: is_from(session.version(), HASH_JOIN_FROM, u32::MAX),
                plan: &explained.plan,
                rewritten: explained.rewritten.as_deref(),
                uses: &uses,
                facts: &facts,
                costs: &costs,
                buffers,
            };
            for candidate in subject.candidates() {
                diagnosis.add(at, &name, candidate, time_s * counts.weight(statement));
            }
            plans.push(explained.plan);
        }
        diagnosis.needless.retain(|it| !is_read(it, &plans));
        if diagnosis.statements.is_empty() && !diagnosis.failed.is_empty() {
            return Err(diagnosis.failed.remove(0).error);
        }
        diagnosis.rank();
        Ok(diagnosis)
    }

    /// Executes a statement. `None` of one that no advice is for: a setting, what the server does not
    /// explain, and what fails, which is noted.
    async fn executed(
        &mut self,
        session: &mut Session,
        guarded: &GuardedStatements<'_>,
        at: usize,
    ) -> Result<Option<Executed>, Blamed> {
        let error = match Executed::of(session, guarded, at).await {
            Err(error) => error,
            executed => return executed,
        };
        let statements = guarded.all();
        // What follows a setting depends on it.
        if is_setting(&statements[at])
            || error.blame == Blame::Interrupted
            // Something of it stayed: nothing else is executed.
            || error.server_error == Some(NOT_COMPLETE)
            || begin_again(session, &statements[..at]).await.is_err()
        {
            return Err(error);
        }
        self.failed.push(FailedStatement { at, error });
        Ok(None)
    }

    pub fn without_failed(&self, statements: &[SqlStatement]) -> Vec<SqlStatement> {
        let all = statements.iter().enumerate();
        let left = all.filter(|(at, _)| self.failed.iter().all(|it| it.at != *at));
        left.map(|(_, statement)| statement.clone()).collect()
    }

    /// Why the first of the failed statements failed.
    pub fn into_failure(self) -> Option<Blamed> {
        self.failed.into_iter().next().map(|it| it.error)
    }

    /// Adds a candidate; one that several statements have is named once, with the one that it saves most of, and saves what
    /// it saves in all. `time_s` is the time of all executions of the statement.
    fn add(&mut self, at: usize, statement: &str, candidate: Candidate, time_s: f64) {
        let saving_s = candidate.saving * time_s;
        for known in &mut self.advice {
            match (&mut known.candidate.remedy, &candidate.remedy) {
                (Remedy::Statistics(tables), Remedy::Statistics(more)) => {
                    let new: Vec<&String> = more.iter().filter(|it| !tables.contains(it)).collect();
                    if !new.is_empty() {
                        known.candidate.reason += &format!("; {}", candidate.reason);
                        tables.extend(new.into_iter().cloned());
                    }
                }
                (remedy, other) if *remedy == *other => {
                    if saving_s > known.own_saving_s {
                        known.candidate.reason.clone_from(&candidate.reason);
                    }
                }
                _ => continue,
            }
            known.saving_s += saving_s;
            let mut also = statement.to_owned();
            if saving_s > known.own_saving_s {
                known.own_saving_s = saving_s;
                known.at = at;
                std::mem::swap(&mut known.statement, &mut also);
            }
            if !known.also_for.contains(&also) {
                known.also_for.push(also);
            }
            // Two aliases of a table give a statement one candidate twice.
            known.also_for.retain(|it| *it != known.statement);
            return;
        }
        self.advice.push(Advice {
            at,
            statement: statement.to_owned(),
            also_for: Vec::new(),
            candidate,
            saving_s,
            own_saving_s: saving_s,
            proof: None,
            unaffected: 0,
        });
    }

    /// Fresh statistics first, because an index is judged only after them; then what saves most. Each candidate for a
    /// statement halves what the next one for it counts: after one is proved, another one adds little. Otherwise the many
    /// candidates for one statement would take all trials.
    fn rank(&mut self) {
        let all = std::mem::take(&mut self.advice);
        let (statistics, mut left): (Vec<_>, Vec<_>) =
            all.into_iter().partition(Advice::is_statistics);
        self.advice = statistics;
        let mut ranked: BTreeMap<String, i32> = BTreeMap::new();
        while !left.is_empty() {
            let value_s = |it: &Advice| {
                let before = ranked.get(&it.statement).copied().unwrap_or(0);
                it.saving_s - it.own_saving_s * (1.0 - 0.5_f64.powi(before))
            };
            // The first one of equal ones.
            let places = (0..left.len()).rev();
            let best = places.max_by(|a, b| value_s(&left[*a]).total_cmp(&value_s(&left[*b])));
            let next = left.remove(best.unwrap_or(0));
            if next.is_measurable() {
                for name in next.statements() {
                    *ranked.entry(name.to_owned()).or_default() += 1;
                }
            }
            self.advice.push(next);
        }
    }

    /// The candidates by fresh statistics, in place of those by the old ones. What was proved of the statistics stays, and so
    /// do larger buffers of the server, which the copies do not have.
    pub(super) fn renew(&mut self, fresh: Self) {
        let stays = |it: &Advice| {
            let is_option = match &it.candidate.remedy {
                Remedy::Side(change) => change.parts.is_option(),
                _ => false,
            };
            it.is_statistics() || is_option
        };
        self.advice.retain(stays);
        for it in fresh.advice {
            if !stays(&it) {
                self.advice.push(it);
            }
        }
        self.rank();
    }
}

/// A statement by its place, its name and its number among the others: `a.sql:22:1 (view_agg), statement 3 of 31`.
fn statement_in_words(statement: &SqlStatement, all: &[SqlStatement]) -> String {
    let own = || all.iter().filter(|it| !is_setting(it));
    let before = own().take_while(|it| !std::ptr::eq(*it, statement));
    let number = before.count() + 1;
    let name = statement.label().map(|label| format!(" ({label})"));
    format!(
        "{}{}, statement {number} of {}",
        statement.place(),
        name.unwrap_or_default(),
        own().count()
    )
}

/// What the executions of a statement show.
struct Executed {
    explained: ExplainedPlan,
    /// Time of a warm execution, seconds.
    time_s: f64,
    /// What one more execution adds to counters.
    costs: Vec<(String, i64)>,
}

impl Executed {
    /// Explains and executes a statement. `None` of a setting, which is executed, and of what the server does
    /// not explain.
    async fn of(
        session: &mut Session,
        guarded: &GuardedStatements<'_>,
        at: usize,
    ) -> Result<Option<Self>, Blamed> {
        let Some(explained) = explained_plan(session, &guarded.all()[at]).await? else {
            return Ok(None);
        };
        // Warm, so that what it reads from disk is what the memory cannot hold.
        let time_s = guarded.execute(session, at).await?.time_s;
        let costs = guarded.costs(session, at).await?;
        Ok(Some(Self {
            explained,
            time_s,
            costs,
        }))
    }
}

/// A new session in place of one in which a statement failed, with the settings before that statement: the
/// old one may have an open transaction, or an answer to come.
async fn begin_again(session: &mut Session, before: &[SqlStatement]) -> Result<(), Blamed> {
    *session = session.another().await?;
    for setting in before.iter().filter(|it| is_setting(it)) {
        explained_plan(session, setting).await?;
    }
    Ok(())
}

/// Four times the buffer pool, or as much as a quarter of this machine's memory; `None` if that is hardly larger.
async fn larger_pool(
    session: &mut Session,
    statement: &SqlStatement,
) -> Result<Option<u64>, Blamed> {
    let [bytes] = numbers(session, statement, "SELECT @@innodb_buffer_pool_size").await?;
    let limit = telemetry::usable_memory_bytes().map(|bytes| bytes / 4);
    let larger = bytes
        .zip(limit)
        .map(|(bytes, limit)| (bytes, (4 * bytes).min(limit)));
    Ok(larger
        .filter(|(bytes, larger)| *larger > bytes + bytes / 2)
        .map(|it| it.1))
}

/// The buffers that a statement had, by the session's variables.
async fn buffers(
    session: &mut Session,
    statement: &SqlStatement,
    larger_pool_bytes: Option<u64>,
) -> Result<Buffers, Blamed> {
    let sql = "SELECT @@sort_buffer_size, CAST(LEAST(@@tmp_table_size, @@max_heap_table_size) AS UNSIGNED)";
    let [sort_bytes, temporary_table_bytes] = numbers(session, statement, sql).await?;
    Ok(Buffers {
        larger_pool_bytes,
        sort_bytes: sort_bytes.unwrap_or(0),
        temporary_table_bytes: temporary_table_bytes.unwrap_or(0),
    })
}

async fn uptime(session: &mut Session, statement: &SqlStatement) -> Result<Duration, Blamed> {
    let [_, seconds] = numbers(session, statement, "SHOW GLOBAL STATUS LIKE 'Uptime'").await?;
    Ok(Duration::from_secs(seconds.unwrap_or(0)))
}

/// The columns of the first row of an answer; `None` for one that is missing or no number.
async fn numbers<const N: usize>(
    session: &mut Session,
    statement: &SqlStatement,
    sql: &str,
) -> Result<[Option<u64>; N], Blamed> {
    let endpoint = session.endpoint().clone();
    let sets = session.rows(sql).await;
    let sets = sets.map_err(|failure| failure.blamed(&endpoint, statement))?;
    let row = sets.iter().flat_map(|set| &set.rows).next();
    let value = |column: usize| row.and_then(|row| row.get(column)?.as_deref());
    Ok(std::array::from_fn(|column| {
        let text = String::from_utf8_lossy(value(column)?);
        text.parse().ok()
    }))
}

#[cfg(test)]
mod tests;
