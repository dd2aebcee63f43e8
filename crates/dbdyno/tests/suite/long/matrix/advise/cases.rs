//! The staged cases: a schema, a statement that is slow on it, and the remedy.

/// A statement that is slow for one reason.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Options of the server.
    pub(crate) options: &'static [&'static str],
    /// Statements that create the tables, besides those of [`TABLES`].
    pub(crate) schema: &'static [&'static str],
    /// Switches of the optimizer that are off, where the server has them.
    pub(crate) off: &'static [&'static str],
    pub(crate) statement: &'static str,
    /// Texts of which one is in the right remedy.
    pub(crate) remedies: &'static [&'static str],
}

/// The tables of every case: numbers from 0 to 99,999, and a row for each of them.
pub(crate) const TABLES: [&str; 5] = [
    "create table d (n int primary key) engine=InnoDB",
    "insert into d values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    "create table n (id int primary key) engine=InnoDB",
    "insert into n select a.n * 10000 + b.n * 1000 + c.n * 100 + e.n * 10 + f.n from d a, d b, d c, d e, d f",
    "create table t (id int primary key, a int not null, b int not null, c int not null, \
     code varchar(20) character set latin1 not null, d datetime not null, pad varchar(100) character set latin1 not null) \
     engine=InnoDB",
];

/// The rows of the table; it follows the keys of a case.
pub(crate) const ROWS: &str = "insert into t select id, id * 7919 % 10007, id * 31 % 997, id * 17 % 50, id * 13 % 20011, \
     '2020-01-01' + interval id * 7 minute, repeat('p', 80) from n";

const NO_SEMIJOIN: &[&str] = &["semijoin", "materialization"];
const NO_MERGE: &[&str] = &[
    "derived_merge",
    "condition_pushdown_for_derived",
    "derived_condition_pushdown",
];

pub(crate) const CASES: [Case; 20] = [
    case(
        "an index dropped",
        "select count(pad) from t where a = 77",
        &["(`a`)"],
    ),
    case(
        "no index for an equality and a range",
        "select count(pad) from t where c = 7 and a < 20",
        &["(`c`, `a`)"],
    ),
    case(
        "no index for ORDER BY with LIMIT",
        "select id, pad from t order by a, b limit 10",
        &["(`a`, `b`)"],
    ),
    case(
        "no index for a filter and ORDER BY with LIMIT",
        "select id, pad from t where c = 7 order by a desc limit 5",
        &["(`c`, `a`)"],
    ),
    case(
        "no index for GROUP BY with LIMIT",
        "select a, count(*) from t group by a limit 5",
        &["(`a`)"],
    ),
    Case {
        schema: &["create index c on t (c)"],
        ..case(
            "an index that lacks a column",
            "select sum(b) from t where c = 7",
            &["(`c`, `b`)"],
        )
    },
    Case {
        schema: &[
            "create table u (id int primary key, k int not null, pad varchar(100) not null) engine=InnoDB",
            "insert into u select id, id * 7 % 20011, repeat('u', 80) from n where id < 20000",
        ],
        ..case(
            "a join without an index",
            "select count(u.pad) from n join u on u.k = n.id where n.id < 100",
            &["(`k`)"],
        )
    },
    Case {
        schema: &[
            "create table s (id int primary key, g int not null, h int not null, pad varchar(100) not null, \
             key g (g), key h (h)) engine=InnoDB stats_persistent=1 stats_auto_recalc=0",
            "insert into s select id, id % 5, id * 7919 % 50021, repeat('s', 60) from n",
            "analyze table s",
            "update mysql.innodb_index_stats set stat_value = 100000 where table_name = 's' and index_name = 'g' \
             and stat_name = 'n_diff_pfx01'",
            "update mysql.innodb_index_stats set stat_value = 5 where table_name = 's' and index_name = 'h' \
             and stat_name = 'n_diff_pfx01'",
        ],
        off: &["rowid_filter"],
        ..case(
            "stale statistics",
            "select count(s.pad) from n join s on s.g = n.id % 5 and s.h = n.id where n.id < 10",
            &["analyze table"],
        )
    },
    Case {
        schema: &["create index code on t (code)"],
        ..case(
            "an implicit conversion",
            "select count(pad) from t where code = 4711",
            &["code = '4711'"],
        )
    },
    Case {
        schema: &["create index d on t (d)"],
        ..case(
            "a function of an indexed column",
            "select count(pad) from t where date(d) = '2020-03-05'",
            &["INTERVAL 1 DAY"],
        )
    },
    Case {
        options: &["innodb_buffer_pool_size=64M", "sort_buffer_size=32K"],
        ..case(
            "a sort that spills",
            "select pad from t order by b * 7 % 1009, a limit 60000, 5",
            &["sort_buffer_size"],
        )
    },
    Case {
        options: &[
            "innodb_buffer_pool_size=64M",
            "tmp_table_size=256K",
            "max_heap_table_size=256K",
        ],
        ..case(
            "a temporary table too large",
            "select count(*) from (select id * 3 % 50021 as x, count(*) as y from t group by id * 3 % 50021) as z",
            &["tmp_table_size"],
        )
    },
    Case {
        schema: &[
            "create table v (id int primary key, t int not null, k int not null, key t (t), key k (k)) engine=InnoDB",
            "insert into v select id, id * 7919 % 100003, id % 5000 from n",
        ],
        ..case(
            "an order of tables forced by STRAIGHT_JOIN",
            "select straight_join count(t.pad) from t join v on v.t = t.id where v.k = 3",
            &["select  count(t.pad)"],
        )
    },
    Case {
        schema: &["create index a on t (a)", "create index c on t (c)"],
        ..case(
            "an index forced",
            "select count(pad) from t force index (c) where a = 77 and c = 39",
            &["from t  where"],
        )
    },
    Case {
        schema: &[
            "create table k (id int primary key, k int not null, pad varchar(100) not null) engine=InnoDB",
            "insert into k select id, id % 5000, repeat('k', 50) from n where id < 20000",
            "create table o (id int primary key, k int not null, day int not null, amount int not null, \
             pad varchar(100) not null, key k (k), key day (day)) engine=InnoDB",
            "insert into o select id, id % 20000, id * 7919 % 1000, id % 77, repeat('o', 80) from n",
            "analyze table k, o",
        ],
        ..case(
            "a wrong order of tables",
            "select sum(o.amount) from o join k on k.id = o.k where k.k = 5 and o.day between 100 and 149",
            &["STRAIGHT_JOIN", "JOIN_PREFIX"],
        )
    },
    Case {
        schema: &[
            "create table w (id int primary key, k int not null, g int not null) engine=InnoDB",
            "insert into w select id, id * 5 % 997, id % 20 from n where id < 200",
        ],
        off: NO_SEMIJOIN,
        ..case(
            "a subquery of IN for each row",
            "select count(*) from t where t.id < 5000 and t.b in (select k from w where g = 3)",
            &["dbdyno_in"],
        )
    },
    Case {
        schema: &["create index a on t (a)"],
        off: NO_MERGE,
        ..case(
            "a derived table",
            "select count(x.pad) from (select * from t) x where x.a = 77",
            &["from t x where"],
        )
    },
    case(
        "an OR over two columns without indexes",
        "select count(pad) from t where a = 77 or code = '4711'",
        &["; create index"],
    ),
    Case {
        schema: &["create index a on t (a)", "create index code on t (code)"],
        off: &["index_merge"],
        ..case(
            "an OR over two indexes",
            "select count(*) from t where a = 77 or code = '4711'",
            &["UNION ALL"],
        )
    },
    Case {
        options: &["innodb_buffer_pool_size=8M"],
        ..case(
            "a buffer pool too small",
            "select sum(length(pad)) from t",
            &["innodb_buffer_pool_size"],
        )
    },
];

const fn case(
    name: &'static str,
    statement: &'static str,
    remedies: &'static [&'static str],
) -> Case {
    Case {
        name,
        options: &["innodb_buffer_pool_size=64M"],
        schema: &[],
        off: &[],
        statement,
        remedies,
    }
}
