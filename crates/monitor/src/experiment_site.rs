//! The site of a running experiment: the report of the runs that are complete, what happens now, and metrics of both.
//!
//! Everything is read from the directory of the results, and nothing before a viewer asks. What costs most, the report, is
//! made again only when a run has been completed, and never for more than a small share of the time.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use reactor::{Instant, system_now, thread_cpu_time};
use report::{openmetrics, served_html, served_script};
use results::{record_files, results_so_far};
use settings::Vocabulary;
use top::{BrowserView, Model, Playback, Source, html_before};
use web::{Content, Kind, Site};

use crate::{
    feed::Feed,
    pages::{metrics, panel_page, refreshed},
    record_feed::RecordFeed,
};

/// The report is made again after this time at the earliest,
const REMADE_AFTER: Duration = Duration::from_secs(5);
/// and after this many times the CPU time that it took: 5 % of one CPU. On a saturated machine the text takes far longer,
/// but not more CPU.
const REST_PER_WORK: u32 = 20;
/// The interval that is written on the screen where a server is polled; a record has its own.
const EVERY: Duration = Duration::from_secs(1);

/// What a running experiment shows.
pub struct ExperimentSite {
    directory: PathBuf,
    vocabulary: &'static Vocabulary,
    /// The steps that are in progress, in words.
    steps: Box<dyn Fn() -> Vec<String>>,
    /// The newest record, and what is known from it; `None` before the first one.
    followed: Option<(RecordFeed, Model)>,
    page: CachedText,
    metrics: CachedText,
}

/// Text that is made from all complete runs.
#[derive(Default)]
struct CachedText {
    /// The text, and how often it has been made.
    text: Option<Arc<str>>,
    version: u64,
    /// Which records there were.
    of: Vec<u64>,
    /// When it was made, and the CPU time that this took.
    made: Option<(Instant, Duration)>,
}

impl ExperimentSite {
    /// The experiment whose results are in `directory`; `steps` names the steps that are in progress, the outermost
    /// first.
    pub fn new(
        directory: &Path,
        vocabulary: &'static Vocabulary,
        steps: Box<dyn Fn() -> Vec<String>>,
    ) -> Self {
        Self {
            directory: directory.to_owned(),
            vocabulary,
            steps,
            followed: None,
            page: CachedText::default(),
            metrics: CachedText::default(),
        }
    }

    /// Reads what the run that is in progress has recorded.
    fn follow(&mut self) {
        let followed = match self.followed.take() {
            Some((mut feed, mut model)) => feed.poll(&mut model).ok().map(|_| (feed, model)),
            None => None,
        };
        // There may be no record yet, or it was just set aside.
        self.followed = followed.or_else(|| RecordFeed::open(&self.directory).ok());
    }

    fn now(&mut self, path: &str) -> Option<Content> {
        self.follow();
        let status = (self.steps)();
        let Some((feed, model)) = &self.followed else {
            let is_there = top::panel_at(path).is_some();
            return is_there.then(|| refreshed(html_before("dbdyno", &status)));
        };
        let view = BrowserView {
            playback: &Playback::new(Source::Following, 1.0),
            every: EVERY,
            silence: feed.silent_for(),
            status: &status,
        };
        panel_page(path, model, &view)
    }

    /// Which records there are, and whether the newest one is complete.
    fn records(&mut self) -> Vec<u64> {
        self.follow();
        let files = record_files(&self.directory).unwrap_or_default();
        // A run that is done again has another file of the same name.
        let numbers = files
            .iter()
            .filter_map(|file| Some(fs::metadata(file).ok()?.ino()));
        let ended = self.followed.as_ref().map(|(_, model)| model.has_ended());
        numbers.chain(ended.map(u64::from)).collect()
    }

    fn page(&mut self) -> Option<Arc<str>> {
        let records = self.records();
        let version = self.page.version + 1;
        let (directory, vocabulary) = (&self.directory, self.vocabulary);
        self.page.text(records, || {
            let results = results_so_far(directory, vocabulary).ok()?;
            Some(served_html(&results, &version.to_string()))
        })
    }
}

impl CachedText {
    /// The text, made again where that is due. The last one stays where records cannot be read just now.
    fn text(
        &mut self,
        records: Vec<u64>,
        make: impl FnOnce() -> Option<String>,
    ) -> Option<Arc<str>> {
        let now = system_now();
        // The first text is awaited by a viewer: a failed attempt, before the first record, is repeated at once.
        let at_least = if self.text.is_some() {
            REMADE_AFTER
        } else {
            Duration::ZERO
        };
        let is_due = self.made.is_none_or(|(made, took)| {
            now - made >= at_least.max(took.saturating_mul(REST_PER_WORK))
        });
        if is_due && (self.text.is_none() || records != self.of) {
            let cpu_before = thread_cpu_time();
            if let Some(text) = make() {
                self.text = Some(text.into());
                self.version += 1;
                self.of = records;
            }
            self.made = Some((now, thread_cpu_time().saturating_sub(cpu_before)));
        }
        self.text.clone()
    }
}

impl Site for ExperimentSite {
    fn at(&mut self, path: &str) -> Option<Content> {
        let content = match path {
            "/" => self.page().map(|page| Content::new(Kind::Html, page)),
            "/version" => self
                .page()
                .map(|_| Content::new(Kind::Text, self.page.version.to_string())),
            "/metrics" => {
                let records = self.records();
                let (directory, vocabulary) = (&self.directory, self.vocabulary);
                let finished = self.metrics.text(records, || {
                    let results = results_so_far(directory, vocabulary).ok()?;
                    Some(openmetrics(&results))
                });
                let model = self.followed.as_ref().map(|(_, model)| model);
                finished.map(|finished| metrics(&finished, model))
            }
            path => {
                let script = served_script(path).map(|script| Content::new(Kind::Script, script));
                return script.or_else(|| self.now(path));
            }
        };
        let why = "the results cannot be read just now\n";
        Some(content.unwrap_or_else(|| Content::new(Kind::Unavailable, why)))
    }
}
