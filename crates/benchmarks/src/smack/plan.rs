//! The statements of a client's workers: its barrel, prepared so that firing it needs no lookup.

use std::{sync::Arc, time::Duration};

use super::{
    Error,
    barrel_text::BarrelEntry,
    dictionary::Dictionary,
    interpreter::Stage,
    script::Script,
    statement::{Segment, StatementText},
};

/// Operation name of statements that main sends directly; Super Smack counts them in no report.
pub const UNCOUNTED: &str = "query()";

/// The statements of one client's workers, shared by all of them.
#[derive(Debug)]
pub struct ClientPlan {
    operations: Vec<String>,
    pub(super) statements: Vec<Statement>,
    pub(super) stages: Vec<PlannedStage>,
    pub(super) dictionaries: Arc<[Dictionary]>,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) operation: usize,
    pub(super) pieces: Vec<Segment>,
}

/// Steps that are repeated together.
#[derive(Debug)]
pub(super) struct PlannedStage {
    /// `None` for an unlimited number.
    pub(super) rounds: Option<u64>,
    /// None of them has `times` 0.
    pub(super) steps: Vec<PlannedStep>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum PlannedStep {
    Fire { statement: usize, times: u64 },
    Pause(Duration),
}

/// The mode in which a client's barrel is fired.
#[derive(Debug, Clone, Copy, Default)]
pub struct BarrelOptions<'f> {
    /// Counts for the barrel's queries in file order, replacing those of the file, such as `10:1`; 0 removes a query.
    pub mix: Option<&'f str>,
    /// Stages of each worker; `None` for the barrel in an endless loop.
    pub stages: Option<&'f [Stage]>,
}

impl ClientPlan {
    /// The plan of the client with this name.
    pub fn new(
        script: &Script,
        dictionaries: Arc<[Dictionary]>,
        client: &str,
        firing: BarrelOptions<'_>,
    ) -> Result<Self, Error> {
        let missing = |reason| Error::Client {
            name: client.to_owned(),
            reason,
        };
        let index = script
            .client(client)
            .ok_or_else(|| missing("is not defined"))?;
        let endless = [Stage::Barrel { rounds: None }];
        let stages = firing.stages.unwrap_or(&endless);
        let barrel = script.clients[index].barrel.as_deref();
        let barrel = match (
            barrel,
            stages
                .iter()
                .any(|stage| matches!(stage, Stage::Barrel { .. })),
        ) {
            (Some(barrel), _) => with_mix(barrel, firing.mix)?,
            (None, true) => return Err(missing("has no query_barrel")),
            (None, false) => Vec::new(),
        };
        let mut plan = Self {
            operations: operations(script, &barrel),
            statements: Vec::new(),
            stages: Vec::new(),
            dictionaries,
        };
        let steps = plan.steps(script, &barrel);
        for stage in stages {
            let stage = match stage {
                Stage::Barrel { rounds } => PlannedStage {
                    rounds: *rounds,
                    steps: steps.clone(),
                },
                Stage::Pause(pause) => PlannedStage {
                    rounds: Some(1),
                    steps: vec![PlannedStep::Pause(*pause)],
                },
                Stage::Query(sql) => PlannedStage {
                    rounds: Some(1),
                    steps: vec![plan.uncounted(sql)],
                },
            };
            plan.stages.push(stage);
        }
        Ok(plan)
    }

    /// Names of the operation types, sorted, each once.
    pub fn operations(&self) -> &[String] {
        &self.operations
    }

    /// Indexes of the dictionaries that its statements draw from, each once, ascending.
    pub fn drawn_from(&self) -> Vec<usize> {
        let pieces = self.statements.iter().flat_map(|it| &it.pieces);
        let words = pieces.filter_map(|piece| match piece {
            Segment::Word(dictionary) => Some(*dictionary),
            Segment::Literal(_) => None,
        });
        let words: std::collections::BTreeSet<usize> = words.collect();
        words.into_iter().collect()
    }

    /// Adds the barrel's statements and returns the steps that fire them.
    fn steps(&mut self, script: &Script, barrel: &[BarrelEntry]) -> Vec<PlannedStep> {
        let mut steps = Vec::new();
        for entry in barrel {
            steps.push(match *entry {
                BarrelEntry::Pause(pause) => PlannedStep::Pause(pause),
                BarrelEntry::Query { query, times } => {
                    let query = &script.queries[query];
                    PlannedStep::Fire {
                        statement: self.add(&query.query_type, &query.text),
                        times,
                    }
                }
            });
        }
        steps
    }

    fn uncounted(&mut self, sql: &str) -> PlannedStep {
        if !self
            .operations
            .iter()
            .any(|operation| operation == UNCOUNTED)
        {
            self.operations.push(UNCOUNTED.to_owned());
        }
        PlannedStep::Fire {
            statement: self.add(UNCOUNTED, &StatementText::plain(sql.as_bytes())),
            times: 1,
        }
    }

    fn add(&mut self, query_type: &str, text: &StatementText) -> usize {
        let operation = self
            .operations
            .iter()
            .position(|operation| operation == query_type)
            .expect("every query type of the barrel is an operation");
        self.statements.push(Statement {
            operation,
            pieces: text.pieces.clone(),
        });
        self.statements.len() - 1
    }
}

/// The query types of a barrel, sorted as the report sorts its rows.
fn operations(script: &Script, barrel: &[BarrelEntry]) -> Vec<String> {
    let mut operations: Vec<String> = barrel
        .iter()
        .filter_map(|entry| match entry {
            BarrelEntry::Query { query, .. } => Some(script.queries[*query].query_type.clone()),
            BarrelEntry::Pause(_) => None,
        })
        .collect();
    operations.sort_unstable();
    operations.dedup();
    operations
}

/// The barrel with the counts of a mix; entries with count 0 are removed.
fn with_mix(barrel: &[BarrelEntry], mix: Option<&str>) -> Result<Vec<BarrelEntry>, Error> {
    let mut barrel = barrel.to_vec();
    if let Some(mix) = mix {
        let fault = |reason: String| Error::Mix {
            mix: mix.to_owned(),
            reason,
        };
        let counts: Vec<u64> = mix
            .split(':')
            .map(|count| count.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|_| fault("expected counts such as 10:1".to_owned()))?;
        let mut of_barrel: Vec<&mut u64> = barrel
            .iter_mut()
            .filter_map(|entry| match entry {
                BarrelEntry::Query { times, .. } => Some(times),
                BarrelEntry::Pause(_) => None,
            })
            .collect();
        if counts.len() != of_barrel.len() {
            return Err(fault(format!(
                "{} counts for the {} queries of the barrel",
                counts.len(),
                of_barrel.len()
            )));
        }
        if counts.iter().all(|&count| count == 0) {
            return Err(fault("drops every query".to_owned()));
        }
        for (times, count) in of_barrel.iter_mut().zip(counts) {
            **times = count;
        }
    }
    barrel.retain(|entry| !matches!(entry, BarrelEntry::Query { times: 0, .. }));
    Ok(barrel)
}
