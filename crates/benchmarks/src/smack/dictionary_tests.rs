//! Tests of dictionaries by type and source.

use std::collections::HashSet;

use super::*;

const ROWS: &str = "gen-data -n 90000 -f %12-12s%n,%25-25s,%n,%d";

fn load(members: &str, generator: &str, files: &DataFiles) -> Result<Dictionary, Error> {
    let text = format!(
        r#"client "c" {{}}
           table "t" {{ client "c"; data_file "words.dat"; gen_data_file "{generator}"; }}
           dictionary "d" {{ {members} }} main {{}}"#
    );
    let script = Script::parse("t.smack", text.as_bytes()).unwrap();
    Dictionary::load_all(&script, files).map(|mut dictionaries| dictionaries.remove(0))
}

fn draws(
    dictionary: &Dictionary,
    client_index: ClientIndex,
    seed: u64,
    count: usize,
) -> Vec<String> {
    let mut draw_state = DrawState::new(seed, client_index);
    let mut drawn = 0;
    (0..count)
        .map(|_| {
            let mut out = Vec::new();
            dictionary.draw(&mut draw_state, &mut drawn, &mut out);
            String::from_utf8(out).unwrap()
        })
        .collect()
}

fn alone() -> ClientIndex {
    ClientIndex { index: 0, of: 1 }
}

const LIST: &str = r#"type "seq"; source_type "list"; source "a,b,it's";"#;

#[test]
fn seq_goes_round_from_the_first_word_in_every_client() {
    let dictionary = load(LIST, "", &DataFiles::default()).unwrap();
    for index in [0, 1] {
        assert_eq!(
            draws(&dictionary, ClientIndex { index, of: 2 }, 1, 4),
            ["a", "b", "it\\'s", "a"]
        );
    }
}

#[test]
fn rand_repeats_by_seed_and_differs_by_client() {
    let dictionary = load(&LIST.replace("seq", "rand"), "", &DataFiles::default()).unwrap();
    let seats = [
        ClientIndex { index: 0, of: 2 },
        ClientIndex { index: 1, of: 2 },
    ];
    let first = draws(&dictionary, seats[0], 1, 100);
    assert_eq!(first, draws(&dictionary, seats[0], 1, 100));
    assert_ne!(first, draws(&dictionary, seats[1], 1, 100));
    assert_ne!(first, draws(&dictionary, seats[0], 2, 100));
    // Each of three words gets about a third of 3000 draws: 1000 +- 6 standard deviations of 26.
    let many = draws(&dictionary, alone(), 7, 3000);
    for word in ["a", "b", "it\\'s"] {
        let count = many.iter().filter(|drawn| *drawn == word).count();
        assert!((845..1155).contains(&count), "{word}: {count}");
    }
}

/// Fingerprint of the draws: an experiment's seed must select the same queries in every version.
#[test]
fn rand_is_the_same_in_every_version() {
    let members = r#"type "rand"; source_type "file"; source "words.dat"; delim ",";"#;
    let dictionary = load(members, ROWS, &DataFiles::default()).unwrap();
    let drawn = draws(&dictionary, ClientIndex { index: 3, of: 10 }, 1, 1000).join(",");
    assert_eq!(
        format!("{:x}", md5::compute(drawn)),
        "21c03d02b9d6d07a84410eed28b0fa00"
    );
}

#[test]
fn unique_never_repeats_whichever_client_draws() {
    let members = r#"type "unique"; source_type "template"; source "u%05dx";"#;
    let dictionary = load(members, "", &DataFiles::default()).unwrap();
    // A single client draws as in Super Smack, whose every client began at 0.
    assert_eq!(draws(&dictionary, alone(), 1, 2), ["u00000x", "u00001x"]);
    let mut seen = HashSet::new();
    for index in 0..3 {
        for word in draws(&dictionary, ClientIndex { index, of: 3 }, 1, 50) {
            assert!(seen.insert(word));
        }
    }
    assert!(seen.contains("u00149x"));
}

#[test]
fn file_size_equiv_takes_every_nth_line() {
    // 5 421 337 bytes / 45 000 = 120: the stock sample touched 750 of 90 000 keys.
    let members = |equiv: &str| {
        format!(
            r#"type "seq"; source_type "file"; source "words.dat"; delim ","; file_size_equiv "{equiv}";"#
        )
    };
    let sampled = load(&members("45000"), ROWS, &DataFiles::default()).unwrap();
    assert_eq!(sampled.coverage(), Some((750, 90_000)));
    let all = load(&members("0"), ROWS, &DataFiles::default()).unwrap();
    assert_eq!(all.coverage(), Some((90_000, 90_000)));
    let keys = draws(&all, alone(), 1, 360);
    assert_eq!(
        draws(&sampled, alone(), 1, 3),
        [&keys[119][..], &keys[239], &keys[359]]
    );
    // At least the size of the file: every line is used.
    let larger = load(&members("99000000"), ROWS, &DataFiles::default()).unwrap();
    assert_eq!(larger.coverage(), Some((90_000, 90_000)));
}

#[test]
fn a_file_and_its_generator_give_the_same_words() {
    let dir = tempfile::tempdir().unwrap();
    let generator = GenData::new(1000, b"%3-9s%n,x").unwrap();
    let mut rows = Vec::new();
    while generator.stream().fill(&mut rows) && rows.is_empty() {}
    std::fs::write(dir.path().join("words.dat"), &rows).unwrap();
    let members =
        r#"type "seq"; source_type "file"; source "words.dat"; delim ","; file_size_equiv "1500";"#;
    let command = "gen-data -n 1000 -f %3-9s%n,x";
    let kept = DataFiles {
        data_dir: Some(dir.path().to_owned()),
        smack_dir: PathBuf::new(),
    };
    let from_file = load(members, command, &kept).unwrap();
    let generated = load(members, command, &DataFiles::default()).unwrap();
    assert_eq!(from_file.coverage(), generated.coverage());
    let count = from_file.coverage().unwrap().0 as usize;
    assert_eq!(
        draws(&from_file, alone(), 1, count),
        draws(&generated, alone(), 1, count)
    );
}

#[test]
fn dictionaries_without_words_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("empty"), "").unwrap();
    std::fs::write(dir.path().join("one"), "a\n").unwrap();
    let files = DataFiles {
        data_dir: None,
        smack_dir: dir.path().to_owned(),
    };
    for (members, message) in [
        (
            r#"type "rand"; source_type "list"; source "";"#,
            "dictionary 'd' is empty: its list is empty".to_owned(),
        ),
        (
            r#"type "rand"; source_type "file"; source "empty";"#,
            format!(
                "dictionary 'd' is empty: no line of {} is usable",
                dir.path().join("empty").display()
            ),
        ),
        (
            r#"type "rand"; source_type "file"; source "nosuch";"#,
            format!(
                "dictionary 'd': file {} failed to stat",
                dir.path().join("nosuch").display()
            ),
        ),
        (
            r#"type "rand"; source_type "file"; source "one"; file_size_equiv "1";"#,
            format!(
                "dictionary 'd' is empty: no line of {} is usable",
                dir.path().join("one").display()
            ),
        ),
    ] {
        assert_eq!(load(members, "", &files).unwrap_err().to_string(), message);
    }
}
