//! Tests of reading rules: every key, every mistake, any text.

use proptest::prelude::*;

use super::*;
use crate::{Address, Backend};

fn backends() -> Backends {
    let backend = |port: u16, kind| Backend::new(Address::Tcp(([127, 0, 0, 1], port).into()), kind);
    Backends(vec![
        backend(3306, BackendKind::ReadWrite),
        backend(3307, BackendKind::ReadOnly),
    ])
}

fn load(text: &str) -> Result<Vec<Rule>, String> {
    load_with(text, true)
}

fn load_with(text: &str, opens_connections: bool) -> Result<Vec<Rule>, String> {
    let (backends, counters) = (backends(), RuleCounters::default());
    let loader = Loader {
        is_quotable: true,
        directory: Path::new("/nowhere"),
        backends: &backends,
        counters: &counters,
        opens_connections,
    };
    let rules = loader.rules(text);
    rules.map_err(|problem| problem.in_file(Path::new("r.toml"), text).to_string())
}

#[test]
fn every_key_is_read() {
    let rules = load(
        r#"
        [[rule]]
        name = "all"
        digest = "select a from t where b = 7"
        pattern = '(?i)^select (\w+)'
        user = "ann"
        database = "shop"
        command = "query"
        share = 0.25
        replace = "SELECT ${1}, $$1"
        before = ["START TRANSACTION"]
        delay = "2ms:500us"
        route = "127.0.0.1:3307"
        log = true
        continue = true

        [[rule]]
        pattern = "x"
        block = "not here"

        [[rule]]
        fail = { errno = 1213 }

        [[rule]]
        answer = { columns = ["a", "b"], rows = [["x", 1], [{ null = true }, 1.5]] }

        [[rule]]
        answer = { affected_rows = 1, insert_id = 5 }
        "#,
    )
    .unwrap();
    let first = &rules[0];
    assert_eq!(first.counter.name(), "all");
    assert_eq!(
        first.digest.as_deref(),
        Some(&b"SELECT `a` FROM `t` WHERE `b` = ?"[..])
    );
    assert_eq!(
        first.replaced(b"select q from x").unwrap(),
        b"SELECT q, $1 from x"
    );
    assert!(first.to_queries && !first.to_prepares && first.continues && first.is_logged);
    assert_eq!(first.share, Some(0.25));
    assert_eq!(first.before, [b"START TRANSACTION"]);
    assert_eq!(first.route, Some(RouteTarget::Backend(1)));
    assert_eq!(first.delay, "2ms:500us".parse().unwrap());
    assert_eq!(rules[1].counter.name(), "rule 2");
    assert!(rules[1].to_prepares);
    assert_eq!(
        rules[1].reply.as_ref().unwrap().packets(false),
        [b"\xff\x7c\x04#42000not here"]
    );
    let deadlock = rules[2].reply.as_ref().unwrap().packets(false);
    assert!(
        deadlock[0].starts_with(b"\xff\xbd\x04#40001Deadlock"),
        "{deadlock:?}"
    );
    assert!(!rules[3].to_prepares);
    assert_eq!(
        rules[3].reply,
        Some(Reply::Rows {
            columns: vec!["a".into(), "b".into()],
            rows: vec![
                vec![Some("x".into()), Some("1".into())],
                vec![None, Some("1.5".into())]
            ],
        })
    );
    assert!(load("").unwrap().is_empty());
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_key() {
    let with_log = |line: &str| format!("# a comment\n[[rule]]\nlog = true\n{line}\n");
    for (line, expected) in [
        ("colour = 1", "line 4: `colour = 1`: unknown field `colour`"),
        ("user = 5", "line 4: `user = 5`: invalid type"),
        ("user = ", "line 4: `user =`: "),
        (
            "pattern = '('",
            "line 4: pattern: not a pattern: unclosed group",
        ),
        ("digest = ' '", "line 4: digest: it is empty"),
        ("share = 0", "line 4: share: not a number above 0"),
        ("share = 1.5", "line 4: share: not a number above 0"),
        ("delay = '5'", "line 4: delay: a time such as"),
        ("before = ['']", "line 4: before: an empty statement"),
        (
            "replace = ''",
            "line 4: replace: the server answers an empty statement",
        ),
        (
            "pattern = '(a)'\nreplace = '$1x'",
            "line 5: replace: the pattern has no group \"1x\"",
        ),
        (
            "pattern = '(a)'\nreplace = '$2'",
            "line 5: replace: the pattern has no group \"2\"",
        ),
        ("fail = { errno = 2013 }", "line 4: fail: errno 2013 is not"),
        ("fail = { errno = 4242 }", "line 4: fail: the text of errno"),
        (
            "fail = { errno = 1213, sqlstate = 'x' }",
            "line 4: fail: sqlstate \"x\"",
        ),
        ("answer = {}", "line 4: answer: add columns"),
        (
            "answer = { columns = ['a'], rows = [['1', '2']] }",
            "line 4: answer: row 1 has 2 values for 1 columns",
        ),
        (
            "answer = { columns = ['a'], rows = [[{ null = false }]] }",
            "line 4: answer: row 1: NULL is written",
        ),
        (
            "answer = { columns = ['a'], rows = [[true]] }",
            "a value is a text, a number, or { null = true }",
        ),
        (
            "answer = { columns = [] }",
            "line 4: answer: 1 to 4096 columns",
        ),
        (
            "answer = { columns = ['a'], insert_id = 1 }",
            "line 4: answer: give columns or counts",
        ),
        ("route = 'replica'", "line 4: route: \"replica\" is neither"),
        (
            "route = 'read-only'\ncommand = 'prepare'",
            "line 2: command: answer, route and mirror are for queries only",
        ),
        (
            "block = 'x'\nreplace = 'y'",
            "line 2: replace: with block the statement reaches no server",
        ),
        (
            "block = 'x'\nfail = { errno = 1213 }",
            "line 2: fail: a rule has one answer",
        ),
        (
            "mirror = { address = 'db', user = 'u', password_file = 'p' }",
            "line 4: mirror: password_file /nowhere/p: ",
        ),
        (
            "mirror = { address = 'db:x', user = 'u' }",
            "line 4: mirror: address \"db:x\": HOST:PORT",
        ),
        (
            "[[rule]]\nname = 'rule 1'\nlog = true",
            "line 5: name: two rules are called \"rule 1\"",
        ),
    ] {
        let error = load(&with_log(line)).unwrap_err();
        assert!(error.starts_with("r.toml: line "), "{error}");
        assert!(error.contains(expected), "{line}: {error}");
    }
    let error = load_with("[[rule]]\nroute = 'read-only'", false).unwrap_err();
    assert!(
        error.contains("line 2: route: connections for routed statements need an account"),
        "{error}"
    );
    let error = load("[[rule]]\npattern = 'x'\ncontinue = true").unwrap_err();
    assert!(error.contains("line 1: rule: it has no action"), "{error}");
}

#[test]
fn groups_are_found_as_the_pattern_library_finds_them() {
    assert_eq!(
        groups("$1 ${2}x $name $$3 $ ${a b} $"),
        ["1", "2", "name", "a b"]
    );
}

proptest! {
    #[test]
    fn any_text_is_rules_or_an_error(text in r#"[\[\]{}="'a-z0-9$#. \n-]{0,80}"#) {
        let _ = load(&text);
        let _ = load(&format!("[[rule]]\n{text}"));
    }

    #[test]
    fn any_value_of_any_key_is_a_rule_or_an_error(
        key in "(name|digest|pattern|user|command|share|replace|before|block|fail|delay|answer|route|mirror|log|continue)",
        value in r#"('[^'\n]{0,20}'|[0-9.e-]{1,6}|true|\{ (errno|columns|rows|address) = [0-9'\[\]]{0,8} \}|\['[^'\n]{0,9}'\])"#,
    ) {
        let _ = load(&format!("[[rule]]\nlog = true\n{key} = {value}"));
    }
}
