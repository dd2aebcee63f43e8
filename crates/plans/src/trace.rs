//! The optimizer's trace, condensed: the join orders considered with their cost, and the indexes that lost, with the reason.
//!
//! MySQL 5.6 and later and MariaDB 10.4 and later write it as JSON with nearly the same names; the hypergraph optimizer of
//! MySQL writes text, of which nothing is condensed.

mod used;

use serde::Serialize;

use crate::{error::Error, json::Json};

/// Join orders kept per query block, the chosen one first and then the cheapest.
const ORDERS_AT_MOST: usize = 10;

/// Join orders read per query block; a join of many tables has more than anyone reads.
const ORDERS_READ_AT_MOST: usize = 100_000;

/// Names of the rows that a way reads each time.
const ROWS_READ: [&str; 3] = ["rows", "rows_to_scan", "resulting_rows"];
/// Names of the rows that are left of them after the table's conditions.
const ROWS_KEPT: [&str; 2] = ["rows_after_filter", "resulting_rows"];

const MORE_EXPENSIVE: &str = "more expensive";
const NOT_USABLE: &str = "not usable";
/// The reason where the server gives none.
const NOT_CHOSEN: &str = "not chosen";

/// The trace of one statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trace {
    /// The query blocks, in the order in which they were optimized.
    pub blocks: Vec<TracedBlock>,
}

/// What the optimizer considered for one query block.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TracedBlock {
    pub number: Option<u32>,
    /// Number of join orders considered, complete or given up on the way.
    pub considered: usize,
    /// The chosen join order, and the cheapest others.
    pub orders: Vec<JoinOrder>,
    pub rejected: Vec<Rejected>,
}

/// An order of tables, with the way in which each is read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JoinOrder {
    /// The tables; incomplete if the order was given up.
    pub steps: Vec<JoinStep>,
    /// Estimated rows of the result.
    pub rows: Option<f64>,
    /// Estimated cost, in the optimizer's unit.
    pub cost: Option<f64>,
    pub outcome: Outcome,
}

/// The outcome of a join order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The plan.
    Chosen,
    /// Complete, and not the plan.
    Dearer,
    /// Given up before all tables were in it.
    Pruned,
}

/// A table within a join order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JoinStep {
    /// The table, with its alias.
    pub table: String,
    /// How it is read, in the server's word: `ref`.
    pub access: Option<String>,
    pub index: Option<String>,
    /// Estimated rows that are read each time.
    pub rows: Option<f64>,
    /// Estimated rows of them after the table's conditions, if the trace has a number of its own for them.
    pub rows_kept: Option<f64>,
}

/// A way to read a table that was not taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rejected {
    /// The table, with its alias.
    pub table: String,
    /// How it would be read, in the server's word: `range`.
    pub access: Option<String>,
    /// The index; `None` for the whole table, and for a range whose index is not named.
    pub index: Option<String>,
    /// Estimated rows that would be read.
    pub rows: Option<f64>,
    /// Estimated cost, in the optimizer's unit.
    pub cost: Option<f64>,
    /// Cost of the way that was taken instead, where it is lower and was compared with this one.
    pub cost_of_chosen: Option<f64>,
    /// The reason, as far as the server gives one.
    pub reason: String,
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// [`Error::NotJson`] if it is cut or of another optimizer.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let document = Json::parse(text).map_err(|source| Error::NotJson {
            form: "optimizer trace",
            source,
        })?;
        let mut blocks = Vec::new();
        collect(&document, &mut blocks);
        Ok(Self { blocks })
    }
}

/// Every optimization in the document; those of subqueries are within others.
fn collect(value: &Json, blocks: &mut Vec<TracedBlock>) {
    for (name, member) in value.members() {
        if name == "join_optimization" {
            blocks.push(block_of(member));
        }
        collect(member, blocks);
    }
    for element in value.elements() {
        collect(element, blocks);
    }
}

fn block_of(optimization: &Json) -> TracedBlock {
    let number = optimization
        .get("select#")
        .or_else(|| optimization.get("select_id"));
    let mut block = TracedBlock {
        number: number.and_then(Json::number).map(|number| number as u32),
        ..TracedBlock::default()
    };
    let mut orders = Vec::new();
    let mut best: Option<Vec<String>> = None;
    for step in steps_of(optimization) {
        if let Some(tables) = step.get("rows_estimation") {
            for table in tables.elements() {
                read_ranges(table, &mut block.rejected);
            }
        }
        if let Some(plans) = step.get("considered_execution_plans") {
            read_orders(plans, &mut Vec::new(), &mut orders, &mut block.rejected);
        }
        if let Some(order) = step.get("best_join_order") {
            best = Some(order.texts().iter().map(|table| plain(table)).collect());
        }
    }
    block.considered = orders.len();
    mark_chosen(&mut orders, best.as_deref());
    orders.sort_by(|a, b| {
        let rank = |order: &JoinOrder| {
            let group = match order.outcome {
                Outcome::Chosen => 0,
                Outcome::Dearer => 1,
                Outcome::Pruned => 2,
            };
            (group, order.cost.unwrap_or(f64::INFINITY))
        };
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    orders.truncate(ORDERS_AT_MOST);
    drop_chosen(&mut block.rejected, orders.first());
    block.orders = orders;
    block
}

/// The steps of an optimization; MariaDB nests those of semi-joins once more.
fn steps_of(optimization: &Json) -> impl Iterator<Item = &Json> {
    let steps = optimization.get("steps").map(Json::elements);
    steps.unwrap_or_default().iter()
}

/// Reads which indexes were considered for ranges of one table.
fn read_ranges(table: &Json, rejected: &mut Vec<Rejected>) {
    let name = plain(&table.get("table").and_then(Json::text).unwrap_or_default());
    let Some(analysis) = table.get("range_analysis") else {
        return;
    };
    let potential = ["potential_range_indexes", "potential_range_indices"];
    let potential = potential.iter().find_map(|name| analysis.get(name));
    let usable = |index: &&Json| index.get("usable") == Some(&Json::Bool(false));
    for index in potential
        .map(Json::elements)
        .unwrap_or_default()
        .iter()
        .filter(usable)
    {
        push(rejected, &name, index, None);
    }
    let alternatives = analysis.get("analyzing_range_alternatives");
    let scans = alternatives.and_then(|it| it.get("range_scan_alternatives"));
    for scan in scans.map(Json::elements).unwrap_or_default() {
        if scan.get("chosen") == Some(&Json::Bool(false)) {
            push(rejected, &name, scan, None);
        }
    }
}

/// Notes a way that was not taken; `chosen` is the one that was taken at this place of the join order.
fn push(rejected: &mut Vec<Rejected>, table: &str, of: &Json, chosen: Option<&Json>) {
    let text = |names: &[&str]| {
        let named = names.iter().find_map(|name| of.get(name));
        named.and_then(Json::text)
    };
    let cost = number_of(of, &["cost"]);
    let lower = cost.zip(chosen.and_then(|it| number_of(it, &["cost"])));
    let lower = lower.filter(|(cost, chosen)| chosen < cost);
    let cause = text(&["cause"]).map(|cause| reason_of(&cause));
    let is_usable = of.get("usable") != Some(&Json::Bool(false));
    let reason = cause.unwrap_or_else(|| {
        let reason = match lower {
            _ if !is_usable => NOT_USABLE,
            Some(_) => MORE_EXPENSIVE,
            None => NOT_CHOSEN,
        };
        reason.to_owned()
    });
    let entry = Rejected {
        table: table.to_owned(),
        access: text(&["access_type", "type"]),
        index: index_of(of),
        rows: number_of(of, &ROWS_READ),
        cost,
        cost_of_chosen: lower
            .filter(|_| reason == MORE_EXPENSIVE)
            .map(|(_, chosen)| chosen),
        reason,
    };
    // The same way is considered at each place of its table; the first one says enough, unless it cannot be
    // used there.
    let mut all = rejected.iter_mut();
    match all.find(|it| it.table == entry.table && it.way() == entry.way()) {
        Some(known) if known.reason == NOT_USABLE => *known = entry,
        Some(_) => {}
        None => rejected.push(entry),
    }
}

/// The first of these members that is there, as a number.
fn number_of(of: &Json, names: &[&str]) -> Option<f64> {
    let named = names.iter().find_map(|name| of.get(name));
    named.and_then(Json::number)
}

fn index_of(way: &Json) -> Option<String> {
    let names = ["index", "range_index"];
    let named = names.iter().find_map(|name| way.get(name));
    let named = named.or_else(|| way.get("range_details")?.get("used_index"));
    named.and_then(Json::text)
}

impl Rejected {
    /// The way in words: `index touched`.
    pub(crate) fn way(&self) -> String {
        match (&self.index, self.access.as_deref()) {
            (Some(index), _) => format!("index {index}"),
            (None, Some("range")) => "range of an index".to_owned(),
            (None, Some("index_merge")) => "merged indexes".to_owned(),
            (None, _) => "whole table".to_owned(),
        }
    }
}

/// The server's cause in plain words; an unknown one as the server writes it.
fn reason_of(cause: &str) -> String {
    let cause = cause.replace('_', " ");
    let words = match cause.as_str() {
        "not applicable" => "no condition compares its columns with a value",
        "cost" => MORE_EXPENSIVE,
        "no valid range for this index" | "no valid range" => "no condition gives a range of it",
        "no predicate for first keypart" => "no condition on its first column",
        "heuristic index cheaper" => "another index is cheaper by rule of thumb",
        "ref uses more keyparts" => "a lookup uses more of its columns",
        "would only partially read the table" => "reads less of the table than needed",
        "no rowid filter possible" => "no row-id filter possible",
        _ => return cause,
    };
    words.to_owned()
}

fn read_orders(
    plans: &Json,
    prefix: &mut Vec<JoinStep>,
    orders: &mut Vec<JoinOrder>,
    rejected: &mut Vec<Rejected>,
) {
    let outer = prefix.len();
    // The costs that MariaDB 11 computes for all tables of a level before it lists the orders.
    let mut costs: Vec<(String, &Json)> = Vec::new();
    for plan in plans.elements() {
        if orders.len() >= ORDERS_READ_AT_MOST {
            return;
        }
        // MariaDB 10.11 and later name a table of a fixed order only in its path.
        let of_path = || plan.get("best_access_path")?.get("table");
        let Some(table) = plan.get("table").or_else(of_path).and_then(Json::text) else {
            let of_tables = plan.get("get_costs_for_tables").map(Json::elements);
            let paths = of_tables.unwrap_or_default().iter();
            for path in paths.filter_map(|it| it.get("best_access_path")) {
                let table = path.get("table").and_then(Json::text).unwrap_or_default();
                costs.push((plain(&table), path));
            }
            continue;
        };
        let table = plain(&table);
        // Of a fixed order, each table is an entry of the same list, after those before it.
        let tables_before = prefix_of(plan);
        if tables_before > prefix.len()
            && let Some(order) = orders.pop_if(|order| order.steps.len() == tables_before)
        {
            *prefix = order.steps;
        }
        let of_level = || {
            costs
                .iter()
                .find(|(name, _)| *name == table)
                .map(|(_, path)| *path)
        };
        let path = plan.get("best_access_path").or_else(of_level);
        let chosen = path.and_then(|path| read_paths(path, &table, rejected));
        let number = |names: &[&str]| chosen.and_then(|it| number_of(it, names));
        prefix.push(JoinStep {
            table,
            access: chosen.and_then(|it| it.get("access_type")?.text()),
            index: chosen.and_then(index_of),
            rows: number(&ROWS_READ),
            rows_kept: number(&ROWS_KEPT),
        });
        match plan.get("rest_of_plan") {
            Some(rest) => read_orders(rest, prefix, orders, rejected),
            None => orders.push(order_of(plan, prefix)),
        }
        prefix.truncate(outer);
    }
}

/// Number of tables before this one: a list, or in MariaDB 11 a text.
fn prefix_of(plan: &Json) -> usize {
    match plan.get("plan_prefix") {
        Some(Json::List(tables)) => tables.len(),
        Some(Json::Text(tables)) if !tables.is_empty() => tables.split(',').count(),
        _ => 0,
    }
}

fn order_of(plan: &Json, steps: &[JoinStep]) -> JoinOrder {
    let strategy = strategy_of(plan);
    let number = |names: &[&str]| strategy.and_then(|it| number_of(it, names));
    let of_plan = |name| plan.get(name).and_then(Json::number);
    let is_set = |name: &str| plan.get(name).is_some_and(Json::is_set);
    let pruned = plan
        .members()
        .iter()
        .any(|(name, value)| name.starts_with("pruned_by") && value.is_set());
    JoinOrder {
        steps: steps.to_vec(),
        rows: number(&["rows", "records"]).or_else(|| of_plan("rows_for_plan")),
        cost: number(&["cost", "read_time", "total_cost"]).or_else(|| of_plan("cost_for_plan")),
        outcome: if is_set("chosen") {
            Outcome::Chosen
        } else if pruned {
            Outcome::Pruned
        } else {
            Outcome::Dearer
        },
    }
}

/// The strategy that removes the duplicates of semi-joins which end with this table, if any do. Its rows and cost replace the
/// plan's, which are those of an ordinary join.
fn strategy_of(plan: &Json) -> Option<&Json> {
    let strategies = plan.get("semijoin_strategy_choice")?.elements();
    // MariaDB names the choice behind all strategies; MySQL marks each that is better than those before it.
    let named = strategies
        .iter()
        .rev()
        .find_map(|it| it.get("chosen_strategy"));
    strategies.iter().rfind(|it| match named {
        Some(named) => it.get("strategy") == Some(named),
        None => it.get("chosen").is_some_and(Json::is_set),
    })
}

/// The chosen path of a table at one place of an order; the others are noted as rejected.
fn read_paths<'a>(path: &'a Json, table: &str, rejected: &mut Vec<Rejected>) -> Option<&'a Json> {
    let paths = path
        .get("considered_access_paths")
        .map(Json::elements)
        .unwrap_or_default();
    let is_chosen = |path: &&Json| path.get("chosen").is_some_and(Json::is_set);
    // Each cheaper path that is found is marked, and the last one stays.
    let chosen = paths.iter().rfind(is_chosen);
    for path in paths {
        if path.get("chosen") == Some(&Json::Bool(false)) {
            push(rejected, table, path, chosen);
        }
    }
    chosen
}

/// Leaves one order marked as chosen: the one that the server names at the end, or the last that it marked.
fn mark_chosen(orders: &mut [JoinOrder], best: Option<&[String]>) {
    let most = orders
        .iter()
        .map(|order| order.steps.len())
        .max()
        .unwrap_or(0);
    let is_best = |order: &JoinOrder| {
        order.steps.len() == most && best.is_some_and(|best| is_order(&order.steps, best))
    };
    let cost = |at: &usize| orders[*at].cost.unwrap_or(f64::INFINITY);
    let is_marked = |order: &JoinOrder| order.outcome == Outcome::Chosen;
    // Several may be meant where a materialised subquery stands for its tables, whose order is not named.
    let position = (0..orders.len())
        .rev()
        .filter(|at| is_best(&orders[*at]))
        .min_by(|a, b| cost(a).total_cmp(&cost(b)))
        .or_else(|| orders.iter().rposition(is_marked))
        .or_else(|| cheapest(orders, most));
    for (at, order) in orders.iter_mut().enumerate() {
        order.outcome = match order.outcome {
            _ if Some(at) == position => Outcome::Chosen,
            _ if order.steps.len() < most => Outcome::Pruned,
            Outcome::Chosen => Outcome::Dearer,
            outcome => outcome,
        };
    }
}

/// Whether these steps are the named order, in which `<subquery2>` stands for one table or more.
fn is_order(steps: &[JoinStep], named: &[String]) -> bool {
    let is_subquery = |name: &str| name.starts_with("<subquery");
    // Whether the steps so far may be this number of names.
    let mut may_be: Vec<bool> = vec![false; named.len() + 1];
    may_be[0] = true;
    for step in steps {
        for count in (1..may_be.len()).rev() {
            let name = &named[count - 1];
            may_be[count] = if is_subquery(name) {
                may_be[count - 1] || may_be[count]
            } else {
                may_be[count - 1] && step.table == *name
            };
        }
        may_be[0] = false;
    }
    may_be[named.len()]
}

/// The cheapest complete order, for a server that names none.
fn cheapest(orders: &[JoinOrder], tables: usize) -> Option<usize> {
    let complete = orders
        .iter()
        .enumerate()
        .filter(|(_, order)| order.steps.len() == tables);
    let cost = |order: &JoinOrder| order.cost.unwrap_or(f64::INFINITY);
    complete
        .min_by(|a, b| cost(a.1).total_cmp(&cost(b.1)))
        .map(|(at, _)| at)
}

/// An index that lost at one place and is used in the chosen order was not rejected.
fn drop_chosen(rejected: &mut Vec<Rejected>, chosen: Option<&JoinOrder>) {
    let Some(chosen) = chosen.filter(|order| order.outcome == Outcome::Chosen) else {
        return;
    };
    rejected.retain(|it| {
        let is_used = |step: &JoinStep| {
            // A range or a merge of indexes has no name of one.
            let is_same_way = it.index.is_some() || step.access == it.access;
            step.table == it.table && step.index == it.index && is_same_way
        };
        !chosen.steps.iter().any(is_used) && (it.index.is_some() || it.cost.is_some())
    });
}

/// A table without backticks: `` `revision` `r` `` is `revision r`.
fn plain(table: &str) -> String {
    table.replace('`', "")
}

#[cfg(test)]
mod tests;
