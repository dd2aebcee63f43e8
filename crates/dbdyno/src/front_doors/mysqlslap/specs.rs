//! The options of mysqlslap and mariadb-slap, and dbdyno's additional ones.

use benchmarks::slap::option_named;
use settings::Absent;

use super::super::my_getopt::{
    ArgumentKind::{self, MaybeValue, Switch, Value},
    ProgramSet::{self, Both, MariaDb, MySql, Ours},
    Spec,
};

const NO_ZSTD: &str = "dbdyno compresses only with zlib";
const NO_CERTIFICATE: &str = "dbdyno does not support client certificates";
const NO_TLS_DETAIL: &str = "dbdyno's TLS chooses versions and ciphers itself (TLS 1.2 and 1.3)";
const NO_REVOCATION: &str = "dbdyno does not read revocation lists";
const NO_CA_DIRECTORY: &str = "dbdyno reads the certificate authorities from one file (--ssl-ca)";
const NO_PLUGIN: &str = "dbdyno does not load plugins; its login methods are built in";
const NO_DEBUG: &str = "exists only in debug builds of the original";
const NO_SECOND_FACTOR: &str = "dbdyno logs in with one factor";
const NO_SESSION: &str = "dbdyno does not resume TLS sessions";

/// The dialect of options and SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    MySql,
    MariaDb,
}

impl Dialect {
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::MySql => "mysqlslap",
            Self::MariaDb => "mariadb-slap",
        }
    }

    /// The groups of option files that it reads.
    pub(super) fn groups(self) -> &'static [&'static str] {
        match self {
            Self::MySql => &["mysqlslap", "client"],
            Self::MariaDb => &[
                "mysqlslap",
                "mariadb-slap",
                "client",
                "client-server",
                "client-mariadb",
            ],
        }
    }
}

/// An option of the table below.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// Described in the table.
    Described(Spec),
    /// Its description and default are those of the workload's option with the same name.
    OfWorkload(Spec),
}

const fn without_help(
    name: &'static str,
    short: Option<char>,
    takes: ArgumentKind,
    of: ProgramSet,
) -> Spec {
    Spec {
        name,
        short,
        takes,
        of,
        help: "",
        default: None,
        refused: None,
    }
}

const fn spec(
    name: &'static str,
    short: Option<char>,
    takes: ArgumentKind,
    of: ProgramSet,
    help: &'static str,
) -> Entry {
    Entry::Described(Spec {
        help,
        ..without_help(name, short, takes, of)
    })
}

const fn long(
    name: &'static str,
    takes: ArgumentKind,
    of: ProgramSet,
    help: &'static str,
) -> Entry {
    spec(name, None, takes, of, help)
}

const fn of_workload(
    name: &'static str,
    short: Option<char>,
    takes: ArgumentKind,
    of: ProgramSet,
) -> Entry {
    Entry::OfWorkload(without_help(name, short, takes, of))
}

const fn refused(
    name: &'static str,
    takes: ArgumentKind,
    of: ProgramSet,
    why: &'static str,
) -> Entry {
    refused_letter(name, None, takes, of, why)
}

const fn refused_letter(
    name: &'static str,
    short: Option<char>,
    takes: ArgumentKind,
    of: ProgramSet,
    why: &'static str,
) -> Entry {
    Entry::Described(Spec {
        refused: Some(why),
        ..without_help(name, short, takes, of)
    })
}

/// All options, in the order of the help text.
#[rustfmt::skip]
const ENTRIES: &[Entry] = &[
    spec("help", Some('?'), Switch, Both, "Print this help"),
    spec("version", Some('V'), Switch, Both, "Print the version"),
    long("dialect", Value("NAME"), Ours, "Program whose options and SQL are used: mysql (mysqlslap) or mariadb \
         (mariadb-slap) [default: by the program's name]"),

    of_workload("auto-generate-sql", Some('a'), Switch, Both),
    of_workload("auto-generate-sql-add-autoincrement", None, Switch, Both),
    of_workload("auto-generate-sql-guid-primary", None, Switch, Both),
    of_workload("auto-generate-sql-secondary-indexes", None, Value("N"), Both),
    of_workload("auto-generate-sql-load-type", None, Value("TYPE"), Both),
    of_workload("auto-generate-sql-write-number", None, Value("N"), Both),
    of_workload("auto-generate-sql-unique-write-number", None, Value("N"), Both),
    of_workload("auto-generate-sql-unique-query-number", None, Value("N"), Both),
    of_workload("auto-generate-sql-execute-number", None, Value("N"), Both),
    of_workload("number-int-cols", Some('y'), Value("N[:INDEXED]"), Both),
    of_workload("number-char-cols", Some('x'), Value("N[:INDEXED]"), Both),

    of_workload("create", None, Value("SQL|FILE"), Both),
    of_workload("query", Some('q'), Value("SQL|FILE"), Both),
    spec("delimiter", Some('F'), Value("TEXT"), Both, "Separator between statements [default: a new line]"),
    long("create-schema", Value("NAME"), Both, "Schema in which the tables are created [default: mysqlslap]"),
    long("no-drop", Switch, Both, "Use the schema if it already exists, and do not drop it after the test"),
    long("yes-drop", Switch, Ours, "Drop a schema that already exists, and create it again; without this option \
         or --no-drop, the test is refused"),
    long("pre-query", Value("SQL|FILE"), Both, "Statements to run before the clients start"),
    long("post-query", Value("SQL|FILE"), Both, "Statements to run after the clients have ended"),
    long("pre-system", Value("COMMAND"), Both, "Shell command to run before the clients start"),
    long("post-system", Value("COMMAND"), Both, "Shell command to run after the clients have ended"),
    long("only-print", Switch, Both, "Print the statements and connect to no server"),

    spec("concurrency", Some('c'), Value("LIST"), Both, "Numbers of clients, such as 1,8,64; each number is a separate test [default: 1]"),
    spec("iterations", Some('i'), Value("N"), Both, "Number of times that each test is run [default: 1]"),
    of_workload("number-of-queries", None, Value("N"), Both),
    long("remainder", Switch, Ours, "Also run the statements that remain when --number-of-queries is divided by the \
         number of clients"),
    long("duration", Value("TIME"), Ours, "Length of the measurement, such as 30s or 5m; a plain number means \
         seconds. If --number-of-queries is also given, the run ends when either limit is reached"),
    long("rate", Value("QUERIES"), Ours, "Start this number of statements per second, for all clients together, at scheduled times \
         (open loop); each response time is measured from the scheduled time"),
    long("arrivals", Value("PROCESS"), Ours, "With --rate: whether the intervals between statements are random (poisson) or constant [default: poisson]"),
    spec("engine", Some('e'), Value("LIST"), Both, "Storage engines of the tables; each test is run with each engine. \
         ENGINE:OPTION also sets a table option"),
    of_workload("commit", None, Value("N"), Both),
    of_workload("detach", None, Value("N"), Both),
    long("on-error", Value("POLICY"), Ours, "What to do after a failed statement: stop the test (stop), count the \
         error and continue (count), or also repeat the statement after a deadlock (retry) [default: stop]"),
    long("seed", Value("N"), Ours, "Random seed for the choice of keys and for the arrival times [default: a new \
         seed for each run]"),
    long("loops", Value("N"), Ours, "Number of event loops (threads that drive the connections)"),

    long("csv", MaybeValue("FILE"), Both, "Report each test as a line of CSV: append the line to FILE or, without a \
         file, write it to standard output"),
    spec("silent", Some('s'), Switch, Both, "Print no report"),
    spec("verbose", Some('v'), Switch, Both, "-vv reports each step; -vvv also prints the statements that run \
         before and after the test"),
    long("label", Value("TEXT"), Ours, "Name of the test in the report and the record"),
    long("percentile", Value("LIST"), Ours, "Print percentiles of the response times, such as 50,95,99.9"),
    long("record", Value("FILE"), Ours, "Write a run record to this file; for several test runs, to FILE-1, FILE-2 ..."),
    long("sample-every", Value("TIME"), Ours, "With --record: interval at which the machine and the server are sampled, from 100ms to 60s"),

    spec("host", Some('h'), Value("NAME"), Both, "Host name or address; localhost means the unix socket"),
    spec("port", Some('P'), Value("N"), Both, "TCP port of the server"),
    spec("socket", Some('S'), Value("PATH"), Both, "Path of the server's unix socket"),
    long("protocol", Value("NAME"), Both, "How to connect: over TCP (tcp) or through the unix socket (socket)"),
    spec("user", Some('u'), Value("NAME"), Both, "Name of the account [default: root for mysqlslap; the system \
         user's name for mariadb-slap]"),
    spec("password", Some('p'), MaybeValue("PASSWORD"), Both, "Password; visible in the process list until dbdyno \
         erases it (--password-file is safer)"),
    long("password1", MaybeValue("PASSWORD"), MySql, "Same as --password"),
    long("password-file", Value("FILE"), Ours, "File whose first line is the password"),
    long("server", Value("NAME"), Ours, "Use this private server, which was created with `dbdyno server create`. It replaces the connection options above"),
    long("init-command", Value("SQL"), MariaDb, "Statement that every connection runs first"),
    long("sql-mode", Value("MODE"), MySql, "Value of sql_mode for every connection"),
    long("ssl", Switch, MariaDb, "On TCP connections, use TLS if the server offers it; --skip-ssl disables TLS"),
    long("ssl-mode", Value("MODE"), MySql, "TLS mode: disabled, preferred, required, verify_ca or \
         verify_identity [default: preferred]"),
    long("ssl-verify-server-cert", Switch, MariaDb, "Check that the server's certificate was issued for the name given with --host"),
    long("ssl-ca", Value("FILE"), Both, "PEM file with the certificate authorities to trust"),
    long("ssl-fips-mode", Value("MODE"), MySql, "FIPS mode; only OFF is accepted"),
    long("default-auth", Value("NAME"), Both, "Login method; must be one that dbdyno supports, but the server \
         chooses the method"),
    long("get-server-public-key", Switch, MySql, "Encrypt the password with the RSA key that the server sends, if a \
         login without TLS needs it"),
    long("server-public-key-path", Value("FILE"), MySql, "Encrypt the password with this RSA key, a copy of the \
         server's public_key.pem"),
    spec("compress", Some('C'), Switch, Both, "Compress every connection if the server supports it"),
    long("compression-algorithms", Value("LIST"), MySql, "Compression algorithms to allow: zlib, uncompressed, or \
         both; the server must support one of them [default: uncompressed]"),
    long("no-login-paths", Switch, MySql, "Accepted without effect: login files are never read"),

    long("print-defaults", Switch, Both, "Print the options from the option files and the command line, and exit"),
    long("no-defaults", Switch, Both, "Read no option file"),
    long("defaults-file", Value("FILE"), Both, "Read only this option file"),
    long("defaults-extra-file", Value("FILE"), Both, "Read this option file after the system's option files and \
         before ~/.my.cnf"),
    long("defaults-group-suffix", Value("TEXT"), Both, "Also read the option groups whose names end in this suffix"),

    refused("zstd-compression-level", Value(""), MySql, NO_ZSTD),
    refused("ssl-cert", Value(""), Both, NO_CERTIFICATE),
    refused("ssl-key", Value(""), Both, NO_CERTIFICATE),
    refused("ssl-capath", Value(""), Both, NO_CA_DIRECTORY),
    refused("ssl-crl", Value(""), Both, NO_REVOCATION),
    refused("ssl-crlpath", Value(""), Both, NO_REVOCATION),
    refused("ssl-cipher", Value(""), Both, NO_TLS_DETAIL),
    refused("tls-version", Value(""), Both, NO_TLS_DETAIL),
    refused("tls-ciphersuites", Value(""), MySql, NO_TLS_DETAIL),
    refused("tls-sni-servername", Value(""), MySql, NO_TLS_DETAIL),
    refused("ssl-session-data", Value(""), MySql, NO_SESSION),
    refused("ssl-session-data-continue-on-failed-reuse", Switch, MySql, NO_SESSION),
    refused("plugin-dir", Value(""), Both, NO_PLUGIN),
    refused("enable-cleartext-plugin", Switch, MySql, "dbdyno never sends a password in clear text"),
    refused("password2", MaybeValue(""), MySql, NO_SECOND_FACTOR),
    refused("password3", MaybeValue(""), MySql, NO_SECOND_FACTOR),
    refused("login-path", Value(""), MySql, "dbdyno does not read login files; --defaults-extra-file accepts a \
         plain option file"),
    refused("character-sets-dir", Value(""), MariaDb, "dbdyno does not read character set files"),
    refused_letter("debug", Some('#'), MaybeValue(""), Both, NO_DEBUG),
    refused("debug-check", Switch, Both, NO_DEBUG),
    refused_letter("debug-info", Some('T'), Switch, Both, NO_DEBUG),
];

/// The options of a dialect, including dbdyno's.
pub(super) fn of(dialect: Dialect) -> Vec<Spec> {
    let specs = ENTRIES.iter().map(|entry| match *entry {
        Entry::Described(spec) => spec,
        Entry::OfWorkload(spec) => with_description(spec),
    });
    let is_known = |spec: &Spec| match spec.of {
        Both | Ours => true,
        MySql => dialect == Dialect::MySql,
        MariaDb => dialect == Dialect::MariaDb,
    };
    specs.filter(is_known).collect()
}

/// The option with the workload's description and default.
fn with_description(spec: Spec) -> Spec {
    let option = option_named(spec.name).expect("the workload has it");
    let default = match option.absent {
        Absent::Default(text) if text != "off" && text != "0" => Some(text),
        _ => None,
    };
    Spec {
        help: option.help,
        default,
        ..spec
    }
}

/// The help text of an option: its forms, then its description.
pub(super) fn help(spec: &Spec) -> String {
    let letter = spec
        .short
        .map_or("    ".to_owned(), |letter| format!("-{letter}, "));
    let value = match spec.takes {
        Switch => String::new(),
        Value(value) => format!("={value}"),
        MaybeValue(value) => format!("[={value}]"),
    };
    format!(
        "  {letter}--{}{value}\n          {}\n",
        spec.name,
        spec.help_text()
    )
}
