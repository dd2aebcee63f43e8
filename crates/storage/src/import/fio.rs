//! fio's files: JSON and JSON+ of fio 3, and the logs of requests per second beside them.

mod document;
mod log;

use std::collections::{BTreeMap, BTreeSet};

use samples::{BurstCell, ImportedJob, Pattern, PatternResult, Requests};

use self::{
    document::{AS_WRITTEN, Document},
    log::{LogName, course},
};
use super::importer::{ImportFile, Imported, Importer, shown};
use crate::{
    error::Error,
    fio_output::Job,
    job_options::{JobOptions, Kind},
};

/// The importer of fio's files.
#[derive(Debug, Clone, Copy)]
pub(super) struct FioFiles;

/// A job whose result was taken over, as the logs look for it.
struct JobReference {
    file: usize,
    /// Numbers of its threads, from 1, as the logs have them in their names.
    threads: std::ops::Range<u64>,
    log_prefix: Option<String>,
    log_avg_ms: u64,
    /// Index of its result.
    result: usize,
}

impl Importer for FioFiles {
    fn name(&self) -> &'static str {
        "fio"
    }

    fn read(&self, files: &[ImportFile]) -> Result<Imported, Error> {
        let mut imported = Imported {
            version: String::new(),
            unix_s: None,
            patterns: Vec::new(),
            bursts: Vec::new(),
            left_out: Vec::new(),
        };
        let (mut taken, mut versions) = (Vec::new(), BTreeSet::new());
        for (index, file) in files.iter().enumerate() {
            if file.name().ends_with(".log") {
                continue;
            }
            let mut document = Document::of(file)?;
            imported.unix_s = [imported.unix_s, document.unix_s]
                .into_iter()
                .flatten()
                .min();
            take_jobs(index, file, &mut document, &mut imported, &mut taken)?;
            versions.insert(document.version);
        }
        imported.version = Vec::from_iter(versions).join(", ");
        if let (None, Some(first)) = (taken.first(), files.first()) {
            return Err(match imported.left_out.first() {
                Some(reason) => first.error(
                    format!("no job that can be imported ({reason})"),
                    "only jobs that make reads, writes or both with one size, and report each separately, can be \
                     imported",
                ),
                None => first.error("no JSON of fio among the files", AS_WRITTEN),
            });
        }
        for file in files.iter().filter(|it| it.name().ends_with(".log")) {
            add_log(file, files, &taken, &mut imported)?;
        }
        Ok(imported)
    }
}

/// Adds a result for each job of a document.
fn take_jobs(
    index: usize,
    file: &ImportFile,
    document: &mut Document,
    imported: &mut Imported,
    taken: &mut Vec<JobReference>,
) -> Result<(), Error> {
    let (name, mut thread) = (file.name(), 1_u64);
    let mut entries: BTreeMap<(String, i64), u64> = BTreeMap::new();
    for job in &document.jobs {
        *entries.entry(job.key()).or_default() += 1;
    }
    for job in &mut document.jobs {
        let options = JobOptions::of(&document.global, &job.options);
        let entries = entries.get(&job.key()).copied().unwrap_or(1);
        // Before its threads are counted: the time is that of its sides.
        let kind = kind_of(job, &options);
        let of_options = options.threads_of_entry(entries);
        let count = job.more_threads_than(of_options).unwrap_or(of_options);
        let threads = thread..thread.saturating_add(count);
        thread = threads.end;
        let job_name = samples::printable(&job.jobname).into_owned();
        let kind = match kind {
            Ok(kind) => kind,
            Err(why) => {
                imported
                    .left_out
                    .push(format!("job {job_name} of {name}: {why}"));
                continue;
            }
        };
        if count > of_options {
            imported.left_out.push(format!(
                "the options of job {job_name} of {name} are those of {}, and its figures those of {count}: with group_reporting fio \
                 adds up the jobs of a group",
                units::counted(of_options as usize, "thread")
            ));
        }
        let depth = options.requests_of(count);
        let pattern = pattern(job_name.clone(), file, kind, depth, &imported.patterns);
        let mut result = job.result(&pattern);
        if result.error.is_none() && result.read.is_none() && result.write.is_none() {
            let empty = format!("job {job_name} of {name}: no request was completed");
            imported.left_out.push(empty);
            continue;
        }
        if ![&result.read, &result.write]
            .into_iter()
            .flatten()
            .all(is_sound)
        {
            let why = format!("job {job_name}: its figures are not rates and times");
            return Err(file.error(why, "import the file as fio wrote it"));
        }
        note_what_lacks(&job_name, &name, &options, &result, &mut imported.left_out);
        result.imported = Some(facts(file, job, &options));
        taken.push(JobReference {
            file: index,
            threads,
            log_prefix: options.iops_log(&job.jobname),
            log_avg_ms: options.log_avg_ms(),
            result: imported.patterns.len(),
        });
        imported.patterns.push(result);
    }
    let groups: BTreeSet<i64> = document.jobs.iter().map(|it| it.groupid).collect();
    if groups.len() < document.jobs.len() {
        let count = document.jobs.len();
        imported.left_out.push(format!(
            "jobs of one group in {name} ran at the same time ({count} jobs in {}): each result is the share of one job",
            units::counted(groups.len(), "group"),
        ));
    }
    Ok(())
}

/// The kind of a job's requests, whose figures are then apart, or why it cannot be taken over.
fn kind_of(job: &mut Job, options: &JobOptions) -> Result<Kind, String> {
    let kind = options.kind()?;
    if !job.take_apart(kind.reads_percent) {
        let why = "its reads and writes are reported together (unified_rw_reporting=1; `both` also reports them \
             separately)";
        return Err(why.to_owned());
    }
    match job.foreign_side(kind.reads_percent) {
        Some(side) => Err(format!(
            "its options name the other kind, and it has {side}: with group_reporting fio adds up the jobs of a group (new_group \
             divides them), and verify reads what was written"
        )),
        None => Ok(kind),
    }
}

/// The pattern of a job, under a name that no other has.
fn pattern(
    job_name: String,
    file: &ImportFile,
    kind: Kind,
    depth: u32,
    known: &[PatternResult],
) -> Pattern {
    let is_free = |name: &String| known.iter().all(|it| it.pattern.name != *name);
    let of_file = format!("{}_{job_name}", samples::printable(&file.stem()));
    let numbered = (2_u64..).map(|number| format!("{of_file}_{number}"));
    let mut names = [job_name, of_file.clone()].into_iter().chain(numbered);
    Pattern {
        name: names.find(is_free).unwrap_or_default(),
        access: kind.access,
        block_bytes: kind.block_bytes,
        reads_percent: kind.reads_percent,
        depth,
    }
}

fn facts(file: &ImportFile, job: &Job, options: &JobOptions) -> ImportedJob {
    ImportedJob {
        file: shown(&file.path),
        engine: options.engine(),
        direct: options.is_direct(),
        size_bytes: options.size_bytes(),
        elapsed_s: job.longest_ms() as f64 / 1000.0,
        flushes: job.flushes(),
    }
}

fn note_what_lacks(
    job: &str,
    file: &str,
    options: &JobOptions,
    result: &PatternResult,
    left_out: &mut Vec<String>,
) {
    if let Some(engine) = options.idle_depth() {
        left_out.push(format!(
            "job {job} of {file}: the engine {engine} has one request in flight at any iodepth"
        ));
    }
    let mut sides = result.read.iter().chain(&result.write);
    if sides.any(|side| side.count > 0 && side.latency.is_none()) {
        left_out.push(format!(
            "latencies of job {job} of {file}: fio did not write the percentiles 50, 95, 99 and 99.9"
        ));
    }
}

fn is_sound(side: &Requests) -> bool {
    let mean_ns = side.latency.map_or(0.0, |it| it.mean_ns);
    let figures = [side.iops, side.iops_deviation, side.bytes_per_s, mean_ns];
    figures.iter().all(|it| it.is_finite() && *it >= 0.0)
}

/// Adds the course of a log to that of its job: several threads of one result are added up.
fn add_log(
    file: &ImportFile,
    files: &[ImportFile],
    taken: &[JobReference],
    imported: &mut Imported,
) -> Result<(), Error> {
    let hint = "fio's logs of requests per second are read: write_iops_log=NAME log_avg_msec=1000 writes NAME_iops.N.log";
    let name = LogName::of(&file.name())
        .ok_or_else(|| file.error("its name is not NAME_iops.N.log", hint))?;
    let named: Vec<&JobReference> = taken
        .iter()
        .filter(|it| it.log_prefix.as_ref() == Some(&name.prefix))
        .collect();
    let of_thread = |it: &&JobReference| name.thread.is_none_or(|one| it.threads.contains(&one));
    let near: Vec<&JobReference> = named.iter().copied().filter(of_thread).collect();
    let job = match (named.as_slice(), near.as_slice(), taken) {
        ([one], ..) | (_, [one], _) => *one,
        (_, _, [one]) => one,
        ([], ..) => {
            let why = format!("no job in the JSON files writes a log {}", name.prefix);
            return Err(file.error(why, "also name the JSON of the job"));
        }
        _ => {
            let of: Vec<String> = named.iter().map(|it| files[it.file].name()).collect();
            let why = format!("its job is unclear: jobs of {} write it", of.join(", "));
            return Err(file.error(why, "import the JSON of one job with its logs"));
        }
    };
    let series = course(&file.text, job.log_avg_ms);
    if series.is_empty() {
        return Err(file.error("none of its lines belongs to a fio log", hint));
    }
    let result = &imported.patterns[job.result];
    let known = imported.bursts.iter_mut();
    let mut known = known.filter(|it| it.pattern == result.pattern);
    if let Some(cell) = known.next() {
        let length = cell.iops.len().max(series.len());
        cell.iops.resize(length, 0.0);
        for (sum, more) in cell.iops.iter_mut().zip(series) {
            *sum += more;
        }
    } else {
        let facts = result.imported.as_ref();
        let cell = BurstCell {
            size_bytes: facts.and_then(|it| it.size_bytes),
            pattern: result.pattern.clone(),
            pause_s: 0.0,
            is_recovery: false,
            iops: series,
            machine_cpu: None,
        };
        imported.bursts.push(cell);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
