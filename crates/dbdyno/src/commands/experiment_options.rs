//! The options of every command that runs an experiment: its private servers, and how often the machine is sampled.

use std::{path::PathBuf, time::Duration};

use runs::{Choices, sample_every};

use crate::connection_options::given_address;

#[derive(Debug, clap::Args)]
pub(crate) struct ExperimentOptions {
    /// Server binary for private servers [default: found automatically]
    #[arg(long, value_name = "FILE")]
    pub(crate) mysqld: Option<PathBuf>,
    /// Keep the private servers, and the tables created on existing servers, instead of removing them at the end
    #[arg(long)]
    keep: bool,
    /// Interval at which the machine and the server are sampled, from 100ms to 60s [default: 1s; in runs shorter than
    /// 20s, the machine is sampled more often]
    #[arg(long = "every", alias = "sample-every", value_name = "TIME", value_parser = sample_every)]
    sample_every: Option<Duration>,
}

impl ExperimentOptions {
    /// What a run of an experiment takes from them.
    pub(crate) fn choices(self) -> Choices {
        Choices {
            mysqld: self.mysqld,
            keep: self.keep,
            endpoint: None,
            reach: given_address::endpoint,
            sample_every: self.sample_every,
        }
    }

    /// The first of them that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let all = [
            ("--mysqld", self.mysqld.is_some()),
            ("--keep", self.keep),
            ("--every", self.sample_every.is_some()),
        ];
        let mut given = all.into_iter().filter(|(_, is_given)| *is_given);
        given.next().map(|(option, _)| option)
    }
}
