//! Runs of several loads, which have a record for each load.

use crate::{
    line::{LOAD, RunHeader},
    reader::Record,
};

/// For each record the index of its run. The records of one run are those of its loads, one after the other.
pub fn run_indices<'r>(records: impl IntoIterator<Item = &'r Record>) -> Vec<usize> {
    let mut of_run: Vec<&RunHeader> = Vec::new();
    let mut indices: Vec<usize> = Vec::new();
    for record in records {
        let header = &record.header;
        let is_same_run = of_run.iter().all(|other| ran_beside(header, other));
        let last = indices.last().copied();
        if is_same_run && last.is_some() {
            of_run.push(header);
        } else {
            of_run = vec![header];
        }
        let next = last.map_or(0, |last| last + 1);
        indices.push(last.filter(|_| is_same_run).unwrap_or(next));
    }
    indices
}

pub fn run_count<'r>(records: impl IntoIterator<Item = &'r Record>) -> usize {
    run_indices(records).last().map_or(0, |last| last + 1)
}

/// Number of runs of which every record is there and complete.
pub fn complete_runs<'r>(records: impl IntoIterator<Item = &'r Record>) -> usize {
    let records: Vec<&Record> = records.into_iter().collect();
    let indices = run_indices(records.iter().copied());
    let mut left: Vec<usize> = Vec::new();
    for (record, index) in records.iter().zip(indices) {
        if index == left.len() {
            left.push(1 + record.header.beside.len());
        }
        left[index] -= usize::from(record.is_complete());
    }
    left.into_iter().filter(|left| *left == 0).count()
}

/// True for the headers of two loads of one run.
fn ran_beside(one: &RunHeader, other: &RunHeader) -> bool {
    let place = |it: &RunHeader| (it.run, it.block);
    let names = |it: &RunHeader, other: &RunHeader| {
        let name = other.combination.get(LOAD);
        name.is_some_and(|name| it.beside.contains(name))
    };
    place(one) == place(other)
        && one.experiment_sha256 == other.experiment_sha256
        && names(one, other)
        && names(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record of a load of a run, complete or not.
    fn record(run: u32, load: &str, beside: &str, is_complete: bool) -> Record {
        let (combination, beside) = match load {
            "" => (String::new(), String::new()),
            _ => (format!(r#""load":"{load}""#), format!(r#""{beside}""#)),
        };
        let lines = format!(
            "{{\"line\":\"run\",\"format\":1,\"dbdyno_version\":\"0\",\"experiment\":\"x\",\"experiment_sha256\":\"\",\"seed\":1,\
             \"run\":{run},\"block\":1,\"combination\":{{{combination}}},\"beside\":[{beside}],\"started_at\":\"\",\
             \"connections\":1,\"loops\":1,\"io\":\"epoll\",\"transport\":\"\"}}\n\
             {{\"line\":\"end\",\"t_s\":1.0,\"complete\":{is_complete},\"why\":\"\"}}\n"
        );
        Record::read(lines.as_bytes()).unwrap()
    }

    #[test]
    fn the_records_of_a_run_are_those_of_its_loads() {
        let all = [
            record(1, "a", "b", true),
            record(1, "b", "a", true),
            // Another experiment's first run.
            record(1, "a", "b", true),
            record(1, "b", "a", false),
            record(2, "b", "a", true),
            record(3, "", "", true),
            record(3, "", "", true),
        ];
        assert_eq!(run_indices(&all), [0, 0, 1, 1, 2, 3, 4]);
        assert_eq!((run_count(&all), complete_runs(&all)), (5, 3));
        assert_eq!(all[0].header.number_in_words(), "1 (a)");
        assert_eq!(all[5].header.number_in_words(), "3");
    }
}
