//! Parsers for the values of mysqlslap's options.

use std::{path::PathBuf, str::FromStr, time::Duration};

use benchmarks::slap::{
    COLUMNS_MAX, Columns, Engine, Generator, LoadType, PrimaryKey, STATEMENTS_BYTES_MAX, Script,
    Statement, default_of,
};
use blame::Blamed;
use load::{Arrivals, OnError, Process};
use runs::sample_every;
use settings::quantity;
use sqltext::refuse_foreign_text;

use crate::front_doors::my_getopt::{Arguments, Options, number};

/// Maximum retries of one statement with `--on-error=retry`.
const RETRIES: u32 = 100;
/// Maximum number of clients of a test.
const CLIENTS_AT_MOST: u32 = 100_000;

/// Number of statements that the clients run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Each runs its list once.
    Once,
    /// Each runs this number.
    Each(u64),
    /// All together run this number.
    Together(u64),
}

/// Parses single values.
pub(super) struct Reader<'a> {
    pub(super) options: &'a Options<'a>,
    pub(super) arguments: &'a Arguments,
}

impl Reader<'_> {
    pub(super) fn wrong(&self, name: &str, what: &str) -> Blamed {
        self.options.error(&format!("option '--{name}' {what}"))
    }

    /// A number with a unit.
    pub(super) fn whole(&self, name: &str) -> Result<Option<u64>, Blamed> {
        match self.arguments.text(name) {
            None => Ok(None),
            Some(text) => number(text)
                .map(Some)
                .ok_or_else(|| self.wrong(name, &format!("is not a number: '{text}'"))),
        }
    }

    /// The number, or its default; an option that has none is 0.
    pub(super) fn count(&self, name: &str) -> Result<u64, Blamed> {
        let default = || default_of(name).parse().unwrap_or(0);
        Ok(self.whole(name)?.unwrap_or_else(default))
    }

    pub(super) fn generator(&self) -> Result<Generator, Blamed> {
        let arguments = self.arguments;
        if arguments.text("create").is_some() || arguments.text("query").is_some() {
            let message =
                "Can't use --auto-generate-sql when create and query strings are specified!";
            return Err(self.options.refusal(message));
        }
        let counts = arguments.is_on("auto-generate-sql-add-autoincrement");
        let primary_key = match (counts, arguments.is_on("auto-generate-sql-guid-primary")) {
            (true, true) => {
                let message = "Either auto-generate-sql-guid-primary or auto-generate-sql-add-autoincrement can be \
                               used!";
                return Err(self.options.refusal(message));
            }
            (true, false) => Some(PrimaryKey::AutoIncrement),
            (false, true) => Some(PrimaryKey::Guid),
            (false, false) => None,
        };
        let load_type = arguments.text("auto-generate-sql-load-type");
        let load_type =
            LoadType::of(load_type.unwrap_or(default_of("auto-generate-sql-load-type")));
        if load_type == LoadType::Key && primary_key.is_none() {
            let message = "Can't perform key test without a primary key!";
            return Err(self.options.refusal(message));
        }
        let generator = Generator {
            load_type,
            primary_key,
            secondary_indexes: self.small_number("auto-generate-sql-secondary-indexes")?,
            int_columns: self.columns("number-int-cols")?,
            char_columns: self.columns("number-char-cols")?,
            unique_writes: self.count("auto-generate-sql-unique-write-number")?,
            unique_queries: self.count("auto-generate-sql-unique-query-number")?,
        };
        let fits = generator.fits_in_memory();
        fits.map_err(|error| self.options.error(&error.to_string()))?;
        Ok(generator)
    }

    pub(super) fn small_number(&self, name: &str) -> Result<u32, Blamed> {
        match u32::try_from(self.count(name)?) {
            Ok(count) if count <= COLUMNS_MAX => Ok(count),
            _ => Err(self.wrong(name, &format!("is more than {COLUMNS_MAX}"))),
        }
    }

    /// Parses `3` or, with indexes, `3:1`.
    pub(super) fn columns(&self, name: &str) -> Result<Columns, Blamed> {
        let text = self.arguments.text(name).unwrap_or(default_of(name));
        Columns::of(text).ok_or_else(|| {
            let what = format!("is not a number of columns, or is too large: '{text}'");
            self.wrong(name, &what)
        })
    }

    /// The SQL of the value, or of the file with this name if it exists.
    pub(super) fn script(
        &self,
        name: &str,
        delimiter: &str,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Statement>, Blamed> {
        let Some(text) = self.arguments.text(name) else {
            return Ok(Vec::new());
        };
        let path = PathBuf::from(text);
        let script = if path.is_file() {
            let text = files::read_handed_over(&path, STATEMENTS_BYTES_MAX).map_err(|error| {
                self.wrong(
                    name,
                    &format!("cannot be read: {}: {error}", path.display()),
                )
            })?;
            refuse_foreign_text(&path, &text)
                .map_err(|what| self.wrong(name, &format!("{}: {what}", path.display())))?;
            Script::parse(&text, delimiter.as_bytes())
        } else {
            if is_like_a_path(text) {
                warnings.push(format!(
                    "--{name}: there is no file {text}; the value is used as SQL, as in mysqlslap"
                ));
            }
            Script::parse(text.as_bytes(), delimiter.as_bytes())
        };
        if script.empty > 0 {
            warnings.push(format!(
                "--{name}: {} empty statements left out; mysqlslap stops reading at the first one",
                script.empty
            ));
        }
        if script.statements.is_empty() {
            return Err(self.wrong(name, "has no statement"));
        }
        Ok(script.statements)
    }

    /// For statements that are not made up, the number for each client wins, as in the originals.
    pub(super) fn limit(&self, is_made_up: bool) -> Result<Limit, Blamed> {
        let each = self.count("auto-generate-sql-execute-number")?;
        match (each, self.count("number-of-queries")?) {
            (0, 0) => Ok(Limit::Once),
            (0, together) => Ok(Limit::Together(together)),
            (1.., 1..) if is_made_up => {
                let message =
                    "Either auto-generate-sql-execute-number or number-of-queries can be used!";
                Err(self.options.refusal(message))
            }
            (each, _) => Ok(Limit::Each(each)),
        }
    }

    pub(super) fn concurrency(&self) -> Result<Vec<u32>, Blamed> {
        let text = self.arguments.text("concurrency").unwrap_or("1");
        let clients = |word: &str| match number(word.trim()) {
            Some(clients) if (1..=u64::from(CLIENTS_AT_MOST)).contains(&clients) => {
                Ok(clients as u32)
            }
            _ => Err(self.wrong(
                "concurrency",
                &format!(
                    "has '{word}', which is not a number of clients from 1 to {CLIENTS_AT_MOST}"
                ),
            )),
        };
        text.split(',').map(clients).collect()
    }

    pub(super) fn engines(&self) -> Result<Vec<Engine>, Blamed> {
        let Some(text) = self.arguments.text("engine") else {
            return Ok(Vec::new());
        };
        let engine = |word: &str| {
            let what = || self.wrong("engine", &format!("has an empty name: '{text}'"));
            Engine::of(word).ok_or_else(what)
        };
        text.split(',').map(engine).collect()
    }

    pub(super) fn duration(&self, name: &str) -> Result<Option<Duration>, Blamed> {
        let Some(text) = self.arguments.text(name) else {
            return Ok(None);
        };
        let parsed = quantity::seconds(text).filter(|time| !time.is_zero());
        parsed.map(Some).ok_or_else(|| {
            let takes = "must be seconds or a time, such as 30s, 500ms, 5m";
            self.wrong(name, &format!("{takes}; {}", quantity::DURATION_LIMIT))
        })
    }

    pub(super) fn sample_every(&self) -> Result<Option<Duration>, Blamed> {
        let Some(text) = self.arguments.text("sample-every") else {
            return Ok(None);
        };
        if self.arguments.text("record").is_none() {
            return Err(self.wrong("sample-every", "has no effect without --record"));
        }
        sample_every(text)
            .map(Some)
            .map_err(|why| self.wrong("sample-every", &why))
    }

    pub(super) fn arrivals(&self) -> Result<Arrivals, Blamed> {
        let process = self.arguments.text("arrivals");
        let Some(text) = self.arguments.text("rate") else {
            return match process {
                None => Ok(Arrivals::Closed),
                Some(_) => Err(self.wrong("arrivals", "has no effect without --rate")),
            };
        };
        let rate_per_s = quantity::rate(text).ok_or_else(|| {
            self.wrong(
                "rate",
                "must be a number of statements per second up to 1000000",
            )
        })?;
        let process = match process.unwrap_or("poisson") {
            "poisson" => Process::Poisson,
            "constant" => Process::Constant,
            _ => return Err(self.wrong("arrivals", "must be poisson or constant")),
        };
        Ok(Arrivals::Open {
            rate_per_s,
            process,
        })
    }

    pub(super) fn on_error(&self) -> Result<OnError, Blamed> {
        match self.arguments.text("on-error").unwrap_or("stop") {
            "stop" => Ok(OnError::Stop),
            "count" => Ok(OnError::Count),
            "retry" => Ok(OnError::Retry { at_most: RETRIES }),
            _ => Err(self.wrong("on-error", "must be stop, count or retry")),
        }
    }

    pub(super) fn loops(&self) -> Result<Option<u32>, Blamed> {
        match self.whole("loops")? {
            None => Ok(None),
            Some(loops @ 1..=1024) => Ok(Some(loops as u32)),
            Some(_) => Err(self.wrong("loops", "must be from 1 to 1024")),
        }
    }

    pub(super) fn percentiles(&self) -> Result<Vec<f64>, Blamed> {
        let Some(text) = self.arguments.text("percentile") else {
            return Ok(Vec::new());
        };
        let percentile = |word: &str| match f64::from_str(word.trim()) {
            Ok(percentile) if (0.0..=100.0).contains(&percentile) => Ok(percentile),
            _ => Err(self.wrong(
                "percentile",
                "must be numbers from 0 to 100, such as 50,95,99.9",
            )),
        };
        text.split(',').map(percentile).collect()
    }
}

/// Whether a text is meant for a file's path: one word, with a directory or the ending of SQL.
fn is_like_a_path(text: &str) -> bool {
    let text = text.trim();
    !text.contains(char::is_whitespace) && (text.contains('/') || text.ends_with(".sql"))
}
