//! A condensed trace as text for a terminal.

use units::{count, si};

use crate::{
    text::wrapped,
    trace::{JoinOrder, JoinStep, Outcome, Rejected, Trace, TracedBlock},
    words::rows_in_words,
};

impl Trace {
    /// The trace in lines of at most `width` columns.
    pub fn draw(&self, width: usize) -> String {
        let mut lines = Vec::new();
        for block in &self.blocks {
            block.draw(width, &mut lines);
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }
}

impl TracedBlock {
    /// `2 join orders considered`.
    pub fn considered_in_words(&self) -> String {
        match self.considered {
            0 => "no choice between join orders".to_owned(),
            orders => format!("{} considered", units::counted(orders, "join order")),
        }
    }

    fn draw(&self, width: usize, lines: &mut Vec<String>) {
        let number = self
            .number
            .map(|number| format!(" {number}"))
            .unwrap_or_default();
        lines.push(format!("query{number}: {}", self.considered_in_words()));
        let chosen = self.orders.first().and_then(|order| order.cost);
        for order in &self.orders {
            add(lines, width, &order.sentence(chosen));
        }
        if self.considered > self.orders.len() {
            lines.push(format!(
                "  and {} more",
                self.considered - self.orders.len()
            ));
        }
        if !self.rejected.is_empty() {
            lines.push("  not used:".to_owned());
        }
        for rejected in &self.rejected {
            add(lines, width, &rejected.sentence());
        }
    }
}

fn add(lines: &mut Vec<String>, width: usize, sentence: &str) {
    for (at, line) in wrapped(sentence, width.saturating_sub(6).max(20))
        .into_iter()
        .enumerate()
    {
        let indent = if at == 0 { "  " } else { "      " };
        lines.push(format!("{indent}{line}"));
    }
}

impl JoinOrder {
    /// The order as a sentence; `chosen` is the cost of the plan.
    pub fn sentence(&self, chosen: Option<f64>) -> String {
        let steps: Vec<String> = self.steps.iter().map(JoinStep::words).collect();
        let cost = self
            .cost
            .map(|cost| format!(": cost {}", si(cost)))
            .unwrap_or_default();
        let against = match (self.outcome, self.cost, chosen) {
            (Outcome::Chosen, _, _) => String::new(),
            (_, Some(cost), Some(chosen)) if chosen > 0.0 => format!(", {}x", si(cost / chosen)),
            _ => String::new(),
        };
        let outcome = match self.outcome {
            Outcome::Chosen => "chosen",
            Outcome::Dearer if self.cost > chosen && chosen.is_some() => "more expensive",
            Outcome::Dearer => "not chosen",
            Outcome::Pruned => "given up",
        };
        format!("{outcome}: {}{cost}{against}", steps.join(" -> "))
    }
}

impl JoinStep {
    fn words(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.access.clone());
        words.extend(self.index.clone());
        if let Some(rows) = self.rows {
            let kept = self.rows_kept.filter(|kept| *kept < rows);
            let kept = kept.map(|kept| format!(", {} after the filter", count(kept)));
            words.push(rows_in_words(rows) + &kept.unwrap_or_default());
        }
        if words.is_empty() {
            self.table.clone()
        } else {
            format!("{} ({})", self.table, words.join(" "))
        }
    }
}

impl Rejected {
    /// The rejection as a sentence: `page p, index touched: more expensive (900 rows, cost 300 against 70.0)`.
    pub fn sentence(&self) -> String {
        let mut figures = Vec::new();
        figures.extend(self.rows.map(rows_in_words));
        figures.extend(self.cost.map(|cost| {
            let chosen = self.cost_of_chosen.map(|it| format!(" against {}", si(it)));
            format!("cost {}{}", si(cost), chosen.unwrap_or_default())
        }));
        let figures = if figures.is_empty() {
            String::new()
        } else {
            format!(" ({})", figures.join(", "))
        };
        format!("{}, {}: {}{figures}", self.table, self.way(), self.reason)
    }
}
