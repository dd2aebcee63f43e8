//! The price of an index: its size, and what it adds to single-row writes of its table, measured on copies of a server.
//!
//! Rows of the table itself are written: each is deleted and inserted again, and then gets the values of another row
//! in the columns of the index. Both copies execute the same statements in turn, within one transaction for each block,
//! which is rolled back: what is measured after it meets the same data. The wait for the disk at a commit is the same with
//! the index and without it, and would hide what it costs.
//!
//! Copies without a change differ, too, which no number of blocks shows: by less than the smallest difference that matters,
//! and by more on a busy machine. As in a comparison, an interval therefore covers that difference. An index never makes a
//! write cheaper: where the interval says so, the copies differed by more, and there is no figure.

use blame::{Blame, Blamed};
use runs::{backticked, quoted};
use stats::{Interval, compare_pairs, execution_mean, sectioned_interval};

use crate::{
    other_work::{OtherWork, UNEXPLAINED},
    session::{Failure, Session},
};

/// Rows that are written in each block at most.
const ROWS_AT_MOST: u32 = 100;
/// Blocks that count; one more before them does not.
const BLOCKS: usize = 12;
/// Engines whose changes a rollback takes back.
const TRANSACTIONAL: [&str; 3] = ["InnoDB", "RocksDB", "TokuDB"];
const CONFIDENCE: f64 = 0.95;

/// Indexes that a variant makes on a table, or makes visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewIndexes {
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) names: Vec<String>,
    pub(crate) columns: Vec<String>,
    /// The statements that take them back.
    pub(crate) undone_by: Vec<String>,
    /// Names of those that are made; the others are there, and are only made visible.
    pub(crate) made: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexPrice {
    /// Size of those that are made, bytes; `None` without one, and if the server does not say.
    pub(crate) bytes: Option<f64>,
    /// Single-row writes, or why they were not measured.
    pub(crate) writes: Result<WritePrice, String>,
}

/// What they add to single-row writes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WritePrice {
    pub(crate) insert: WriteTimes,
    /// An update of their columns; `None` if none of them can be updated.
    pub(crate) update: Option<WriteTimes>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WriteTimes {
    /// Geometric mean over the blocks without the indexes and with them, seconds.
    pub(crate) means_s: [f64; 2],
    /// With divided by without, with the difference of copies without a change; `None` if that was larger than the effect
    /// of the indexes, or the times of the blocks shifted.
    pub(crate) ratio: Option<Interval>,
}

/// Why a price has no number.
enum Stop {
    /// The table or the server does not allow it; the advice continues.
    Reason(String),
    Error(Blamed),
}

/// Measures the price; the first side has no such indexes, and the second one has. Both must be copies: their data
/// changes. On a quiet machine they differ by less than `margin` without the indexes; `others` observes the machine.
pub(super) async fn price(
    sides: [&mut Session; 2],
    indexes: &NewIndexes,
    margin: f64,
    others: &mut OtherWork,
) -> Result<IndexPrice, Blamed> {
    let [without, with] = sides;
    let bytes = match size_question(indexes) {
        None => None,
        Some(question) => match texts(with, &question).await {
            Ok(texts) => texts.first().and_then(|it| it.parse().ok()),
            // MySQL 5.5 has no such table.
            Err(Stop::Reason(_)) => None,
            Err(Stop::Error(error)) => return Err(error),
        },
    };
    let writes = match write_price([without, with], indexes, margin, others).await {
        Ok(writes) => Ok(writes),
        Err(Stop::Reason(why)) => Err(why),
        Err(Stop::Error(error)) => return Err(error),
    };
    Ok(IndexPrice { bytes, writes })
}

/// The question for the size of the indexes that are made, in bytes. `None` if all are only made visible: they take their
/// room already.
fn size_question(indexes: &NewIndexes) -> Option<String> {
    let names: Vec<String> = indexes.made.iter().map(|it| quoted(it)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "SELECT SUM(stat_value) * @@innodb_page_size FROM mysql.innodb_index_stats \
             WHERE stat_name = 'size' AND index_name IN ({}) AND database_name = {} AND table_name = {}",
            names.join(", "),
            quoted(&indexes.schema),
            quoted(&indexes.table)
        )
    })
}

async fn write_price(
    mut sides: [&mut Session; 2],
    indexes: &NewIndexes,
    margin: f64,
    others: &mut OtherWork,
) -> Result<WritePrice, Stop> {
    let sample = Sample::of(sides[0], indexes).await?;
    for session in &mut sides {
        for sql in sample.preparation() {
            done(session, &sql).await?;
        }
    }
    let rows = number(sides[0], &format!("SELECT COUNT(*) FROM {}", sample.name())).await?;
    if rows < 2 {
        return Err(Stop::Reason("the table has fewer than 2 rows".to_owned()));
    }
    // What it returns afterwards is of the blocks only.
    others.notable_share();
    let (mut inserts_s, mut updates_s) = (Vec::new(), Vec::new());
    for block in 0..=BLOCKS {
        let mut sums_s = [[0.0; 2]; 2];
        for session in &mut sides {
            done(session, "START TRANSACTION").await?;
        }
        for row in 1..=rows {
            // Each side is the first one in turn.
            let order = if (row as usize + block).is_multiple_of(2) {
                [0, 1]
            } else {
                [1, 0]
            };
            for side in order {
                let session = &mut *sides[side];
                done(session, &sample.delete(row)).await?;
                sums_s[0][side] += timed(session, &sample.insert(row)).await?;
                if let Some(update) = sample.update(row, row % rows + 1) {
                    sums_s[1][side] += timed(session, &update).await?;
                }
            }
        }
        for session in &mut sides {
            done(session, "ROLLBACK").await?;
        }
        if block > 0 {
            let [insert_s, update_s] = sums_s;
            inserts_s.push((insert_s[0], insert_s[1]));
            updates_s.push((update_s[0], update_s[1]));
        }
    }
    let copies_differ_by = match others.notable_share() {
        Some(_) => UNEXPLAINED.max(margin),
        None => margin,
    };
    for session in &mut sides {
        done(session, &sample.removal()).await?;
    }
    let times = |blocks_s: &[(f64, f64)]| WriteTimes::of(blocks_s, rows, copies_differ_by);
    Ok(WritePrice {
        insert: times(&inserts_s)
            .ok_or_else(|| Stop::Reason("the measured time is zero".to_owned()))?,
        update: times(&updates_s),
    })
}

impl WriteTimes {
    /// The times of one write by those of blocks, each of this number of writes without the indexes and with them; `None`
    /// if one is zero. The ratio is that of the two means.
    fn of(blocks_s: &[(f64, f64)], writes: u32, copies_differ_by: f64) -> Option<Self> {
        let estimate = compare_pairs(blocks_s, CONFIDENCE)?.ratio.estimate;
        let mean_s = |of: fn(&(f64, f64)) -> f64| {
            let times_s: Vec<f64> = blocks_s.iter().map(of).collect();
            Some(execution_mean(&times_s, CONFIDENCE)?.mean / f64::from(writes))
        };
        Some(Self {
            means_s: [mean_s(|it| it.0)?, mean_s(|it| it.1)?],
            ratio: ratio_of(blocks_s, estimate, copies_differ_by),
        })
    }
}

/// The ratio of the times of blocks with its interval, in which blocks that are like those before them count for less.
/// `None` if the interval is below 1, or the blocks shifted so much that it has no bounds.
fn ratio_of(blocks_s: &[(f64, f64)], estimate: f64, copies_differ_by: f64) -> Option<Interval> {
    let logs = blocks_s.iter().map(|(without, with)| (with / without).ln());
    let logs: Vec<f64> = logs.collect();
    let of_blocks = sectioned_interval(estimate.ln(), &logs, CONFIDENCE)?;
    let difference = 1.0 + copies_differ_by;
    let ratio = Interval {
        estimate,
        low: of_blocks.low.exp() / difference,
        high: of_blocks.high.exp() * difference,
    };
    (ratio.high >= 1.0).then_some(ratio)
}

/// Rows of a table that are written, kept in a table beside it.
struct Sample<'a> {
    indexes: &'a NewIndexes,
    /// Columns of the primary key.
    key: Vec<String>,
    /// Columns that have values of their own.
    stored: Vec<String>,
}

impl<'a> Sample<'a> {
    async fn of(session: &mut Session, indexes: &'a NewIndexes) -> Result<Self, Stop> {
        let filter = format!(
            "table_schema = {} AND table_name = {}",
            quoted(&indexes.schema),
            quoted(&indexes.table)
        );
        let key = format!(
            "SELECT column_name FROM information_schema.statistics WHERE {filter} \
             AND index_name = 'PRIMARY' ORDER BY seq_in_index"
        );
        let stored = format!(
            "SELECT column_name FROM information_schema.columns WHERE {filter} AND extra NOT LIKE '%VIRTUAL%' \
             AND extra NOT LIKE '%STORED%' AND extra NOT LIKE '%PERSISTENT%' ORDER BY ordinal_position"
        );
        let engine = format!("SELECT engine FROM information_schema.tables WHERE {filter}");
        let engine = texts(session, &engine).await?.pop().unwrap_or_default();
        if !TRANSACTIONAL
            .iter()
            .any(|it| it.eq_ignore_ascii_case(&engine))
        {
            let why = format!("engine {engine} cannot roll back the writes");
            return Err(Stop::Reason(why));
        }
        let key = texts(session, &key).await?;
        if key.is_empty() {
            return Err(Stop::Reason("the table has no primary key".to_owned()));
        }
        let stored = texts(session, &stored).await?;
        Ok(Self {
            indexes,
            key,
            stored,
        })
    }

    fn name(&self) -> String {
        format!("{}.dbdyno_written_rows", backticked(&self.indexes.schema))
    }

    fn removal(&self) -> String {
        format!("DROP TABLE IF EXISTS {}", self.name())
    }

    fn table(&self) -> String {
        format!(
            "{}.{}",
            backticked(&self.indexes.schema),
            backticked(&self.indexes.table)
        )
    }

    /// The stored columns as a list.
    fn list(&self) -> String {
        let names: Vec<String> = self.stored.iter().map(|it| backticked(it)).collect();
        names.join(", ")
    }

    /// What a session needs before the first block. References of other tables are not followed, and rows keep their
    /// numbers. The rows are chosen by a checksum of their key: an order by RAND() depends on the index that the server
    /// reads, so that each copy would write other rows.
    fn preparation(&self) -> [String; 4] {
        let key: Vec<String> = self.key.iter().map(|it| backticked(it)).collect();
        let sums: Vec<String> = key.iter().map(|it| format!("CRC32({it})")).collect();
        [
            "SET foreign_key_checks = 0".to_owned(),
            "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'".to_owned(),
            // The copies are used for every index.
            self.removal(),
            format!(
                "CREATE TABLE {} (dbdyno_number INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB \
                 SELECT {} FROM {} ORDER BY {}, {} LIMIT {ROWS_AT_MOST}",
                self.name(),
                self.list(),
                self.table(),
                sums.join(" + "),
                key.join(", ")
            ),
        ]
    }

    /// The condition that a row of the table is that of the sample.
    fn is_same(&self) -> String {
        let same = self.key.iter().map(|column| {
            let column = backticked(column);
            format!("dbdyno_t.{column} = dbdyno_own.{column}")
        });
        same.collect::<Vec<_>>().join(" AND ")
    }

    fn delete(&self, row: u32) -> String {
        format!(
            "DELETE dbdyno_t FROM {} AS dbdyno_t JOIN {} AS dbdyno_own ON {} WHERE dbdyno_own.dbdyno_number = {row}",
            self.table(),
            self.name(),
            self.is_same()
        )
    }

    fn insert(&self, row: u32) -> String {
        format!(
            "INSERT INTO {} ({}) SELECT {} FROM {} WHERE dbdyno_number = {row}",
            self.table(),
            self.list(),
            self.list(),
            self.name()
        )
    }

    /// The update of a row by the values of another one; `None` if no column of the indexes can be updated. A value
    /// that must be unique stays.
    fn update(&self, row: u32, other: u32) -> Option<String> {
        let own = self.indexes.columns.iter();
        let columns = own.filter(|it| self.stored.contains(it) && !self.key.contains(it));
        let values = columns.map(|column| {
            let column = backticked(column);
            format!("dbdyno_t.{column} = dbdyno_other.{column}")
        });
        let values: Vec<String> = values.collect();
        (!values.is_empty()).then(|| {
            format!(
                "UPDATE IGNORE {} AS dbdyno_t JOIN {} AS dbdyno_own ON {} JOIN {} AS dbdyno_other SET {} \
                 WHERE dbdyno_own.dbdyno_number = {row} AND dbdyno_other.dbdyno_number = {other}",
                self.table(),
                self.name(),
                self.is_same(),
                self.name(),
                values.join(", ")
            )
        })
    }
}

impl Stop {
    fn of(session: &Session, failure: Failure) -> Self {
        match failure {
            Failure::Of(error) if error.is_connection_lost() || error.server_error().is_none() => {
                Self::Error(error.blamed(&session.endpoint().address))
            }
            Failure::Of(error) => Self::Reason(error.to_string()),
            Failure::TimedOut { after, .. } => {
                Self::Reason(format!("no result within {}", units::elapsed(after)))
            }
            Failure::Interrupted { .. } => {
                Self::Error(Blamed::new(Blame::Interrupted, "interrupted"))
            }
        }
    }
}

async fn done(session: &mut Session, sql: &str) -> Result<(), Stop> {
    let done = session.count(sql.as_bytes()).await;
    done.map(|_| ())
        .map_err(|failure| Stop::of(session, failure))
}

/// The time of a statement, seconds.
async fn timed(session: &mut Session, sql: &str) -> Result<f64, Stop> {
    let started = reactor::now();
    done(session, sql).await?;
    Ok((reactor::now() - started).as_secs_f64())
}

/// The first column of the rows of a statement.
async fn texts(session: &mut Session, sql: &str) -> Result<Vec<String>, Stop> {
    let sets = session.rows(sql).await;
    let sets = sets.map_err(|failure| Stop::of(session, failure))?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    let texts =
        rows.filter_map(|row| Some(String::from_utf8_lossy(row.first()?.as_deref()?).into_owned()));
    Ok(texts.collect())
}

async fn number(session: &mut Session, sql: &str) -> Result<u32, Stop> {
    let texts = texts(session, sql).await?;
    let number = texts.first().and_then(|it| it.parse().ok());
    number.ok_or_else(|| Stop::Reason("the server counts no rows".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indexes `i` and `old`, of which these are made.
    fn indexes(made: &[&str]) -> NewIndexes {
        NewIndexes {
            schema: "s".to_owned(),
            table: "t".to_owned(),
            names: vec!["i".to_owned(), "old".to_owned()],
            columns: vec!["id".to_owned(), "a".to_owned(), "made".to_owned()],
            undone_by: Vec::new(),
            made: made.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn the_size_is_that_of_the_indexes_that_are_made() {
        let question = size_question(&indexes(&["i"])).unwrap();
        assert!(question.contains("index_name IN ('i') AND"), "{question}");
        assert_eq!(size_question(&indexes(&[])), None);
    }

    #[test]
    fn the_change_is_that_of_the_times_that_are_shown() {
        // The arithmetic means are 1.6 and 1.5, and the change of them would have the other sign.
        let blocks_s = [(1.0, 1.4), (2.2, 1.6)].repeat(6);
        let times = WriteTimes::of(&blocks_s, 10, 0.05).unwrap();
        let [before, after] = times.means_s;
        let ratio = times.ratio.unwrap();
        assert!((ratio.estimate - after / before).abs() < 1e-9);
        assert!(before < after && after < 0.2, "{times:?}");
        assert_eq!(WriteTimes::of(&[(0.0, 1.0), (1.0, 1.0)], 10, 0.05), None);
    }

    /// The ratio of 12 blocks with these ratios, give or take 1 %.
    fn ratio_by(of_block: fn(usize) -> f64, copies_differ_by: f64) -> Option<Interval> {
        let blocks_s = (0..12_usize).map(|block| {
            let noise = if block.is_multiple_of(2) { 1.01 } else { 0.99 };
            (1.0, of_block(block) * noise)
        });
        let blocks_s: Vec<(f64, f64)> = blocks_s.collect();
        WriteTimes::of(&blocks_s, 10, copies_differ_by)?.ratio
    }

    #[test]
    fn an_interval_covers_what_copies_differ_by_without_the_index() {
        let quiet = ratio_by(|_| 1.2, 0.05).unwrap();
        assert!(quiet.low < 1.2 / 1.05 && quiet.high > 1.2 * 1.05);
        assert!(quiet.low > 1.1 && quiet.high < 1.3, "{quiet:?}");
        let busy = ratio_by(|_| 1.2, 0.5).unwrap();
        assert!(busy.low < 0.8 && busy.high > 1.8, "{busy:?}");
        assert_eq!(busy.estimate, quiet.estimate);
    }

    #[test]
    fn an_index_that_makes_writes_cheaper_was_not_measurable() {
        let within = ratio_by(|_| 0.98, 0.05).unwrap();
        assert!(within.low < 1.0 && within.high > 1.0, "{within:?}");
        assert_eq!(ratio_by(|_| 0.63, 0.05), None);
    }

    #[test]
    fn blocks_that_shift_in_the_middle_have_no_interval() {
        let shifting = |block: usize| if block < 6 { 1.1 } else { 1.9 };
        assert_eq!(ratio_by(shifting, 0.05), None);
    }

    #[test]
    fn rows_are_written_by_their_key_and_only_stored_columns_are() {
        let indexes = indexes(&["i", "old"]);
        let sample = Sample {
            indexes: &indexes,
            key: vec!["id".to_owned()],
            stored: vec!["id".to_owned(), "a".to_owned()],
        };
        assert_eq!(
            sample.insert(3),
            "INSERT INTO `s`.`t` (`id`, `a`) SELECT `id`, `a` FROM `s`.dbdyno_written_rows WHERE dbdyno_number = 3"
        );
        let update = sample.update(1, 2).unwrap();
        assert!(
            update.contains(" SET dbdyno_t.`a` = dbdyno_other.`a` WHERE "),
            "{update}"
        );
        let key = Sample {
            key: vec!["id".to_owned(), "a".to_owned()],
            ..sample
        };
        let order = "ORDER BY CRC32(`id`) + CRC32(`a`), `id`, `a` LIMIT 100";
        assert!(key.preparation()[3].ends_with(order));
        assert_eq!(key.update(1, 2), None);
    }
}
