//! What one machine has of each resource, and how many CPUs a system has, as options write it.

use crate::resource::Resource;

/// What one machine has of some resources.
pub type Capacity = Vec<(Resource, f64)>;

/// A capacity in the form `cpus=8,memory=32G,write_iops=3000`.
///
/// Memory and bytes per second may have a binary unit (`32G`), rates and CPUs are numbers.
pub fn parse_capacity(text: &str) -> Result<Capacity, String> {
    let mut capacity = Capacity::new();
    for part in text.split(',') {
        let (name, amount) = named_part(part)?;
        let Some(resource) = Resource::named(name) else {
            let names = Resource::ADDED_UP.map(Resource::name);
            return Err(format!(
                "no resource {name:?}; the resources are {}",
                names.join(", ")
            ));
        };
        if capacity.iter().any(|(known, _)| *known == resource) {
            return Err(format!("{name} is given twice"));
        }
        let value = match resource {
            Resource::Cpus | Resource::Reads | Resource::Writes => amount.parse().ok(),
            _ => settings::quantity::bytes(amount).map(|bytes| bytes as f64),
        };
        match value.filter(|value: &f64| value.is_finite() && *value > 0.0) {
            Some(value) => capacity.push((resource, value)),
            None => return Err(format!("{name}: not an amount above 0: {amount:?}")),
        }
    }
    Ok(capacity)
}

/// The number of CPUs of a system in the form `shop=8`.
pub fn parse_cpus(text: &str) -> Result<(String, u32), String> {
    let (name, count) = named_part(text)?;
    match count.parse::<u32>() {
        Ok(count @ 1..) => Ok((name.to_owned(), count)),
        _ => Err(format!("not a number of CPUs: {count:?}")),
    }
}

pub(crate) fn named_part(text: &str) -> Result<(&str, &str), String> {
    let parts = text.rsplit_once('=');
    let (name, value) = parts.ok_or_else(|| format!("not of the form name=amount: {text:?}"))?;
    Ok((name.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_have_units() {
        let found = parse_capacity("cpus=7.5,memory=32G,write_iops=3000,read_bytes=250M").unwrap();
        let expected = vec![
            (Resource::Cpus, 7.5),
            (Resource::Memory, 34_359_738_368.0),
            (Resource::Writes, 3000.0),
            (Resource::ReadBytes, 262_144_000.0),
        ];
        assert_eq!(found, expected);
        for (text, problem) in [
            ("", "not of the form"),
            ("cpus", "not of the form"),
            (
                "iops=5",
                "no resource \"iops\"; the resources are cpus, memory, read_iops",
            ),
            ("cpus=0", "not an amount above 0"),
            ("cpus=-1", "not an amount above 0"),
            ("cpus=nan", "not an amount above 0"),
            ("cpus=inf", "not an amount above 0"),
            ("memory=32X", "not an amount above 0"),
            ("cpus=1,cpus=2", "cpus is given twice"),
        ] {
            let refused = parse_capacity(text).unwrap_err();
            assert!(refused.contains(problem), "{text}: {refused}");
        }
    }

    #[test]
    fn cpus_are_of_a_system() {
        assert_eq!(parse_cpus("db=a=8"), Ok(("db=a".to_owned(), 8)));
        for text in ["db", "db=", "db=0", "db=1.5"] {
            assert!(parse_cpus(text).is_err(), "{text}");
        }
    }
}
