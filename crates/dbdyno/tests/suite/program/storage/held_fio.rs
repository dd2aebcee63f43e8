//! fio for tests of what dbdyno does between its runs: a run is short, and waits where a test wants it to.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::Command,
};

use crate::scene::{Running, Scene};

/// Writes a line for each run that measures, and waits while more of them have begun than `allowed` says.
const SCRIPT: &str = r#"#!/bin/sh
here=${0%/*}
case "$*" in
*--section=*|*--status-interval=*)
    echo begun >> "$here/begun"
    while [ -e "$here/allowed" ] && [ "$(wc -l < "$here/begun")" -gt "$(cat "$here/allowed")" ]; do sleep 0.05; done
    if [ -e "$here/short" ]; then
        sed 's/^runtime=.*/runtime=100ms/' "$2" > "$here/job.fio"
        format=$1
        shift 2
        set -- "$format" "$here/job.fio" "$@"
    fi;;
esac
PATH=${PATH#*:}
exec fio "$@"
"#;

/// The real fio behind a script, which is the first `fio` of the PATH.
pub(crate) struct HeldFio {
    directory: PathBuf,
}

impl HeldFio {
    /// One whose runs take their time.
    pub(crate) fn new(scene: &Scene) -> Self {
        let directory = scene.path().join("held");
        fs::create_dir(&directory).unwrap();
        let script = scene.file("held/fio", SCRIPT);
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        Self { directory }
    }

    /// One whose runs take a tenth of a second, whatever dbdyno asks for.
    pub(crate) fn short(scene: &Scene) -> Self {
        let this = Self::new(scene);
        fs::write(this.directory.join("short"), "").unwrap();
        this
    }

    /// Lets this number of runs measure; those after it wait.
    pub(crate) fn allow(&self, runs: usize) {
        let next = self.directory.join("next");
        fs::write(&next, runs.to_string()).unwrap();
        // In one step: the script reads the old number or the new one.
        fs::rename(next, self.directory.join("allowed")).unwrap();
    }

    /// Lets all runs measure.
    pub(crate) fn release(&self) {
        fs::remove_file(self.directory.join("allowed")).unwrap();
    }

    /// Runs that began, with those that wait.
    pub(crate) fn begun(&self) -> usize {
        let begun = fs::read_to_string(self.directory.join("begun"));
        begun.map_or(0, |text| text.lines().count())
    }

    /// Starts dbdyno, which finds it.
    pub(crate) fn start<S: AsRef<OsStr>>(
        &self,
        scene: &Scene,
        args: impl IntoIterator<Item = S>,
    ) -> Running {
        self.start_program(scene, env!("CARGO_BIN_EXE_dbdyno"), args)
    }

    /// Starts a program that runs dbdyno, which finds it.
    pub(crate) fn start_program<S: AsRef<OsStr>>(
        &self,
        scene: &Scene,
        program: &str,
        args: impl IntoIterator<Item = S>,
    ) -> Running {
        let mut path = OsString::from("PATH=");
        path.push(&self.directory);
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new("env");
        command.arg(path).arg(program);
        scene.launch(command, args)
    }
}
