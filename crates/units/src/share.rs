//! Shares and changes in percent.

use crate::number::{TOO_WIDE, WIDEST, si};

/// A measured share, 0 to 1, in percent: `0 %`, `0.04 %`, `3.1 %`, `45 %`, `99.9 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", percent_number(share))
}

/// As [`percent`] without the sign, for a column whose heading has it.
pub fn percent_number(share: f64) -> String {
    let percent = share * 100.0;
    // Near the ends tenths matter: 99.9 % of hits have ten times the misses of 99.99 %, and 0.04 % is not zero.
    let decimals = match percent.abs() {
        size if size < 0.0005 => 0,
        size if size < 0.0095 => 3,
        size if size < 0.095 => 2,
        size if size < 9.95 => 1,
        size if size > 90.0 && size < 99.95 => 1,
        size if (99.95..99.995).contains(&size) => 2,
        _ => 0,
    };
    without_zeros(percent, decimals)
}

/// A share to a tenth of a percent, for configured shares and for changes: `2 %`, `12.5 %`, `132 %`.
pub fn fine_percent(share: f64) -> String {
    format!("{} %", tenths(share * 100.0))
}

/// A ratio as a change: `+15.7 %`, `-50 %`, and `×12.3` from a factor of ten.
pub fn change(ratio: f64) -> String {
    if ratio >= 10.0 {
        return factor(ratio);
    }
    signed_percent(ratio - 1.0)
}

fn factor(ratio: f64) -> String {
    format!("×{}", si(ratio))
}

/// Ratios that are read together, as changes in one notation: that of factors if one of them is a factor of ten.
pub fn changes<const N: usize>(ratios: [f64; N]) -> [String; N] {
    if ratios.iter().any(|ratio| *ratio >= 10.0) {
        ratios.map(factor)
    } else {
        ratios.map(change)
    }
}

/// A ratio as a change, and its interval: `-85.4 %` and `-87.1 % to -83.5 %`. An end that is not finite, or
/// too far from the estimate to say anything, is left out: `×2.50` and `at least ×0.300`.
pub fn change_and_interval(estimate: f64, (low, high): (f64, f64)) -> [String; 2] {
    // Also of an end that is no number, which no comparison holds for.
    let is_low_known = low * WIDEST >= estimate;
    let is_high_known = high <= estimate * WIDEST;
    let interval = match (is_low_known, is_high_known) {
        (true, true) => {
            let [estimate, low, high] = changes([estimate, low, high]);
            return [estimate, format!("{low} to {high}")];
        }
        // As factors: a percentage of a change has no order by which one is the least.
        (true, false) => format!("at least {}", factor(low)),
        (false, true) => format!("at most {}", factor(high)),
        (false, false) => TOO_WIDE.to_owned(),
    };
    [factor(estimate), interval]
}

/// A share with its sign, for a change that is measured in shares of something else than its begin: `+12 %`, `-115 %`.
pub fn signed_percent(share: f64) -> String {
    let percent = share * 100.0;
    let size = tenths(percent.abs());
    let sign = if percent < 0.0 && size != "0" {
        "-"
    } else {
        "+"
    };
    format!("{sign}{size} %")
}

fn tenths(percent: f64) -> String {
    let decimals = usize::from(percent.abs() < 99.95);
    without_zeros(percent, decimals)
}

/// Removes trailing zeros: `2` for 2.0.
fn without_zeros(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = if decimals == 0 {
        &text
    } else {
        text.trim_end_matches('0').trim_end_matches('.')
    };
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_shares_are_short_and_never_rounded_to_none_or_all() {
        for (share, text) in [
            (0.0, "0 %"),
            (-0.0, "0 %"),
            (0.000_04, "0.004 %"),
            (0.000_4, "0.04 %"),
            (0.004, "0.4 %"),
            (0.0312, "3.1 %"),
            (0.02, "2 %"),
            (0.123, "12 %"),
            (0.45, "45 %"),
            (0.923, "92.3 %"),
            (0.9991, "99.9 %"),
            (0.9999, "99.99 %"),
            (0.999_96, "100 %"),
            (1.0, "100 %"),
            (1.5, "150 %"),
            (-0.5, "-50 %"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
    }

    #[test]
    fn changes_and_margins_are_told_to_a_tenth() {
        for (ratio, text) in [
            (1.0, "+0 %"),
            (0.9999, "+0 %"),
            (1.157, "+15.7 %"),
            (1.1, "+10 %"),
            (0.5, "-50 %"),
            (2.0, "+100 %"),
            (11.6, "×11.6"),
        ] {
            assert_eq!(change(ratio), text);
        }
        assert_eq!(changes([9.75, 1.91, 49.8]), ["×9.75", "×1.91", "×49.8"]);
        assert_eq!(changes([1.5, 0.9]), ["+50 %", "-10 %"]);
        for (estimate, bounds, expected) in [
            (0.5, (0.4, 0.7), ["-50 %", "-60 % to -30 %"]),
            (12.0, (9.75, 49.8), ["×12.0", "×9.75 to ×49.8"]),
            (2.5, (0.3, 1.84e32), ["×2.50", "at least ×0.300"]),
            (2.5, (0.3, f64::INFINITY), ["×2.50", "at least ×0.300"]),
            (2.5, (0.3, f64::NAN), ["×2.50", "at least ×0.300"]),
            (0.5, (1e-9, 12.0), ["×0.500", "at most ×12.0"]),
            (0.5, (0.0, 0.9), ["×0.500", "at most ×0.900"]),
            (
                1.5,
                (1e-27, 1.7e27),
                ["×1.50", "interval too wide to say anything"],
            ),
        ] {
            assert_eq!(change_and_interval(estimate, bounds), expected);
        }
        for (share, text) in [(0.12, "+12 %"), (-1.15, "-115 %"), (-0.0001, "+0 %")] {
            assert_eq!(signed_percent(share), text);
        }
        for (share, text) in [(0.02, "2 %"), (0.125, "12.5 %"), (1.324, "132 %")] {
            assert_eq!(fine_percent(share), text);
        }
    }
}
