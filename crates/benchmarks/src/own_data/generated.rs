//! Rows by rules: read what the tables are, resolve the rules, load.

use blame::{Blame, Blamed};
use dataset::{
    Population, Progress,
    own_data::generate::{GenerateError, TableSpec, generate, needed_parents},
};
use protocol::Endpoint;
use runs::{
    Context,
    population::{default_streams, fill},
};

use super::table_infos;

/// Makes and loads the rows of tables that are there.
pub(super) fn load(
    specs: &[TableSpec],
    seed: u64,
    endpoint: &Endpoint,
    context: &Context,
) -> Result<Progress, Blamed> {
    let names: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
    let infos = table_infos::read(endpoint, &names)?;
    let parents = needed_parents(specs, &infos).map_err(wrong)?;
    let mut notes = Vec::new();
    let parents = table_infos::read_keys(endpoint, parents, &mut notes)?;
    let tables = generate(specs, &infos, &parents, seed, &mut notes).map_err(wrong)?;
    for note in notes {
        context.note(&note);
    }
    let is_shared = table_infos::auto_increment_is_shared(endpoint)?;
    let rows: u64 = specs.iter().map(|spec| spec.rows).sum();
    let population = Population {
        endpoint: endpoint.clone(),
        tables: tables.iter().map(|table| table.data(is_shared)).collect(),
        streams: default_streams(),
        // The keys hold by the way they are drawn.
        session: vec!["set foreign_key_checks = 0".to_owned()],
    };
    fill(&population, &format!("generating {rows} rows"), context)
}

pub(super) fn wrong(error: GenerateError) -> Blamed {
    let hint = "docs/data.md lists all rules".to_owned();
    Blamed::new(Blame::Input, error).hint(hint)
}
