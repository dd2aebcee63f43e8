//! Tests of the meaning of a .smack file, and of its refused contents.

use super::*;
use crate::smack::error::Error;

fn script(text: &str) -> Script {
    Script::parse("t.smack", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// The error as `line:column message`, and the hint.
fn refused(text: &str) -> (String, Option<String>) {
    match Script::parse("t.smack", text.as_bytes()) {
        Err(Error::Script(fault)) => (
            format!("{}:{} {}", fault.line, fault.column, fault.message),
            fault.hint,
        ),
        other => panic!("{text}: {other:?}"),
    }
}

const CLIENT: &str = "client \"c\" { query_barrel \"1 q\"; } query \"q\" { query \"select 1\"; }\n";

#[test]
fn members_by_section() {
    let script = script(
        r#"client "admin" { user "root"; host "db1"; db "test"; pass "secret"; port "3307"; socket ""; }
           table "t" { client "admin"; create "create table t (a int)"; alter "alter table t add b int";
             min_rows "9000 rows"; data_file "t.dat"; gen_data_file "gen-data -n 9000 -f %n"; }
           dictionary "d" { type "seq"; source_type "file"; source "t.dat"; delim ",,,"; file_size_equiv "45000"; }
           query "q" { query "select '$d'"; type "sel"; has_result_set "y"; parsed "yes"; }
           client "c" { query_barrel "2 q -0.5"; }
           main { c.init(); }"#,
    );
    let admin = &script.clients[0];
    assert_eq!(admin.user.as_deref(), Some("root"));
    assert_eq!(admin.host.as_deref(), Some("db1"));
    assert_eq!(admin.port, Some(3307));
    // An empty member is equivalent to a missing one.
    assert_eq!(admin.socket, None);
    assert!(!format!("{admin:?}").contains("secret"));
    let table = &script.tables[0];
    assert_eq!((table.client, table.min_rows), (0, 9000));
    assert!(matches!(&table.generator, Some(Generator::GenData(rows)) if rows.rows == 9000));
    assert_eq!(table.alter, Some("alter table t add b int".into()));
    assert_eq!(
        script.dictionaries[0].words,
        WordSource::File {
            path: "t.dat".into(),
            delimiter: Some(b','),
            file_size_equiv: 45_000,
        }
    );
    assert_eq!(script.queries[0].text.pieces.len(), 3);
    assert_eq!(script.clients[1].barrel.as_ref().unwrap().len(), 2);
    assert_eq!(script.programs.len(), 1);
}

#[test]
fn sections_may_stand_in_any_order() {
    script(
        "client \"c\" { query_barrel \"1 q\"; } table \"t\" { client \"d\"; } client \"d\" {} query \"q\" {} main {}",
    );
}

#[test]
fn lists() {
    for (source, expected) in [
        // Super Smack stored only words that had a comma after them.
        ("1,2,3", &["1", "2", "3"][..]),
        ("1,2,3,", &["1", "2", "3"]),
        ("one", &["one"]),
        ("a\\\\,b,c", &["a,b", "c"]),
        ("a,,b", &["a", "", "b"]),
    ] {
        let script = script(&format!(
            "dictionary \"d\" {{ type \"rand\"; source_type \"list\"; source \"{source}\"; }} main {{}}"
        ));
        let WordSource::List(words) = &script.dictionaries[0].words else {
            panic!("no list");
        };
        assert_eq!(words, expected, "{source}");
    }
}

#[test]
fn the_rows_of_an_experiment_replace_the_files() {
    let mut script = script(
        r#"client "c" {}
           table "t" { client "c"; min_rows "9"; data_file "t.dat"; gen_data_file "gen-data -n 9 -f %n"; }
           table "u" { client "c"; min_rows "9"; data_file "u.dat"; gen_data_file "perl rows.pl"; }
           main {}"#,
    );
    script.set_rows(70);
    assert_eq!(script.tables[0].min_rows, 70);
    assert_eq!(script.generator_of("t.dat").unwrap().rows, 70);
    // The rows made by another program cannot be set.
    assert_eq!(script.tables[1].min_rows, 9);
    assert!(script.generator_of("u.dat").is_none());
}

#[test]
fn faults_of_meaning() {
    for (text, fault) in [
        (
            "client \"c\" { usr \"x\"; } main {}",
            "1:14 unknown member `usr` of a client",
        ),
        (
            "client \"c\" {} client \"c\" {} main {}",
            "1:22 client 'c' is defined twice",
        ),
        (
            "client \"c\" { port \"70000\"; } main {}",
            "1:8 port 70000 is beyond 65535",
        ),
        (
            "client \"c\" { query_barrel \"1 nosuch\"; } main {}",
            "1:30 query 'nosuch' has not been defined",
        ),
        (
            "dictionary \"d\" { type \"x\"; } main {}",
            "1:23 unknown dictionary type 'x'",
        ),
        (
            "dictionary \"d\" { source_type \"file\"; } main {}",
            "1:12 dictionary 'd' has no `type`",
        ),
        (
            "dictionary \"d\" { type \"rand\"; source_type \"x\"; } main {}",
            "1:43 unknown source_type 'x'",
        ),
        (
            "dictionary \"d\" { type \"rand\"; source_type \"file\"; } main {}",
            "1:12 dictionary 'd' has no `source`",
        ),
        (
            "dictionary \"d\" { type \"rand\"; source_type \"template\"; source \"%d\"; } main {}",
            "1:43 source_type 'template' cannot be used with type 'rand'",
        ),
        (
            "dictionary \"d\" { type \"unique\"; source_type \"list\"; source \"a,b\"; } main {}",
            "1:45 source_type 'list' cannot be used with type 'unique'",
        ),
        (
            "dictionary \"d\" { type \"unique\"; source_type \"template\"; source \"x\"; } main {}",
            "1:64 the template has no directive, so its words would not be unique: use u%05d, for example",
        ),
        (
            "query \"q\" { query \"select '$w'\"; parsed \"y\"; } main {}",
            "1:19 The dictionary w does not exist",
        ),
        (
            "table \"t\" { min_rows \"1\"; } main {}",
            "1:7 Missing or undefined client in the table section",
        ),
        (
            "table \"t\" { client \"x\"; } main {}",
            "1:20 Missing or undefined client in the table section",
        ),
        (
            "client \"c\" {} table \"t\" { client \"c\"; min_rows \"many\"; } main {}",
            "1:48 min_rows \"many\" is not a number",
        ),
        (
            "client \"c\" {} table \"t\" { client \"c\"; gen_data_file \"gen-data -n 3 -f %x\"; } main {}",
            "1:53 gen-data: 'x' - invalid format specifier",
        ),
        (
            "client \"c\" {} main { d.init(); }",
            "1:22 client 'd' referenced on line 1 is not defined",
        ),
        (
            "client \"c\" {} main { c.init();\n c.foo(); }",
            "2:4 unknown method 'foo' called for client 'c' on line 2",
        ),
        (
            "client \"c\" {} main { c.init(); c.unload_query_barrel(); }",
            "1:32 client 'c' has no query_barrel to unload",
        ),
    ] {
        assert_eq!(refused(text).0, fault, "{text}");
    }
}

#[test]
fn wrong_argument_counts() {
    for (call, message) in [
        (
            "set_num_rounds()",
            "set_num_rounds takes one parameter, you have 0",
        ),
        (
            "create_threads(1,2)",
            "create_threads takes one parameter, you have 2",
        ),
        ("print()", "print takes one parameter, you have 0"),
        ("query(1,2,3)", "query takes one parameter, you have 3"),
        (
            "sleep(1)",
            "sleep takes two parameters (sec,ms), you have 1",
        ),
        (
            "run_save_result(1)",
            "run_save_result takes two parameters (query,file), you have 1",
        ),
        ("connect(1)", "connect takes no parameter, you have 1"),
    ] {
        let text = format!("{CLIENT}main {{ c.init();\nc.{call}; }}");
        assert_eq!(refused(&text).0, format!("3:3 line 3: {message}"));
    }
}

/// Chapter 3.1 and appendix 2 of HP's sizing paper: the errors that print and scanning added to the listings.
#[test]
fn damaged_listings() {
    let (fault, hint) = refused(
        "client \"admin\" {}\ntable \"http_auth\" {\n client \"admin\";\n \
         gen_data_file \"gen-data -n 1000000 -f %12-12s%n,%25-\n25s,%255s,%n,%d\";\n}\nmain {}",
    );
    assert_eq!(
        fault,
        "4:54 a line break in the middle of a gen-data command"
    );
    assert_eq!(
        hint.as_deref(),
        Some("join the two lines, or end the first with a backslash")
    );
    let script = script(
        "dictionary \"w\" { type \"rand\"; source_type \"list\"; source \"a\"; delim \",\"; }\n\
         dictionary \"f\" { type \"rand\"; source_type \"file\"; source \"w.dat\"; delim \",,,\"; }\nmain {}",
    );
    assert_eq!(script.warnings.len(), 1);
    assert_eq!(
        (script.warnings[0].line, script.warnings[0].message.as_str()),
        (2, "only the first character of delim \",,,\" ends a word")
    );
}

#[test]
fn warnings() {
    let script = script(&format!(
        "{CLIENT}query \"r\" {{ query \"x\"; parsed \"true\"; }} main {{ c.connect(); }}"
    ));
    let messages: Vec<&str> = script
        .warnings
        .iter()
        .map(|warning| warning.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "\"true\" counts as no: only a word with y is yes",
            "nothing happens here: c.init() has not been called"
        ]
    );
}

#[test]
fn text_in_any_encoding_reaches_the_server_as_it_is() {
    let mut text = b"query \"q\" { query \"select 'M".to_vec();
    text.extend([0xfc, b'l']);
    text.extend_from_slice(b"'\"; } # \x82\xa0\nmain {}");
    let script = Script::parse("latin1.smack", &text).unwrap();
    let crate::smack::statement::Segment::Literal(query) = &script.queries[0].text.pieces[0] else {
        panic!("no literal");
    };
    assert_eq!(&query[..], b"select 'M\xfcl'");
}
