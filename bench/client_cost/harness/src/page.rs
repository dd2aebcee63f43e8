//! The results as markdown, and their place between two marks of a page.

use std::fmt::Write;

use anyhow::{Context, Result};

use crate::{target::Target, verdict::digits};

/// The table of targets.
pub fn targets(targets: &[Target]) -> String {
    let mut text = "| target | bound | measured | 95 % interval | rounds | verdict |\n\
                    | --- | --- | ---: | ---: | ---: | --- |\n"
        .to_owned();
    for target in targets {
        let (estimate, interval) = match &target.measured {
            None => ("-".to_owned(), "-".to_owned()),
            Some(found) => (
                digits(found.estimate),
                format!("{} to {}", digits(found.low), digits(found.high)),
            ),
        };
        let stretch = if target.is_stretch { " (stretch)" } else { "" };
        let _ = writeln!(
            text,
            "| {} | {}{stretch} | {estimate} | {interval} | {} | {} |",
            target.what, target.bound, target.rounds, target.verdict
        );
    }
    text
}

/// `page` with `results` between the two marks of a benchmark, `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
pub fn replaced(page: &str, name: &str, results: &str) -> Result<String> {
    let begin = format!("<!-- {name}: begin -->");
    let end = format!("<!-- {name}: end -->");
    let (before, rest) = page
        .split_once(&begin)
        .with_context(|| format!("no line {begin}"))?;
    let (_, after) = rest
        .split_once(&end)
        .with_context(|| format!("no line {end}"))?;
    Ok(format!(
        "{before}{begin}\n{}\n{end}{after}",
        results.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Bound;

    #[test]
    fn results_stand_between_their_marks() {
        let page = "# A\n<!-- x: begin -->\nold\n<!-- x: end -->\n# B\n";
        let new = replaced(page, "x", "new\n\n").unwrap();
        assert_eq!(new, "# A\n<!-- x: begin -->\nnew\n<!-- x: end -->\n# B\n");
        assert_eq!(replaced(&new, "x", "new").unwrap(), new);
        assert!(replaced("# A\n", "x", "new").is_err());
        assert!(replaced("<!-- x: begin -->", "x", "new").is_err());
    }

    #[test]
    fn a_line_per_target() {
        let memory_mb = [100.0, 102.0, 101.0, 104.0, 103.0, 900.0];
        let astride = Target::of_values("memory, MB".to_owned(), Bound::AtMost(200.0), &memory_mb);
        let void = Target::of_values("nothing".to_owned(), Bound::AtMost(1.0), &[]).stretch();
        let expected = "\
| target | bound | measured | 95 % interval | rounds | verdict |
| --- | --- | ---: | ---: | ---: | --- |
| memory, MB | at most 200 | 102 | 100 to 900 | 6 | undecided |
| nothing | at most 1.00 (stretch) | - | - | 0 | not measured |
";
        assert_eq!(targets(&[astride, void]), expected);
    }
}
