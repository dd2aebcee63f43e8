//! A run of a plan: the loads of its benchmarks, and the experiment's part of their records.

use std::{path::PathBuf, time::Duration};

use blame::Blamed;
use experiment::{PlannedLoad, PlannedRun};
use load::Outcome;
use protocol::{Compression, Endpoint};
use samples::{Line, RunHeader};

use crate::{
    benchmark::Work,
    control,
    events::Events,
    listener::Context,
    open_files,
    record::{
        load_record::NewRecord,
        recording::{Recording, RunProgress},
        sampling::Cadence,
    },
    run::{
        Measured, Run,
        driven::first_error,
        driver::{Driver, interval_of, loops},
        several_loads::drive_together,
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
    /// What the clients of each of its loads do.
    pub works: Vec<Box<dyn Work>>,
    /// Requested sampling interval of machine and server; `None` for the defaults.
    pub sample_every: Option<Duration>,
    pub context: &'a Context,
}

impl Planned<'_> {
    /// Drives the loads and writes their records to these paths.
    pub(crate) fn record(
        &mut self,
        paths: &[PathBuf],
        progress: RunProgress<'_>,
    ) -> Result<(), Blamed> {
        // Several loads have the same pause, and intervals of the same length.
        let spec = &self.run.loads[0].spec;
        if !spec.pause.is_zero() {
            control::wait(reactor::sleep(spec.pause))?;
        }
        let records = paths.iter().zip(&self.run.loads).zip(&self.works);
        let records = records.map(|((path, load), work)| NewRecord {
            path,
            header: self.header(load, &**work),
            known_before: work.known_before(),
        });
        let dataset = self.stage.dataset.iter().cloned().map(Line::Dataset);
        let run = Run {
            records: records.collect(),
            stage: self.stage,
            cadence: Cadence::new(self.sample_every, interval_of(spec)),
            context: self.context,
            known_before: (self.stage.limit.iter())
                .map(|limit| Line::Limit(limit.recorded()))
                .chain(dataset)
                .collect(),
            events: self.stage.endpoint.as_ref().and_then(|endpoint| {
                let server = self.stage.process.as_ref();
                Events::of(self.run, endpoint, server, &self.context.interrupt)
            }),
            before: &self.run.before,
            after: &self.run.after,
            is_listed: false,
        };
        first_error(run.record(self, progress)?).map_or(Ok(()), Err)
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

    /// A transport with what is done on the way, such as `tcp loopback, compressed, 500µs added to the round trip`.
    fn whole_transport(&self, mut transport: String) -> String {
        let access = self.run.server.access();
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

    fn header(&self, load: &PlannedLoad, work: &dyn Work) -> RunHeader {
        let run = self.run;
        let mut header = self.stage.header(
            self.identity.experiment,
            load.seed,
            &run.combination_of(&load.spec),
            load.spec.connections,
            loops(&load.spec),
        );
        let others = run.loads.iter().filter(|it| it.spec.name != load.spec.name);
        let others = others.filter_map(|it| it.spec.name.clone());
        header.beside = others.collect();
        header.experiment_sha256 = self.identity.sha256.to_owned();
        (header.run, header.block) = (run.run, run.block);
        header.transport = self.whole_transport(header.transport);
        work.identify(&mut header);
        header
    }
}

impl Measured for Planned<'_> {
    fn drive(&mut self, recording: &mut Recording<'_>) -> Vec<Result<Outcome, Blamed>> {
        if let Err(error) = open_files::provide_for(self.run.connections().into()) {
            return vec![Err(error)];
        }
        let clients = self.clients();
        let driver = |load| Driver {
            endpoint: clients.clone(),
            control: self.stage.endpoint.clone(),
            run: self.run,
            load,
            context: self.context,
        };
        let drivers = self.run.loads.iter().map(driver);
        if let [work] = self.works.as_mut_slice() {
            let mut drivers = drivers;
            let driver = drivers.next().expect("each load has its work");
            return vec![work.drive(&driver, &mut recording.of_load(0))];
        }
        let loads = self.works.iter_mut().zip(drivers).collect();
        drive_together(loads, &self.context.interrupt, recording)
    }

    fn follow_up(
        &mut self,
        took_s: f64,
        is_complete: bool,
        recording: &mut Recording<'_>,
    ) -> Result<(), Blamed> {
        let Some(endpoint) = &self.stage.endpoint else {
            return Ok(());
        };
        if let Some(proxy) = &self.stage.proxy {
            // The load was measured, whatever becomes of the proxy's own account.
            match proxy.work() {
                Ok(work) => recording.write(&Line::Proxy(work)),
                Err(error) => self.context.warn(&error.to_string()),
            }
            for complaint in proxy.complaints() {
                self.context.warn(&format!("the proxy says: {complaint}"));
            }
        }
        for (load, work) in self.works.iter().enumerate() {
            let known = work.known_after(endpoint, took_s, self.context);
            let known = known.iter();
            known.for_each(|line| recording.write_of(load, line));
        }
        let mut works = self.works.iter().enumerate().filter(|_| is_complete);
        works.try_for_each(|(load, work)| {
            let mut tell = |line| recording.write_of(load, &line);
            work.check(endpoint, self.context, &mut tell)
        })
    }
}
