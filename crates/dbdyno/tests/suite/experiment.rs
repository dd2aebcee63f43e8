//! A small experiment with the tables and queries of HP's sizing paper, written into a scene.

use std::path::PathBuf;

use crate::scene::Scene;

/// Its .smack file.
pub(crate) const SMACK: &str = include_str!("../../../../experiments/smacks/hp-sizing.smack");

/// `[server]` of a server that needs little memory, which a start would clear, and whose commits wait for no disk: on a
/// busy one a commit can outlast a run.
const SMALL: &str = "set = { innodb_buffer_pool_size = \"16M\", key_buffer_size = \"64K\", \
                     innodb_flush_log_at_trx_commit = 2 }";

/// Writes an experiment as `trial.toml` whose statement sleeps in the server for this time: how many can be executed in a
/// second is known on any machine.
pub(crate) fn write_sleeping(scene: &Scene, sleep_s: f64, load: &str) {
    scene.file("slow.sql", &format!("SELECT SLEEP({sleep_s});\n"));
    let text = format!(
        "format = 1\n[server]\n{SMALL}\n\
         [data]\noltp = {{ tables = 1, table_size = 10 }}\n\
         [load]\nscript = \"slow.sql\"\nwarmup = \"200ms\"\n{load}\n[disturbed]\nrepeats = \"0 %\"\n"
    );
    scene.file("trial.toml", &text);
}

/// The parts of one experiment file; defaults are small and quick.
pub(crate) struct Experiment {
    /// Keys before the first table.
    pub(crate) top: &'static str,
    /// Content of `[matrix]`.
    pub(crate) matrix: String,
    /// Content of `[server]`.
    pub(crate) server: String,
    /// Content of `[data]` after `smack`.
    pub(crate) data: &'static str,
    /// Content of `[each]`.
    pub(crate) each: &'static str,
    /// Content of `[load]` after `smack`.
    pub(crate) load: String,
    /// How long a client of a closed loop waits between two operations, so that a run costs the machine little; empty for
    /// as many operations as it can.
    pub(crate) think_time: &'static str,
    /// Content of `[disturbed]`: by default no run is repeated because of other tests' load. Empty without that table.
    pub(crate) disturbed: &'static str,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            top: "seed = 3",
            matrix: String::new(),
            server: SMALL.to_owned(),
            data: "rows = \"2k\"",
            each: "",
            load: "connections = 2\nwarmup = \"200ms\"\nduration = \"2s\"".to_owned(),
            think_time: "10ms",
            disturbed: "repeats = \"0 %\"",
        }
    }
}

impl Experiment {
    pub(crate) fn text(&self) -> String {
        let Self {
            top,
            matrix,
            server,
            data,
            each,
            load,
            think_time,
            disturbed,
        } = self;
        let disturbed = match *disturbed {
            "" => String::new(),
            keys => format!("[disturbed]\n{keys}"),
        };
        let is_open = load.contains("rate = ");
        let think_time = if think_time.is_empty() || is_open || load.contains("think_time") {
            String::new()
        } else {
            format!("think_time = \"{think_time}\"")
        };
        format!(
            "format = 1\n{top}\n[matrix]\n{matrix}\n[server]\n{server}\n\
             [data]\nsmack = \"hp-sizing.smack\"\n{data}\n[each]\n{each}\n\
             [load]\nsmack = \"hp-sizing.smack\"\n{think_time}\n{load}\n{disturbed}\n"
        )
    }

    /// Writes it as `trial.toml`, with its .smack file.
    pub(crate) fn write(&self, scene: &Scene) -> PathBuf {
        scene.file("hp-sizing.smack", SMACK);
        scene.file("trial.toml", &self.text())
    }
}
