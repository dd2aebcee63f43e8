//! Tests of compiling scripts.

use proptest::prelude::*;

use super::*;
use crate::script::plan::{Mode, Plan, Settings};

fn fault(text: &str) -> String {
    match Scripts::of_text("a.sql", text) {
        Ok(_) => panic!("{text} is compiled"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn faults_name_file_line_and_column() {
    for (text, expected) in [
        (
            "SELECT 1;\n\\if 1\nSELECT 2;",
            "a.sql, line 2, column 1: this \\if has no \\endif",
        ),
        (
            "\\endif\nSELECT 1;",
            "line 1, column 1: \\endif without an \\if",
        ),
        (
            "\\if 1\n\\else\n\\else\n\\endif",
            "line 3, column 1: \\else after the \\else",
        ),
        (
            "\\set a randon(1, 2)\nSELECT :a",
            "column 8: there is no function `randon`, did you mean `random`?",
        ),
        (
            "\\set a random(1)\nSELECT :a",
            "random takes 2 arguments, not 1",
        ),
        (
            "\\set a 1 +\nSELECT :a",
            "line 1, column 11: expected a value, found the end of the line",
        ),
        (
            "\\set a 1 2\nSELECT :a",
            "expected an operator or the end of the line, found `2`",
        ),
        ("\\set a (1\nSELECT :a", "expected an operator or `)`"),
        (
            "\\set a 1 < 2 < 3\nSELECT :a",
            "comparisons cannot follow each other",
        ),
        (
            "\\set 1a 1\nSELECT 1",
            "expected the name of a variable after \\set",
        ),
        (
            "\\set order_id 1\nSELECT :order_ld",
            "line 2, column 8: nothing sets the variable :order_ld, did you mean `order_id`?",
        ),
        ("\\gset\nSELECT 1", "\\gset must follow a statement"),
        (
            "\\sleep x\nSELECT 1",
            "expected a whole number or a variable",
        ),
        ("\\sleep 1 h\nSELECT 1", "expected us, ms or s"),
        ("\\shell ls\nSELECT 1", "\\shell runs a program"),
        ("\\startpipeline\nSELECT 1", "no pipelines"),
        (
            "\\sett a 1\nSELECT 1",
            "there is no command \\sett, did you mean `set`?",
        ),
        (
            "\\setrandom id 1 10\nSELECT :id;",
            "line 1, column 1: \\setrandom is from pgbench before 9.6: \\set id random(1, 1000)",
        ),
        ("\\set a debug(1)\nSELECT 1", "debug() prints"),
        ("\\draw ids\nSELECT 1", "there is no list `ids`"),
        (
            "\\list ids from query 'SELECT 1'\nSELECT 1",
            "nothing draws the list `ids`",
        ),
        (
            "\\list ids from \"no.csv\"\n\\draw ids\nSELECT 1",
            "list `ids`, no.csv: ",
        ),
        ("-- nothing\n\\set a 1", "the script has no statement"),
        ("", "the script has no statement"),
        (
            "\\if false\nSELECT 1;\n\\elif 1 > 2\nSELECT 2;\n\\endif",
            "a.sql, line 1, column 1: no statement of the script can run",
        ),
    ] {
        let found = fault(text);
        assert!(found.contains(expected), "{text}:\n{found}");
    }
}

/// Without a record of its own, the statement of an operation counts as a read.
#[test]
fn only_scripts_of_one_read_have_no_statements_of_their_own() {
    for (text, statements) in [
        ("SELECT 1;", 0),
        ("INSERT INTO t VALUES (1);", 1),
        ("CALL p();", 1),
        ("SELECT 1; SELECT 2;", 2),
    ] {
        let settings = Settings {
            mode: Mode::Text,
            scale: 1,
            connections: 1,
            seed: 1,
        };
        let scripts = Scripts::of_text("a.sql", text).unwrap();
        let plan = Plan::new(scripts, [], settings).unwrap();
        assert_eq!(plan.statements().len(), statements, "{text}");
    }
}

#[test]
fn a_script_may_use_what_another_sets() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["a.sql", "b.sql"].map(|name| dir.path().join(name));
    std::fs::write(&paths[0], "\\set x 1\nSELECT 1;").unwrap();
    std::fs::write(&paths[1], "SELECT :x, :y;").unwrap();
    let files = paths
        .each_ref()
        .map(|path| WeightedFile { path, weight: 1 });
    let defined = BTreeMap::from([("y".to_owned(), "5".to_owned())]);
    let scripts = Scripts::read(&files, &defined).unwrap();
    assert_eq!(scripts.statements(), 2);
    assert_eq!(scripts.warnings().len(), 2);
    assert!(Scripts::read(&files, &BTreeMap::new()).is_err());
    let bad = BTreeMap::from([("1y".to_owned(), String::new())]);
    assert!(matches!(Scripts::read(&files, &bad), Err(Error::Name(_))));
}

#[test]
fn files_of_lists_lie_beside_the_script() {
    let dir = tempfile::tempdir().unwrap();
    let (sql, data) = (dir.path().join("sql"), dir.path().join("data"));
    for directory in [&sql, &data] {
        std::fs::create_dir(directory).unwrap();
    }
    let script = sql.join("a.sql");
    let text = "\\list ids from \"../data/ids.csv\"\n\\draw ids c_\nSELECT :c_id;";
    std::fs::write(&script, text).unwrap();
    assert_eq!(
        list_files([script.as_path()].into_iter()),
        [data.join("ids.csv")]
    );
    let file = [WeightedFile {
        path: &script,
        weight: 1,
    }];
    let read = || Scripts::read(&file, &BTreeMap::new());
    assert!(read().unwrap_err().to_string().contains("ids.csv"));
    std::fs::write(data.join("ids.csv"), "id\n1\n2\n").unwrap();
    assert!(read().unwrap().warnings().is_empty());
    std::fs::write(data.join("ids.csv"), "key\n1\n2\n").unwrap();
    assert!(
        read()
            .unwrap_err()
            .to_string()
            .contains("nothing sets the variable :c_id")
    );
    std::fs::write(data.join("ids.csv"), "id\n1\n").unwrap();
    assert_eq!(read().unwrap().warnings().len(), 1);
}

#[test]
fn a_script_that_a_defined_variable_silences_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.sql");
    let file = [WeightedFile {
        path: &path,
        weight: 1,
    }];
    let on = |value: &str| BTreeMap::from([("on".to_owned(), value.to_owned())]);
    let script = "\\if :on\nSELECT 1;\n\\endif\n";
    for (text, value, is_compiled) in [
        (script.to_owned(), "1", true),
        (script.to_owned(), "0", false),
        (script.to_owned(), "a text", true),
        (format!("\\set on random(0, 1)\n{script}"), "0", true),
        (
            "\\if random(0, 1) = 1\nSELECT 1;\n\\endif".to_owned(),
            "0",
            true,
        ),
    ] {
        std::fs::write(&path, &text).unwrap();
        assert_eq!(
            Scripts::read(&file, &on(value)).is_ok(),
            is_compiled,
            "{value}: {text}"
        );
    }
}

#[test]
fn a_megabyte_on_one_line_is_compiled() {
    // In time that grows with the square of the length this would last for minutes.
    let text = "SELECT :client_id; ".repeat(55_000);
    let scripts = Scripts::of_text("a.sql", &text).unwrap();
    let names = scripts.statements.iter().map(|it| it.name.as_str());
    let distinct: BTreeSet<&str> = names.collect();
    assert_eq!(distinct.len(), 55_000);
    let last = scripts.programs[0].steps.last().unwrap().place;
    assert_eq!((last.line, last.column), (1, text.len() - 18));
}

proptest! {
    #[test]
    fn any_text_is_compiled_or_refused(
        text in "\\PC*|(\\\\(set|if|elif|else|endif|gset|draw|list|sleep) |[a-z:();,0-9+*/<>=!|&'\"~.-]|\n| )*"
    ) {
        let _ = Scripts::of_text("any.sql", &text);
    }
}
