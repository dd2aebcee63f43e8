//! The errors at a position of the experiment file.

use std::path::PathBuf;

use crate::{
    keys::table_with,
    nearest::{nearest, synonym_of},
};

/// An error at a position of the experiment file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// Two tables `[load]`, or one beside `[[load]]`.
    #[error("[load] already exists")]
    LoadTwice,
    #[error("the file has {bytes} bytes; an experiment has at most {at_most}")]
    FileTooLong { bytes: usize, at_most: usize },
    #[error("unknown key `{key}` in {table}")]
    UnknownKey {
        key: String,
        table: String,
        known: Vec<&'static str>,
    },
    #[error("{table} has no `{key}`")]
    MissingKey {
        key: String,
        table: String,
        example: &'static str,
    },
    #[error("`{key}` is {found}; expected {expected}")]
    WrongType {
        key: String,
        found: String,
        expected: String,
    },
    /// The value is not valid.
    #[error("`{key}` is {written}; expected {expected}")]
    BadValue {
        key: String,
        written: String,
        expected: String,
    },
    /// The same for a value that contains a factor's level.
    #[error("`{key}` = {written} becomes {value:?}; expected {expected}")]
    BadFilledValue {
        key: String,
        written: String,
        value: String,
        expected: String,
    },
    #[error("the experiment has format {found}; this program reads format 1")]
    Format { found: String },
    /// Repeats until decided, but no comparison to decide.
    #[error("there is nothing to decide: the file has no [verdict]")]
    NothingToDecide,
    /// A budget although the number of repeats is given.
    #[error("`{key}` applies only to repeats = \"until decided\"")]
    BudgetWithoutDecision { key: &'static str },
    /// A brace that is not part of a placeholder.
    #[error("`{text}` is neither a placeholder nor plain text")]
    BrokenPlaceholder { text: String },
    /// A placeholder or a condition for a factor that the matrix does not have.
    #[error("there is no factor `{name}`")]
    UnknownFactor { name: String, factors: Vec<String> },
    /// A factor that no value uses.
    #[error("factor `{name}` is not used: every level would measure the same")]
    UnusedFactor { name: String },
    /// A factor's name that cannot be used in a placeholder.
    #[error("`{name}` cannot be a factor's name")]
    FactorName { name: String },
    #[error("factor `{name}` has no levels")]
    NoLevels { name: String },
    #[error("factor `{factor}` has the level {level:?} twice")]
    LevelTwice { factor: String, level: String },
    /// Factors that belong together, with different numbers of levels.
    #[error(
        "zip pairs `{leader}`, which has {leader_levels} levels, with `{name}`, which has {levels}"
    )]
    UnevenZip {
        leader: String,
        leader_levels: usize,
        name: String,
        levels: usize,
    },
    /// A factor in two pairs.
    #[error("zip has `{name}` twice")]
    ZipTwice { name: String },
    #[error("zip pairs at least two factors")]
    ShortZip,
    /// A condition on a factor that follows another one.
    #[error("`{name}` is paired with `{leader}`, which represents both")]
    Follower { name: String, leader: String },
    /// A condition on a level that the factor does not have.
    #[error("factor `{factor}` has no level {level:?}")]
    UnknownLevel {
        factor: String,
        level: String,
        levels: Vec<String>,
    },
    #[error("this [[exclude]] names no factor")]
    EmptyExclude,
    #[error("this [[exclude]] matches none of the remaining combinations")]
    ExcludesNothing,
    #[error("the [[exclude]] tables leave no combination to run")]
    EmptyPlan,
    #[error("the plan has {runs} runs; at most {at_most} can be planned")]
    TooManyRuns { runs: String, at_most: u32 },
    /// A key for the other kind of server.
    #[error("`{key}` is for {needs}, but [server] has {found}")]
    OtherServer {
        key: &'static str,
        needs: &'static str,
        found: &'static str,
    },
    /// Two keys that exclude each other.
    #[error("`{key}` has no effect with {other}")]
    NoMeaning { key: &'static str, other: String },
    /// Statements that change data which the next run would find changed.
    #[error(
        "`change` needs data that is restored, and a private server that is restarted, before every run"
    )]
    ChangeNeedsFreshData,
    /// A setting that does not survive the restart behind it.
    #[error("the restart after `change` resets the settings of {statement}")]
    LostByRestart { statement: String },
    /// A restore or a cold cache without the restart that it needs.
    #[error("{what} needs {needs}")]
    NeedsRestart {
        what: &'static str,
        needs: &'static str,
    },
    /// A load without the data that it needs.
    #[error("{missing}")]
    NeedsData {
        missing: &'static str,
        hint: &'static str,
    },
    /// A metric of one load although other loads run.
    #[error("only [load] {loads} measures `{metric}`")]
    OwnMetric { metric: String, loads: String },
    /// The elapsed time of loads that the file ends.
    #[error("the file sets how long its loads take, so there is no elapsed time to compare")]
    ElapsedAsSet,
    /// Settings or data that differ although the server keeps running.
    #[error(
        "the server's version, settings or data differ between combinations, but restart is {restart:?}"
    )]
    SettingsNeedRestart { restart: &'static str },
    #[error("{what} {} cannot be read: {cause}", path.display())]
    NoFile {
        what: &'static str,
        path: PathBuf,
        cause: String,
    },
    /// Values that are not compatible.
    #[error("{problem}")]
    Conflict { problem: String, hint: &'static str },
    /// A factor that no part of the chart shows.
    #[error("the chart leaves factor `{name}` out: points of different levels would be mixed")]
    ChartLeavesOut { name: String },
    #[error("the chart has `{name}` twice")]
    ChartTwice { name: String },
    /// Two lines of the answer that a reader could not tell apart.
    #[error("two [[answer]] tables have the name {name:?}")]
    AnswerTwice { name: String },
    /// A line of the answer without anything to answer it.
    #[error("no combination has all of these levels")]
    AnswersNothing,
    #[error("the baseline has several levels of factor `{factor}`")]
    SeveralBaselines { factor: String },
    #[error("the baseline names no factor")]
    EmptyBaseline,
    #[error("the baseline's factors have no other levels to compare")]
    NothingBesideBaseline,
    /// The buffer pool is not set, so that the ratio cannot be kept.
    #[error(
        "--scale cannot keep the ratio of the data to a buffer pool that the file does not set"
    )]
    ScaleNeedsBufferPool,
}

impl Problem {
    /// What the user can do; `None` if there is nothing.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownKey { key, known, .. } => {
                let near = synonym_of(key, known).or_else(|| nearest(key, known));
                match (near, table_with(key)) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, Some(table)) => format!("`{key}` belongs in {table}"),
                    (None, None) => format!("known are {}", list(known)),
                }
            }
            Self::MissingKey { example, .. } => format!("for example: {example}"),
            Self::LoadTwice => {
                "several loads at the same time are [[load]] tables, each with a name".to_owned()
            }
            Self::ElapsedAsSet => {
                "compare \"throughput\" or \"p99\"; \"elapsed\" is for loads that end by themselves: a number of statements, a load of tables".to_owned()
            }
            Self::NothingToDecide => {
                "name the baseline of the comparison, such as [verdict] baseline = { fs = \"ext4\" }".to_owned()
            }
            Self::BudgetWithoutDecision { .. } => {
                "drop it, or give repeats = \"until decided\"".to_owned()
            }
            Self::BrokenPlaceholder { .. } => {
                "`{name}` is replaced with a factor's level; write `{{` and `}}` for plain braces".to_owned()
            }
            Self::UnknownFactor { factors, .. } if factors.is_empty() => {
                "factors are defined in [matrix], each with a list of levels".to_owned()
            }
            Self::UnknownFactor { name, factors } => match nearest(name, factors) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the factors are {}", list(factors)),
            },
            Self::Follower { leader, .. } => format!("name `{leader}` with its level"),
            Self::UnevenZip { .. } => {
                "each level of one belongs to the level of the other at the same position".to_owned()
            }
            Self::ShortZip => "for example: zip = [\"version\", \"cnf\"]".to_owned(),
            Self::UnusedFactor { name } if name == "zip" => {
                "zip = [...] belongs above [matrix], at the top of the file".to_owned()
            }
            Self::UnusedFactor { name } => {
                format!("write {{{name}}} where the level belongs, or remove the factor from [matrix]")
            }
            Self::FactorName { .. } => {
                "letters, digits, `_` and `-`, beginning with a letter".to_owned()
            }
            Self::NoLevels { .. } => "give at least one level, or remove the factor".to_owned(),
            Self::UnknownLevel { levels, .. } => format!("its levels are {}", list(levels)),
            Self::EmptyExclude => {
                "name at least one factor with a level, or remove the table".to_owned()
            }
            Self::ExcludesNothing => {
                "all conditions of one [[exclude]] must hold together; write another [[exclude]] for \"or\"".to_owned()
            }
            Self::TooManyRuns { .. } => {
                "use fewer levels or fewer repeats, or exclude unneeded combinations with [[exclude]]".to_owned()
            }
            Self::OtherServer { key: "set", .. } => {
                "to compare values on an existing server, write on_this_server = true: they are set by SET GLOBAL in \
                 turn"
                    .to_owned()
            }
            Self::OtherServer { .. } => {
                "`run` starts a private server, `address` names an existing one".to_owned()
            }
            Self::ChangeNeedsFreshData => {
                "write [server] restart = \"per-run\" and [data] restore = \"per-run\"; on other servers, `before` executes \
                 statements"
                    .to_owned()
            }
            Self::LostByRestart { .. } => {
                "name it under set in [server], or in `before`".to_owned()
            }
            Self::NeedsRestart { needs, .. } => format!("set [server] {needs}"),
            Self::SettingsNeedRestart { .. } => "set [server] restart = \"per-run\"".to_owned(),
            Self::NoFile { .. } => {
                "a relative path starts at the directory of the experiment file".to_owned()
            }
            Self::ChartLeavesOut { name } => {
                format!("add \"{name}\" to facet")
            }
            Self::AnswersNothing => {
                "all conditions of `where` must hold together, and [[exclude]] may have removed all such \
                 combinations".to_owned()
            }
            Self::SeveralBaselines { .. } => {
                "name one level; the others are compared with it".to_owned()
            }
            Self::EmptyBaseline => {
                "name at least one factor with the level to compare with".to_owned()
            }
            Self::NothingBesideBaseline => {
                "name a factor with more than one level, or remove the baseline".to_owned()
            }
            Self::NeedsData { hint, .. } | Self::Conflict { hint, .. } => (*hint).to_owned(),
            Self::ScaleNeedsBufferPool => {
                "set innodb_buffer_pool_size in [server] set".to_owned()
            }
            Self::WrongType { expected, .. } if expected.starts_with("a list") => {
                "a list is written [\"one\", \"two\"]".to_owned()
            }
            _ => return None,
        };
        Some(hint)
    }
}

fn list(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    quoted.join(", ")
}
