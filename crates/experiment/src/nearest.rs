//! Suggests the name that was probably meant.

/// What people call a key elsewhere, and what it is called here.
const ELSEWHERE: [(&str, &str); 27] = [
    ("version", "run"),
    ("flavour", "run"),
    ("mysqld", "run"),
    ("server", "run"),
    ("my_cnf", "cnf"),
    ("config", "cnf"),
    ("defaults_file", "cnf"),
    ("options", "set"),
    ("settings", "set"),
    ("variables", "set"),
    ("host", "address"),
    ("port", "address"),
    ("socket", "address"),
    ("password", "password_file"),
    ("schema", "database"),
    ("ssl", "ssl_mode"),
    ("tls", "ssl_mode"),
    ("threads", "connections"),
    ("clients", "connections"),
    ("time", "duration"),
    ("runs", "repeats"),
    ("factors", "matrix"),
    ("questions", "answer"),
    ("ask", "name"),
    ("question", "name"),
    ("compare", "baseline"),
    ("against", "baseline"),
];

/// The known name for a key that has another name in other tools.
pub(crate) fn synonym_of<'a>(name: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let folded = name.replace('-', "_");
    let ours = ELSEWHERE.iter().filter(|(theirs, _)| *theirs == folded);
    let mut ours = ours.filter_map(|(_, ours)| known.iter().find(|it| it.as_ref() == *ours));
    ours.next().map(AsRef::as_ref)
}

/// The known name that was probably meant: one or two typing errors away; `None` if none is that close.
pub fn nearest<'a>(name: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    known
        .iter()
        .map(|known| {
            (
                strsim::damerau_levenshtein(name, known.as_ref()),
                known.as_ref(),
            )
        })
        .filter(|(distance, known)| *distance <= (known.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_leads_to_its_name() {
        let known = ["connections", "rate", "threads"];
        assert_eq!(nearest("treads", &known), Some("threads"));
        assert_eq!(nearest("conections", &known), Some("connections"));
        assert_eq!(nearest("volume", &known), None);
    }

    #[test]
    fn a_name_from_elsewhere_leads_to_ours() {
        assert_eq!(synonym_of("version", &["run", "cnf"]), Some("run"));
        assert_eq!(synonym_of("my-cnf", &["run", "cnf"]), Some("cnf"));
        assert_eq!(synonym_of("version", &["rows"]), None, "it has no such key");
    }
}
