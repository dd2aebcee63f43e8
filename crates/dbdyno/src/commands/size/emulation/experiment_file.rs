//! The parts of an experiment file that a target changes.

use blame::{Blame, Blamed};
use experiment::written;
use toml_edit::{
    Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, table, value,
};

use crate::commands::size::experiment_check::is_buffer_pool;

/// Why a table of the file is one.
const READ: &str = "the experiment was read, so that this is a table";

/// The levels of a factor as the file has them; `None` without this factor.
pub(super) fn factor_in<'f>(file: &'f DocumentMut, name: &str) -> Option<&'f Item> {
    file.get("matrix")?.get(name)
}

/// Whether the levels of a factor belong to those of another one.
pub(super) fn is_zipped(file: &DocumentMut, name: &str) -> bool {
    let groups = file.get("zip").and_then(Item::as_array).map(groups);
    let mut names = groups.into_iter().flatten().flatten();
    names.any(|it| it == name)
}

/// The name that the levels of a factor have in combinations: that of the first factor of its group.
pub(super) fn leader_of(file: &DocumentMut, name: &str) -> String {
    let groups = file.get("zip").and_then(Item::as_array).map(groups);
    let mut groups = groups.into_iter().flatten();
    let own = groups.find(|names| names.iter().any(|it| it == name));
    let leader = own.and_then(|names| names.into_iter().next());
    leader.unwrap_or_else(|| name.to_owned())
}

/// The groups of `zip`, which may be a single one.
fn groups(zip: &Array) -> Vec<Vec<String>> {
    let names = |array: &Array| {
        let names = array.iter().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    };
    let several: Vec<Vec<String>> = zip.iter().filter_map(Value::as_array).map(names).collect();
    if several.is_empty() {
        vec![names(zip)]
    } else {
        several
    }
}

/// The value of a limit in `[server] limit`; `None` without it, and an error if it varies.
pub(super) fn limit_in(file: &DocumentMut, key: &str) -> Result<Option<String>, Blamed> {
    let limit = file.get("server").and_then(|server| server.get("limit"));
    let Some(limit) = limit.and_then(|limit| limit.get(key)) else {
        return Ok(None);
    };
    let text = scalar(limit).unwrap_or_default();
    if text.contains('{') {
        let message = format!("[server] limit: {key} varies, and is a limit of the target");
        let hint = "write one value, or --no-validate".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint));
    }
    Ok(Some(text))
}

fn scalar(item: &Item) -> Option<String> {
    let text = item.as_str().map(str::to_owned);
    let whole = || item.as_integer().map(|it| it.to_string());
    let number = || item.as_float().map(|it| it.to_string());
    text.or_else(whole).or_else(number)
}

/// The buffer pool that `[server] set` has, with its factors; `None` without it.
pub(super) fn buffer_pool_in(file: &DocumentMut) -> Option<String> {
    let set = file.get("server")?.get("set")?.as_table_like()?;
    let (_, size) = set.iter().find(|(option, _)| is_buffer_pool(option))?;
    scalar(size)
}

/// Replaces the buffer pool that `[server] set` has.
pub(super) fn set_buffer_pool(file: &mut DocumentMut, size: Value) {
    let set = table_in(table_of(file, "server"), "set");
    let pool = set
        .iter_mut()
        .find(|(option, _)| is_buffer_pool(option.get()));
    if let Some((_, pool)) = pool {
        *pool = value(size);
    }
}

/// Sets a limit in `[server] limit` to the value of a factor.
pub(super) fn set_limit(file: &mut DocumentMut, key: &str, factor: &str) {
    let server = table_of(file, "server");
    let limit = server
        .entry("limit")
        .or_insert_with(|| value(InlineTable::new()));
    let limit = limit.as_table_like_mut().expect(READ);
    limit.insert(key, value(written::string(&format!("{{{factor}}}"))));
}

/// Adds a factor with two levels.
pub(super) fn add_factor(
    file: &mut DocumentMut,
    name: &str,
    labels: &[&str; 2],
    values: &[String; 2],
) {
    let levels = labels.iter().zip(values);
    let levels = levels.map(|(label, text)| {
        let level = [
            ("label", written::string(label)),
            ("value", written::string(text)),
        ];
        Value::from(InlineTable::from_iter(level))
    });
    let levels: Array = levels.collect();
    table_of(file, "matrix").insert(name, value(levels));
}

/// Adds a level to a factor.
pub(super) fn add_level(file: &mut DocumentMut, factor: &str, level: &str) {
    let Some(levels) = table_of(file, "matrix").get_mut(factor) else {
        return;
    };
    if let Some(range) = levels.as_str().map(written::string) {
        *levels = value(Array::from_iter([range]));
    }
    let levels = levels.as_array_mut().expect("levels are a range or a list");
    levels.push(written::string(level));
}

/// Combines the levels of factors with those of another one by position.
pub(super) fn zip_followers(file: &mut DocumentMut, leader: &str, followers: &[String]) {
    if followers.is_empty() {
        return;
    }
    let known = file.get("zip").and_then(Item::as_array).map(groups);
    let mut groups = known.unwrap_or_default();
    let own = [leader.to_owned()].into_iter().chain(followers.to_vec());
    groups.push(own.collect());
    let groups = groups.iter().map(|names| {
        let names = names.iter().map(|name| written::string(name));
        Value::from(names.collect::<Array>())
    });
    let groups: Array = groups.collect();
    file.insert("zip", value(groups));
}

/// Leaves out the combinations that meet these conditions: a factor, and the levels of it.
pub(super) fn exclude(file: &mut DocumentMut, conditions: &[(&str, Vec<String>)]) {
    let conditions = conditions.iter().map(|(factor, levels)| {
        let levels = levels.iter().map(|level| written::string(level));
        (*factor, value(levels.collect::<Array>()))
    });
    let conditions: Table = conditions.collect();
    let all = file
        .entry("exclude")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    match all {
        Item::ArrayOfTables(all) => all.push(conditions),
        Item::Value(Value::Array(all)) => all.push(conditions.into_inline_table()),
        Item::None | Item::Value(_) | Item::Table(_) => {}
    }
}

/// Makes a chart of its own for each level of a factor, if the file has a chart: a chart must not leave a factor out.
pub(super) fn add_facet(file: &mut DocumentMut, factor: &str) {
    let report = file.get_mut("report").and_then(|it| it.get_mut("chart"));
    let Some(chart) = report.and_then(Item::as_table_like_mut) else {
        return;
    };
    let known = chart.get("facet");
    let mut facet = match known.and_then(Item::as_array) {
        Some(factors) => factors.clone(),
        None => known
            .and_then(Item::as_str)
            .map(written::string)
            .into_iter()
            .collect(),
    };
    facet.push(written::string(factor));
    chart.insert("facet", value(facet));
}

fn table_of<'f>(file: &'f mut DocumentMut, name: &str) -> &'f mut dyn TableLike {
    let item = file.entry(name).or_insert_with(table);
    item.as_table_like_mut().expect(READ)
}

fn table_in<'t>(parent: &'t mut dyn TableLike, name: &str) -> &'t mut dyn TableLike {
    let item = parent.entry(name).or_insert_with(table);
    item.as_table_like_mut().expect(READ)
}
