//! Which variables can only be set at start.
//!
//! `crates/mycnf/catalogue/restart_mysql.tsv` and `restart_mariadb.tsv` hold them, one line per variable, with an `x` for
//! each version in which SET GLOBAL answers that the variable is read-only, or of which the documentation says so, a `~`
//! where it refuses the change between some of the values, and a `?` where the documentation does not say it. Those of the
//! options that Percona Server adds are in `percona.tsv`.
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
    /// Whether a variable, or some of its values, can be set only at start; `None` if this version has no such variable,
    /// the option is no variable, or it is not known.
    pub fn needs_restart(&self, name: &str) -> Option<bool> {
        if let Some(addition) = self.addition(name) {
            return addition.needs_restart;
        }
        let class = self.restart_class(name);
        if class == Some(b'?') {
            return None;
        }
        let is_read_only = matches!(class, Some(b'x' | b'~'));
        let has_value = matches!(presence(self, name), Presence::Default(Some(_)));
        (is_read_only || has_value).then_some(is_read_only)
    }

    /// Whether a variable can be changed at run time between some of its values only: MySQL refuses to switch
    /// `innodb_doublewrite` on or off, and changes it between ON, `DETECT_AND_RECOVER` and `DETECT_ONLY`.
    pub fn changes_in_part(&self, name: &str) -> bool {
        self.addition(name).is_none() && self.restart_class(name) == Some(b'~')
    }

    fn restart_class(&self, name: &str) -> Option<u8> {
        let columns = match self.family() {
            Family::MySql => &*MYSQL,
            Family::MariaDb => &*MARIADB,
        };
        let columns = columns.get(name)?;
        columns.as_bytes().get(self.base_column()).copied()
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
            ("mysql-8.0", "innodb_doublewrite", Some(true)),
        ] {
            let catalogue = Target::parse(target).unwrap().catalogue();
            assert_eq!(catalogue.needs_restart(name), restart, "{target} {name}");
        }
    }

    #[test]
    fn a_change_between_some_values_is_told_from_one_between_all() {
        for (target, name, in_part) in [
            ("mysql-5.7", "innodb_doublewrite", false),
            ("mysql-8.0.33", "innodb_doublewrite", true),
            ("mysql-8.0.33", "innodb_flush_method", false),
            ("mysql-8.0.33", "innodb_buffer_pool_size", false),
        ] {
            let catalogue = Target::parse(target).unwrap().catalogue();
            assert_eq!(catalogue.changes_in_part(name), in_part, "{target} {name}");
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
