-- Tables of the summary; docs/results-database.md explains them. The view `results` is made by database.rs, because
-- its columns depend on the experiment's factors.
CREATE TABLE experiment (
    name            TEXT NOT NULL,
    question        TEXT NOT NULL,
    text            TEXT NOT NULL,
    planned_runs    INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    run                INTEGER PRIMARY KEY,
    planned_run        INTEGER NOT NULL,
    block              INTEGER NOT NULL,
    started_at         TEXT NOT NULL,
    complete           INTEGER NOT NULL CHECK (complete IN (0, 1)),
    incomplete_why     TEXT,
    connections        INTEGER NOT NULL,
    loops              INTEGER NOT NULL,
    transport          TEXT NOT NULL,
    server_version     TEXT,
    dataset_rows       INTEGER,
    dataset_disk_bytes INTEGER,
    buffer_pool_bytes  INTEGER,
    measured_s         REAL NOT NULL,
    count              INTEGER NOT NULL,
    errors             INTEGER NOT NULL,
    throughput_per_s   REAL,
    mean_us            REAL,
    min_us             REAL,
    p50_us             REAL,
    p95_us             REAL,
    p99_us             REAL,
    p999_us            REAL,
    max_us             REAL,
    class              TEXT,
    class_why          TEXT,
    drift_percent      REAL,
    stalled_s          REAL,
    longest_stall_s    REAL,
    longest_gap_s      REAL,
    seed               TEXT NOT NULL,
    experiment_sha256  TEXT NOT NULL,
    dbdyno_version     TEXT NOT NULL,
    thin_percentiles   TEXT
) STRICT;

CREATE TABLE factors (
    run   INTEGER NOT NULL REFERENCES runs (run),
    name  TEXT NOT NULL,
    level TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE costs (
    run           INTEGER NOT NULL REFERENCES runs (run),
    name          TEXT NOT NULL,
    per_operation REAL NOT NULL,
    unit          TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
    run              INTEGER NOT NULL REFERENCES runs (run),
    load             TEXT NOT NULL,
    operation        TEXT NOT NULL,
    count            INTEGER NOT NULL,
    errors           INTEGER NOT NULL,
    throughput_per_s REAL,
    mean_us          REAL,
    min_us           REAL,
    p50_us           REAL,
    p95_us           REAL,
    p99_us           REAL,
    p999_us          REAL,
    max_us           REAL,
    thin_percentiles TEXT,
    PRIMARY KEY (run, load, operation)
) STRICT, WITHOUT ROWID;

CREATE TABLE cpu (
    run            INTEGER PRIMARY KEY REFERENCES runs (run),
    server_percent REAL,
    client_percent REAL,
    rest_percent   REAL NOT NULL,
    iowait_percent REAL NOT NULL,
    steal_percent  REAL NOT NULL,
    idle_percent   REAL NOT NULL,
    user_percent   REAL NOT NULL,
    system_percent REAL NOT NULL,
    proxy_percent  REAL
) STRICT;

CREATE TABLE errors (
    run       INTEGER NOT NULL REFERENCES runs (run),
    load      TEXT NOT NULL,
    operation TEXT NOT NULL,
    number    INTEGER NOT NULL,
    sqlstate  TEXT NOT NULL,
    message   TEXT NOT NULL,
    count     INTEGER NOT NULL,
    retried   INTEGER NOT NULL
) STRICT;

CREATE TABLE events (
    run               INTEGER NOT NULL REFERENCES runs (run),
    number            INTEGER NOT NULL,
    name              TEXT NOT NULL,
    action            TEXT NOT NULL,
    what              TEXT NOT NULL,
    at_s              REAL NOT NULL,
    begin_s           REAL,
    end_s             REAL,
    outcome           TEXT NOT NULL,
    message           TEXT,
    before_per_s      REAL,
    during_per_s      REAL,
    after_per_s       REAL,
    before_p99_us     REAL,
    during_p99_us     REAL,
    after_p99_us      REAL,
    lost_operations   REAL,
    recovered_after_s REAL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE load_stages (
    run              INTEGER NOT NULL REFERENCES runs (run),
    number           INTEGER NOT NULL,
    level            TEXT NOT NULL,
    connections_from INTEGER NOT NULL,
    connections_to   INTEGER NOT NULL,
    rate_from_per_s  REAL,
    rate_to_per_s    REAL,
    rate_reached     INTEGER CHECK (rate_reached IN (0, 1)),
    measured_s       REAL NOT NULL,
    count            INTEGER NOT NULL,
    errors           INTEGER NOT NULL,
    throughput_per_s REAL,
    mean_us          REAL,
    min_us           REAL,
    p50_us           REAL,
    p95_us           REAL,
    p99_us           REAL,
    p999_us          REAL,
    max_us           REAL,
    class            TEXT,
    thin_percentiles TEXT,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
