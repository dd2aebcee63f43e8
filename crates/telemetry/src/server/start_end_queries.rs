//! The queries at the start and at the end of a run.

use std::collections::BTreeMap;

use protocol::Error;
use samples::{Edge, Line};

use super::{
    questioner::Questioner,
    slow_log::Mark,
    table_sizes,
    totals::{SOURCES, Source, Sums},
};

/// The values at the start.
pub(crate) struct Start {
    totals: Vec<(&'static Source, Sums)>,
    slow_log: Option<Mark>,
    has_sizes: bool,
}

impl Start {
    /// Reads everything at the start; the lines are for the record.
    pub(crate) async fn read(
        questioner: &mut Questioner,
        variables: &BTreeMap<String, String>,
        is_local: bool,
    ) -> Result<(Self, Vec<Line>), Error> {
        let mut start = Self {
            totals: Vec::new(),
            slow_log: None,
            has_sizes: false,
        };
        // A path on another machine is not read here.
        let mark = if is_local {
            Mark::now(variables)
        } else {
            Err("the server is not known to be on this machine".to_owned())
        };
        match mark {
            Ok(mark) => start.slow_log = Some(mark),
            Err(why) => questioner.miss("slow query log", &why),
        }
        let sizes = table_sizes::recorded(questioner, Edge::Start).await?;
        start.has_sizes = sizes.is_some();
        // Read last, so that they contain as little as possible of these queries.
        for source in SOURCES {
            if source.is_filled(questioner, variables)
                && let Some(sums) = source.read(questioner).await?
            {
                start.totals.push((source, sums));
            }
        }
        Ok((start, sizes.map(Line::TableSizes).into_iter().collect()))
    }

    /// Drops the sums: a server that was restarted began its own at 0.
    pub(crate) fn forget_totals(&mut self, questioner: &mut Questioner) {
        for (source, _) in self.totals.drain(..) {
            questioner.miss(source.what(), "the server was restarted in the run");
        }
    }

    /// Reads everything at the end and returns the growth.
    pub(crate) async fn end(&self, questioner: &mut Questioner) -> Result<Vec<Line>, Error> {
        let mut lines = Vec::new();
        for (source, before) in &self.totals {
            if let Some(after) = source.read(questioner).await? {
                lines.push(Line::ServerTotals(source.grown(before, &after)));
            }
        }
        match self.slow_log.as_ref().map(Mark::written_since) {
            Some(Ok(slow_log)) => lines.push(Line::SlowLog(slow_log)),
            Some(Err(why)) => questioner.miss("slow query log", &why),
            None => {}
        }
        if self.has_sizes {
            let sizes = table_sizes::recorded(questioner, Edge::End).await?;
            lines.extend(sizes.map(Line::TableSizes));
        }
        Ok(lines)
    }
}
