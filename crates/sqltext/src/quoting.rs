//! What quotation marks and backslashes mean, which a server's `sql_mode` decides.

/// How texts and names are quoted; by default as without `NO_BACKSLASH_ESCAPES` and `ANSI_QUOTES`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quoting {
    /// A backslash in a text is one character of it (`NO_BACKSLASH_ESCAPES`) and protects nothing.
    pub has_plain_backslashes: bool,
    /// Double quotation marks hold names (`ANSI_QUOTES`), not texts.
    pub has_double_quoted_names: bool,
}

impl Quoting {
    /// That of a value of `sql_mode`, in which a server names the parts of combinations such as `ANSI`, too.
    pub fn of_sql_mode(sql_mode: &str) -> Self {
        let has = |name: &str| sql_mode.split(',').any(|it| it.eq_ignore_ascii_case(name));
        Self {
            has_plain_backslashes: has("NO_BACKSLASH_ESCAPES"),
            has_double_quoted_names: has("ANSI_QUOTES"),
        }
    }

    pub fn all() -> [Self; 4] {
        [(false, false), (false, true), (true, false), (true, true)].map(|(plain, names)| Self {
            has_plain_backslashes: plain,
            has_double_quoted_names: names,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) const PLAIN_BACKSLASHES: Quoting = Quoting {
        has_plain_backslashes: true,
        has_double_quoted_names: false,
    };
    pub(crate) const DOUBLE_QUOTED_NAMES: Quoting = Quoting {
        has_plain_backslashes: false,
        has_double_quoted_names: true,
    };

    #[test]
    fn a_mode_is_known_by_its_parts() {
        for (mode, quoting) in [
            ("", Quoting::default()),
            (
                "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
                Quoting::default(),
            ),
            (
                "STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES",
                PLAIN_BACKSLASHES,
            ),
            (
                "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,ANSI",
                DOUBLE_QUOTED_NAMES,
            ),
        ] {
            assert_eq!(Quoting::of_sql_mode(mode), quoting, "{mode}");
        }
    }
}
