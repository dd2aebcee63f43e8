//! A small experiment with the tables and queries of HP's sizing paper, written into a scene.

use std::path::PathBuf;

use crate::scene::Scene;

/// Its .smack file.
pub(crate) const SMACK: &str = include_str!("../../../../experiments/smacks/hp-sizing.smack");

/// One experiment file in parts; what a test does not name stays small and quick.
pub(crate) struct Experiment {
    /// Keys above the first table.
    pub(crate) top: &'static str,
    /// `[matrix]`.
    pub(crate) matrix: String,
    /// `[server]`.
    pub(crate) server: String,
    /// `[data]` below `smack`.
    pub(crate) data: &'static str,
    /// `[each]`.
    pub(crate) each: &'static str,
    /// `[load]` below `smack`.
    pub(crate) load: String,
    /// `[disturbed]`: nothing is done again for the work of other tests.
    pub(crate) disturbed: &'static str,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            top: "seed = 3",
            matrix: String::new(),
            server: "set = { innodb_buffer_pool_size = \"16M\" }".to_owned(),
            data: "rows = \"2k\"",
            each: "",
            load: "connections = 2\nwarmup = \"500ms\"\nduration = \"1s\"".to_owned(),
            disturbed: "repeats = \"0 %\"",
        }
    }
}

impl Experiment {
    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let Self {
            top,
            matrix,
            server,
            data,
            each,
            load,
            disturbed,
        } = self;
        format!(
            "format = 1\n{top}\n[matrix]\n{matrix}\n[server]\n{server}\n\
             [data]\nsmack = \"hp-sizing.smack\"\n{data}\n[each]\n{each}\n\
             [load]\nsmack = \"hp-sizing.smack\"\n{load}\n\
             [disturbed]\n{disturbed}\n"
        )
    }

    /// Writes it as `trial.toml`, with its .smack file.
    pub(crate) fn write(&self, scene: &Scene) -> PathBuf {
        scene.file("hp-sizing.smack", SMACK);
        scene.file("trial.toml", &self.text())
    }
}
