//! The JSON in a file that fio wrote, also where text stands around it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{error::Error, fio_output::Job, import::importer::ImportFile};

/// Begins of JSON that may turn out to be none: a text has few lines that begin with a brace.
const TRIES_MAX: u32 = 64;
pub(super) const AS_WRITTEN: &str =
    "name the file that `fio --output-format=json --output=FILE` wrote";

/// One run of fio.
#[derive(Debug)]
pub(super) struct Document {
    /// `fio-3.33`.
    pub(super) version: String,
    pub(super) unix_s: Option<i64>,
    /// Options of all jobs.
    pub(super) global: BTreeMap<String, Value>,
    pub(super) jobs: Vec<Job>,
}

impl Document {
    pub(super) fn of(file: &ImportFile) -> Result<Self, Error> {
        // `--status-interval` writes one after the other, each with everything since the begin.
        let value = last_object(&file.text).map_err(|why| file.error(why, AS_WRITTEN))?;
        let version = value.get("fio version").and_then(Value::as_str);
        let Some(version) = version else {
            return Err(file.error("no JSON of fio: it has no \"fio version\"", AS_WRITTEN));
        };
        let version = samples::printable(version).into_owned();
        if major(&version).is_some_and(|major| major < 3) {
            let why = format!("{version} wrote it, whose times are in microseconds (no clat_ns)");
            return Err(file.error(why, "measure again with fio 3.0 or later"));
        }
        if value.get("client_stats").is_some() {
            let why = "fio wrote it in client/server mode (client_stats): its jobs ran on several machines";
            let hint = "a record covers one disk: run fio on each machine without --client, and import each file \
                 separately";
            return Err(file.error(why, hint));
        }
        let jobs = value.get("jobs").and_then(Value::as_array);
        let jobs = jobs.ok_or_else(|| file.error("its JSON has no jobs", AS_WRITTEN))?;
        let jobs = jobs.iter().enumerate().map(|(index, job)| {
            let name = job.get("jobname").and_then(Value::as_str);
            let name = name.map_or((index + 1).to_string(), |it| {
                samples::printable(it).into_owned()
            });
            serde_json::from_value(with_sides(job.clone())).map_err(|error| {
                let error = error.to_string();
                let error = samples::printable(&error);
                file.error(format!("job {name}: {error}"), AS_WRITTEN)
            })
        });
        let global = value.get("global options").and_then(Value::as_object);
        let global = global.into_iter().flatten();
        Ok(Self {
            unix_s: value.get("timestamp").and_then(Value::as_i64),
            global: global
                .map(|(name, it)| (name.clone(), it.clone()))
                .collect(),
            jobs: jobs.collect::<Result<_, _>>()?,
            version,
        })
    }
}

/// A job with both of its sides: with `unified_rw_reporting=1` fio writes `mixed` in their place.
fn with_sides(mut job: Value) -> Value {
    if job.get("mixed").is_some_and(Value::is_object)
        && let Some(members) = job.as_object_mut()
    {
        for side in ["read", "write"] {
            let empty = json!({ "total_ios": 0, "iops": 0.0, "bw_bytes": 0.0, "clat_ns": {} });
            members.entry(side).or_insert(empty);
        }
    }
    job
}

/// The last whole JSON object of a text that begins at the begin of a line; the reason where there is none.
fn last_object(text: &str) -> Result<Value, String> {
    let (mut last, mut first_error) = (None, None);
    let (mut at, mut tries) = (0, 0);
    while let Some(begin) = next_begin(text, at).filter(|_| tries < TRIES_MAX) {
        let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at = begin + values.byte_offset();
                last = Some(value);
            }
            Some(Err(error)) => {
                let is_cut = error.is_eof();
                let error = error.to_string();
                first_error.get_or_insert_with(|| samples::printable(&error).into_owned());
                if is_cut {
                    break;
                }
                at = begin + 1;
                tries += 1;
            }
            None => break,
        }
    }
    last.ok_or_else(|| match first_error {
        Some(error) => format!("its JSON is broken: {error}"),
        None => "it has no JSON".to_owned(),
    })
}

/// Where the next object may begin, from `at` on: a brace that follows at once, or at the begin of a line.
fn next_begin(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start().len();
    if rest[blank..].starts_with('{') {
        return Some(at + blank);
    }
    let of_line = rest.find("\n{").map(|it| it + 1);
    Some(at + of_line?)
}

/// `fio-3.33` is 3; `None` for a version of another form.
fn major(version: &str) -> Option<u32> {
    let number = version.strip_prefix("fio-")?;
    number.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_between_text() {
        for (text, last) in [
            ("{\"a\":1}", 1),
            ("fio: a note {x}\n{\"a\":1}\nrun status\n", 1),
            ("{\"a\":1}\n{\"a\":2}\n", 2),
            ("{\"a\":1}{\"a\":3}", 3),
            ("{bad\n{\"a\":4}", 4),
            ("{\"a\":1}\n{\"a\":", 1),
        ] {
            assert_eq!(last_object(text).unwrap()["a"], last, "{text}");
        }
        assert_eq!(last_object("no").unwrap_err(), "it has no JSON");
        assert!(last_object("{\"a\":").unwrap_err().contains("broken"));
    }

    #[test]
    fn versions_have_a_major_number() {
        assert_eq!(major("fio-3.36-117-gb2403"), Some(3));
        assert_eq!(major("fio-2.2.10"), Some(2));
        assert_eq!(major("x"), None);
    }
}
