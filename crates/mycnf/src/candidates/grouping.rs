//! Which lines are tested together.

use super::candidate::Candidate;
use crate::catalogue::Catalogue;
use crate::error::Error;
use crate::name::OptionName;

/// Options of which one does nothing, or something else, without the others.
const TOGETHER: [&[&str]; 9] = [
    &[
        "query_cache_type",
        "query_cache_size",
        "query_cache_limit",
        "query_cache_min_res_unit",
    ],
    &["tmp_table_size", "max_heap_table_size"],
    &["innodb_io_capacity", "innodb_io_capacity_max"],
    &[
        "innodb_log_file_size",
        "innodb_log_files_in_group",
        "innodb_redo_log_capacity",
    ],
    &["character_set_server", "collation_server"],
    &["gtid_mode", "enforce_gtid_consistency"],
    &[
        "innodb_buffer_pool_dump_at_shutdown",
        "innodb_buffer_pool_load_at_startup",
    ],
    &[
        "slow_query_log",
        "log_slow_query",
        "log_slow_query_file",
        "log_slow_query_time",
        "long_query_time",
        "log_queries_not_using_indexes",
        "log_slow_verbosity",
        "log_slow_rate_limit",
        "min_examined_row_limit",
    ],
    &[
        "thread_handling",
        "thread_pool_size",
        "thread_pool_max_threads",
        "thread_pool_stall_limit",
    ],
];

/// Single lines in their groups: the declared ones, and those that belong together.
pub(super) fn grouped(
    single: Vec<Candidate>,
    declared: &[Vec<String>],
    catalogue: &Catalogue,
) -> Result<Vec<Candidate>, Error> {
    let mut sets: Vec<Vec<String>> = Vec::new();
    for names in declared {
        let mut set = Vec::new();
        for name in names {
            let written = OptionName::new(name);
            let known = catalogue.find(&written);
            let known = known
                .map_or(written.base(), |option| option.name)
                .to_owned();
            if !single.iter().any(|one| one.options.contains(&known)) {
                let name = name.clone();
                return Err(Error::NotTested { name });
            }
            set.push(known);
        }
        sets.push(set);
    }
    let together = TOGETHER
        .iter()
        .map(|set| set.iter().map(|name| (*name).to_owned()));
    sets.extend(together.map(Iterator::collect));
    let mut groups: Vec<Candidate> = Vec::new();
    for one in single {
        let mut joined = one;
        // Two sets that share an option are one.
        let mut rest = Vec::new();
        for group in groups {
            let is_same = sets.iter().any(|set| {
                let has = |group: &Candidate| group.options.iter().any(|name| set.contains(name));
                has(&group) && has(&joined)
            });
            if is_same {
                let Candidate {
                    options,
                    lines,
                    base,
                } = joined;
                joined = group;
                joined.options.extend(options);
                joined.lines.extend(lines);
                joined.base.extend(base);
            } else {
                rest.push(group);
            }
        }
        rest.push(joined);
        groups = rest;
    }
    Ok(groups)
}
