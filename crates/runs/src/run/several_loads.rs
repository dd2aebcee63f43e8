//! The loads of one run, which share its server and its recording.

use blame::Blamed;
use load::Outcome;
use reactor::Interrupt;

use crate::{
    benchmark::Work,
    record::recording::Recording,
    run::{
        driver::Driver,
        load_threads::{CommonTimes, Report, drive_on_threads},
    },
};

/// Drives the loads of a run at the same time; returns what became of each.
pub(super) fn drive_together(
    loads: Vec<(&mut dyn Work, Driver<'_>)>,
    interrupt: &Interrupt,
    recording: &mut Recording<'_>,
) -> Vec<Result<Outcome, Blamed>> {
    let times = CommonTimes::of(loads.len());
    drive_on_threads(
        loads,
        interrupt,
        &times,
        &mut |load: usize, report: Report| {
            report.pass_to(&mut recording.of_load(load));
        },
    )
}
