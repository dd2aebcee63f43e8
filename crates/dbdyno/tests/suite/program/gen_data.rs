//! `gen-data`: the original's command line and, byte for byte, its rows.

use md5::{Digest, Md5};

use crate::scene::Scene;

/// The format of the http_auth table that comes with Super Smack.
const HTTP_AUTH: &str = "%12-12s%n,%25-25s,%n,%d";

#[test]
fn the_originals_files_are_made_again() {
    let scene = Scene::new();
    // Sizes and checksums of the original program's output; its generator is never seeded.
    for (rows, bytes, md5) in [
        ("9000", 524_162, "ea7fc24416135f5a27425ae7287beb01"),
        ("90000", 5_421_337, "f0d0fcc1c0b95d390b5d6155e8d2309c"),
    ] {
        let made = scene
            .dbdyno(["gen-data", "-n", rows, "-f", HTTP_AUTH])
            .exits(0);
        assert_eq!(made.stdout.len(), bytes, "{rows} rows");
        let sum: String = Md5::digest(&made.stdout)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(sum, md5, "{rows} rows");
    }
}

#[test]
fn the_link_and_the_command_are_one() {
    let scene = Scene::new();
    let args = ["-n", "3", "-f", "[%6n|%3-3d]"];
    let expected = "[1|846930886]\n[  2|1714636915]\n[    3|424238335]\n";
    let link = scene.called("gen-data", args).exits(0);
    assert_eq!(link.text(), expected);
    let command = scene.dbdyno(["gen-data"].into_iter().chain(args)).exits(0);
    assert_eq!(command.text(), expected);
    let long = scene
        .called("gen-data", ["--num-rows=3", "--format=[%6n|%3-3d]"])
        .exits(0);
    assert_eq!(long.text(), expected);
}

#[test]
fn a_command_line_that_cannot_work_is_refused() {
    let scene = Scene::new();
    for args in [
        &[][..],
        &["-n", "10"],
        &["-f", "%d"],
        &["-n", "0", "-f", "%d"],
        &["-n", "ten", "-f", "%d"],
        &["-n", "1", "-f", "%x"],
        &["-n", "1", "-f", "%d", "--surprise"],
    ] {
        scene
            .called("gen-data", args)
            .exits(2)
            .prints_nothing()
            .says("error: ");
    }
}
