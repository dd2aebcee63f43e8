//! Tests of atomic replacement: a crash at every step, real kills, links, permissions.

use std::{
    os::unix::fs::symlink,
    process::{Command, Stdio},
    time::Duration,
};

use super::*;

/// A disk that loses unsynced data, and stops after a number of steps.
struct Model {
    steps_left: u32,
    /// Content that readers see under the old name.
    old_name: &'static [u8],
    new_file: Vec<u8>,
    is_synced: bool,
    is_renamed: bool,
    is_name_synced: bool,
}

impl Model {
    fn stopping_after(steps_left: u32) -> Self {
        Self {
            steps_left,
            old_name: b"old",
            new_file: Vec::new(),
            is_synced: false,
            is_renamed: false,
            is_name_synced: false,
        }
    }

    fn step(&mut self) -> io::Result<()> {
        self.steps_left = self
            .steps_left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("killed"))?;
        Ok(())
    }

    /// The content that a reader finds after a kill.
    fn after_kill(&self) -> &[u8] {
        if self.is_renamed {
            &self.new_file
        } else {
            self.old_name
        }
    }

    /// The contents that a reader may find after a power cut, which may or may not lose unsynced data.
    fn after_power_failure(&self) -> Vec<&[u8]> {
        let new: &[u8] = if self.is_synced { &self.new_file } else { b"" };
        match (self.is_renamed, self.is_name_synced) {
            (true, true) => vec![new],
            (true, false) => vec![self.old_name, new],
            (false, _) => vec![self.old_name],
        }
    }
}

impl Steps for Model {
    fn write(&mut self, content: &[u8]) -> io::Result<()> {
        // Also interrupted in the middle of the write.
        self.new_file.extend_from_slice(&content[..1]);
        self.step()?;
        self.new_file = content.to_vec();
        Ok(())
    }

    fn sync_file(&mut self) -> io::Result<()> {
        self.step()?;
        self.is_synced = true;
        Ok(())
    }

    fn rename(&mut self) -> io::Result<()> {
        self.step()?;
        self.is_renamed = true;
        Ok(())
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        self.step()?;
        self.is_name_synced = true;
        Ok(())
    }
}

/// Whether readers find one of the two contents complete, wherever a series of steps stops.
fn is_whole_at_every_moment(series: impl Fn(&mut Model) -> io::Result<()>) -> bool {
    (0..=4).all(|steps| {
        let mut model = Model::stopping_after(steps);
        let ended = series(&mut model);
        assert_eq!(ended.is_ok(), steps == 4);
        let found = model.after_power_failure();
        let mut found = found.into_iter().chain([model.after_kill()]);
        found.all(|content| content == b"old" || content == b"the new content")
    })
}

#[test]
fn a_crash_at_any_moment_leaves_the_old_content_or_the_new() {
    assert!(is_whole_at_every_moment(|model| put_in_place(
        model,
        b"the new content"
    )));
    // The test detects a wrong order.
    assert!(!is_whole_at_every_moment(|model| {
        model.write(b"the new content")?;
        model.rename()?;
        model.sync_file()?;
        model.sync_directory()
    }));
}

/// Helper process of another test: rewrites a file until it is killed.
#[test]
#[ignore = "the process that a_killed_writer_leaves_a_whole_file kills"]
fn writer_without_end() {
    let Some(path) = std::env::var_os("DBDYNO_TEST_REPLACED") else {
        return;
    };
    for letter in (b'a'..=b'z').cycle() {
        replace(Path::new(&path), &[letter; 20_000]).unwrap();
    }
}

#[test]
fn a_killed_writer_leaves_a_whole_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.json");
    fs::write(&path, [b'-'; 20_000]).unwrap();
    for round in 0..12_u64 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "replacement::tests::writer_without_end"])
            .args(["--ignored"])
            .env("DBDYNO_TEST_REPLACED", &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Kill times that differ between rounds, some of them before the first write.
        std::thread::sleep(Duration::from_micros(5_000 + 7_919 * round));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let content = fs::read(&path).unwrap();
        assert_eq!(content.len(), 20_000);
        assert!(content.iter().all(|byte| *byte == content[0]));
    }
    replace(&path, b"whole").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    let left = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 1, "what a killed writer left was taken over");
}

#[test]
fn permissions_and_links_stay() {
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real"), directory.path().join("link"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    symlink("real", &link).unwrap();
    replace(&link, b"new").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read(&real).unwrap(), b"new");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&real), 0o640);
    let private = directory.path().join("private");
    replace_private(&private, b"secret").unwrap();
    assert_eq!(mode(&private), 0o600);
    fs::set_permissions(&private, Permissions::from_mode(0o644)).unwrap();
    replace_private(&private, b"secret").unwrap();
    assert_eq!(mode(&private), 0o600);
}

#[test]
fn what_is_no_file_is_written_at_once() {
    replace(Path::new("/dev/null"), b"text").unwrap();
    assert!(!Path::new("/dev/.null.dbdyno-new").exists());
}

#[test]
fn one_that_is_given_up_leaves_the_old_file_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    fs::write(&path, "old").unwrap();
    let mut begun = Replacement::begin(&path).unwrap();
    begun.write_all(b"half").unwrap();
    drop(begun);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}
