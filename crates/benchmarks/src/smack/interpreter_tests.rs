//! Tests of the execution of main, step by step.

use super::*;
use crate::smack::script::Script;

const SECTIONS: &str = r#"
client "a" { query_barrel "1 q"; }
client "b" { query_barrel "1 q"; }
query "q" { query "select 1"; type "sel"; }
"#;

fn script(main: &str) -> Script {
    let text = format!("{SECTIONS}main {{ {main} }}");
    Script::parse("t.smack", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// All actions of the nth program, with these figures as every report.
fn actions(main: &str, program: usize, arguments: &[&str]) -> Result<Vec<Action>, String> {
    let script = script(main);
    let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
    let program = &script.programs[program];
    let name = &script.clients[program.client].name;
    let mut interpreter = Interpreter::new(program, name, &arguments);
    let mut actions = Vec::new();
    while let Some(action) = interpreter
        .next_action()
        .map_err(|error| error.to_string().lines().next().unwrap().to_owned())?
    {
        if action == Action::Report {
            let figures = QueryTypeFigures {
                num_queries: 20.0,
                max_time: 3.0,
                min_time: 1.0,
                q_per_s: 12.5,
            };
            interpreter.report(Figures {
                connect: ConnectFigures {
                    max: 4.0,
                    min: 2.0,
                    avg: 3.0,
                },
                query_types: HashMap::from([("sel".to_owned(), figures)]),
            });
        }
        actions.push(action);
    }
    Ok(actions)
}

fn print(text: &str, times: u64) -> Action {
    Action::Print {
        text: text.to_owned(),
        times,
    }
}

fn drive(threads: u64, stages: &[Stage]) -> Action {
    Action::Drive(ClientWorkers {
        threads,
        stages: stages.to_vec(),
    })
}

fn rounds(rounds: u64) -> Stage {
    Stage::Barrel {
        rounds: Some(rounds),
    }
}

const USUAL: &str = "a.connect(); a.unload_query_barrel(); a.collect_threads(); a.disconnect();";

#[test]
fn the_usual_order_and_the_other_one() {
    let expected = Ok(vec![drive(10, &[rounds(1000)]), Action::Report]);
    for main in [
        "a.init(); a.set_num_rounds($2); a.create_threads($1);",
        "a.init(); a.create_threads($1); a.set_num_rounds($2);",
    ] {
        let found = actions(&format!("{main}{USUAL}"), 0, &["10", "1000"]);
        assert_eq!(found, expected, "{main}");
    }
}

#[test]
fn rounds_are_none_by_default() {
    let found = actions(&format!("a.init(); a.create_threads(2);{USUAL}"), 0, &[]).unwrap();
    assert_eq!(found[0], drive(2, &[rounds(0)]));
}

#[test]
fn lines_between_create_and_collect_are_every_workers() {
    let found = actions(
        "a.init(); a.connect(); a.print(\"once\"); a.query(\"set x\"); a.sleep(1,500);
         a.set_num_rounds(7); a.create_threads(3); a.print(\"each\"); a.query(\"set y\"); a.sleep(0,20);
         a.unload_query_barrel(); a.print(\"done\"); a.run_save_result(\"q\", \"-\"); a.collect_threads();
         a.print(\"after\");",
        0,
        &[],
    );
    assert_eq!(
        found.unwrap(),
        [
            print("once", 1),
            Action::Query {
                sql: "set x".to_owned()
            },
            Action::Sleep(Duration::from_millis(1500)),
            print("each", 3),
            drive(
                3,
                &[
                    Stage::Query("set y".to_owned()),
                    Stage::Pause(Duration::from_millis(20)),
                    rounds(7)
                ]
            ),
            print("done", 3),
            Action::SaveResult {
                query: "q".to_owned(),
                file: "-".to_owned(),
                times: 3
            },
            Action::Report,
            print("after", 1),
        ]
    );
}

#[test]
fn expressions_over_the_report() {
    let found = actions(
        &format!(
            "a.init(); a.create_threads(1); {USUAL}
             $n = a::sel::num_queries; a.print($n . \" \" . a::sel::max_time . \" \" . a::sel::min_time);
             a.print(a::sel::q_per_s . \" \" . a::max_connect_time . a::min_connect_time . a::avg_connect_time);"
        ),
        0,
        &[],
    )
    .unwrap();
    assert_eq!(found[2], print("20.000000 3.000000 1.000000", 1));
    assert_eq!(found[3], print("12.500000 4.0000002.0000003.000000", 1));
}

#[test]
fn a_report_gives_the_next_crew_its_size() {
    let found = actions(
        &format!(
            "a.init(); a.create_threads(1); {USUAL} a.create_threads(a::sel::num_queries); {USUAL}"
        ),
        0,
        &[],
    )
    .unwrap();
    assert_eq!(found[2], drive(20, &[rounds(0)]));
}

#[test]
fn clients_run_their_own_lines() {
    let main = "$x = \"common\"; a.init(); b.init(); a.print($x . \"a\"); b.print($x . $1);
                $y = \"late\"; b.print($y);";
    assert_eq!(actions(main, 0, &["!"]), Ok(vec![print("commona", 1)]));
    assert_eq!(
        actions(main, 1, &["!"]),
        Ok(vec![print("common!", 1), print("late", 1)])
    );
}

#[test]
fn workers_that_nobody_collects_run_without_a_report() {
    let found = actions(
        "a.init(); a.set_num_rounds(2); a.connect(); a.unload_query_barrel();",
        0,
        &[],
    );
    assert_eq!(found, Ok(vec![drive(1, &[rounds(2)])]));
}

#[test]
fn missing_arguments_are_found_before_anything_runs() {
    let script = script("a.init(); a.print(\"x\"); a.sleep(0, $1); $y = \"n\" . $3;");
    let check = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
        let checked = Interpreter::new(&script.programs[0], "a", &arguments).check_arguments();
        checked.map_err(|error| error.to_string().lines().next().unwrap().to_owned())
    };
    assert_eq!(
        check(&["1", "2"]),
        Err("t.smack, line 5, column 49: Line 5 references argument 3 while the command line supplied only 2 arguments".to_owned())
    );
    assert_eq!(check(&["1", "2", "3"]), Ok(()));
}

#[test]
fn faults_while_running() {
    for (main, fault) in [
        (
            "a.init(); a.create_threads($2);",
            "Line 5 references argument 2 while the command line supplied only 1 arguments",
        ),
        ("a.init(); a.print($x);", "variable '$x' is not set"),
        (
            "a.init(); a.set_num_rounds(\"many\");",
            "'many' is not a whole number",
        ),
        (
            "a.init(); a.create_threads($1);",
            "'ten' is not a whole number",
        ),
        (
            "a.init(); a.unload_query_barrel();",
            "client 'a' is not connected: connect() comes first",
        ),
        (
            "a.init(); a.print(a::sel::q_per_s);",
            "there is no report before collect_threads",
        ),
        (
            "a.init(); b.init(); a.print(b::sel::q_per_s);",
            "the report of client 'b' is not known to client 'a'",
        ),
        (
            "a.init(); a.create_threads(1); a.collect_threads(); a.print(a::nosuch::q_per_s);",
            "the report has no query type 'nosuch'",
        ),
        (
            "a.init(); a.create_threads(1); a.collect_threads(); a.print(a::sel::p95);",
            "unknown figure 'p95': a query type has num_queries, max_time, min_time and q_per_s",
        ),
        (
            "a.init(); a.create_threads(1); a.collect_threads(); a.print(a::connects);",
            "unknown figure 'connects': a client has max_connect_time, min_connect_time and avg_connect_time",
        ),
    ] {
        let found = actions(main, 0, &["ten"]).unwrap_err();
        assert!(found.starts_with("t.smack, line 5, column "), "{found}");
        assert!(found.ends_with(fault), "{found}");
    }
}
