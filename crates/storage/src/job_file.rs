//! fio's job file of a set of patterns, which anyone can run again by hand.

use std::{fmt::Write, path::Path};

use samples::{Access, Pattern};

/// What all patterns of a job file have in common.
#[derive(Debug, Clone, Copy)]
pub struct JobFile<'a> {
    /// The test file.
    pub file: &'a Path,
    /// Its size, bytes.
    pub file_bytes: u64,
    /// Time of each pattern, seconds.
    pub each_s: u64,
    /// fio's I/O engine.
    pub engine: &'a str,
    /// Whether requests go past the page cache.
    pub direct: bool,
    /// Lines for all patterns beside these, such as `sync=dsync`.
    pub more: &'a [String],
    /// Begin of the names of files that get the requests of each second.
    pub log: Option<&'a Path>,
}

/// A section for each pattern, one after the other; fio runs one of them by `--section=NAME`.
pub fn job_file(job: &JobFile<'_>, patterns: &[Pattern]) -> String {
    let JobFile {
        file_bytes,
        each_s,
        engine,
        ..
    } = job;
    let direct = u8::from(job.direct);
    let mut text = format!(
        "# All of it: fio FILE; one pattern: fio --section=NAME FILE. thread=1 makes fio one process.\n\
         [global]\nioengine={engine}\ndirect={direct}\nfilename={}\nsize={file_bytes}\nloops=1000\nruntime={each_s}\n\
         time_based=1\nrandrepeat=0\nnorandommap=1\nrefill_buffers=1\ngroup_reporting=1\nthread=1\n",
        escaped(job.file)
    );
    for line in job.more {
        add(&mut text, format_args!("{line}\n"));
    }
    if let Some(log) = job.log {
        let log = log.display();
        add(
            &mut text,
            format_args!("write_iops_log={log}\nlog_avg_msec=1000\n"),
        );
    }
    for pattern in patterns {
        let Pattern {
            name,
            block_bytes,
            depth,
            ..
        } = pattern;
        let rw = requests(pattern);
        add(&mut text, format_args!("\n[{name}]\nstonewall\nrw={rw}\n"));
        if !matches!(pattern.reads_percent, 0 | 100) {
            let reads = pattern.reads_percent;
            add(&mut text, format_args!("rwmixread={reads}\n"));
        }
        let block = block_words(*block_bytes);
        add(&mut text, format_args!("bs={block}\niodepth={depth}\n"));
    }
    text
}

fn add(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what)
        .expect("writing to a String cannot fail");
}

/// fio's word for the kind of requests.
fn requests(pattern: &Pattern) -> &'static str {
    match (pattern.access, pattern.reads_percent) {
        (Access::Sequential, 100) => "read",
        (Access::Sequential, 0) => "write",
        (Access::Sequential, _) => "rw",
        (Access::Random, 100) => "randread",
        (Access::Random, 0) => "randwrite",
        (Access::Random, _) => "randrw",
    }
}

/// `4k`, `1m`, or plain bytes.
fn block_words(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{}m", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}k", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// A colon would end the name for fio.
fn escaped(file: &Path) -> String {
    file.display().to_string().replace(':', "\\:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern_set::sh2_137;

    #[test]
    fn the_suite_as_fio_takes_it() {
        let job = JobFile {
            file: Path::new("/data/a:b/fio.dat"),
            file_bytes: 16 << 30,
            each_s: 60,
            engine: "libaio",
            direct: true,
            more: &[],
            log: None,
        };
        let text = job_file(&job, &sh2_137());
        assert_eq!(text.matches("\nstonewall\n").count(), 137);
        assert!(text.contains("\nfilename=/data/a\\:b/fio.dat\nsize=17179869184\n"));
        assert!(text.contains("\n[001_seq_read]\nstonewall\nrw=read\nbs=1m\niodepth=1\n"));
        let mixed =
            "\n[012_rand_4k_r90_q1]\nstonewall\nrw=randrw\nrwmixread=90\nbs=4k\niodepth=1\n";
        assert!(text.contains(mixed));
        assert!(
            text.contains(
                "\n[137_rand_16k_r0_q256]\nstonewall\nrw=randwrite\nbs=16k\niodepth=256\n"
            )
        );
        assert!(!text.contains("write_iops_log"));
    }
}
