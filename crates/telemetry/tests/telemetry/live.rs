//! Tests of the sampler on the machine that runs the tests.

use std::{
    io::{Read, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use samples::{Host, ProcessUse};
use telemetry::{Sampler, Targets};

/// Uses this CPU time in this thread, whatever the elapsed time on a busy machine.
fn burn(cpu: Duration) {
    let used = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let end = used() + cpu;
    let mut x = 1u64;
    while used() < end {
        for _ in 0..10_000 {
            x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005));
        }
    }
}

fn cpu_s(used: ProcessUse) -> f64 {
    used.user_s + used.system_s
}

/// A process in the role of the server; it ends with the test, even if the test fails.
struct Process(Child);

impl Process {
    fn start() -> Self {
        let child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("every system has cat");
        let mut process = Self(child);
        process.answer();
        process
    }

    /// Waits until its program runs: right after its start the kernel has counted none of its memory.
    fn answer(&mut self) {
        let input = self.0.stdin.as_mut().expect("it is piped");
        input.write_all(b"?").expect("it reads");
        let output = self.0.stdout.as_mut().expect("it is piped");
        output.read_exact(&mut [0]).expect("it writes");
    }

    fn id(&self) -> u32 {
        self.0.id()
    }

    fn end(&mut self) {
        self.0.kill().expect("it is our child");
        self.0.wait().expect("it is our child");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has already ended if the test passed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn cpu_that_a_thread_burns_is_the_clients() {
    let mut sampler = Sampler::new(Targets {
        host: Host::Client,
        server_pid: None,
        datadir: None,
    });
    assert!(
        sampler
            .machine()
            .not_observed
            .contains(&"server host not observed".to_owned())
    );
    thread::spawn(|| burn(Duration::from_secs(1)))
        .join()
        .unwrap();
    let sample = sampler.sample(&|| 1.0);
    let client = cpu_s(sample.client.unwrap());
    assert!((0.9..60.0).contains(&client), "burnt 1 s, saw {client}");
    let machine = sample.machine.unwrap();
    assert!(machine.user_s + machine.system_s > 0.9, "{machine:?}");
    assert!(sample.server.is_none() && sample.disk.is_none());
}

#[test]
fn a_killed_server_process_is_gone_for_good() {
    let mut child = Process::start();
    let mut sampler = Sampler::new(Targets {
        host: Host::Both,
        server_pid: Some(child.id()),
        datadir: None,
    });
    let server = sampler.sample(&|| 0.5).server.unwrap();
    assert!(server.resident_bytes > 0);
    child.end();
    assert_eq!(sampler.sample(&|| 1.0).server, None);
    assert_eq!(sampler.sample(&|| 1.5).server, None);
}

#[test]
fn a_process_id_of_nobody_is_named() {
    let mut child = Process::start();
    child.end();
    let sampler = Sampler::new(Targets {
        host: Host::Both,
        server_pid: Some(child.id()),
        datadir: Some(PathBuf::from("/nonexistent/datadir")),
    });
    let missing = sampler.machine().not_observed.join("\n");
    assert!(
        missing.contains(&format!("server process {} not observed", child.id())),
        "{missing}"
    );
    assert!(
        missing.contains("data directory /nonexistent/datadir not observed"),
        "{missing}"
    );
}

#[test]
fn every_directory_has_a_disk_or_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    let mut sampler = Sampler::new(Targets {
        host: Host::Both,
        server_pid: Some(std::process::id()),
        datadir: Some(directory.path().to_owned()),
    });
    let missing = sampler.machine().not_observed;
    let disk = sampler.sample(&|| 1.0).disk;
    let reasons = missing
        .iter()
        .filter(|line| line.starts_with("disk of the data directory"));
    assert_eq!(
        reasons.count(),
        usize::from(disk.is_none()),
        "{disk:?} {missing:?}"
    );
}
