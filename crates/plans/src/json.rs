//! JSON as a server wrote it: the members of an object in their order, and each of two with the same name.
//!
//! MariaDB 10.2 to 10.8 write every table of a join as a member `table` of one object, of which a map would keep the last.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
    ser::SerializeMap,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// A number, also of an integer.
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text.
    ///
    /// # Errors
    /// The reader's message with line and column of `text`.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).or_else(|error| {
            let quoted = with_plain_quotes(text);
            let ranged = within_range(quoted.as_deref().unwrap_or(text));
            match ranged.or(quoted) {
                Some(text) => serde_json::from_str(&text),
                None => Err(error),
            }
        })
    }

    /// The first member with this name.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let members = self.members().iter();
        members
            .clone()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// The members of an object; none of any other value.
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of an array; none of any other value.
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// A number, also one that the server wrote as a string: `"0.25"`.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text
                .trim()
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    /// A scalar as text; `None` for an array and an object.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Null => Some("null".to_owned()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.clone()),
            Self::List(_) | Self::Object(_) => None,
        }
    }

    /// The scalars of an array as text, or a scalar as the only one.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::List(elements) => elements.iter().filter_map(Self::text).collect(),
            other => other.text().into_iter().collect(),
        }
    }

    /// Whether a flag is set: `true`, or MariaDB's 1.
    pub fn is_set(&self) -> bool {
        match self {
            Self::Bool(value) => *value,
            Self::Number(number) => *number != 0.0,
            _ => false,
        }
    }

    /// Whether it is an array or an object.
    pub fn is_compound(&self) -> bool {
        matches!(self, Self::List(_) | Self::Object(_))
    }
}

/// The text with `'` in place of every `\'`, which is no escape of JSON: MariaDB's trace writes strings of a statement so.
/// `None` if there is none.
fn with_plain_quotes(text: &str) -> Option<String> {
    let mut kept = String::with_capacity(text.len());
    let mut is_escaped = false;
    for character in text.chars() {
        if is_escaped && character == '\'' {
            kept.pop();
        }
        kept.push(character);
        is_escaped = character == '\\' && !is_escaped;
    }
    (kept.len() < text.len()).then_some(kept)
}

/// The text with every number above the range of a float at its end: MySQL writes the highest float, which stands for a
/// cost without a limit, rounded up (`2e308`). `None` if there is none.
fn within_range(text: &str) -> Option<String> {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_changed = false;
    while let Some(at) = ["e308", "e+308"]
        .iter()
        .filter_map(|end| rest.find(end))
        .min()
    {
        let start = rest[..at].rfind(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let start = start.map_or(0, |at| at + 1);
        let end = at + rest[at..].find("308")? + 3;
        let is_beyond = rest[start..end].parse().is_ok_and(f64::is_infinite);
        kept.push_str(&rest[..if is_beyond { start } else { end }]);
        if is_beyond {
            kept.push_str("1.7976931348623157e308");
        }
        is_changed |= is_beyond;
        rest = &rest[end..];
    }
    kept.push_str(rest);
    is_changed.then_some(kept)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = sequence.next_element()? {
            elements.push(element);
        }
        Ok(Json::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            // Integers stay integers: a float would get `.0`.
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 2_f64.powi(53) => {
                serializer.serialize_i64(*number as i64)
            }
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(elements) => serializer.collect_seq(elements),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_repeated_members_are_kept() {
        let text = r#"{"b":1,"table":{"x":"0.5"},"a":[true,null,1.25],"table":"second"}"#;
        let json = Json::parse(text).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), text);
        assert_eq!(json.members().len(), 4);
        let first = json.get("table").unwrap();
        assert_eq!(first.get("x").unwrap().number(), Some(0.5));
        assert_eq!(json.get("a").unwrap().texts(), ["true", "null", "1.25"]);
    }

    #[test]
    fn an_escaped_single_quote_is_read() {
        let json = Json::parse(r#"{"a": "x = \'it\\\' and so on\'", "cost": 2e308}"#).unwrap();
        let text = json.get("a").unwrap().text();
        assert_eq!(text.as_deref(), Some(r"x = 'it\' and so on'"));
        assert_eq!(json.get("cost").unwrap().number(), Some(f64::MAX));
        assert!(Json::parse(r#"{"a": "\x"}"#).is_err());
    }

    #[test]
    fn a_number_above_the_range_is_the_highest() {
        let json =
            Json::parse(r#"{"cost": 2e308, "x": "e308", "y": 1.5e308, "z": 2e+308}"#).unwrap();
        assert_eq!(json.get("cost").unwrap().number(), Some(f64::MAX));
        assert_eq!(json.get("x").unwrap().text().as_deref(), Some("e308"));
        assert_eq!(json.get("y").unwrap().number(), Some(1.5e308));
        assert!(Json::parse(r#"{"cost": 2e308"#).is_err());
    }

    #[test]
    fn an_error_names_line_and_column() {
        let error = Json::parse("{\n \"a\": ]").unwrap_err().to_string();
        assert!(error.contains("line 2 column 7"), "{error}");
    }
}
