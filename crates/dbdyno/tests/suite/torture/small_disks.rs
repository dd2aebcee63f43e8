//! Small full file systems for results, data and reports: exit code 4, a message about the full disk, and nothing lost.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use crate::torture::{
    attack::small_smack,
    chance::Chance,
    figures::{Case, Kind},
    ground::{CANARY, Ground, Place, contents},
    inputs::simulated,
    judgement,
    trial::{Ended, Trial},
};

/// The kind `disks`: commands on a file system that is nearly full.
pub(crate) struct SmallDisks<'a> {
    ground: &'a Ground,
    results: Place,
    scripts: Vec<(&'static str, Script)>,
}

type Script = fn(&SmallDisks<'_>, &Place, &mut Disk, &mut Chance) -> Told;

/// A finished command on a full disk, with its faults.
struct Told {
    ended: Ended,
    faults: Vec<String>,
}

impl<'a> SmallDisks<'a> {
    /// An error if the machine does not permit it.
    pub(crate) fn new(ground: &'a Ground) -> Result<Self, String> {
        let probe = ground.place();
        Disk::mount(probe.path(), 1 << 20)?;
        let results = ground.place();
        results.file("trial.smack", small_smack());
        results.file("trial.toml", simulated());
        let run = ["run", "trial.toml", "--simulate", "--results", "out"];
        let ended = results.trial(run).run();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let mut scripts: Vec<(&'static str, Script)> = vec![
            ("results of run", results_of_run),
            ("record of oltp", record_of_oltp),
            ("page of report", page),
        ];
        if ground.mariadb().is_some() {
            scripts.push(("data of server create", data));
        }
        Ok(Self {
            ground,
            results,
            scripts,
        })
    }
}

impl Kind for SmallDisks<'_> {
    fn name(&self) -> &'static str {
        "disks"
    }

    fn case(&self, number: u64, mut chance: Chance) -> Case {
        let (name, script) = self.scripts[number as usize % self.scripts.len()];
        let place = self.ground.place();
        place.file("trial.smack", small_smack());
        place.file("trial.toml", simulated());
        let mut disk =
            Disk::mount(&place.path().join("disk"), 2 << 20).expect("another was mounted");
        let Told {
            ended,
            faults: mut of_script,
        } = script(self, &place, &mut disk, &mut chance);
        let mut faults = judgement::faults(&ended);
        faults.append(&mut of_script);
        let canary = fs::read_to_string(disk.directory.join("canary")).unwrap_or_default();
        if canary != CANARY {
            faults.push("what stood on the disk before is another".to_owned());
        }
        Case::of(
            name.to_owned(),
            &format!("{} KiB free", disk.free_kib),
            &ended,
            faults,
        )
    }
}

/// Faults unless the exit code is 4 with a message about space, or there was enough space.
fn is_told(ended: &Ended) -> Vec<String> {
    let words = ["space", "full", "disk"];
    let is_told = words
        .iter()
        .any(|word| ended.stderr.to_lowercase().contains(word));
    match ended.code {
        Some(0) => Vec::new(),
        Some(4) if is_told => Vec::new(),
        Some(4) => vec!["does not say that the disk is full".to_owned()],
        code => vec![format!("exit code {code:?} of a full disk")],
    }
}

fn results_of_run(_: &SmallDisks<'_>, place: &Place, disk: &mut Disk, chance: &mut Chance) -> Told {
    disk.leave(chance.below(120));
    let run = ["run", "trial.toml", "--simulate", "--results", "disk/out"];
    let ended = place.trial(run).run();
    let mut faults = is_told(&ended);
    // The measurements can be read, and with free space the run can be resumed.
    disk.free();
    let has_begun = disk.directory.join("out/experiment.toml").exists();
    if ended.code == Some(4) && has_begun {
        let resumed = place.trial([&run[..], &["--resume"]].concat()).run();
        faults.extend(judgement::faults(&resumed));
        if resumed.code != Some(0) {
            faults.push(format!(
                "--resume with space: {:?}: {}",
                resumed.code, resumed.stderr
            ));
        }
    }
    Told { ended, faults }
}

fn record_of_oltp(
    kind: &SmallDisks<'_>,
    place: &Place,
    disk: &mut Disk,
    chance: &mut Chance,
) -> Told {
    disk.leave(chance.below(60));
    let port = format!("--port={}", kind.ground.null_server().port());
    let words = "oltp point_select run --no-defaults --host=127.0.0.1 --user=trial --password-file=password \
                 --duration=3s --warmup=100ms --record=disk/record.jsonl --sample-every=100ms";
    let args = words.split_whitespace().chain([port.as_str()]);
    let ended = place.trial(args).run();
    let mut faults = is_told(&ended);
    if ended.code == Some(4)
        && disk
            .directory
            .join("record.jsonl")
            .metadata()
            .is_ok_and(|it| it.len() > 8192)
    {
        let audit = place.trial(["audit", "disk/record.jsonl"]).run();
        faults.extend(judgement::faults(&audit));
    }
    Told { ended, faults }
}

fn page(kind: &SmallDisks<'_>, place: &Place, disk: &mut Disk, chance: &mut Chance) -> Told {
    disk.leave(chance.below(400));
    let out = kind.results.path().join("out");
    let formats = ["html", "json", "csv", "parquet", "png"];
    let page = format!("disk/page.{}", chance.one_of(&formats));
    let ended = place
        .trial(["report", &*out.to_string_lossy(), "--output", &page])
        .run();
    let mut faults = is_told(&ended);
    if ended.code != Some(0) && place.path().join(&page).exists() {
        faults.push("a torn report is left".to_owned());
    }
    Told { ended, faults }
}

fn data(_: &SmallDisks<'_>, place: &Place, disk: &mut Disk, chance: &mut Chance) -> Told {
    disk.leave(chance.below(1500));
    let dir = disk.directory.join("server").to_string_lossy().into_owned();
    let args = ["server", "create", "one", "--run", "mariadb", "--dir", &dir];
    let ended = Trial::new(place.path(), args).run();
    let mut faults = Vec::new();
    if !matches!(ended.code, Some(3 | 4)) {
        faults.push(format!(
            "exit code {:?} of a disk without space for a server",
            ended.code
        ));
    }
    disk.free();
    let left = contents(&disk.directory.join("server"));
    if !left.is_empty() {
        faults.push(format!("left behind: {} files", left.len()));
    }
    Told { ended, faults }
}

/// A file system in memory; unmounted when dropped.
struct Disk {
    directory: PathBuf,
    free_kib: usize,
}

impl Disk {
    fn mount(directory: &Path, bytes: u64) -> Result<Self, String> {
        fs::create_dir_all(directory).map_err(|error| error.to_string())?;
        let directory = directory.to_owned();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
            .arg(&directory)
            .output()
            .map_err(|error| format!("mount: {error}"))?;
        if !mount.status.success() {
            return Err(format!(
                "mount: {}",
                String::from_utf8_lossy(&mount.stderr).trim()
            ));
        }
        fs::write(directory.join("canary"), CANARY).map_err(|error| error.to_string())?;
        Ok(Self {
            directory,
            free_kib: (bytes >> 10) as usize,
        })
    }

    /// Fills it except for this space.
    fn leave(&mut self, free_kib: usize) {
        let filler = |name| fs::File::create(self.directory.join(name)).expect("there is space");
        let mut reserve = filler("reserve");
        reserve
            .write_all(&vec![0; free_kib << 10])
            .expect("there is space");
        let mut rest = filler("filler");
        while rest.write_all(&[0; 4096]).is_ok() {}
        fs::remove_file(self.directory.join("reserve")).expect("it was written");
        self.free_kib = free_kib;
    }

    fn free(&self) {
        fs::remove_file(self.directory.join("filler")).expect("it was written");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a dbdyno that a fault left running may still write there.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(&self.directory)
            .status();
    }
}
