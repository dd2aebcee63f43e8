//! Options as the clients of MySQL and MariaDB read them.

use super::*;

const fn spec(
    name: &'static str,
    short: Option<char>,
    takes: ArgumentKind,
    of: ProgramSet,
) -> Spec {
    Spec {
        name,
        short,
        takes,
        of,
        help: "",
        default: None,
        refused: None,
    }
}

const SPECS: [Spec; 8] = [
    spec(
        "auto-generate-sql",
        Some('a'),
        ArgumentKind::Switch,
        ProgramSet::Both,
    ),
    spec(
        "auto-generate-sql-write-number",
        None,
        ArgumentKind::Value("N"),
        ProgramSet::Both,
    ),
    spec(
        "concurrency",
        Some('c'),
        ArgumentKind::Value("LIST"),
        ProgramSet::Both,
    ),
    spec(
        "csv",
        None,
        ArgumentKind::MaybeValue("FILE"),
        ProgramSet::Both,
    ),
    spec("no-drop", None, ArgumentKind::Switch, ProgramSet::Both),
    spec(
        "password",
        Some('p'),
        ArgumentKind::MaybeValue("PASSWORD"),
        ProgramSet::Both,
    ),
    spec("verbose", Some('v'), ArgumentKind::Switch, ProgramSet::Both),
    spec(
        "concurrent-things",
        None,
        ArgumentKind::Switch,
        ProgramSet::Ours,
    ),
];

fn parse(line: &str) -> Result<Arguments, String> {
    let options = Options {
        specs: &SPECS,
        program: "mysqlslap",
    };
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    options.parse(&words).map_err(|error| error.message)
}

#[test]
fn all_spellings_of_an_option() {
    for line in [
        "--concurrency=1,5",
        "--concurrency 1,5",
        "-c 1,5",
        "-c1,5",
        "--conc=1,5",
        "-ac1,5",
        "--loose-concurrency=1,5",
    ] {
        let arguments = parse(line).unwrap();
        assert_eq!(arguments.text("concurrency"), Some("1,5"), "{line}");
    }
    for (line, on, off) in [
        ("--no-drop", true, false),
        ("--no_drop", true, false),
        ("--no-drop=1", true, false),
        ("--no-drop=off", false, true),
        ("--skip-no-drop", false, true),
        ("--disable-no_drop", false, true),
        ("--enable-no-drop", true, false),
        ("--loose-skip-no-drop", false, true),
        ("--no-drop --skip-no-drop", false, true),
        ("", false, false),
    ] {
        let arguments = parse(line).unwrap();
        let found = (arguments.is_on("no-drop"), arguments.is_off("no-drop"));
        assert_eq!(found, (on, off), "{line}");
    }
}

#[test]
fn values_that_may_be_missing_are_attached() {
    assert_eq!(parse("-psecret").unwrap().text("password"), Some("secret"));
    let arguments = parse("-p secret").unwrap();
    assert_eq!(arguments.text("password"), None);
    assert!(arguments.is_on("password") && arguments.warnings.len() == 1);
    assert!(!arguments.warnings[0].contains("secret"));
    assert!(parse("--csv").unwrap().is_on("csv"));
    assert_eq!(parse("--csv=f").unwrap().text("csv"), Some("f"));
    assert_eq!(parse("-vvv --verbose").unwrap().times("verbose"), 4);
}

#[test]
fn what_is_wrong_is_named() {
    for (line, message) in [
        ("--foo=1", "mysqlslap: unknown option '--foo'"),
        ("-x", "mysqlslap: unknown option '-x'"),
        ("--", ""),
        (
            "--concurrency",
            "mysqlslap: option '--concurrency' requires an argument",
        ),
        ("-c", "mysqlslap: option '-c' requires an argument"),
        (
            "--no-drop=maybe",
            "mysqlslap: option '--no-drop': 'maybe' is neither on nor off",
        ),
        (
            "--skip-concurrency",
            "mysqlslap: option '--skip-concurrency' takes no value",
        ),
        (
            "--auto-gen",
            "mysqlslap: ambiguous option '--auto-gen' (auto-generate-sql, auto-generate-sql-write-number)",
        ),
    ] {
        let found = parse(line).err().unwrap_or_default();
        assert_eq!(found, message, "{line}");
    }
    assert_eq!(parse("--loose-foo").unwrap().warnings.len(), 1);
    // Abbreviations of the originals' options have precedence over dbdyno's.
    assert_eq!(
        parse("--concurren 3").unwrap().text("concurrency"),
        Some("3")
    );
    assert!(parse("--concurrent").unwrap().is_on("concurrent-things"));
}

#[test]
fn numbers_have_binary_units() {
    for (text, found) in [
        ("10", Some(10)),
        ("2k", Some(2048)),
        ("1M", Some(1 << 20)),
        ("x", None),
        ("-1", None),
        ("1x", None),
    ] {
        assert_eq!(number(text), found, "{text}");
    }
}
