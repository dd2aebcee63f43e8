//! A description of one comma-separated field of a format, for the message about a value that does not fit.

use super::format::{Content, Format, FormatError, Item, STRING_WIDTH_MAX, Width};

/// One field of a format: of `%12-12s%n,%d` the first is `%12-12s%n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    items: Vec<Item>,
}

impl Field {
    pub(crate) fn all(format: &[u8]) -> Result<Vec<Self>, FormatError> {
        format
            .split(|&byte| byte == b',')
            .map(|field| {
                Ok(Self {
                    items: Format::parse(field)?.items,
                })
            })
            .collect()
    }

    /// Description of the values that the field's directives generate.
    pub(crate) fn cause(&self) -> String {
        let directives: Vec<String> = self.directives().map(described).collect();
        if directives.is_empty() {
            "the format has fixed text there".to_owned()
        } else {
            format!("in the format, {}", directives.join(", "))
        }
    }

    /// Suggested replacement.
    pub(crate) fn remedy(&self) -> String {
        self.directives()
            .find_map(|directive| match directive {
                (Width::Drawn { min: 0, span }, Content::Letters) if span > 1 => {
                    let longest = span - 1;
                    Some(format!(
                        "write %{longest}-{longest}s instead of %{span}s, then every row has {longest} letters there"
                    ))
                }
                _ => None,
            })
            .unwrap_or_else(|| {
                "make the column wider, or the width in the format smaller".to_owned()
            })
    }

    fn directives(&self) -> impl Iterator<Item = (Width, Content)> {
        self.items.iter().filter_map(|item| match item {
            Item::Directive { width, content } => Some((*width, *content)),
            Item::Literal(_) => None,
        })
    }
}

fn described((width, content): (Width, Content)) -> String {
    let (written, lengths) = match width {
        Width::Exact(0) => (String::new(), STRING_WIDTH_MAX.to_string()),
        Width::Exact(width) => (format!("{width}-{width}"), width.to_string()),
        Width::Drawn { min: 0, span } => (
            span.to_string(),
            format!("0 to {}, or where 0 is drawn {STRING_WIDTH_MAX},", span - 1),
        ),
        Width::Drawn { min, span } => (
            format!("{min}-{}", min + span),
            format!("{min} to {}", min + span - 1),
        ),
    };
    match content {
        Content::Letters => format!("%{written}s makes {lengths} letters"),
        Content::RowNumber => format!("%{written}n makes the number of the row"),
        Content::Random => format!("%{written}d makes a number up to 2147483647"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_words() {
        let fields = Field::all(b"%12-12s%n,x,%255s,%3-5s,%d").unwrap();
        let told: Vec<(String, String)> = fields
            .iter()
            .map(|field| (field.cause(), field.remedy()))
            .collect();
        let other = "make the column wider, or the width in the format smaller";
        assert_eq!(
            told,
            [
                (
                    "in the format, %12-12s makes 12 letters, %n makes the number of the row",
                    other
                ),
                ("the format has fixed text there", other),
                (
                    "in the format, %255s makes 0 to 254, or where 0 is drawn 256, letters",
                    "write %254-254s instead of %255s, then every row has 254 letters there"
                ),
                ("in the format, %3-5s makes 3 to 4 letters", other),
                ("in the format, %d makes a number up to 2147483647", other),
            ]
            .map(|(cause, remedy)| (cause.to_owned(), remedy.to_owned()))
        );
    }
}
