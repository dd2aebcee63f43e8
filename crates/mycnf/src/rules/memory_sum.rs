//! Rule: buffers and connections can need more memory than there is.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;
use units::{bytes, percent};

pub(super) const RULE: Rule = Rule {
    id: "memory-sum",
    title: "Memory promised to buffers and connections",
    reason: "The sum is an upper bound that few loads reach, because buffers of a connection are allocated when a \
        statement needs them; beyond the memory the kernel kills the server.",
    source: "our own sum: global buffers, and max_connections times the buffers of a connection; both are shown",
    check,
};

/// Buffers of the whole server.
const GLOBAL: [&str; 6] = [
    "innodb_buffer_pool_size",
    "innodb_log_buffer_size",
    "innodb_additional_mem_pool_size",
    "key_buffer_size",
    "query_cache_size",
    "aria_pagecache_buffer_size",
];
/// Buffers that one connection can allocate, once each.
pub(crate) const PER_CONNECTION: [&str; 6] = [
    "sort_buffer_size",
    "join_buffer_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "thread_stack",
    "binlog_cache_size",
];
/// Share of the memory that buffers of the whole server should leave to connections and the system.
const GLOBAL_SHARE: f64 = 0.9;

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let Some(memory) = subject.machine.memory_bytes else {
        return Vec::new();
    };
    let sum = |names: &[&str]| -> u64 {
        let sizes = names
            .iter()
            .filter_map(|name| u64::try_from(subject.number(name)?).ok());
        sizes.fold(0, u64::saturating_add)
    };
    let (global, each) = (sum(&GLOBAL), sum(&PER_CONNECTION));
    let connections = subject
        .number("max_connections")
        .and_then(|count| u64::try_from(count).ok())
        .unwrap_or(0);
    let all = global.saturating_add(each.saturating_mul(connections));
    let shares = format!(
        "{} for the whole server and {connections} connections with at most {} each are {}, {} of {}",
        bytes(global),
        bytes(each),
        bytes(all),
        percent(all as f64 / memory as f64),
        bytes(memory)
    );
    if global as f64 > GLOBAL_SHARE * memory as f64 {
        let level = if global > memory {
            Level::Risk
        } else {
            Level::Warning
        };
        return vec![
            Remark::of(subject, "innodb_buffer_pool_size", level, shares)
                .fix("make the buffer pool smaller"),
        ];
    }
    if all > memory {
        let remark = Remark::of(subject, "max_connections", Level::Note, shares);
        return vec![remark.fix(
            "lower max_connections or the buffers if so many connections sort and join at once",
        )];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_sum_is_shown_with_its_parts() {
        let file = "innodb_buffer_pool_size=20G\nmax_connections=1024\nsort_buffer_size=1M\nread_buffer_size=1M";
        assert_found_on(&RULE, &with_memory(32), "mysql-5.5", file, &[]);
        assert_found_on(
            &RULE,
            &with_memory(22),
            "mysql-5.5",
            file,
            &[
                "warning: innodb_buffer_pool_size=20G: 20.0 GiB for the whole server and 1024 connections",
            ],
        );
        assert_found_on(&RULE, &with_memory(16), "mysql-5.5", file, &["risk: "]);
        let many = "max_connections=4000\nsort_buffer_size=32M";
        assert_found_on(
            &RULE,
            &with_memory(32),
            "mysql-8.0.33",
            many,
            &["note: max_connections=4000"],
        );
        assert_found(&RULE, "mysql-8.0.33", many, &[]);
    }
}
