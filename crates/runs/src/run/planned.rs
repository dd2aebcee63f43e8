//! A run of a plan: the load of its benchmark, and the experiment's part of its record.

use std::{path::Path, time::Duration};

use experiment::PlannedRun;
use load::{Observer, Outcome};
use protocol::{Compression, Endpoint};
use samples::{Line, RunHeader};

use crate::{
    benchmarks::benchmark::Work,
    blame::Blamed,
    control,
    events::Events,
    listener::Context,
    open_files,
    record::{recording::RunProgress, sampling::Cadence},
    run::{
        Measured, Run,
        driver::{Driver, interval, loops},
    },
    stage::Stage,
};

/// Properties of the experiment that one run needs.
pub(crate) struct Identity<'a> {
    pub experiment: &'a str,
    pub sha256: &'a str,
}

/// A run of a plan, on its stage.
pub(crate) struct Planned<'a> {
    pub identity: Identity<'a>,
    pub run: &'a PlannedRun,
    pub stage: &'a Stage,
    pub work: Box<dyn Work>,
    /// Requested sampling interval of machine and server; `None` for the defaults.
    pub sample_every: Option<Duration>,
    pub context: &'a Context,
}

impl Planned<'_> {
    /// Drives the load and writes the record.
    pub(crate) fn record(&mut self, path: &Path, progress: RunProgress<'_>) -> Result<(), Blamed> {
        if !self.run.load.pause.is_zero() {
            control::wait(reactor::sleep(self.run.load.pause))?;
        }
        let dataset = self.stage.dataset.iter().cloned().map(Line::Dataset);
        let run = Run {
            path,
            header: self.header(),
            stage: self.stage,
            cadence: Cadence::new(self.sample_every, interval(&self.run.load)),
            context: self.context,
            known_before: (self.stage.limit.iter())
                .map(|limit| Line::Limit(limit.recorded()))
                .chain(dataset)
                .chain(self.work.known_before())
                .collect(),
            events: (self.stage.endpoint.as_ref())
                .and_then(|it| Events::of(self.run, it, self.stage.process.as_ref())),
            before: &self.run.before,
            after: &self.run.after,
            is_listed: false,
        };
        run.record(self, progress)?.ended.map(drop)
    }

    /// The endpoint of the clients; control connections use the shorter access.
    fn clients(&self) -> Option<Endpoint> {
        let access = self.run.server.access();
        let server = self.stage.endpoint.as_ref()?;
        let mut endpoint = match &self.stage.proxy {
            Some(proxy) => proxy.endpoint(server),
            None => server.clone(),
        };
        if access.compress {
            // Compression is the subject of the run: without it, the run would measure something else.
            endpoint.compression = Compression::Required;
        }
        endpoint.round_trip = access.round_trip;
        Some(endpoint)
    }

    /// The endpoint in words, such as `tcp loopback, compressed, 500µs added to the round trip`.
    fn transport(&self) -> String {
        let access = self.run.server.access();
        let mut transport = self.stage.transport().to_owned();
        if access.compress {
            transport.push_str(", compressed");
        }
        if let Some(proxy) = &self.stage.proxy {
            transport.push_str(&format!(", through {}", proxy.in_words()));
        }
        if !access.round_trip.is_zero() {
            transport.push_str(&format!(
                ", {:?} added to the round trip",
                access.round_trip
            ));
        }
        transport
    }

    fn header(&self) -> RunHeader {
        let load = &self.run.load;
        let run = self.run;
        let mut header = self.stage.header(
            self.identity.experiment,
            run.seed,
            &run.combination,
            load.connections,
            loops(load),
        );
        header.experiment_sha256 = self.identity.sha256.to_owned();
        (header.run, header.block) = (run.run, run.block);
        header.transport = self.transport();
        self.work.identify(&mut header);
        header
    }
}

impl Measured for Planned<'_> {
    fn drive(&mut self, observer: &mut dyn Observer) -> Result<Outcome, Blamed> {
        open_files::provide_for(self.run.load.connections.into())?;
        let driver = Driver {
            endpoint: self.clients(),
            stage: self.stage,
            run: self.run,
            context: self.context,
        };
        self.work.drive(&driver, observer)
    }

    fn follow_up(
        &mut self,
        took_s: f64,
        is_complete: bool,
        tell: &mut dyn FnMut(Line),
    ) -> Result<(), Blamed> {
        let Some(endpoint) = &self.stage.endpoint else {
            return Ok(());
        };
        if let Some(proxy) = &self.stage.proxy {
            // The load was measured, whatever becomes of the proxy's own account.
            match proxy.work() {
                Ok(work) => tell(Line::Proxy(work)),
                Err(error) => self.context.warn(&error.to_string()),
            }
            for complaint in proxy.complaints() {
                self.context.warn(&format!("the proxy says: {complaint}"));
            }
        }
        let known = self.work.known_after(endpoint, took_s, self.context);
        known.into_iter().for_each(&mut *tell);
        if is_complete {
            self.work.check(endpoint, self.context, tell)
        } else {
            Ok(())
        }
    }
}
