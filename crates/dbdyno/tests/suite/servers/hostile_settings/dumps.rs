//! Dumps whose rows are compared by a script that the run itself executes.

use std::fs;

use crate::{own_experiment::experiment, scene::Scene};

use super::settings::Settings;

/// Statements that set nothing of their session, as mysqldump writes them with `--compact`.
const FILE: &str = "\
CREATE TABLE `t` (`id` int NOT NULL AUTO_INCREMENT, `note` varchar(40), `seen` timestamp NULL, `day` date, PRIMARY KEY (`id`)) CHARSET=utf8mb4;
INSERT INTO `t` VALUES (0,'it\\'s \\\\ \\\"q\\\"','2020-03-29 02:30:00','2020-00-15'),(7,NULL,NULL,'0000-00-00'),(8,'','2020-01-01 00:00:00',NULL);
CREATE TABLE `u` (`id` int NOT NULL AUTO_INCREMENT, `note` varchar(40), PRIMARY KEY (`id`)) CHARSET=utf8mb4;
INSERT INTO `u` (`note`) VALUES ('a\\\\b'),('');
INSERT INTO `u` VALUES (NULL,\"c\");
";

/// The same rows as mydumper writes them, with what it leaves to myloader.
const DIRECTORY: [(&str, &str); 5] = [
    ("metadata", "Started dump at: 2024-01-01 00:00:00\n"),
    (
        "p.t-schema.sql",
        "CREATE TABLE `t` (`id` int NOT NULL AUTO_INCREMENT, `note` varchar(40), `seen` timestamp NULL, `day` date, PRIMARY KEY (`id`)) CHARSET=utf8mb4;\n",
    ),
    (
        "p.t.00000.sql",
        "INSERT INTO `t` VALUES(0,\"it\\'s \\\\ \\\"q\\\"\",\"2020-03-29 02:30:00\",\"2020-00-15\")\n,(7,NULL,NULL,\"0000-00-00\")\n,(8,\"\",\"2020-01-01 00:00:00\",NULL);\n",
    ),
    (
        "p.u-schema.sql",
        "CREATE TABLE `u` (`id` int NOT NULL AUTO_INCREMENT, `note` varchar(40), PRIMARY KEY (`id`)) CHARSET=utf8mb4;\n",
    ),
    (
        "p.u.sql",
        "INSERT INTO `u` VALUES(1,\"a\\\\b\")\n,(2,\"\")\n,(3,\"c\");\n",
    ),
];

/// The rows of `t`, then those of `u`, with times as seconds since 1970.
const ROWS: &str =
    r#"0|it's \ "q"|1585449000|2020-00-15,7|NULL|NULL|0000-00-00,8||1577836800|NULL;1|a\b,2|,3|c"#;

/// The statements run under the settings of the server: nothing in them can be read in another way. The last one, of
/// several rows, fails.
fn compares() -> String {
    let rows = |columns: &str, table: &str| {
        format!("(SELECT group_concat(concat_ws('|', {columns}) ORDER BY id) FROM {table})")
    };
    let value = |column: &str| format!("coalesce({column}, 'NULL')");
    let of_t = ["note", "unix_timestamp(seen)", "day"]
        .map(value)
        .join(", ");
    let t = rows(&format!("id, {of_t}"), "t");
    let u = rows(&format!("id, {}", value("note")), "u");
    let hex: String = ROWS.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!(
        "SELECT hex(concat({t}, ';', {u})) = '{hex}' AS same \\gset\n\
         \\if :same\nSELECT 1;\n\\else\nSELECT (SELECT id FROM t) AS wrong;\n\\endif\n"
    )
}

/// Loads a dump on a private server of this flavour with these options: a file, and a directory of mydumper.
pub(super) fn are_loaded_as_meant(flavour: &str, options: Settings) {
    let scene = Scene::for_two_servers();
    scene.link_installs();
    scene.file("load.sql", &compares());
    scene.file("dump.sql", FILE);
    fs::create_dir(scene.path().join("dumped")).unwrap();
    for (name, text) in DIRECTORY {
        scene.file(&format!("dumped/{name}"), text);
    }
    let set = options
        .iter()
        .map(|(name, value)| format!("{name} = \"{value}\""));
    let set = set.collect::<Vec<_>>().join(", ");
    let server = format!("run = \"{flavour}\"\nset = {{ {set} }}");
    for (dump, sent_as) in [("dump.sql", "inserts"), ("dumped", "lines")] {
        let data = format!("dump = \"{dump}\"\ndump_as = \"{sent_as}\"");
        scene.file("own.toml", &experiment(&server, &data));
        let results = format!("out-{dump}");
        scene
            .dbdyno(["run", "own.toml", "--results", &results])
            .exits(0);
    }
    scene.nothing_is_left();
}
