//! A user's job file as a load: its jobs run at the same time, in a directory and for a time that the experiment says.

use std::{collections::BTreeMap, path::Path};

use samples::Pattern;
use serde_json::Value;

use crate::{error::Error, job_options::JobOptions};

/// Longest job file, bytes.
pub(crate) const BYTES_MAX: u64 = 1 << 20;
/// The section whose options all jobs have.
const GLOBAL: &str = "global";

/// Options that a load cannot have, and why.
const REFUSED: &[(&str, &str)] = &[
    ("include", "other files are not part of the experiment"),
    ("directory", "`dir` of the experiment sets the directory"),
    ("opendir", "`dir` of the experiment sets the directory"),
    (
        "filename_format",
        "`dir` of the experiment sets the directory",
    ),
    ("stonewall", "the jobs of a load run at the same time"),
    (
        "wait_for_previous",
        "the jobs of a load run at the same time",
    ),
    ("wait_for", "the jobs of a load run at the same time"),
    ("startdelay", "the jobs of a load run at the same time"),
    ("exec_prerun", "a load runs no other program"),
    ("exec_postrun", "a load runs no other program"),
    (
        "status-interval",
        "dbdyno samples the values over time itself",
    ),
    ("write_bw_log", "the record contains the values over time"),
    ("write_lat_log", "the record contains the values over time"),
    ("write_hist_log", "the record contains the values over time"),
    ("write_iops_log", "the record contains the values over time"),
];

/// A job file that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnJobFile {
    sections: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq)]
struct Section {
    name: String,
    /// As they stand in the file.
    lines: Vec<String>,
    options: BTreeMap<String, Value>,
}

impl OwnJobFile {
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = files::read_regular(path, BYTES_MAX).map_err(Error::io("read", path))?;
        Self::parse(&String::from_utf8_lossy(&bytes)).map_err(|why| Error::Refused {
            path: path.to_owned(),
            why,
            hint: Some("docs/storage.md describes the job file of a load".to_owned()),
        })
    }

    /// Reads the text, or says why it cannot be a load.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut sections: Vec<Section> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let plain = line.trim();
            if plain.is_empty() || plain.starts_with([';', '#']) {
                continue;
            }
            if let Some(name) = plain.strip_prefix('[') {
                let name = name.split_once(']').map(|(name, _)| name.trim());
                let name = name.filter(|name| !name.is_empty());
                let name = name.ok_or_else(|| format!("line {number} is not a section"))?;
                sections.push(Section {
                    name: name.to_owned(),
                    lines: Vec::new(),
                    options: BTreeMap::new(),
                });
                continue;
            }
            let (key, value) = plain.split_once('=').unwrap_or((plain, ""));
            let (key, value) = (key.trim(), value.trim());
            // `include FILE` has a space.
            let word = key.split_whitespace().next().unwrap_or_default();
            if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == word) {
                let key = samples::printable_within(word, 60);
                return Err(format!("line {number}: {key} is not for a load: {why}"));
            }
            if key == "filename" && (value.contains(['/', ':']) || value.starts_with('.')) {
                let value = samples::printable_within(value, 60);
                return Err(format!(
                    "line {number}: filename={value} is not a plain name: files are created in `dir` of the experiment"
                ));
            }
            let section = sections.last_mut();
            let section =
                section.ok_or_else(|| format!("line {number} is before the first section"))?;
            section.lines.push(plain.to_owned());
            section.options.insert(key.to_owned(), Value::from(value));
        }
        let file = Self { sections };
        if file.jobs().next().is_none() {
            return Err("it has no job: a section other than [global]".to_owned());
        }
        Ok(file)
    }

    fn jobs(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|it| it.name != GLOBAL)
    }

    /// The options of each job with its name.
    fn options(&self) -> Vec<(&str, JobOptions)> {
        let mut global = BTreeMap::new();
        let mut jobs = Vec::new();
        // A job has the global options that stand before it.
        for section in &self.sections {
            if section.name == GLOBAL {
                global.extend(section.options.clone());
            } else {
                let options = JobOptions::of(&global, &section.options);
                jobs.push((section.name.as_str(), options));
            }
        }
        jobs
    }

    /// The jobs as patterns, or why one of them is none.
    pub(crate) fn patterns(&self) -> Result<Vec<Pattern>, String> {
        let jobs = self.options().into_iter();
        let patterns = jobs.map(|(name, options)| {
            let kind = options.kind().map_err(|why| format!("job {name}: {why}"))?;
            let depth = options.requests_of_job();
            Ok(Pattern {
                name: name.to_owned(),
                access: kind.access,
                block_bytes: kind.block_bytes,
                reads_percent: kind.reads_percent,
                depth,
            })
        });
        let patterns: Vec<Pattern> = patterns.collect::<Result<_, String>>()?;
        let mut names: Vec<&str> = patterns.iter().map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two jobs have the name {}", pair[0])),
            None => Ok(patterns),
        }
    }

    /// The engine of all jobs; `None` where they differ.
    pub(crate) fn engine(&self) -> Option<String> {
        let engines = self.options().into_iter();
        let mut engines = engines.map(|(_, it)| it.engine().unwrap_or_else(|| "psync".to_owned()));
        let first = engines.next()?;
        engines.all(|it| it == first).then_some(first)
    }

    /// Whether all requests go past the page cache.
    pub(crate) fn is_direct(&self) -> bool {
        self.options().iter().all(|(_, it)| it.is_direct())
    }

    /// Size of the smallest file, bytes; `None` where a job does not say it.
    pub(crate) fn file_bytes(&self) -> Option<u64> {
        let sizes = self.options().into_iter();
        let sizes: Option<Vec<u64>> = sizes.map(|(_, it)| it.size_bytes()).collect();
        sizes?.into_iter().min()
    }

    /// All that the jobs' files need, bytes; `None` where a job does not say it.
    pub(crate) fn room_bytes(&self) -> Option<u64> {
        let sizes = self.options().into_iter();
        let sizes = sizes.map(|(_, it)| Some(it.size_bytes()?.saturating_mul(it.threads())));
        let sizes: Option<Vec<u64>> = sizes.collect();
        Some(sizes?.into_iter().fold(0, u64::saturating_add))
    }

    /// The text for fio: every job with `more` lines at its end, which win over its own.
    pub(crate) fn text(&self, more: &[String]) -> String {
        let mut text =
            String::from("# The jobs of the user's file; the last lines of each are dbdyno's.\n");
        for section in &self.sections {
            text.push_str(&format!("[{}]\n", section.name));
            let more = more.iter().filter(|_| section.name != GLOBAL);
            for line in section.lines.iter().chain(more) {
                text.push_str(line);
                text.push('\n');
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "; a comment\n[global]\nbs=16k\nsize = 64m\ndirect=1\nioengine=libaio\n\n[pages]\nrw=randrw\n\
                       rwmixread=70\niodepth=8\nnumjobs=2\n# another\n[log]\nrw=write\nbs=4k\nsync=dsync\nsize=16m\n";

    #[test]
    fn jobs_are_patterns() {
        let file = OwnJobFile::parse(TWO).unwrap();
        let patterns = file.patterns().unwrap();
        let seen: Vec<_> = patterns
            .iter()
            .map(|it| (it.name.as_str(), it.block_bytes, it.reads_percent, it.depth))
            .collect();
        assert_eq!(seen, [("pages", 16384, 70, 16), ("log", 4096, 0, 1)]);
        assert_eq!(file.engine().as_deref(), Some("libaio"));
        assert!(file.is_direct());
        assert_eq!(file.file_bytes(), Some(16 << 20));
        assert_eq!(file.room_bytes(), Some((2 * 64 + 16) << 20));
        let text = file.text(&["directory=/x".to_owned()]);
        assert_eq!(text.matches("directory=/x").count(), 2, "{text}");
        assert!(text.contains("size = 64m\n"));
    }

    #[test]
    fn what_is_no_load_is_refused() {
        for (text, why) in [
            ("", "it has no job"),
            ("[global]\nbs=4k\n", "it has no job"),
            ("bs=4k\n", "before the first section"),
            ("[a\n", "line 1 is not a section"),
            ("[a]\nfilename=/dev/sda\n", "line 2: filename=/dev/sda"),
            ("[a]\nfilename=a:b\n", "is not a plain name"),
            ("[a]\nfilename=..\n", "is not a plain name"),
            ("[a]\nstonewall\n", "stonewall is not for a load"),
            ("[a]\nexec_prerun=rm\n", "exec_prerun is not for a load"),
            ("include x.fio\n[a]\n", "include is not for a load"),
            ("[a]\ndirectory=/mnt\n", "`dir` of the experiment"),
        ] {
            let error = OwnJobFile::parse(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
        let twice = OwnJobFile::parse("[a]\nrw=read\n[a]\nrw=write\n").unwrap();
        assert!(twice.patterns().unwrap_err().contains("two jobs"));
        let trim = OwnJobFile::parse("[a]\nrw=trim\n").unwrap();
        assert!(trim.patterns().unwrap_err().contains("rw=trim"));
    }
}
