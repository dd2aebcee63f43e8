//! Global variables that sessions inherit, of MariaDB and of MySQL.

/// Global variables with their values.
pub(super) type Settings = &'static [(&'static str, &'static str)];

/// What is hostile on one flavour of servers.
pub(super) struct Hostile {
    /// The settings of the short round.
    pub(super) few: [Settings; 5],
    /// Those of the long round, besides [`MORE`].
    pub(super) more: [Settings; 3],
    /// Options of private servers that load dumps; the first ones are those of the short round.
    pub(super) of_dumps: [Settings; 3],
}

const ANSI: Settings = &[("sql_mode", "'NO_BACKSLASH_ESCAPES,ANSI'")];
const ANSI_BY_INSERT: Settings = &[
    ("sql_mode", "'NO_BACKSLASH_ESCAPES,ANSI'"),
    ("local_infile", "0"),
];
const STEPS: Settings = &[
    ("autocommit", "0"),
    ("completion_type", "'RELEASE'"),
    ("time_zone", "'+09:00'"),
    ("auto_increment_increment", "5"),
    ("auto_increment_offset", "3"),
    // Less than the rows of sysbench's table.
    ("max_allowed_packet", "16384"),
];
const INIT_CONNECT: (&str, &str) = (
    "init_connect",
    "'set sql_select_limit = 1, sql_safe_updates = 1, sql_auto_is_null = 1, sql_big_selects = 0'",
);

const OTHER_CHARSET: Settings = &[
    ("sql_mode", ""),
    ("character_set_server", "latin1"),
    ("collation_server", "latin1_german1_ci"),
    ("lc_messages", "ja_JP"),
    ("div_precision_increment", "0"),
];

/// Settings of the long round that both flavours have.
pub(super) const MORE: [Settings; 12] = [
    &[("autocommit", "0")],
    &[("completion_type", "'CHAIN'")],
    &[(
        "sql_mode",
        "'REAL_AS_FLOAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE,PIPES_AS_CONCAT'",
    )],
    &[(
        "sql_mode",
        "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'",
    )],
    &[("sql_mode", "''")],
    &[("time_zone", "'-11:30'")],
    &[("div_precision_increment", "0")],
    &[("max_error_count", "0"), ("sql_notes", "0")],
    &[("foreign_key_checks", "0"), ("unique_checks", "0")],
    &[("lc_messages", "'ja_JP'"), ("lc_time_names", "'de_DE'")],
    &[("max_allowed_packet", "16384")],
    &[(
        "init_connect",
        "'set names latin1, wait_timeout = 1, net_read_timeout = 1'",
    )],
];

pub(super) const MARIADB: Hostile = Hostile {
    few: [
        ANSI,
        ANSI_BY_INSERT,
        STEPS,
        &[
            ("tx_read_only", "1"),
            ("tx_isolation", "'SERIALIZABLE'"),
            ("sql_mode", "'EMPTY_STRING_IS_NULL,PAD_CHAR_TO_FULL_LENGTH'"),
            ("max_error_count", "0"),
            ("local_infile", "0"),
        ],
        &[("sql_mode", "'ORACLE'"), INIT_CONNECT],
    ],
    more: [
        &[("sql_mode", "'TRADITIONAL'")],
        &[("sql_mode", "'MSSQL'")],
        &[("max_statement_time", "0.05")],
    ],
    of_dumps: [
        &[
            (
                "sql_mode",
                "NO_BACKSLASH_ESCAPES,ANSI,EMPTY_STRING_IS_NULL,NO_ZERO_IN_DATE,NO_ZERO_DATE,STRICT_ALL_TABLES",
            ),
            ("autocommit", "0"),
            ("completion_type", "RELEASE"),
            ("default_time_zone", "+09:00"),
            ("auto_increment_increment", "5"),
            ("auto_increment_offset", "3"),
            ("max_error_count", "0"),
            ("local_infile", "1"),
        ],
        &[("sql_mode", "ORACLE"), ("max_allowed_packet", "16384")],
        OTHER_CHARSET,
    ],
};

pub(super) const MYSQL: Hostile = Hostile {
    few: [
        ANSI,
        ANSI_BY_INSERT,
        STEPS,
        &[
            ("transaction_read_only", "1"),
            ("transaction_isolation", "'SERIALIZABLE'"),
            ("sql_mode", "'PAD_CHAR_TO_FULL_LENGTH'"),
            ("max_error_count", "0"),
            ("local_infile", "0"),
        ],
        &[("sql_mode", "'TRADITIONAL'"), INIT_CONNECT],
    ],
    more: [
        &[("sql_safe_updates", "1"), ("sql_select_limit", "1")],
        &[("sql_mode", "'ALLOW_INVALID_DATES,TIME_TRUNCATE_FRACTIONAL'")],
        &[("max_execution_time", "50")],
    ],
    of_dumps: [
        &[
            (
                "sql_mode",
                "NO_BACKSLASH_ESCAPES,ANSI,NO_ZERO_IN_DATE,NO_ZERO_DATE,STRICT_ALL_TABLES",
            ),
            ("autocommit", "0"),
            ("completion_type", "RELEASE"),
            ("default_time_zone", "+09:00"),
            ("auto_increment_increment", "5"),
            ("auto_increment_offset", "3"),
            ("max_error_count", "0"),
            ("local_infile", "1"),
        ],
        &[("sql_mode", "TRADITIONAL"), ("max_allowed_packet", "16384")],
        OTHER_CHARSET,
    ],
};
