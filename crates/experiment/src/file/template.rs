//! Text with `{name}` as a placeholder for a factor's level.

use std::collections::BTreeMap;

use crate::file::problem::Problem;

/// The level of each factor in one combination.
pub(crate) type Levels = BTreeMap<String, String>;

/// A piece of a text with placeholders.
#[derive(Debug, PartialEq)]
pub(crate) enum TemplateSegment<'a> {
    Text(&'a str),
    /// The factor whose level is inserted.
    Factor(&'a str),
}

/// Splits a text into pieces; `{{` and `}}` are plain braces.
pub(crate) fn pieces(text: &str) -> Result<Vec<TemplateSegment<'_>>, Problem> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        if at > 0 {
            pieces.push(TemplateSegment::Text(&rest[..at]));
        }
        rest = &rest[at..];
        let length = if rest.starts_with("{{") || rest.starts_with("}}") {
            pieces.push(TemplateSegment::Text(&rest[..1]));
            2
        } else {
            let name = rest
                .strip_prefix('{')
                .and_then(|inner| inner.split_once('}'))
                .map(|(name, _)| name)
                .filter(|name| is_factor_name(name))
                .ok_or_else(|| Problem::BrokenPlaceholder {
                    text: rest.chars().take(20).collect(),
                })?;
            pieces.push(TemplateSegment::Factor(name));
            name.len() + 2
        };
        rest = &rest[length..];
    }
    if !rest.is_empty() {
        pieces.push(TemplateSegment::Text(rest));
    }
    Ok(pieces)
}

/// The text with the levels of one combination inserted.
pub(crate) fn fill(text: &str, levels: &Levels) -> Result<String, Problem> {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text)? {
        match piece {
            TemplateSegment::Text(text) => filled.push_str(text),
            TemplateSegment::Factor(name) => match levels.get(name) {
                Some(level) => filled.push_str(level),
                None => {
                    return Err(Problem::UnknownFactor {
                        name: name.to_owned(),
                        factors: levels.keys().cloned().collect(),
                    });
                }
            },
        }
    }
    Ok(filled)
}

/// True for a valid name in braces: letters, digits, `_` and `-`, beginning with a letter.
pub(crate) fn is_factor_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled_texts() {
        let levels = Levels::from([
            ("fs".to_owned(), "xfs".to_owned()),
            ("query_cache".to_owned(), "64M".to_owned()),
            ("odd".to_owned(), "{fs}".to_owned()),
        ]);
        let cases = [
            ("", Some("")),
            ("plain", Some("plain")),
            ("{query_cache}", Some("64M")),
            ("/mnt/{fs}/my-{fs}.cnf", Some("/mnt/xfs/my-xfs.cnf")),
            (r#"{{"a": 1}}"#, Some(r#"{"a": 1}"#)),
            ("{{{fs}}}", Some("{xfs}")),
            // A level is text, never a placeholder.
            ("{odd}", Some("{fs}")),
            ("{", None),
            ("}", None),
            ("{}", None),
            ("{fs", None),
            ("{f s}", None),
            ("{0}", None),
            ("a } b", None),
            ("{unknown}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(fill(text, &levels).ok().as_deref(), expected, "{text}");
        }
    }
}
