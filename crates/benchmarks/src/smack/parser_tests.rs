//! Tests of the grammar by golden cases, and that no text makes the parser panic.

use proptest::prelude::{Strategy, TestCaseError, prop, prop_assert_eq, prop_oneof, proptest};

use super::*;
use crate::smack::printer::Printed;

fn program_of(text: &str) -> Result<Program, Box<Diagnostic>> {
    parse(&Source {
        name: "t.smack",
        text: text.as_bytes(),
    })
}

/// Line, column and message of the fault, and its hint.
fn fault(text: &str) -> (usize, usize, String, Option<String>) {
    let fault = program_of(text).unwrap_err();
    (fault.line, fault.column, fault.message, fault.hint)
}

#[test]
fn the_smallest_file() {
    let program = program_of("client \"c\" {} main {}").unwrap();
    assert_eq!(program.sections.len(), 1);
    assert_eq!(program.sections[0].kind, SectionKind::Client);
    assert!(program.main.is_empty());
}

#[test]
fn sections_members_and_statements() {
    let printed = Printed(
        &program_of(
            "#!/usr/bin/env super-smack\n\
             query \"q\" { query \"select '\\\"'\"; type \"t\"; parsed \"y\"; }\n\
             dictionary \"d\" { type \"rand\" ; }  // comment\n\
             main{c.init();c.set_num_rounds($2);c.sleep(1,500);\n\
             $x=\"n=\".c::t::num_queries.\"/\".c::max_connect_time;c.print($x . $1 . 7);}",
        )
        .unwrap(),
    )
    .to_bytes();
    assert_eq!(
        String::from_utf8(printed).unwrap(),
        r#"query "q"
{
  query "select '\"'";
  type "t";
  parsed "y";
}
dictionary "d"
{
  type "rand";
}
main
{
  c.init();
  c.set_num_rounds($2);
  c.sleep(1, 500);
  $x = "n=" . c::t::num_queries . "/" . c::max_connect_time;
  c.print($x . $1 . 7);
}
"#
    );
}

#[test]
fn keywords_are_words_where_no_section_begins() {
    // A method is named `query`, and a client may be named `client`.
    for text in [
        "client \"c\" {} main { c.query(\"x\"); }",
        "client \"client\" {} main { client.init(); }",
        "client \"c\" {} main { $type = c::query::q_per_s; }",
    ] {
        assert!(program_of(text).is_ok(), "{text}");
    }
}

#[test]
fn faults_name_what_was_expected() {
    for (text, line, column, message) in [
        (
            "",
            1,
            1,
            "expected a section: `client`, `table`, `dictionary` or `query`, found the end of the file",
        ),
        (
            "main {}",
            1,
            1,
            "expected a section: `client`, `table`, `dictionary` or `query`, found `main`",
        ),
        (
            "client \"c\" {}",
            1,
            14,
            "expected a section (`client`, `table`, `dictionary` or `query`) or `main`, found the end of the file",
        ),
        (
            "client \"c\" {}\nclinet \"d\" {}",
            2,
            1,
            "expected a section (`client`, `table`, `dictionary` or `query`) or `main`, found `clinet`",
        ),
        (
            "client c {}",
            1,
            8,
            "expected the section's name in quotes, found `c`",
        ),
        (
            "client \"c\" user \"x\";",
            1,
            12,
            "expected `{`, found `user`",
        ),
        (
            "client \"c\" { user \"x\" }",
            1,
            23,
            "expected `;` after the member's value, found `}`",
        ),
        (
            "client \"c\" { user ; }",
            1,
            19,
            "expected the member's value in quotes, found `;`",
        ),
        (
            "client \"c\" { \"x\"; }",
            1,
            14,
            "expected a member or `}`, found the string \"x\"",
        ),
        (
            "client \"c\" { main { }",
            1,
            19,
            "expected the member's value in quotes, found `{`",
        ),
        (
            "client \"c\" {} main { c.init() }",
            1,
            31,
            "expected `;` after the call, found `}`",
        ),
        (
            "client \"c\" {} main { c::init(); }",
            1,
            23,
            "expected `.` and a method after the client's name, found `::`",
        ),
        (
            "client \"c\" {} main { c.init; }",
            1,
            28,
            "expected `(`, found `;`",
        ),
        (
            "client \"c\" {} main { c.f(1 2); }",
            1,
            28,
            "expected `.`, `,` or `)`, found `2`",
        ),
        (
            "client \"c\" {} main { c.f(1,); }",
            1,
            28,
            "expected a number, a string, `$1`, `$name` or `client::...`, found `)`",
        ),
        (
            "client \"c\" {} main { c.f($); }",
            1,
            27,
            "expected an argument's number or a variable's name after `$`, found `)`",
        ),
        (
            "client \"c\" {} main { c.f(x); }",
            1,
            27,
            "expected `::` after the client's name, found `)`",
        ),
        (
            "client \"c\" {} main { $1 = 2; }",
            1,
            23,
            "expected a variable's name, found `1`",
        ),
        (
            "client \"c\" {} main { $x 2; }",
            1,
            25,
            "expected `=`, found `2`",
        ),
        (
            "client \"c\" {} main { $x = 2, 3; }",
            1,
            28,
            "expected `.` or `;`, found `,`",
        ),
        (
            "client \"c\" {} main { 7; }",
            1,
            22,
            "expected a statement or `}`, found `7`",
        ),
        (
            "client \"c\" {} main { } client \"d\" {}",
            1,
            24,
            "expected the end of the file: `main` comes last, found `client`",
        ),
        (
            "client \"c\" { /* no such comment */ }",
            1,
            20,
            "expected the member's value in quotes, found `such`",
        ),
    ] {
        let (found_line, found_column, found, _) = fault(text);
        assert_eq!(
            (found_line, found_column, found.as_str()),
            (line, column, message),
            "{text}"
        );
    }
}

#[test]
fn faults_say_the_likely_cause() {
    for (text, hint) in [
        (
            "table \"t\" { min_rows 9000; }",
            "values are quoted: min_rows \"9000\";",
        ),
        (
            "client \"c\" { user root; }",
            "values are quoted: user \"root\";",
        ),
        ("client \"c\" {} main {", "is a closing `}` missing?"),
    ] {
        assert_eq!(fault(text).3.as_deref(), Some(hint), "{text}");
    }
}

/// The listing of chapter 3.1 of HP's sizing paper lost the `)";` after its create statement.
#[test]
fn a_lost_closing_quote_is_named() {
    let text = "table \"http_auth\"\n{\n  client \"admin\";\n\n  create \"create table http_auth\n    \
                (username char(25) not null primary key,\n     gid integer not null\n    );\n  \
                min_rows \"9000\";   // before the test\n  data_file \"words.dat\";\n}\nmain {}";
    let fault = program_of(text).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "t.smack, line 9, column 13: expected `;` after the member's value, found `9000`\n    \
         9 |   min_rows \"9000\";   // before the test\n      |             ^"
    );
    assert_eq!(
        fault.hint.as_deref(),
        Some(
            "the string before it runs from line 5 over 5 lines: its closing `\"` is probably missing"
        )
    );
}

fn word() -> impl Strategy<Value = String> {
    "[a-zA-Z][a-zA-Z0-9_]{0,6}".prop_filter("begins a section", |word| {
        !["client", "table", "dictionary", "query", "main"].contains(&word.as_str())
    })
}

fn text_value() -> impl Strategy<Value = String> {
    prop_oneof!["[^\u{0}]{0,12}", r#"[\\"a\n\t$;,{}#/ -]{0,12}"#,].prop_map(|value| {
        let mut out = String::from("\"");
        for character in value.chars() {
            if matches!(character, '"' | '\\') {
                out.push('\\');
            }
            out.push(character);
        }
        out + "\""
    })
}

fn part_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,4}",
        text_value(),
        "[0-9]{1,2}".prop_map(|number| format!("${number}")),
        word().prop_map(|word| format!("${word}")),
        (word(), word()).prop_map(|(client, field)| format!("{client}::{field}")),
        (word(), word(), word()).prop_map(|(a, b, c)| format!("{a}::{b} :: {c}")),
    ]
}

fn expression_text() -> impl Strategy<Value = String> {
    prop::collection::vec(part_text(), 1..4).prop_map(|parts| parts.join(" ."))
}

fn section_text() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec!["client", "table", "dictionary", "query"]);
    let member = (word(), text_value()).prop_map(|(key, value)| format!("{key} {value}; # c\n"));
    (kind, text_value(), prop::collection::vec(member, 0..4))
        .prop_map(|(kind, name, members)| format!("{kind}{name}{{{}}}", members.concat()))
}

fn statement_text() -> impl Strategy<Value = String> {
    let arguments = prop::collection::vec(expression_text(), 0..3);
    prop_oneof![
        (word(), word(), arguments)
            .prop_map(|(client, method, list)| format!("{client}.{method}({});", list.join(","))),
        (word(), expression_text()).prop_map(|(name, value)| format!("${name}={value};\n")),
    ]
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(
        sections in prop::collection::vec(section_text(), 1..4),
        statements in prop::collection::vec(statement_text(), 0..6),
    ) {
        let text = format!("{}\nmain {{ {} }}", sections.concat(), statements.concat());
        let first = program_of(&text).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        let printed = Printed(&first).to_bytes();
        let second = parse(&Source { name: "printed", text: &printed })
            .map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        prop_assert_eq!(Printed(&second).to_bytes(), printed);
        prop_assert_eq!(first.sections.len(), sections.len());
        prop_assert_eq!(first.main.len(), statements.len());
    }

    #[test]
    fn no_text_makes_it_panic(text in prop::collection::vec(prop::num::u8::ANY, 0..300)) {
        let _ = parse(&Source { name: "t", text: &text });
    }

    #[test]
    fn no_text_of_its_own_words_makes_it_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "client", "table", "query", "main", "\"a\"", "\"1 a\"", "{", "}", "(", ")", ";", ".", ",",
                "$", "::", "=", "7", "x", "#\n", "\\", "\"", "\n", "type", "rand", "parsed", "\"$a%\"",
            ]),
            0..60,
        )
    ) {
        let text = words.join(" ");
        let _ = crate::smack::Script::parse("t", text.as_bytes());
    }
}
