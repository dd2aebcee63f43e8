//! The column names of an experiment's factors.

/// Each factor's name, or `factor_NAME` if a column has that name already, ignoring case.
pub(crate) fn free_names<'a>(
    factors: impl Iterator<Item = &'a str>,
    columns: &[&str],
) -> Vec<String> {
    let mut taken: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    let mut names = Vec::new();
    for factor in factors {
        let is_taken = |name: &str| taken.iter().any(|other| other.eq_ignore_ascii_case(name));
        let mut name = factor.to_owned();
        while is_taken(&name) {
            name = format!("factor_{name}");
        }
        taken.push(name.clone());
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_does_not_take_the_name_of_a_column() {
        let names = free_names(
            ["mix", "Connections", "connections"].into_iter(),
            &["run", "connections"],
        );
        assert_eq!(
            names,
            ["mix", "factor_Connections", "factor_factor_connections"]
        );
    }
}
