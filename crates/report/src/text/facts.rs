//! Labelled lines under an answer: `measured  24 of 24 runs of 20 s`.

use crate::text::wrapped::wrapped_behind;

/// Width of a label with the blanks after it, columns.
const LABEL: usize = 10;

/// Labelled lines of at most this number of columns.
pub(crate) struct Facts {
    width: usize,
    facts: Vec<Fact>,
}

/// A labelled text.
struct Fact {
    head: String,
    text: String,
    /// Lines at most; `None` for a command, which stands on one line whatever its length.
    lines_max: Option<usize>,
}

impl Fact {
    fn lines(&self, width: usize) -> Vec<String> {
        match self.lines_max {
            Some(lines_max) => cut(&self.head, &self.text, width, lines_max),
            None => vec![format!("{}{}", self.head, self.text)],
        }
    }
}

impl Facts {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            facts: Vec::new(),
        }
    }

    /// Adds a text on at most `lines_max` lines.
    pub(crate) fn add(&mut self, label: &str, lines_max: usize, text: &str) {
        self.push(label, text, Some(lines_max));
    }

    /// Adds a command on one line, whatever its length: it is there to be pasted.
    pub(crate) fn add_command(&mut self, label: &str, command: &str) {
        self.push(label, command, None);
    }

    fn push(&mut self, label: &str, text: &str, lines_max: Option<usize>) {
        self.facts.push(Fact {
            head: format!("{label:<LABEL$}"),
            text: text.to_owned(),
            lines_max,
        });
    }

    /// Adds as many items as fit on at most `lines_max` lines, and the number of those that do not:
    /// `; and 2 more, in the page`.
    pub(crate) fn add_list(
        &mut self,
        label: &str,
        lines_max: usize,
        items: &[String],
        elsewhere: &str,
    ) {
        let Some(first) = items.first() else {
            return;
        };
        let head = format!("{label:<LABEL$}");
        let fits =
            |text: &String| wrapped_behind(&head, text, self.width).lines().count() <= lines_max;
        let closing = |kept: usize| match items.len() - kept {
            0 => String::new(),
            more => format!("; and {more} more, {elsewhere}"),
        };
        let mut whole = (1..=items.len())
            .rev()
            .map(|kept| items[..kept].join("; ") + &closing(kept));
        let words: Vec<&str> = first.split(' ').collect();
        let mut shortened = (1..words.len())
            .rev()
            .filter(|kept| whole_numbers(&words[..*kept]).len() == *kept)
            .map(|kept| format!("{} …{}", words[..kept].join(" "), closing(1)));
        let text = whole.find(fits).or_else(|| shortened.find(fits));
        self.add(label, lines_max, &text.unwrap_or_else(|| first.clone()));
    }

    /// Adds a text, if there is one, on one line.
    pub(crate) fn add_some(&mut self, label: &str, text: Option<String>) {
        if let Some(text) = text {
            self.add(label, 1, &text);
        }
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.into_lines_within(usize::MAX, &[])
    }

    /// The lines where there is room for this number of them: texts of several lines are cut to one, the last first, then
    /// facts with these labels are left out, in their order.
    pub(crate) fn into_lines_within(mut self, lines_max: usize, less: &[&str]) -> Vec<String> {
        let is_long = |fact: &Fact| fact.lines(self.width).len() > 1;
        let mut long: Vec<usize> = (0..self.facts.len())
            .filter(|at| is_long(&self.facts[*at]))
            .collect();
        let mut less = less.iter();
        loop {
            let lines = self.facts.iter().map(|fact| fact.lines(self.width));
            let lines: Vec<String> = lines.flatten().collect();
            if lines.len() <= lines_max {
                return lines;
            }
            if let Some(at) = long.pop() {
                self.facts[at].lines_max = Some(1);
            } else if let Some(label) = less.next() {
                self.facts.retain(|fact| fact.head.trim_end() != *label);
            } else {
                return lines;
            }
        }
    }
}

/// A text on one line of at most `width` characters. A longer one ends with a clause or a word, and ` …` replaces the rest; its
/// indentation stays.
pub fn cut_to_width(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let (indent, words) = text.split_at(text.len() - text.trim_start().len());
    cut(indent, words, width, 1).concat()
}

/// At most `lines_max` lines of a text after its head; ` …` replaces the rest.
pub(crate) fn cut(head: &str, text: &str, width: usize, lines_max: usize) -> Vec<String> {
    let whole = wrapped_behind(head, text, width);
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    if lines.len() > lines_max {
        let next = lines.split_off(lines_max).remove(0);
        if let Some(last) = lines.last_mut() {
            *last = format!("{} …", shortened(last, &next, width - 2));
        }
    }
    // A word that is longer than a line is cut off as well.
    for line in lines.iter_mut().filter(|it| it.chars().count() > width) {
        *line = line.chars().take(width - 1).chain(['…']).collect();
    }
    lines
}

/// The beginning of a line, of at most `width` characters: up to the end of a clause where that leaves most of them; else of
/// a statement, which is worth nothing without its end; else of a word. A number keeps its unit: if it would lose it, the
/// clause is left out. `next` is the line behind it.
fn shortened<'t>(line: &'t str, next: &str, width: usize) -> &'t str {
    let end = line.char_indices().nth(width).map_or(line.len(), |it| it.0);
    let is_whole = line[end..].is_empty() || line[end..].starts_with(' ');
    let word = if is_whole {
        Some(end)
    } else {
        line[..end].rfind(' ')
    };
    let kept = &line[..word
        .filter(|at| !line[..*at].trim().is_empty())
        .unwrap_or(end)];
    let mut words: Vec<&str> = kept.split(' ').collect();
    let rest = line[kept.len()..].split_whitespace();
    let following = rest.chain(next.split_whitespace()).next();
    words.extend(following.filter(|it| RANGE.contains(it)));
    let whole = whole_numbers(&words).join(" ").len().min(kept.len());
    let whole = &kept[..whole];
    let is_divided = whole.len() < kept.len() && !whole.trim().is_empty();
    let kept = if is_divided { whole } else { kept };
    let ends = Ends::of(kept);
    let leaves = |at: &usize, quarters| kept[..*at].chars().count() * 4 > width * quarters;
    let clause = ends.clause.filter(|at| is_divided || leaves(at, 3));
    let end = clause.or(ends.statement.filter(|at| leaves(at, 1)));
    let is_at_end = is_divided && kept.ends_with([',', ';']);
    let end = end.filter(|_| !is_at_end).unwrap_or(kept.len());
    kept[..end].trim_end_matches([' ', ',', ';'])
}

/// The last ends in a text, outside of brackets.
#[derive(Default)]
struct Ends {
    /// Before a comma or a semicolon.
    clause: Option<usize>,
    /// Before a semicolon.
    statement: Option<usize>,
}

impl Ends {
    fn of(text: &str) -> Self {
        let mut ends = Self::default();
        let mut depth = 0_usize;
        for (at, character) in text.char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                ';' | ',' if depth == 0 && text[at + 1..].starts_with(' ') => {
                    ends.clause = Some(at);
                    if character == ';' {
                        ends.statement = Some(at);
                    }
                }
                _ => {}
            }
        }
        ends
    }
}

/// The words between the two ends of a range.
const RANGE: [&str; 2] = ["to", "→"];

/// The words without a number at their end whose unit, or whose other end of a range, would follow: `of 345` of
/// `of 345 %`, `-41.5 % to` of `-41.5 % to -31.2 %`.
fn whole_numbers<'t, 'w>(words: &'w [&'t str]) -> &'w [&'t str] {
    let is_number = |word: &str| {
        let digits = word.trim_start_matches(['(', '+', '-', '±', '~', '<', '>']);
        digits.starts_with(|it: char| it.is_ascii_digit())
    };
    match words {
        [before @ .., number] if is_number(number) && !number.ends_with([',', ';', ':', ')']) => {
            whole_numbers(before)
        }
        [before @ .., number, to] | [before @ .., number, _, to]
            if RANGE.contains(to) && is_number(number) =>
        {
            whole_numbers(before)
        }
        all => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_stands_once_and_a_long_text_is_cut() {
        let mut facts = Facts::new(30);
        facts.add(
            "limit",
            2,
            "CPU: 97 % busy, tasks waited for a CPU 80 % of the time",
        );
        facts.add_some("errors", None);
        facts.add_some("next", Some("nothing".to_owned()));
        let lines = facts.into_lines();
        assert_eq!(
            lines,
            [
                "limit     CPU: 97 % busy,",
                "          tasks waited for a …",
                "next      nothing"
            ]
        );
        assert_eq!(cut("", &"x".repeat(40), 30, 1)[0].chars().count(), 30);
    }

    #[test]
    fn facts_make_room() {
        let within = |lines_max| {
            let mut facts = Facts::new(30);
            facts.add("why", 2, "a text that is longer than a line of it");
            facts.add("limit", 2, "CPU: 97 % busy, tasks waited for a CPU");
            facts.add_command("next", "dbdyno run a-file-with-a-long-name.toml");
            facts.into_lines_within(lines_max, &["limit"])
        };
        for (lines_max, lines) in [(9, 5), (5, 5), (4, 4), (3, 3), (2, 2), (1, 2)] {
            assert_eq!(within(lines_max).len(), lines, "{lines_max}");
        }
        assert!(within(2)[1].ends_with("a-file-with-a-long-name.toml"));
    }

    #[test]
    fn what_is_cut_ends_with_a_clause_or_a_word() {
        let line = "CPU: 99.8 % busy (server 79 %, client 20 %), tasks waited 97.4 % of the time, in 3 of 3 runs";
        for (width, kept) in [
            (
                84,
                "CPU: 99.8 % busy (server 79 %, client 20 %), tasks waited 97.4 % of the time …",
            ),
            (58, "CPU: 99.8 % busy (server 79 %, client 20 %) …"),
            (40, "CPU: 99.8 % busy (server 79 %, client …"),
        ] {
            assert_eq!(cut("", line, width, 1), [kept]);
        }
        assert_eq!(shortened("            word", "", 14), "            wo");
    }

    #[test]
    fn what_is_cut_does_not_end_within_a_number() {
        let cut_to = |line: &str, width| cut("", line, width, 1).remove(0);
        let line = "about 900 executions decide a difference of 2 %; those so far detect one of 345 % with 80 % power";
        // The statement is left out, whether it would end before, within or behind its number.
        for width in [60, 78, 80, 82] {
            let kept = "about 900 executions decide a difference of 2 % …";
            assert_eq!(cut_to(line, width), kept, "{width}");
        }
        let line = "the interval is -41.5 % to -31.2 % of the throughput";
        for (width, kept) in [
            (26, "the interval is …"),
            (29, "the interval is …"),
            (33, "the interval is …"),
            (36, "the interval is -41.5 % to -31.2 % …"),
        ] {
            assert_eq!(cut_to(line, width), kept, "{width}");
        }
        let line = "3 of 3 runs of 40 s, unix socket, 8 connections";
        assert_eq!(cut_to(line, 40), "3 of 3 runs of 40 s, unix socket …");
    }

    #[test]
    fn a_line_that_is_too_long_keeps_its_indentation_and_whole_words() {
        let line = "    Q1: faster, 125 ms to 3.20 ms; because rows read 8.00k to 5";
        assert_eq!(cut_to_width(line, 63), line);
        for width in [62, 50, 40] {
            let kept = "    Q1: faster, 125 ms to 3.20 ms …";
            assert_eq!(cut_to_width(line, width), kept, "{width}");
        }
        let line = "    the optimizer does not choose it for any statement";
        assert_eq!(cut_to_width(line, 30), "    the optimizer does not …");
    }

    #[test]
    fn a_list_says_how_many_items_are_left_out() {
        let listed = |lines_max, items: &[&str]| {
            let items: Vec<String> = items.iter().map(|it| (*it).to_owned()).collect();
            let mut facts = Facts::new(40);
            facts.add_list("suspect", lines_max, &items, "in the page");
            facts.into_lines()
        };
        assert_eq!(listed(1, &[]), [""; 0]);
        assert_eq!(listed(1, &["a", "b", "c"]), ["suspect   a; b; c"]);
        let long = [
            "the first problem of all",
            "the second problem of all",
            "the third",
        ];
        assert_eq!(
            listed(2, &long),
            [
                "suspect   the first problem of all; and",
                "          2 more, in the page"
            ]
        );
        assert_eq!(
            listed(1, &long),
            ["suspect   the …; and 2 more, in the page"]
        );
    }
}
