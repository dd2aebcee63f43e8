//! New private servers with data that the user gives as statements.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use experiment::{OF_COMPARED_VERSIONS, compared_versions_in_words};
use protocol::Endpoint;
use runs::{Context, Event, Length, Purpose, backticked, buffer_pools::BufferPools, named_server};
use server::{Installation, Lifetime, Server, Settings};
use sqltext::{SqlStatement, statements_of_file};

use super::{Copies, Copy, FEWER, signals_end, sweep};
use crate::{
    compare::{side::of_variant, variant::Variant},
    connection::Connection,
    session::Session,
    statistics::analyze_all,
};

/// The statements that make the schema and the data.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) path: PathBuf,
    statements: Vec<SqlStatement>,
}

impl Setup {
    pub(crate) fn read(path: &Path) -> Result<Self, Blamed> {
        let statements = statements_of_file(path);
        let statements = statements.map_err(|error| Blamed::new(Blame::Input, error))?;
        if statements.is_empty() {
            let message = format!("{}: it contains no statement", path.display());
            return Err(Blamed::new(Blame::Input, message));
        }
        Ok(Self {
            path: path.to_owned(),
            statements,
        })
    }

    /// Executes them in a session of its own, in the database of the command line, which is created.
    async fn execute(
        &self,
        endpoint: &Endpoint,
        connection: &dyn Connection,
    ) -> Result<(), Blamed> {
        let limit = connection.statement_timeout();
        let limit = limit.unwrap_or(Purpose::Work.limit());
        let mut session = Session::open(endpoint, limit).await?;
        let mut statements = Vec::new();
        if let Some(database) = connection.database() {
            let name = backticked(database);
            for text in [
                format!("CREATE DATABASE IF NOT EXISTS {name}"),
                format!("USE {name}"),
            ] {
                statements.push(SqlStatement::of_line("--database", 1, text.into_bytes()));
            }
        }
        for statement in statements.iter().chain(&self.statements) {
            let executed = session.count(statement.text()).await;
            executed.map_err(|failure| failure.blamed_of_work(endpoint, statement))?;
        }
        analyze_all(&mut session, endpoint).await?;
        session.close().await;
        Ok(())
    }
}

impl Copies {
    /// Makes, starts and fills a new server for each of these variants, by its version and its options.
    pub(in crate::compare) fn with_setup(
        variants: &[&Variant],
        setup: &Setup,
        connection: &dyn Connection,
        context: &Context,
    ) -> Result<Self, Blamed> {
        sweep(context)?;
        // Before the first one is made.
        let found = variants
            .iter()
            .map(|variant| Installation::find(variant.run.as_deref(), None));
        let installations = found.collect::<Result<Vec<_>, _>>()?;
        let mut servers = Self::default();
        let mut pools = BufferPools {
            servers: units::counted(variants.len(), "server"),
            bytes: Vec::new(),
            beside: None,
            fewer: FEWER,
            option_place: "in the files of --cnf",
        };
        let versions: BTreeSet<_> = variants.iter().map(|variant| &variant.run).collect();
        let defaults = if versions.len() > 1 {
            context.notify(Event::Note(&compared_versions_in_words()));
            OF_COMPARED_VERSIONS
        } else {
            &[]
        };
        for (at, (variant, installation)) in variants.iter().zip(&installations).enumerate() {
            signals_end()?;
            let name = format!("compare-{}-{}", std::process::id(), at + 1);
            let _step = context.step(
                &format!("creating a server for {}", variant.name),
                Length::Unknown,
            );
            let settings = Settings {
                defaults,
                ..variant.server_settings()
            };
            let made = Server::create(&named_server::path(&name)?, installation, &settings);
            let made = made.map_err(|error| of_variant(variant, error.into()))?;
            pools
                .bytes
                .push(made.buffer_pool_bytes(&Settings::default())?);
            servers.0.push(Copy {
                name,
                server: Some(made),
                is_linked: false,
                failure: None,
            });
        }
        pools.lacking(false)?;
        for (copy, variant) in servers.0.iter_mut().zip(variants) {
            signals_end()?;
            let Some(server) = &mut copy.server else {
                continue;
            };
            let started = {
                let _step = context.step(
                    &format!("starting the server for {}", variant.name),
                    Length::Unknown,
                );
                server.start(Lifetime::Owned)
            };
            started.map_err(|error| of_variant(variant, error.into()))?;
            let what = format!("loading {} for {}", setup.path.display(), variant.name);
            let _step = context.step(&what, Length::Unknown);
            let endpoint = server.endpoint();
            let executed = reactor::block_on(setup.execute(&endpoint, connection));
            let executed = executed.map_err(Blamed::machine)?;
            executed.map_err(|error| of_variant(variant, error))?;
        }
        Ok(servers)
    }
}
