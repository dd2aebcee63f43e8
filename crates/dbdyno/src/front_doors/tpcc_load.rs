//! `tpcc_load`: the loader of tpcc-mysql by its command line and messages, with dbdyno's own loader.

use std::{ffi::OsString, ops::Range, process::ExitCode};

use benchmarks::tpcc::{
    ExistingSchema, Keys, LoadPlan, Notes, Population, Table, WAREHOUSES_MAX,
    loading::{load_all, load_tables, look},
    tpcc_mysql_layout as tpcc_mysql,
};
use blame::{Blame, Blamed};
use protocol::Endpoint;
use runs::{Purpose, control, number};

use crate::{
    front_doors::tpcc_arguments::{Arguments, Tool},
    terminal,
};

const TOOL: Tool = Tool {
    name: "tpcc_load",
    letters: "hPduwplmn",
    positions: "hdupwlmn",
    complete_after: &[5, 8],
    usage: "Usage: tpcc_load -h server_host -P port -d database_name -u mysql_user -p mysql_password -w warehouses \
            -l part -m min_wh -n max_wh\n   or: tpcc_load [server[:port]] [DB] [user] [pass] [warehouse] \
            [part] [min_wh] [max_wh]\n* [part]: 1=ITEMS 2=WAREHOUSE 3=CUSTOMER 4=ORDERS",
};

/// The seed of all loads by this name: separately loaded parts must match.
const SEED: u64 = 1;

/// The range that a call loads.
struct LoadRange {
    /// Part 1 to 4; `None` for all.
    part: Option<u32>,
    warehouses: u32,
    /// The warehouses of this call.
    range: Range<u32>,
}

/// Its options, for completions and man pages.
pub(crate) fn definition() -> clap::Command {
    TOOL.definition()
}

/// Runs tpcc_load with the arguments after its name.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    print!("{}", tpcc_mysql::loader_banner());
    let arguments = TOOL.parse(args)?;
    arguments.print();
    let wanted = wanted(&arguments)?;
    let endpoint = TOOL.endpoint(&arguments)?;
    print!(
        "{}",
        tpcc_mysql::parameters(&parameters(&arguments, &wanted))
    );
    println!("TPCC Data Load Started...");
    load(&endpoint, &wanted)?;
    print!("{}", tpcc_mysql::LOADED);
    Ok(ExitCode::SUCCESS)
}

fn wanted(arguments: &Arguments) -> Result<LoadRange, Blamed> {
    let warehouses = TOOL.number(arguments, 'w', 0)?;
    if !(1..=WAREHOUSES_MAX).contains(&warehouses) {
        let message = format!("option w: warehouses from 1 to {WAREHOUSES_MAX}");
        return Err(TOOL.misuse(&message));
    }
    let part = match arguments.text('l') {
        None if arguments.text('m').is_some() || arguments.text('n').is_some() => {
            return Err(TOOL.misuse("options m and n need option l"));
        }
        None => None,
        Some(_) => Some(TOOL.number(arguments, 'l', 0)?),
    };
    if part.is_some_and(|part| !(1..=4).contains(&part)) {
        return Err(TOOL.misuse("Unknown part_no\n1:ITEMS 2:WAREHOUSE 3:CUSTOMER 4:ORDERS"));
    }
    let first = TOOL.number(arguments, 'm', 1)?;
    let last = TOOL.number(arguments, 'n', warehouses)?;
    if first < 1 || last < first || last > warehouses {
        let message = format!("options m and n: warehouses from 1 to {warehouses}, in this order");
        return Err(TOOL.misuse(&message));
    }
    Ok(LoadRange {
        part,
        warehouses,
        range: first..last + 1,
    })
}

fn parameters(arguments: &Arguments, wanted: &LoadRange) -> Vec<(&'static str, String)> {
    let shown = |letter| arguments.shown(letter).to_owned();
    let mut rows = Vec::new();
    // A local load names no server.
    if !matches!(arguments.text('h'), Some("l")) {
        rows.push(("server", shown('h')));
        let port = arguments.text('P').unwrap_or("3306");
        rows.push(("port", port.to_owned()));
    }
    rows.extend([
        ("DBname", shown('d')),
        ("user", shown('u')),
        ("pass", shown('p')),
    ]);
    rows.push(("warehouse", wanted.warehouses.to_string()));
    if let Some(part) = wanted.part {
        rows.push(("part(1-4)", part.to_string()));
        rows.push(("MIN WH", wanted.range.start.to_string()));
        rows.push(("MAX WH", (wanted.range.end - 1).to_string()));
    }
    rows
}

/// The tables of a part.
fn tables(part: Option<u32>) -> Vec<Table> {
    match part {
        None => Table::ALL.to_vec(),
        Some(1) => vec![Table::Item],
        Some(2) => vec![Table::Warehouse, Table::Stock, Table::District],
        Some(3) => vec![Table::Customer, Table::History],
        Some(_) => vec![Table::Orders, Table::NewOrders, Table::OrderLine],
    }
}

fn load(endpoint: &Endpoint, wanted: &LoadRange) -> anyhow::Result<()> {
    let context = terminal::context()?;
    let (found, _) = look(endpoint)?;
    let tables = tables(wanted.part);
    let plan = LoadPlan {
        population: Population { seed: SEED },
        warehouses: wanted.range.clone(),
        // The creator of the tables decides on their keys.
        keys: if found.tables.is_empty() {
            Keys::After
        } else {
            Keys::None
        },
        foreign_keys: found.tables.is_empty(),
        tables,
    };
    refuse(endpoint, wanted, &plan, &found)?;
    match wanted.part {
        None => drop(load_all(endpoint, &plan, &found, None, &context)?),
        Some(_) => {
            let notes = Notes {
                seed: SEED,
                last_name_at_load: plan.population.constants().last_name,
                // A part cannot determine whether the others are loaded.
                warehouses: 0,
                is_complete: false,
            };
            Purpose::Change.control(endpoint, async |connection| notes.write(connection).await)?;
            load_tables(endpoint, &plan, &found, None, &context)?;
        }
    }
    let (first, last) = (wanted.range.start, wanted.range.end - 1);
    for part in wanted.part.map_or(1..=4, |part| part..=part) {
        let text = match part {
            1 => tpcc_mysql::loaded_items(),
            2 => tpcc_mysql::loaded_warehouses(first, last),
            3 => tpcc_mysql::loaded_customers(first, last),
            _ => tpcc_mysql::loaded_orders(first, last),
        };
        print!("{text}");
    }
    Ok(())
}

/// Refuses, before the first row, missing tables for a part, and existing rows.
fn refuse(
    endpoint: &Endpoint,
    wanted: &LoadRange,
    plan: &LoadPlan,
    found: &ExistingSchema,
) -> Result<(), Blamed> {
    if found.tables.is_empty() {
        eprintln!("note: the tables do not exist; they are created, with indexes and foreign keys");
    }
    for table in &plan.tables {
        let name = table.name();
        if !found.tables.contains(name) {
            if wanted.part.is_none() && found.tables.is_empty() {
                continue;
            }
            let message = format!("table {name} does not exist");
            let hint = "create all nine tables first (with tpcc-mysql's create_table.sql), or none: a load without \
                 a part creates them";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        let noted = found.loaded.get(table).map_or(&[][..], Vec::as_slice);
        if plan.is_loaded(*table, noted)
            || (noted.is_empty() && has_rows(endpoint, wanted, *table)?)
        {
            let message = format!("table {name} has rows of these warehouses already");
            let hint = "empty the tables first; dbdyno tpcc cleanup drops them".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
    }
    Ok(())
}

fn has_rows(endpoint: &Endpoint, wanted: &LoadRange, table: Table) -> Result<bool, Blamed> {
    let place = match table.warehouse_column() {
        Some(column) => format!(
            " where {column} between {} and {}",
            wanted.range.start,
            wanted.range.end - 1
        ),
        None => String::new(),
    };
    let sql = format!("select 1 from {}{place} limit 1", table.name());
    let found = control(endpoint, async |connection| number(connection, &sql).await)?;
    Ok(found.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted_of(line: &str) -> Result<LoadRange, String> {
        let args = line.split_whitespace().map(OsString::from);
        let arguments = TOOL.parse(args).map_err(|error| error.to_string())?;
        wanted(&arguments).map_err(|error| error.message)
    }

    #[test]
    fn parts_and_ranges() {
        let all = wanted_of("localhost tpcc root pw 400").unwrap();
        assert_eq!((all.part, all.range), (None, 1..401));
        let part = wanted_of("-w 400 -l 2 -m 101 -n 200").unwrap();
        assert_eq!((part.part, part.range), (Some(2), 101..201));
        for line in [
            "-w 0",
            "-w 40000",
            "-w 4 -m 1",
            "-w 4 -l 5",
            "-w 4 -l 2 -m 3 -n 2",
            "-w 4 -l 2 -n 5",
            "-w four",
        ] {
            let refused = wanted_of(line).err();
            assert!(
                refused.is_some_and(|message| message.contains("Usage: tpcc_load")),
                "{line}"
            );
        }
    }

    #[test]
    fn every_table_belongs_to_one_part() {
        let mut parts: Vec<Table> = (1..=4).flat_map(|part| tables(Some(part))).collect();
        parts.sort_unstable();
        assert_eq!(parts, Table::ALL);
    }
}
