//! CSV files: checked whole before anything is loaded, then loaded in parallel by ranges.

use std::{collections::BTreeMap, path::PathBuf};

use blame::{Blame, Blamed};
use dataset::{
    Population,
    own_data::{CsvError, CsvFile, generate::TableInfo},
};
use protocol::Endpoint;
use runs::{
    Context, Length, Purpose, backticked, number,
    population::{default_streams, fill},
};

use super::table_infos;

/// Reads all files and checks every record.
pub(super) fn check(
    files: Option<&BTreeMap<String, PathBuf>>,
    context: &Context,
) -> Result<Vec<(String, CsvFile)>, Blamed> {
    let mut checked = Vec::new();
    for (table, path) in files.into_iter().flatten() {
        let length = path.metadata().map_or(0, |metadata| metadata.len());
        let what = format!("checking {}", path.display());
        let step = context.step(&what, Length::Even(length));
        let mut report = |bytes| {
            step.reach(bytes);
            !context.interrupt.is_raised()
        };
        let file = CsvFile::check(path, &mut report).map_err(wrong)?;
        checked.push((table.clone(), file));
    }
    Ok(checked)
}

/// Loads files that were checked, and sees that the foreign keys of their tables hold.
pub(super) fn load(
    files: Vec<(String, CsvFile)>,
    endpoint: &Endpoint,
    context: &Context,
) -> Result<(), Blamed> {
    if files.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = files.iter().map(|(table, _)| table.clone()).collect();
    let infos = table_infos::read(endpoint, &names)?;
    let is_shared = table_infos::auto_increment_is_shared(endpoint)?;
    let rows: u64 = files.iter().map(|(_, file)| file.rows()).sum();
    let mut tables = Vec::new();
    for (table, file) in files {
        let info = infos.iter().find(|info| info.name == table);
        let missing = || Blamed::new(Blame::Input, format!("csv: there is no table {table}"));
        let info = info.ok_or_else(missing)?;
        tables.push(file.data(info, is_shared).map_err(wrong)?);
    }
    let population = Population {
        endpoint: endpoint.clone(),
        tables,
        streams: default_streams(),
        // Tables are loaded side by side, whichever refers to which; the keys are checked behind that.
        session: vec!["set foreign_key_checks = 0".to_owned()],
    };
    let filled = fill(&population, &format!("loading {rows} rows"), context);
    filled.map_err(|error| {
        error.hint("the tables are incomplete: correct the file and run again".to_owned())
    })?;
    let _step = context.step("checking foreign keys", Length::Unknown);
    infos.iter().try_for_each(|info| check_keys(info, endpoint))
}

/// An error for a foreign key with a value that its parent does not have.
fn check_keys(info: &TableInfo, endpoint: &Endpoint) -> Result<(), Blamed> {
    for key in &info.foreign_keys {
        let pairs = || key.columns.iter().zip(&key.parent_columns);
        let same = pairs()
            .map(|(own, parent)| format!("p.{} = c.{}", backticked(parent), backticked(own)));
        let set = pairs().map(|(own, _)| format!("c.{} is not null", backticked(own)));
        let (same, set): (Vec<String>, Vec<String>) = (same.collect(), set.collect());
        let sql = format!(
            "select count(*) from {} c where {} and not exists (select 1 from {} p where {})",
            backticked(&info.name),
            set.join(" and "),
            backticked(&key.table),
            same.join(" and ")
        );
        let orphans =
            Purpose::Work.control(endpoint, async |connection| number(connection, &sql).await)?;
        let orphans = orphans.unwrap_or(0);
        if orphans > 0 {
            let columns = key.columns.join(", ");
            let message = format!(
                "csv: {orphans} rows of {} have a {columns} that {} does not have",
                info.name, key.table
            );
            let hint =
                "load the rows of that table, too, or remove the foreign key from the schema";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
    }
    Ok(())
}

pub(super) fn wrong(error: CsvError) -> Blamed {
    let blame = match error {
        CsvError::Interrupted { .. } => Blame::Interrupted,
        CsvError::Read { .. } | CsvError::Line { .. } => Blame::Input,
    };
    Blamed::new(blame, error)
}
