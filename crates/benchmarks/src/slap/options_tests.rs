//! Tests of the allowed combinations of mysqlslap's options, and of their meaning.

use settings::defaults;

use super::*;

fn made_up(options: &'static [OptionSpec]) -> Values {
    let mut values = defaults(options);
    values.set(AUTO.name, Value::Flag(true));
    values
}

#[test]
fn what_nobody_set_is_mysqlslaps() {
    let (data, load) = (made_up(DATA), made_up(LOAD));
    assert_eq!((SlapData.fault(&data), SlapLoad.fault(&load)), (None, None));
    let one = Columns {
        count: 1,
        indexed: false,
    };
    let generator = Generator {
        load_type: LoadType::Mixed,
        primary_key: None,
        secondary_indexes: 0,
        int_columns: one,
        char_columns: one,
        unique_writes: 10,
        unique_queries: 10,
    };
    assert_eq!(Generator::of(&data, &load), Some(generator));
    assert!(!SlapLoad.ends_by_itself(&load));
    assert_eq!(SlapData.identity(&data), "slap auto_generate_sql on");
}

#[test]
fn values_that_do_not_go_together_are_faults() {
    let cases: [(&'static str, Value, &str); 7] = [
        ("auto_generate_sql", Value::Flag(false), "create"),
        (
            "create",
            Value::Text("create table a (b int)".to_owned()),
            "create",
        ),
        (
            "number_int_cols",
            Value::Text("many".to_owned()),
            "number_int_cols",
        ),
        (
            "number_char_cols",
            Value::Text("1:x".to_owned()),
            "number_char_cols",
        ),
        ("engine", Value::Text("innodb,myisam".to_owned()), "engine"),
        ("engine", Value::Text(":x".to_owned()), "engine"),
        ("delimiter", Value::Text(String::new()), "delimiter"),
    ];
    for (option, value, at) in cases {
        let mut data = made_up(DATA);
        data.set(option, value.clone());
        let fault = SlapData.fault(&data).map(|fault| fault.option);
        assert_eq!(fault, Some(at), "{option} {value:?}");
    }
    let mut data = defaults(DATA);
    data.set("create", Value::Text("create table a (b int)".to_owned()));
    assert_eq!(SlapData.fault(&data), None);
    assert!(SlapData.needs_private_server(&data));
    data.set("number_int_cols", Value::Text("3".to_owned()));
    let fault = SlapData.fault(&data).map(|fault| fault.option);
    assert_eq!(fault, Some("number_int_cols"));
    let mut load = made_up(LOAD);
    load.set("number_of_queries", Value::Count(10));
    load.set("auto_generate_sql_execute_number", Value::Count(10));
    let fault = SlapLoad.fault(&load).map(|fault| fault.option);
    assert_eq!(fault, Some("number_of_queries"));
}

#[test]
fn reads_by_key_need_a_table_that_is_made_up_with_a_key() {
    let (mut data, mut load) = (made_up(DATA), made_up(LOAD));
    assert_eq!(SlapLoad.fault_with_data(&load, &data), None);
    load.set("auto_generate_sql_load_type", Value::Choice("key"));
    let fault = SlapLoad.fault_with_data(&load, &data);
    assert_eq!(fault.unwrap().option, "auto_generate_sql_load_type");
    data.set("auto_generate_sql_guid_primary", Value::Flag(true));
    assert_eq!(SlapLoad.fault_with_data(&load, &data), None);
    let own = defaults(DATA);
    assert_eq!(
        SlapLoad.fault_with_data(&load, &own).unwrap().option,
        AUTO.name
    );
}

#[test]
fn a_number_of_statements_ends_the_load_and_shrinks() {
    let mut load = made_up(LOAD);
    load.set("number_of_queries", Value::Count(50_000));
    assert!(SlapLoad.ends_by_itself(&load));
    assert!(SlapLoad.meaningless(&load).contains(&"duration"));
    SlapLoad.shrink(&mut load, 0.1);
    assert_eq!(load.count("number_of_queries"), Some(5000));
    SlapLoad.shrink(&mut load, 0.0001);
    assert_eq!(load.count("number_of_queries"), Some(100));
}
