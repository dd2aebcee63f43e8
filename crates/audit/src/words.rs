//! Lists and clauses that several sentences have.

use samples::Disturbance;
use units::percent;

/// The first `most` of the words; the rest as a number.
pub(crate) fn listed(words: &[String], most: usize) -> String {
    if words.len() <= most {
        return words.join(", ");
    }
    let rest = words.len() - most;
    format!("{} and {rest} more", words[..most].join(", "))
}

/// The use of the CPU by other programs: `other programs used 12 % of the CPU (rustc, node)`; `up_to` is written before
/// the share.
pub fn other_programs_in_words(disturbance: &Disturbance, up_to: &str) -> String {
    let names = disturbance.programs_in_words();
    let names = names.map_or_else(String::new, |names| format!(" ({names})"));
    format!(
        "other programs used {up_to}{} of the CPU{names}",
        percent(disturbance.others)
    )
}

#[cfg(test)]
mod tests {
    use samples::MeasurementCpu;

    use super::*;
    use crate::fixture::machine_cpu;

    #[test]
    fn other_programs_have_their_share_and_their_names() {
        let mut cpu = machine_cpu(18.6);
        let words = |cpu: &MeasurementCpu, up_to: &str| {
            let disturbance = Disturbance::greatest([cpu]).unwrap();
            other_programs_in_words(&disturbance, up_to)
        };
        let named = "other programs used 93 % of the CPU (rustc)";
        assert_eq!(words(&cpu, ""), named);
        cpu.programs.clear();
        let unnamed = "other programs used up to 93 % of the CPU";
        assert_eq!(words(&cpu, "up to "), unnamed);
    }

    #[test]
    fn long_lists_end_with_a_number() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(listed(&names, 3), "a, b, c");
        assert_eq!(listed(&names, 1), "a and 2 more");
    }
}
