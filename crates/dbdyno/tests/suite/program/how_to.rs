//! Test that each experiment in the recipes of docs/how-to.md runs.

use crate::scene::Scene;

const PAGE: &str = include_str!("../../../../../docs/how-to.md");
const SMACK: &str = include_str!("../../../../../experiments/smacks/select-key.smack");

/// The experiments of the page.
fn experiments() -> impl Iterator<Item = &'static str> {
    let blocks = PAGE.split("```toml\n").skip(1);
    blocks.filter_map(|rest| rest.split("```").next())
}

#[test]
fn every_experiment_of_the_page_has_a_plan() {
    let scene = Scene::new();
    scene.file("a.cnf", "[mysqld]\ninnodb_flush_log_at_trx_commit = 1\n");
    scene.file("b.cnf", "[mysqld]\ninnodb_flush_log_at_trx_commit = 2\n");
    scene.file("my.smack", SMACK);
    assert_eq!(experiments().count(), 2);
    for text in experiments() {
        scene.file("recipe.toml", text);
        scene
            .dbdyno(["run", "recipe.toml", "--plan"])
            .exits(0)
            .prints("runs");
    }
}
