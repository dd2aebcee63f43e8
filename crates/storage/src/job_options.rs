//! The options of one of fio's jobs, as its JSON and its job files hold them: text, those of the job over the global ones.

use std::collections::BTreeMap;

use samples::Access;
use serde_json::Value;

/// Engines that have one request in flight for each thread, whatever `iodepth` says.
const SYNCHRONOUS: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];
/// fio's own defaults.
const BLOCK: &str = "4k";
const MIXED_READS: u32 = 50;

#[derive(Debug)]
pub(crate) struct JobOptions {
    by_name: BTreeMap<String, String>,
}

/// What requests a job makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) access: Access,
    pub(crate) block_bytes: u64,
    pub(crate) reads_percent: u32,
}

impl JobOptions {
    pub(crate) fn of(global: &BTreeMap<String, Value>, own: &BTreeMap<String, Value>) -> Self {
        let text = |value: &Value| match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let both = global.iter().chain(own);
        Self {
            by_name: both
                .map(|(name, value)| (name.clone(), text(value)))
                .collect(),
        }
    }

    fn get(&self, names: &[&str]) -> Option<&str> {
        let mut given = names.iter().filter_map(|name| self.by_name.get(*name));
        given.next().map(String::as_str)
    }

    /// An option without a value is on.
    fn is_on(&self, name: &str) -> Option<bool> {
        self.get(&[name]).map(|value| value != "0")
    }

    /// The kind of requests, or why it is none that a record can hold.
    pub(crate) fn kind(&self) -> Result<Kind, String> {
        let rw = self.get(&["rw", "readwrite"]).unwrap_or("read");
        let rw = rw.split(':').next().unwrap_or_default();
        let percent = |name: &str| -> Option<u32> {
            let share = self.get(&[name])?.parse().ok();
            share.filter(|share| *share <= 100)
        };
        let mixed = percent("rwmixread")
            .or_else(|| percent("rwmixwrite").map(|share| 100 - share))
            .unwrap_or(MIXED_READS);
        let (access, reads_percent) = match rw {
            "read" => (Access::Sequential, 100),
            "write" => (Access::Sequential, 0),
            "rw" | "readwrite" => (Access::Sequential, mixed),
            "randread" => (Access::Random, 100),
            "randwrite" => (Access::Random, 0),
            "randrw" => (Access::Random, mixed),
            other => {
                let other = samples::printable(other);
                return Err(format!("rw={other} is neither reads nor writes"));
            }
        };
        Ok(Kind {
            access,
            block_bytes: self.block_bytes(reads_percent)?,
            reads_percent,
        })
    }

    /// `16k`, or `4k,16k` for reads and writes; a side that is left out has the size before it.
    fn block_bytes(&self, reads_percent: u32) -> Result<u64, String> {
        for name in ["bsrange", "blocksize_range", "bssplit"] {
            if self.get(&[name]).is_some() {
                return Err(format!("its requests have several sizes ({name})"));
            }
        }
        let given = self.get(&["bs", "blocksize"]).unwrap_or(BLOCK);
        let shown = samples::printable(given);
        let mut sizes = given.split(',');
        let read = sizes.next().filter(|it| !it.is_empty()).unwrap_or(BLOCK);
        let write = sizes.next().filter(|it| !it.is_empty()).unwrap_or(read);
        let of = |size: &str| {
            let bytes = self.bytes(size).filter(|bytes| *bytes > 0);
            bytes.ok_or_else(|| format!("its bs={shown} is not a size"))
        };
        match (of(read)?, of(write)?) {
            (read, _) if reads_percent == 100 => Ok(read),
            (_, write) if reads_percent == 0 => Ok(write),
            (read, write) if read == write => Ok(read),
            _ => Err(format!(
                "its reads and writes have different sizes (bs={shown})"
            )),
        }
    }

    /// A size as fio takes it: `16k`, `1m`, `1GiB`, `4096`; all units are powers of 1024 unless `kb_base=1000`.
    fn bytes(&self, text: &str) -> Option<u64> {
        let text = text.trim().to_ascii_lowercase();
        let unit = text.trim_start_matches(|it: char| it.is_ascii_digit());
        let number: u64 = text[..text.len() - unit.len()].parse().ok()?;
        let base: u64 = match self.get(&["kb_base"]) {
            Some("1000") => 1000,
            _ => 1024,
        };
        let power = match unit.trim_end_matches('b').trim_end_matches('i') {
            "" => 0,
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            "p" => 5,
            _ => return None,
        };
        number.checked_mul(base.pow(power))
    }

    pub(crate) fn engine(&self) -> Option<String> {
        let engine = self.get(&["ioengine"])?;
        Some(samples::printable_within(engine, 60).into_owned())
    }

    /// fio's default is buffered.
    pub(crate) fn is_direct(&self) -> bool {
        let direct = self.is_on("direct");
        let buffered = self.is_on("buffered");
        direct.or(buffered.map(|it| !it)).unwrap_or(false)
    }

    /// `None` where fio was given none, or a share of the file system.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        self.bytes(self.get(&["size"])?).filter(|it| *it > 0)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(&[name])?.parse().ok()
    }

    /// Threads that one of the job's `entries` in the JSON stands for: all with group_reporting, otherwise each has its own.
    /// fio writes no option without a value into its JSON, so that `group_reporting` often shows in the number of entries alone.
    pub(crate) fn threads_of_entry(&self, entries: u64) -> u64 {
        let is_together = self.is_on("group_reporting") == Some(true) || entries < self.threads();
        if is_together { self.threads() } else { 1 }
    }

    /// Threads of the job, whether each has an entry of its own or not.
    pub(crate) fn threads(&self) -> u64 {
        self.number("numjobs").unwrap_or(1).max(1)
    }

    /// Requests of all threads of the job that are in flight at the same time.
    pub(crate) fn requests_of_job(&self) -> u32 {
        self.requests_of(self.threads())
    }

    /// Requests of this number of threads that are in flight at the same time.
    pub(crate) fn requests_of(&self, threads: u64) -> u32 {
        let depth = if self.is_synchronous() {
            1
        } else {
            self.number("iodepth").unwrap_or(1).max(1)
        };
        u32::try_from(depth.saturating_mul(threads)).unwrap_or(u32::MAX)
    }

    /// A synchronous engine whose `iodepth` had no effect.
    pub(crate) fn idle_depth(&self) -> Option<&str> {
        let is_idle = self.is_synchronous() && self.number("iodepth").is_some_and(|it| it > 1);
        self.get(&["ioengine"]).filter(|_| is_idle)
    }

    fn is_synchronous(&self) -> bool {
        let engine = self.get(&["ioengine"]);
        engine.is_some_and(|it| SYNCHRONOUS.contains(&it))
    }

    /// Begin of the names of the job's logs of requests per second; `None` where it writes none.
    pub(crate) fn iops_log(&self, job: &str) -> Option<String> {
        let given = self.get(&["write_iops_log"])?;
        let path = if given.is_empty() { job } else { given };
        path.rsplit('/').next().map(str::to_owned)
    }

    /// Milliseconds that a line of the log stands for; 0: a line for each request.
    pub(crate) fn log_avg_ms(&self) -> u64 {
        self.number("log_avg_msec").unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(given: &[(&str, &str)]) -> JobOptions {
        let given = given.iter();
        let own = given.map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        JobOptions::of(&BTreeMap::new(), &own.collect())
    }

    #[test]
    fn kinds_are_read_as_fio_writes_them() {
        let kind = |given: &[(&str, &str)]| {
            let kind = options(given).kind()?;
            Ok((kind.access, kind.block_bytes, kind.reads_percent))
        };
        let (random, sequential) = (Access::Random, Access::Sequential);
        for (given, expected) in [
            (vec![], (sequential, 4096, 100)),
            (vec![("rw", "randrw"), ("bs", "16k")], (random, 16384, 50)),
            (
                vec![("rw", "randrw"), ("rwmixwrite", "30")],
                (random, 4096, 70),
            ),
            (
                vec![("readwrite", "randwrite:8"), ("bs", "4k,16K")],
                (random, 16384, 0),
            ),
            (
                vec![("rw", "randread"), ("blocksize", "8KiB,,")],
                (random, 8192, 100),
            ),
            (
                vec![("rw", "write"), ("bs", "1m")],
                (sequential, 1 << 20, 0),
            ),
            (
                vec![("rw", "read"), ("bs", "4k"), ("kb_base", "1000")],
                (sequential, 4000, 100),
            ),
        ] {
            assert_eq!(kind(&given), Ok::<_, String>(expected), "{given:?}");
        }
        for given in [
            vec![("rw", "randtrim")],
            vec![("rw", "randrw"), ("bs", "4k,8k")],
            vec![("bssplit", "4k/50:8k/50")],
            vec![("bs", "x")],
            vec![("bs", "0")],
            vec![("bs", "99999999999999999999p")],
        ] {
            assert!(kind(&given).is_err(), "{given:?}");
        }
    }

    #[test]
    fn depths_are_requests_in_flight() {
        let depth_of_one_of = |entries, given: &[(&str, &str)]| {
            let options = options(given);
            options.requests_of(options.threads_of_entry(entries))
        };
        let depth = |given: &[(&str, &str)]| depth_of_one_of(4, given);
        assert_eq!(depth(&[]), 1);
        assert_eq!(depth(&[("iodepth", "8"), ("numjobs", "4")]), 8);
        let of_one_entry = depth_of_one_of(1, &[("iodepth", "8"), ("numjobs", "4")]);
        assert_eq!(of_one_entry, 32);
        let together = ("group_reporting", "1");
        assert_eq!(depth(&[("iodepth", "8"), ("numjobs", "4"), together]), 32);
        let psync = ("ioengine", "psync");
        assert_eq!(
            depth(&[("iodepth", "8"), ("numjobs", "4"), together, psync]),
            4
        );
        let huge = "18446744073709551615";
        assert_eq!(
            depth(&[("iodepth", huge), ("numjobs", huge), together]),
            u32::MAX
        );
    }

    #[test]
    fn direct_is_off_unless_fio_was_told() {
        assert!(!options(&[]).is_direct());
        assert!(options(&[("direct", "1")]).is_direct() && options(&[("direct", "")]).is_direct());
        assert!(options(&[("buffered", "0")]).is_direct());
        assert_eq!(options(&[("size", "50%")]).size_bytes(), None);
        assert_eq!(options(&[("size", "16g")]).size_bytes(), Some(16 << 30));
    }
}
