//! What is found in a schema that has a bit of everything.

use super::*;
use crate::visibility::Visibility;

fn program(kind: ProgramKind, name: &str, text: Option<&str>) -> Program {
    Program {
        kind,
        schema: "shop".to_owned(),
        name: name.to_owned(),
        text: text.map(str::to_owned),
    }
}

fn base(name: &str, engine: &str, draws: bool) -> Table {
    let engine = Some(engine.to_owned());
    Table {
        schema: "shop".to_owned(),
        name: name.to_owned(),
        kind: TableKind::Base { engine, draws },
    }
}

/// A shop: items have transactions, the log has none; and as much between them as a schema can have.
fn shop() -> Catalogue {
    let trigger = |table: &str| ProgramKind::Trigger {
        table: table.to_owned(),
    };
    let routine = || ProgramKind::Routine;
    Catalogue {
        programs: vec![
            program(routine(), "twice", Some("RETURN n * 2")),
            program(
                routine(),
                "noting",
                Some("BEGIN INSERT INTO log VALUES (1); RETURN 1; END"),
            ),
            program(routine(), "by_way", Some("RETURN `shop`.`noting`() + 1")),
            program(
                routine(),
                "stored",
                Some("BEGIN UPDATE item SET price = 1; RETURN 1; END"),
            ),
            program(
                routine(),
                "setting",
                Some("BEGIN SET GLOBAL max_connections = 5; RETURN 1; END"),
            ),
            program(
                routine(),
                "dumping",
                Some("BEGIN SELECT 1 INTO OUTFILE '/tmp/x'; RETURN 1; END"),
            ),
            program(routine(), "drawing", Some("RETURN NEXT VALUE FOR counter")),
            program(routine(), "hidden", None),
            program(
                ProgramKind::View,
                "cheap",
                Some("select `shop`.`item`.`id` AS `id` from `shop`.`item`"),
            ),
            program(
                ProgramKind::View,
                "notes",
                Some("select `shop`.`old diary`.`id` AS `id` from `shop`.`old diary`"),
            ),
            program(
                trigger("watched"),
                "noted",
                Some("INSERT INTO log VALUES (new.id)"),
            ),
            program(
                trigger("harmless"),
                "rounded",
                Some("SET new.price = round(new.price)"),
            ),
        ],
        tables: vec![
            base("item", "InnoDB", false),
            base("watched", "InnoDB", false),
            base("harmless", "InnoDB", false),
            base("log", "MyISAM", false),
            base("old diary", "Aria", false),
            base("numbered", "InnoDB", true),
            Table {
                schema: "shop".to_owned(),
                name: "counter".to_owned(),
                kind: TableKind::Sequence,
            },
        ],
        loadable: vec!["sys_exec".to_owned()],
        visibility: Visibility::of_grants(&[
            "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost`".to_owned()
        ]),
        has_read_only: true,
    }
}

fn found(catalogue: &Catalogue, text: &str, access: Access) -> Option<String> {
    let statement = SqlStatement::of_line("x", 1, text.as_bytes().to_vec());
    obstacle(catalogue, &statement, "shop", access)
}

#[test]
fn a_routine_that_a_read_calls_is_found() {
    let mut catalogue = shop();
    let view = Some("select `shop`.`twice`(`price`) AS `p` from `shop`.`item`");
    catalogue
        .programs
        .push(program(ProgramKind::View, "doubled", view));
    for (text, expected) in [
        ("select twice(price) from item", true),
        ("select hidden() from item", true),
        ("select p from doubled", true),
        ("select id from cheap", false),
        // A read calls no trigger.
        ("select id from watched", false),
    ] {
        let statement = SqlStatement::of_line("x", 1, text.as_bytes().to_vec());
        assert_eq!(calls_routine(&catalogue, &statement), expected, "{text}");
    }
}

#[test]
fn what_a_change_can_reach_is_known_beforehand() {
    let catalogue = shop();
    for (text, expected) in [
        ("insert into item values (1)", None),
        ("insert into item values (twice(1))", None),
        ("delete from cheap", None),
        ("insert into harmless values (1)", None),
        ("insert into item values (stored())", None),
        ("delete from item where note = 'log'", None),
        (
            "delete from `log`",
            Some("table shop.log has engine MyISAM"),
        ),
        ("DELETE FROM Log", Some("table shop.log has engine MyISAM")),
        (
            "insert into watched values (1)",
            Some("table shop.log, which trigger shop.noted names, has engine MyISAM"),
        ),
        (
            "insert into item values (noting())",
            Some("table shop.log, which routine shop.noting names,"),
        ),
        (
            "insert into item values (by_way())",
            Some("table shop.log, which routine shop.noting names,"),
        ),
        (
            "delete from notes",
            Some("table shop.old diary, which view shop.notes names, has engine Aria"),
        ),
        (
            "insert into numbered values ()",
            Some("table shop.numbered uses values from a sequence"),
        ),
        (
            "insert into item values (hidden())",
            Some("the text of routine shop.hidden is not shown"),
        ),
        (
            "delete from mysql.event",
            Some("not every table of schema mysql"),
        ),
    ] {
        let found = found(&catalogue, text, Access::RolledBackChange);
        assert!(
            match expected {
                None => found.is_none(),
                Some(part) => found.as_deref().is_some_and(|it| it.contains(part)),
            },
            "{text}: {found:?}"
        );
    }
}

#[test]
fn what_a_read_can_reach_is_known_beforehand() {
    let catalogue = shop();
    for (text, is_refused) in [
        ("select * from log", false),
        ("select * from notes", false),
        ("select twice(1) from mysql.user", false),
        ("select stored()", false),
        ("select hidden()", false),
        ("select noting()", true),
        ("select by_way()", true),
        ("select setting()", true),
        ("select dumping()", true),
        ("select drawing()", true),
        ("select next value for counter", true),
        ("select nextval(counter)", true),
        ("select max(next), value from item", false),
        ("select sys_exec('x')", true),
        ("select 1 into outfile 'x'", true),
    ] {
        let found = found(&catalogue, text, Access::ReadOnly);
        assert_eq!(found.is_some(), is_refused, "{text}: {found:?}");
    }
}

#[test]
fn without_a_transaction_that_only_reads_nothing_unknown_is_called() {
    let catalogue = Catalogue {
        has_read_only: false,
        ..shop()
    };
    assert!(found(&catalogue, "select hidden()", Access::ReadOnly).is_some());
    for access in [Access::ReadOnly, Access::RolledBackRead] {
        assert_eq!(found(&catalogue, "select twice(1)", access), None);
        assert_eq!(found(&catalogue, "update watched set a = 1", access), None);
    }
}

#[test]
fn what_is_not_shown_to_an_account_is_not_taken_for_harmless() {
    let catalogue = Catalogue {
        visibility: Visibility::of_grants(
            &["GRANT TRIGGER ON `shop`.`item` TO `a`@`%`".to_owned()],
        ),
        ..shop()
    };
    for (text, access, expected) in [
        ("delete from item", Access::RolledBackChange, None),
        (
            "delete from harmless",
            Access::RolledBackChange,
            Some("trigger shop.rounded may use objects that this account cannot see"),
        ),
        (
            "delete from watched",
            Access::RolledBackChange,
            Some("trigger shop.noted may use objects"),
        ),
        (
            "delete from numbered",
            Access::RolledBackChange,
            Some("uses values from a sequence"),
        ),
        ("select * from cheap", Access::ReadOnly, None),
    ] {
        let found = found(&catalogue, text, access);
        assert_eq!(found.is_some(), expected.is_some(), "{text}: {found:?}");
        assert!(
            found
                .unwrap_or_default()
                .contains(expected.unwrap_or_default())
        );
    }
    let unseen = Catalogue {
        programs: Vec::new(),
        visibility: Visibility::default(),
        ..shop()
    };
    let found = found(&unseen, "delete from watched", Access::RolledBackChange);
    assert!(
        found
            .unwrap()
            .starts_with("triggers of table shop.watched are not shown")
    );
}

#[test]
fn names_that_a_server_takes_for_the_same_are_the_same() {
    for (one, other, expected) in [
        ("noting", "noting", true),
        ("n\u{f6}ting", "noting", true),
        ("n\u{f6}ting", "n\u{e9}ting", true),
        ("noting", "nothing", false),
        ("noting", "voting", false),
    ] {
        assert_eq!(may_be_same(one, other), expected, "{one} {other}");
    }
}
