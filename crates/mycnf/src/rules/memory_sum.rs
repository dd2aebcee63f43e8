//! Rule: buffers and connections can need more memory than the machine has.

use crate::pool_rounding::rounded_pool;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{bytes, percent};

pub(super) const RULE: Rule = Rule {
    id: "memory-sum",
    title: "Memory reserved for buffers and connections",
    reason: "The sum is an upper bound. Few loads reach it, because a connection allocates a buffer only when a statement needs the buffer. If memory runs out, the kernel kills the server.",
    source: "our own formula: the global buffers, plus max_connections times the buffers of one connection; the finding shows both parts",
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
/// Maximum share of the memory for the buffers of the whole server; connections and the system need the rest.
const GLOBAL_SHARE: f64 = 0.9;
/// Share of the memory above which a buffer is worth lowering.
const LARGE_SHARE: f64 = 0.1;
/// Share of the memory beyond which the sum is a risk even if few connections allocate all of their buffers.
const RISK_SHARE: f64 = 2.0;

/// Memory that a server may allocate for its buffers and connections.
struct MemoryCommitment {
    memory: u64,
    /// Buffers of the whole server, by option, in bytes.
    global: Vec<(&'static str, u64)>,
    /// Buffers of one connection, by option, in bytes.
    each: Vec<(&'static str, u64)>,
    connections: u64,
}

impl MemoryCommitment {
    /// `None` if the memory is not known.
    fn of(subject: &Subject<'_>) -> Option<Self> {
        let sizes = |names: &[&'static str]| -> Vec<(&'static str, u64)> {
            let sizes = names
                .iter()
                .filter_map(|name| Some((*name, buffer_bytes(subject, name)?)));
            sizes.collect()
        };
        let connections = subject.number("max_connections");
        Some(Self {
            memory: subject.machine.memory_bytes?,
            global: sizes(&GLOBAL),
            each: sizes(&PER_CONNECTION),
            connections: connections
                .and_then(|count| u64::try_from(count).ok())
                .unwrap_or(0),
        })
    }

    fn global_bytes(&self) -> u64 {
        sum(&self.global)
    }

    /// Of all connections together.
    fn connections_bytes(&self) -> u64 {
        sum(&self.each).saturating_mul(self.connections)
    }

    fn all_bytes(&self) -> u64 {
        self.global_bytes().saturating_add(self.connections_bytes())
    }

    /// The level of the finding; `None` if the buffers fit.
    fn level(&self) -> Option<Level> {
        let share = |part: u64| part as f64 / self.memory as f64;
        let (global, all) = (share(self.global_bytes()), share(self.all_bytes()));
        if global > 1.0 || all > RISK_SHARE {
            Some(Level::Risk)
        } else if global > GLOBAL_SHARE || all > 1.0 {
            Some(Level::Warning)
        } else {
            None
        }
    }

    /// The part to lower first: the global buffers if they alone exceed the memory, because fewer connections do not
    /// help then; otherwise the largest part.
    fn first_to_lower(&self) -> PartToLower {
        let largest = |parts: &[(&'static str, u64)]| {
            let parts = parts.iter().copied();
            parts.max_by_key(|(_, size)| *size).unwrap_or(("", 0))
        };
        let shown = |option: &str, size: u64| format!(" (largest: {option}, {})", bytes(size));
        // With a smaller stack, statements fail with error 1436.
        let buffers = self.each.iter().copied();
        let buffers: Vec<_> = buffers
            .filter(|(name, _)| *name != "thread_stack")
            .collect();
        let (buffer, buffer_size) = largest(&buffers);
        let of_connections = format!("max_connections or {buffer}");
        let (global, size) = largest(&self.global);
        let is_global_larger = size >= self.connections_bytes();
        let is_global_too_large = self.global_bytes() > self.memory;
        if is_global_larger || is_global_too_large {
            let options = if is_global_too_large {
                self.large_global().join(" or ")
            } else {
                global.to_owned()
            };
            let then = if is_global_larger {
                String::new()
            } else {
                format!(", then {of_connections}")
            };
            return PartToLower {
                option: global,
                parts: format!(
                    "{}, and {}",
                    self.global_in_words(&shown(global, size)),
                    self.connections_in_words("")
                ),
                fix: format!("lower {options}{then}"),
            };
        }
        PartToLower {
            option: "max_connections",
            parts: format!(
                "{}, and {}",
                self.connections_in_words(&shown(buffer, buffer_size)),
                self.global_in_words("")
            ),
            fix: format!("lower {of_connections}"),
        }
    }

    /// The global buffers that are worth lowering, the largest first.
    fn large_global(&self) -> Vec<&'static str> {
        let mut large = self.global.clone();
        large.retain(|(_, size)| *size as f64 > LARGE_SHARE * self.memory as f64);
        large.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        large.into_iter().map(|(name, _)| name).collect()
    }

    fn global_in_words(&self, largest: &str) -> String {
        let size = bytes(self.global_bytes());
        format!("the global buffers need {size}{largest}")
    }

    fn connections_in_words(&self, largest: &str) -> String {
        format!(
            "{} connections can need up to {} each{largest}, {} together",
            self.connections,
            bytes(sum(&self.each)),
            bytes(self.connections_bytes())
        )
    }
}

/// The part of the sum that is worth lowering first.
struct PartToLower {
    /// The option that sets it.
    option: &'static str,
    /// Both parts in words, this one first.
    parts: String,
    fix: String,
}

/// Size of a buffer as the server allocates it, bytes.
fn buffer_bytes(subject: &Subject<'_>, name: &str) -> Option<u64> {
    let rounded = rounded_pool(subject).filter(|_| name == "innodb_buffer_pool_size");
    let bytes = match rounded {
        Some(rounded) => rounded.pool_bytes,
        None => subject.number(name)?,
    };
    u64::try_from(bytes).ok()
}

fn sum(parts: &[(&'static str, u64)]) -> u64 {
    let sizes = parts.iter().map(|(_, size)| *size);
    sizes.fold(0, u64::saturating_add)
}

/// The option that this rule advises to lower; no rule may advise raising it.
pub(crate) fn option_to_lower(subject: &Subject<'_>) -> Option<&'static str> {
    let promise = MemoryCommitment::of(subject)?;
    promise.level().map(|_| promise.first_to_lower().option)
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(promise) = MemoryCommitment::of(subject) else {
        return Vec::new();
    };
    let Some(level) = promise.level() else {
        return Vec::new();
    };
    let all = promise.all_bytes();
    let PartToLower { option, parts, fix } = promise.first_to_lower();
    let what = format!(
        "{parts}: {} in total, which is {} of the machine's memory ({})",
        bytes(all),
        percent(all as f64 / promise.memory as f64),
        bytes(promise.memory)
    );
    vec![RuleFinding::of(subject, option, level, what).fix(fix)]
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
                "warning: innodb_buffer_pool_size=20G: the global buffers need 20.0 GiB (largest: innodb_buffer_pool_size, 20.0 GiB), and 1024 connections can need up to",
            ],
        );
        assert_found_on(&RULE, &with_memory(16), "mysql-5.5", file, &["risk: "]);
        let many = "max_connections=4000\nsort_buffer_size=32M";
        assert_found_on(
            &RULE,
            &with_memory(32),
            "mysql-8.0.33",
            many,
            &["risk: max_connections=4000: 4000 connections can need up to"],
        );
        assert_found(&RULE, "mysql-8.0.33", many, &[]);
    }

    /// 1100M becomes 2G: 8 instances with chunks of 128M each.
    #[test]
    fn the_pool_counts_with_the_size_that_the_server_allocates() {
        let file = "innodb_buffer_pool_size=1100M";
        let pool = "risk: innodb_buffer_pool_size=1100M: the global buffers need 2.02 GiB";
        assert_found_on(&RULE, &with_memory(2), "mysql-8.0.33", file, &[pool]);
        assert_found_on(&RULE, &with_memory(2), "mariadb-10.11", file, &[]);
    }

    #[test]
    fn the_finding_names_the_largest_part_first() {
        for (memory, lines, parts) in [
            (
                32,
                "max_connections=1000\nsort_buffer_size=40M",
                "warning: max_connections=1000: 1000 connections can need up to 41.7 MiB each (largest: sort_buffer_size, 40.0 MiB), 40.7 GiB together, and the global buffers need 152 MiB: 40.8 GiB in total, which is 128 % of the machine's memory (32.0 GiB); lower max_connections or sort_buffer_size",
            ),
            (
                8,
                "innodb_buffer_pool_size=7G\nmax_connections=1000",
                "warning: innodb_buffer_pool_size=7G: the global buffers need 7.02 GiB",
            ),
            (
                8,
                "innodb_buffer_pool_size=2G\nkey_buffer_size=6G",
                "risk: key_buffer_size=6G: the global buffers need 8.02 GiB",
            ),
            (
                8,
                "innodb_buffer_pool_size=42G",
                "risk: innodb_buffer_pool_size=42G: the global buffers need 42.0 GiB",
            ),
            // Without any connection, 12 GiB + 8 GiB do not fit into 16 GiB.
            (
                16,
                "innodb_buffer_pool_size=12G\nkey_buffer_size=8G\nmax_connections=5000\nsort_buffer_size=32M",
                "; lower innodb_buffer_pool_size or key_buffer_size, then max_connections or sort_buffer_size",
            ),
            (
                16,
                "innodb_buffer_pool_size=4G\nkey_buffer_size=14G\nmax_connections=50",
                "; lower key_buffer_size or innodb_buffer_pool_size",
            ),
        ] {
            assert_found_on(&RULE, &with_memory(memory), "mysql-8.0.33", lines, &[parts]);
        }
        let found = remarks(
            &RULE,
            &with_memory(8),
            "mysql-8.0.33",
            "innodb_buffer_pool_size=42G",
        );
        assert!(
            found[0].ends_with("; lower innodb_buffer_pool_size"),
            "{found:?}"
        );
    }
}
