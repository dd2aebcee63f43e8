//! What an account sees of the objects that its statements reach, by its grants.

use sqltext::{ExecutedTokens, Quoting, Token, TokenKind};

/// The part of a server's objects that is shown to an account.
#[derive(Debug, Default)]
pub(super) struct Visibility {
    /// Everything: all that information_schema hides from accounts without rights.
    pub(super) is_whole: bool,
    /// Schemas, and tables of schemas, whose triggers it sees.
    triggers_of: Vec<(String, Option<String>)>,
}

impl Visibility {
    /// By the lines of `SHOW GRANTS`. A name with a wildcard counts as a name.
    pub(super) fn of_grants(lines: &[String]) -> Self {
        let mut visible = Self::default();
        for line in lines {
            let Some((privileges, object)) = granted(line) else {
                continue;
            };
            let has = |name: &str| {
                let mut all = privileges.split(',');
                all.any(|it| it.trim().eq_ignore_ascii_case(name))
            };
            let has_all = has("ALL PRIVILEGES") || has("ALL");
            match object {
                (None, _) => {
                    visible.is_whole |=
                        has_all || ["SELECT", "TRIGGER", "SHOW VIEW"].into_iter().all(has);
                }
                (Some(schema), table) if has_all || has("TRIGGER") => {
                    visible.triggers_of.push((schema, table));
                }
                _ => {}
            }
        }
        // MySQL can take single schemas from what is granted for all.
        visible.is_whole &= !lines.iter().any(|line| line.starts_with("REVOKE"));
        visible
    }

    /// Whether the triggers of a table are shown.
    pub(super) fn has_triggers_of(&self, schema: &str, table: &str) -> bool {
        let is_shown = |(of, only): &(String, Option<String>)| {
            of == schema && only.as_deref().is_none_or(|only| only == table)
        };
        self.is_whole || self.triggers_of.iter().any(is_shown)
    }
}

/// A schema and a table; `None` for all of them.
type Object = (Option<String>, Option<String>);

/// The privileges of a line, and what they are for.
fn granted(line: &str) -> Option<(&str, Object)> {
    let (privileges, rest) = line.strip_prefix("GRANT ")?.split_once(" ON ")?;
    let quoting = Quoting {
        has_double_quoted_names: true,
        ..Quoting::default()
    };
    let mut tokens = ExecutedTokens::of(rest.as_bytes(), quoting);
    let schema = name(tokens.next()?)?;
    tokens.next().filter(|token| token.is_sign(b'.'))?;
    let table = name(tokens.next()?)?;
    tokens.next().filter(|token| token.is_word("TO"))?;
    Some((privileges, (schema, table)))
}

/// A quoted name without the backslashes before wildcards; `None` as the name for `*`.
fn name(token: Token<'_>) -> Option<Option<String>> {
    match token.kind {
        TokenKind::Name => {
            let name = String::from_utf8_lossy(&token.unquoted()).replace("\\_", "_");
            Some(Some(name.replace("\\%", "%")))
        }
        _ => token.is_sign(b'*').then_some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_tell_what_is_shown() {
        for (lines, whole, item, other) in [
            (
                &["GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION"][..],
                true,
                true,
                true,
            ),
            (
                &["GRANT SELECT, INSERT, SHOW VIEW, TRIGGER ON *.* TO `a`@`%`"],
                true,
                true,
                true,
            ),
            (
                &[
                    "GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO `a`@`%`",
                    "REVOKE SELECT ON `shop`.* FROM `a`@`%`",
                ],
                false,
                false,
                false,
            ),
            (
                &[
                    "GRANT USAGE ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*1'",
                    "GRANT ALL PRIVILEGES ON `my\\_shop`.* TO `a`@`%`",
                ],
                false,
                true,
                false,
            ),
            (
                &["GRANT SELECT, TRIGGER ON `my_shop`.`item` TO `a`@`%`"],
                false,
                true,
                false,
            ),
            (
                &[
                    "GRANT SELECT, INSERT ON `my_shop`.* TO `a`@`%`",
                    "GRANT `reader`@`%` TO `a`@`%`",
                ],
                false,
                false,
                false,
            ),
        ] {
            let lines: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
            let visible = Visibility::of_grants(&lines);
            assert_eq!(visible.is_whole, whole, "{lines:?}");
            assert_eq!(
                visible.has_triggers_of("my_shop", "item"),
                item,
                "{lines:?}"
            );
            assert_eq!(visible.has_triggers_of("other", "item"), other, "{lines:?}");
        }
    }
}
