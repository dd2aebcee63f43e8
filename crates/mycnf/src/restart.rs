//! Which variables can only be set at start.
//!
//! `crates/mycnf/catalogue/restart_mysql.tsv` and `restart_mariadb.tsv` hold them, one line per variable, with an `x` for
//! each version in which SET GLOBAL answers that the variable is read-only, or of which the documentation says so, and a `?`
//! where it does not say it. Those of the options that Percona Server adds are in `percona.tsv`.
//!
//! ```text
//! name                     5.5.9 5.6.24 5.7.22 8.0.12 8.0.33 8.4* 9.7
//! innodb_buffer_pool_size  xx.....
//! ```

use std::{collections::BTreeMap, sync::LazyLock};

use crate::catalogue::{Catalogue, Family};
use crate::history::{Presence, presence};

type Columns = BTreeMap<&'static str, &'static str>;

static MYSQL: LazyLock<Columns> =
    LazyLock::new(|| parse(include_str!("../catalogue/restart_mysql.tsv")));
static MARIADB: LazyLock<Columns> =
    LazyLock::new(|| parse(include_str!("../catalogue/restart_mariadb.tsv")));

fn parse(text: &'static str) -> Columns {
    let lines = text.lines().skip(1);
    lines.filter_map(|line| line.split_once('\t')).collect()
}

impl Catalogue {
    /// Whether a variable can be set only at start; `None` if this version has no such variable, the option is no variable,
    /// or it is not known.
    pub fn needs_restart(&self, name: &str) -> Option<bool> {
        let columns = match self.family() {
            Family::MySql => &*MYSQL,
            Family::MariaDb => &*MARIADB,
        };
        if let Some(addition) = self.addition(name) {
            return addition.needs_restart;
        }
        let class = columns
            .get(name)
            .and_then(|columns| columns.as_bytes().get(self.base_column()));
        if class == Some(&b'?') {
            return None;
        }
        let is_read_only = class == Some(&b'x');
        let has_value = matches!(presence(self, name), Presence::Default(Some(_)));
        (is_read_only || has_value).then_some(is_read_only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    #[test]
    fn what_can_be_changed_differs_by_version() {
        for (target, name, restart) in [
            ("mysql-5.6", "innodb_buffer_pool_size", Some(true)),
            ("mysql-5.7", "innodb_buffer_pool_size", Some(false)),
            ("mariadb-10.5", "innodb_log_file_size", Some(true)),
            ("mariadb-10.11", "innodb_log_file_size", Some(false)),
            ("mysql-8.0", "innodb_redo_log_capacity", Some(false)),
            ("mysql-8.0", "innodb_flush_method", Some(true)),
            ("mysql-8.0", "query_cache_size", None),
            ("mariadb-10.6", "innodb_log_file_size", Some(true)),
            ("mariadb-10.6", "innodb_purge_threads", None),
            ("mysql-8.4", "ssl_fips_mode", None),
        ] {
            let catalogue = Target::parse(target).unwrap().catalogue();
            assert_eq!(catalogue.needs_restart(name), restart, "{target} {name}");
        }
    }

    #[test]
    fn columns_are_those_of_the_options() {
        for (columns, versions) in [(&*MYSQL, 7), (&*MARIADB, 6)] {
            assert!(columns.len() > 200);
            assert!(columns.values().all(|columns| columns.len() == versions));
        }
    }
}
