//! Kinds of state that a session may leave on its connection.

/// A kind of state: the statements that leave it, and one that shows it.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) leave: &'static [&'static str],
    pub(crate) observe: &'static str,
}

impl Kind {
    /// Whether all sessions see it: another one of its own connection waits until it has been removed.
    pub(crate) fn is_seen_by_all(&self) -> bool {
        matches!(self.name, "a named lock" | "a global lock")
    }
}

const fn kind(name: &'static str, leave: &'static [&'static str], observe: &'static str) -> Kind {
    Kind {
        name,
        leave,
        observe,
    }
}

/// Those of all servers.
pub(crate) const ALL: &[Kind] = &[
    kind("a role", &["SET ROLE r"], "SELECT CURRENT_ROLE()"),
    kind("no role", &["SET ROLE NONE"], "SELECT CURRENT_ROLE()"),
    kind("the database", &["USE other"], "SELECT DATABASE()"),
    kind(
        "the database in a comment",
        &["/*!USE other*/"],
        "SELECT DATABASE()",
    ),
    kind(
        "a dropped database",
        &[
            "CREATE DATABASE IF NOT EXISTS gone",
            "USE gone",
            "DROP DATABASE gone",
        ],
        "SELECT DATABASE()",
    ),
    kind(
        "the database's character set",
        &["USE other"],
        "SELECT @@character_set_database",
    ),
    kind(
        "a table of the database",
        &["USE other"],
        "SELECT COUNT(*) FROM only_other",
    ),
    kind(
        "profiles",
        &["SET profiling = 1", "SELECT 'secret'"],
        "SHOW PROFILES",
    ),
    kind("profiling", &["SET profiling = 1"], "SELECT @@profiling"),
    kind("autocommit", &["SET autocommit = 0"], "SELECT @@autocommit"),
    kind(
        "an open transaction",
        &["BEGIN", "INSERT INTO shop.t VALUES (77)"],
        "SELECT COUNT(*) FROM shop.t WHERE a = 77",
    ),
    kind(
        "a savepoint",
        &["BEGIN", "INSERT INTO shop.t VALUES (78)", "SAVEPOINT s"],
        "ROLLBACK TO s",
    ),
    kind(
        "a named lock",
        &["SELECT GET_LOCK('lock', 0)"],
        "SELECT IS_USED_LOCK('lock')",
    ),
    kind(
        "locked tables",
        &["LOCK TABLES shop.t READ"],
        "SELECT COUNT(*) FROM other.only_other",
    ),
    kind(
        "a global lock",
        &["FLUSH TABLES WITH READ LOCK"],
        "DELETE FROM shop.t WHERE a = -1",
    ),
    kind("a user variable", &["SET @a = 'secret'"], "SELECT @a"),
    kind(
        "a temporary table",
        &["CREATE TEMPORARY TABLE shop.secret (a INT)"],
        "SELECT * FROM shop.secret",
    ),
    kind(
        "a temporary table over another",
        &["CREATE TEMPORARY TABLE shop.t (b INT)"],
        "SELECT a FROM shop.t",
    ),
    kind(
        "a prepared statement",
        &["PREPARE s FROM 'SELECT ''secret'''"],
        "EXECUTE s",
    ),
    kind(
        "the last id",
        &["SELECT LAST_INSERT_ID(77)"],
        "SELECT LAST_INSERT_ID()",
    ),
    kind("the next id", &["SET insert_id = 55"], "SELECT @@insert_id"),
    kind(
        "found rows",
        &["SELECT SQL_CALC_FOUND_ROWS 1 UNION SELECT 2 UNION SELECT 3 LIMIT 1"],
        "SELECT FOUND_ROWS() = 3",
    ),
    kind(
        "changed rows",
        &["INSERT INTO shop.u VALUES (1), (2)"],
        "SELECT ROW_COUNT() = 2",
    ),
    kind("warnings", &["SELECT CAST('a' AS SIGNED)"], "SHOW WARNINGS"),
    kind("errors", &["SELECT * FROM secret.secret"], "SHOW ERRORS"),
    kind(
        "the SQL mode",
        &["SET sql_mode = 'ANSI_QUOTES'"],
        "SELECT @@sql_mode",
    ),
    kind(
        "the time zone",
        &["SET time_zone = '+05:00'"],
        "SELECT @@time_zone",
    ),
    kind(
        "the character set",
        &["SET NAMES latin1"],
        "SELECT @@character_set_client, @@character_set_results, @@collation_connection",
    ),
    kind(
        "a transaction that only reads",
        &["SET TRANSACTION READ ONLY"],
        "DELETE FROM shop.t WHERE a = -1",
    ),
    kind(
        "foreign keys",
        &["SET foreign_key_checks = 0"],
        "SELECT @@foreign_key_checks",
    ),
    kind(
        "the time",
        &["SET timestamp = 100"],
        "SELECT YEAR(NOW()) < 2000",
    ),
    kind(
        "a cursor over a table",
        &["HANDLER shop.t OPEN AS h"],
        "HANDLER h READ FIRST",
    ),
    kind(
        "a limit",
        &["SET sql_select_limit = 1"],
        "SELECT 1 UNION SELECT 2",
    ),
    kind(
        "the engine",
        &["SET default_storage_engine = MEMORY"],
        "SELECT @@default_storage_engine",
    ),
    kind("a distributed transaction", &["XA START 'x'"], "XA END 'x'"),
    kind(
        "names of months",
        &["SET lc_time_names = 'de_DE'"],
        "SELECT @@lc_time_names",
    ),
];

/// Those of MariaDB alone.
pub(crate) const MARIADB: &[Kind] = &[
    kind(
        "the isolation",
        &["SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"],
        "SELECT @@tx_isolation",
    ),
    kind(
        "a time limit",
        &["SET max_statement_time = 100"],
        "SELECT @@max_statement_time",
    ),
    kind(
        "a sequence",
        &["SELECT NEXTVAL(shop.numbers)"],
        "SELECT LASTVAL(shop.numbers)",
    ),
    kind(
        "a replication domain",
        &["SET gtid_domain_id = 7"],
        "SELECT @@gtid_domain_id",
    ),
    kind("a backup", &["BACKUP STAGE START"], "BACKUP STAGE FLUSH"),
    kind(
        "the database in a prepared text",
        &["EXECUTE IMMEDIATE 'USE other'"],
        "SELECT DATABASE()",
    ),
];

/// Those of MySQL alone.
pub(crate) const MYSQL: &[Kind] = &[
    kind(
        "the isolation",
        &["SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"],
        "SELECT @@transaction_isolation",
    ),
    kind(
        "a time limit",
        &["SET max_execution_time = 100000"],
        "SELECT @@max_execution_time",
    ),
    kind(
        "a resource group",
        &["SET RESOURCE GROUP rg"],
        "SELECT RESOURCE_GROUP FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
    ),
    kind(
        "a lock for backups",
        &["LOCK INSTANCE FOR BACKUP"],
        "UNLOCK INSTANCE",
    ),
];
