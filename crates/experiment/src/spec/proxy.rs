//! `[proxy]`: what stands between the clients and the server.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use settings::quantity;

use crate::{error::Error, file::section::Section};

/// Keys with the options of `dbdyno proxy` that they are.
const OPTIONS: [(&str, &str); 5] = [
    (
        "add_delay",
        "a time such as \"2ms\", or with a jitter, \"2ms:500us\"",
    ),
    ("rate", "commands per second, above 0 and at most 1000000"),
    ("bandwidth", "bytes per second, such as \"10M\""),
    ("drop", "a share of the commands, 0 to 1"),
    ("kill_after", "a count of commands from 1"),
];

/// A level that leaves the proxy out: the clients connect to the server.
const DIRECT: &str = "direct";
/// A level without a file: a proxy that only relays.
const NONE: &str = "none";

/// A proxy between the clients and the server of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProxySpec {
    /// Its Lua script.
    pub script: Option<PathBuf>,
    /// Its file of rules.
    pub rewrite: Option<PathBuf>,
    /// Its event threads.
    pub threads: u32,
    /// Faults on purpose: the options of `dbdyno proxy`, without dashes, with their values.
    pub faults: BTreeMap<&'static str, String>,
    /// What the file says, by key, for the record.
    pub settings: BTreeMap<String, String>,
}

impl ProxySpec {
    /// Reads `[proxy]` for one combination; `None` without the table, and for a level that leaves the proxy out.
    pub(crate) fn read(section: &Section<'_>) -> Result<Option<Self>, Error> {
        let keys = ["script", "rewrite", "threads"];
        let known: Vec<&'static str> = keys.into_iter().chain(OPTIONS.map(|it| it.0)).collect();
        section.allow(&known)?;
        if !section.is_there() {
            return Ok(None);
        }
        let mut proxy = Self {
            threads: section
                .parsed("threads", "a count from 1 to 1024", |text| {
                    text.parse().ok().filter(|count| (1..=1024).contains(count))
                })?
                .unwrap_or(1),
            ..Self::default()
        };
        let mut is_direct = false;
        for (key, what) in [
            ("script", "script of the proxy"),
            ("rewrite", "file of rules"),
        ] {
            let Some(text) = section.string(key)? else {
                continue;
            };
            let file = match text.value.as_str() {
                DIRECT => {
                    is_direct = true;
                    None
                }
                NONE => None,
                _ => Some(text.own_file(what)?),
            };
            proxy.settings.insert(key.to_owned(), text.value);
            match key {
                "script" => proxy.script = file,
                _ => proxy.rewrite = file,
            }
        }
        for (key, expected) in OPTIONS {
            let value = section.parsed(key, expected, |text| {
                is_valid(key, text).then(|| text.to_owned())
            })?;
            if let Some(value) = value {
                proxy.settings.insert(key.to_owned(), value.clone());
                proxy.faults.insert(key, value);
            }
        }
        if proxy.threads > 1 {
            proxy
                .settings
                .insert("threads".to_owned(), proxy.threads.to_string());
        }
        Ok((!is_direct).then_some(proxy))
    }

    /// The files that it names.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.script, &self.rewrite].into_iter().flatten();
        files.map(PathBuf::as_path)
    }
}

fn is_valid(key: &str, text: &str) -> bool {
    match key {
        "add_delay" => quantity::varied(text).is_some(),
        "rate" => quantity::rate(text).is_some(),
        "bandwidth" => quantity::bytes(text).is_some_and(|bytes| bytes > 0),
        "drop" => text
            .parse()
            .is_ok_and(|share: f64| (0.0..=1.0).contains(&share)),
        _ => text.parse().is_ok_and(|count: u64| count > 0),
    }
}
