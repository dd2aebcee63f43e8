//! A load of fio on one directory: its job file, by options or from a file of the user's.

use std::path::Path;

use samples::{Access, Pattern};
use settings::{DiskLimits, Values, limits::NONE};

use crate::{
    error::Error,
    job_file::{JobFile, job_file},
    load_options::{BLOCK, SIZE, is_direct, limits_of, sync_line},
    own_job_file::OwnJobFile,
};

/// fio ends by itself long after a load is over, where dbdyno was killed and could not end it.
const SLACK_S: u64 = 3600;

/// What fio is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct FioLoad {
    /// Jobs, which run at the same time.
    pub jobs: Vec<Pattern>,
    /// I/O engine; empty where the jobs have several.
    pub engine: String,
    /// Whether all requests go past the page cache.
    pub direct: bool,
    /// As [`samples::DiskLoad::sync`].
    pub sync: String,
    /// Size of the smallest file, bytes; `None` where it is not known.
    pub file_bytes: Option<u64>,
    /// Bytes that all files need; `None` where it is not known.
    pub room_bytes: Option<u64>,
    /// Limits of the disk while the load runs.
    pub limits: Option<DiskLimits>,
    /// The jobs of the user's file.
    own: Option<OwnJobFile>,
}

impl FioLoad {
    /// The load that the options of an experiment say. Reads a job file of the user's, and starts nothing.
    pub fn of(values: &Values) -> Result<Self, Error> {
        let load = match values.file("job") {
            Some(path) => Self::of_file(path)?,
            None => Self::of_options(values),
        };
        Ok(Self {
            limits: limits_of(values),
            ..load
        })
    }

    fn of_options(values: &Values) -> Self {
        let reads = values.count("reads").unwrap_or(100);
        let depth = values.count("depth").unwrap_or(1);
        let access = match values.text("access") {
            Some("sequential") => Access::Sequential,
            _ => Access::Random,
        };
        let size = values.count("size").unwrap_or(SIZE);
        Self {
            jobs: vec![Pattern {
                name: "requests".to_owned(),
                access,
                block_bytes: values.count("block").unwrap_or(BLOCK),
                reads_percent: u32::try_from(reads).unwrap_or(100),
                depth: u32::try_from(depth).unwrap_or(u32::MAX),
            }],
            engine: values.text("engine").unwrap_or("libaio").to_owned(),
            direct: is_direct(values),
            sync: values.text("sync").unwrap_or(NONE).to_owned(),
            file_bytes: Some(size),
            room_bytes: Some(size),
            limits: None,
            own: None,
        }
    }

    fn of_file(path: &Path) -> Result<Self, Error> {
        let own = OwnJobFile::read(path)?;
        let refused = |why| Error::Refused {
            path: path.to_owned(),
            why,
            hint: None,
        };
        Ok(Self {
            jobs: own.patterns().map_err(refused)?,
            engine: own.engine().unwrap_or_default(),
            direct: own.is_direct(),
            sync: String::new(),
            file_bytes: own.file_bytes(),
            room_bytes: own.room_bytes(),
            limits: None,
            own: Some(own),
        })
    }

    /// The size of the one file that dbdyno writes whole before the load; `None` where fio makes the files itself.
    pub fn filled_bytes(&self) -> Option<u64> {
        self.file_bytes.filter(|_| self.own.is_none())
    }

    /// The name of an operation of the record: `read`, or `pages read` for a job of the user's.
    pub fn operation(&self, job: &str, are_reads: bool) -> String {
        let verb = if are_reads { "read" } else { "write" };
        match &self.own {
            Some(_) => format!("{job} {verb}"),
            None => verb.to_owned(),
        }
    }

    /// The job file for a load of `seconds` in `directory`, whose one file is `file`. Latencies are those from the
    /// submission of a request: with a buffered file the submission is what takes the time.
    pub fn job_file(&self, directory: &Path, file: &Path, seconds: u64) -> String {
        let each_s = seconds + SLACK_S;
        let latencies = "lat_percentiles=1".to_owned();
        let Some(own) = &self.own else {
            let sync = sync_line(&self.sync).expect("the experiment has checked it");
            let more: Vec<String> = sync.into_iter().chain([latencies]).collect();
            let job = JobFile {
                file,
                file_bytes: self.file_bytes.unwrap_or(SIZE),
                each_s,
                engine: &self.engine,
                direct: self.direct,
                more: &more,
                log: None,
            };
            return job_file(&job, &self.jobs);
        };
        let directory = directory.display().to_string().replace(':', "\\:");
        own.text(&[
            format!("directory={directory}"),
            format!("runtime={each_s}"),
            "time_based=1".to_owned(),
            "ramp_time=0".to_owned(),
            "thread=1".to_owned(),
            "group_reporting=0".to_owned(),
            latencies,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::Value;

    #[test]
    fn options_become_a_job_file() {
        let mut values = Values::default();
        values.set("reads", Value::Count(70));
        values.set("sync", Value::Text("fsync=8".into()));
        let load = FioLoad::of(&values).unwrap();
        let text = load.job_file(Path::new("/d"), Path::new("/d/fio.dat"), 60);
        for line in [
            "filename=/d/fio.dat",
            "size=1073741824",
            "rw=randrw",
            "rwmixread=70",
            "bs=16k",
            "fsync=8",
            "lat_percentiles=1",
            "runtime=3660",
        ] {
            let line = format!("\n{line}\n");
            assert!(text.contains(&line), "{line} in {text}");
        }
        assert_eq!(load.operation("requests", true), "read");
        assert_eq!(load.filled_bytes(), Some(1 << 30));
    }

    #[test]
    fn a_users_file_keeps_its_jobs() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.fio");
        std::fs::write(&path, "[pages]\nrw=randread\nsize=4m\nruntime=5\n").unwrap();
        let mut values = Values::default();
        values.set("job", Value::File(path));
        let load = FioLoad::of(&values).unwrap();
        let text = load.job_file(Path::new("/d:e"), Path::new("/d"), 1);
        assert!(
            text.contains("runtime=5\ndirectory=/d\\:e\nruntime=3601\n"),
            "{text}"
        );
        assert_eq!(load.operation("pages", false), "pages write");
        assert_eq!(load.filled_bytes(), None);
    }
}
