//! Tests of an experiment's identity.

use std::fs;

use super::*;

#[test]
fn data_named_by_its_whole_path_is_found_again_from_everywhere() {
    let bench = tempfile::tempdir().unwrap();
    let data = bench.path().join("a.sql");
    let results = bench.path().join("results");
    fs::write(&data, "create table t (a int);\n").unwrap();
    fs::create_dir(&results).unwrap();
    let of = |path: &Path, kept: Option<&Path>| {
        let source = Source {
            path,
            text: "format = 1\n",
            kept,
            defaults: Defaults::default(),
        };
        let data = [data.clone()].into_iter();
        Identity::of(source, &Overrides::default(), std::iter::empty(), data).unwrap()
    };
    let then = of(Path::new("e.toml"), None);
    then.save(&results, &mut Created::default(), &|_, _| None)
        .unwrap();
    // Their origin is the whole path of the experiment file.
    let file = bench.path().join("e.toml");
    let again = of(&file, Some(&results.join(FILES)));
    let again = again.of_copies(&results).unwrap();
    again.check(&results).unwrap();
    again.check_data(&results).unwrap();
    assert_eq!(again.sha256(), then.sha256());
    fs::write(&data, "create table t (b int);\n").unwrap();
    assert!(again.check_data(&results).is_err());
}
