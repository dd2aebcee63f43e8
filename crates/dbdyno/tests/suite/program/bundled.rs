//! The experiments that come with dbdyno: listed with their questions, and run by their names.

use crate::scene::Scene;

#[test]
fn experiments_are_listed_and_run_by_name() {
    let scene = Scene::new();
    let listed = scene.dbdyno(["experiments"]).exits(0).text();
    for line in ["shop ", "versions ", "plan      dbdyno run "] {
        assert!(listed.lines().any(|it| it.starts_with(line)), "{listed}");
    }
    assert!(listed.contains("What do durable commits cost"), "{listed}");

    let only = ["--only", "version=mariadb-11.8,mariadb-10.11", "--plan"];
    scene
        .dbdyno([&["run", "versions"], &only[..]].concat())
        .exits(0)
        .prints("against version mariadb-11.8, since --only leaves out mysql-8.0.33\n");

    let path = scene
        .dbdyno(["experiments", "--file", "shop"])
        .exits(0)
        .text();
    scene.dbdyno(["run", path.trim(), "--plan"]).exits(0);
    scene
        .dbdyno(["experiments", "--file", "none"])
        .exits(2)
        .says("dbdyno has no experiment `none`")
        .hints("there are auto-increment, ");

    for (named, hint) in [
        ("experiments/versions.toml", "dbdyno run versions"),
        ("none", "dbdyno experiments lists"),
    ] {
        let run = scene.dbdyno(["run", named, "--plan"]).exits(2);
        run.says("there is no such experiment file").hints(hint);
    }
    // One's own file comes first.
    scene.file("versions", "no experiment");
    scene
        .dbdyno(["run", "versions"])
        .exits(2)
        .says("versions:1");
}

#[test]
fn times_can_be_set_and_the_next_step_is_a_command() {
    let scene = Scene::new();
    scene.file("a.sql", "SELECT 1;\n");
    let text = "format = 1\nrepeats = 3\n[matrix]\nclients = [1]\n[load]\nscript = \"a.sql\"\n\
        connections = \"{clients}\"\nwarmup = \"0s\"\nduration = \"1h\"\n[server]\naddress = \"SOCKET\"\n";
    let (_server, socket) = crate::null_server::null_server(&scene, &[]);
    let socket = socket.display().to_string();
    scene.file("trial.toml", &text.replace("SOCKET", &socket));
    scene
        .dbdyno(["run", "trial.toml", "--duration", "1s", "--results", "here"])
        .exits(0)
        .prints("next      dbdyno run trial.toml --duration=30s\n");
    scene
        .dbdyno(["run", "trial.toml", "--resume", "--results", "here"])
        .exits(2)
        .says("they were measured with --duration 1s, this run is without --duration");
    scene
        .dbdyno(["run", "trial.toml", "--duration", "soon"])
        .exits(2)
        .says("--duration is soon; expected a duration such as 30s");
}
