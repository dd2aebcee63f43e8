//! The checks of an experiment side by side: what cannot be measured so is an error that says why, and what to do.

use settings::Conflict;
use units::counted;

use crate::{
    error::Error,
    file::{overrides::Overrides, problem::Problem, section::Section},
    plan::{Cell, in_words},
    spec::{
        data::{DataSpec, Restore},
        design::Slicing,
        load::{self, ReadLoad},
        repeats::Repeats,
        server::ServerSpec,
    },
};

const CANNOT: &str = "cannot be used with design = \"side by side\"";
const CLASSICAL: &str = "remove it, or write design = \"classical\"";

/// Keys that cannot be used, each with its table and the reason.
const REFUSED: [(&str, &str, &str); 7] = [
    (
        "server",
        "observe",
        "an observer takes its samples at an interval, and not when a slice begins and ends",
    ),
    (
        "server",
        "datadir",
        "the servers run at the same time, and a disk is compared only while no other server uses it",
    ),
    (
        "server",
        "limit",
        "the servers run at the same time, and dbdyno limits one server at a time",
    ),
    (
        "load",
        "stages",
        "the measurement consists of slices, and all slices of a combination need the same load",
    ),
    (
        "load",
        "rate",
        "operations would also arrive between the slices",
    ),
    (
        "load",
        "find",
        "it searches for a rate, and operations would also arrive between the slices",
    ),
    (
        "load",
        "precision",
        "all combinations of a session are measured for the same time",
    ),
];

/// An error for what the file has and what cannot be used, whatever the combination.
pub(super) fn check_file(top: &Section<'_>) -> Result<(), Error> {
    if load::are_several(top) {
        let problem = format!(
            "[[load]] {CANNOT}: each combination has one load, and one load at a time has operations"
        );
        let hint = "write a single [load], or design = \"classical\"";
        return Err(top.error_at("load", Problem::Conflict { problem, hint }));
    }
    if let Some(event) = top.sections("event", "[[event]]")?.first() {
        let why = "it happens once, and the measurement consists of slices";
        return Err(event.error(refused("[[event]]", why)));
    }
    let proxy = top.section("proxy", "[proxy]")?;
    if proxy.is_there() {
        let why = "the servers run at the same time, and dbdyno starts one proxy at a time";
        return Err(proxy.error(refused("[proxy]", why)));
    }
    let disturbed = top.section("disturbed", "[disturbed]")?;
    if disturbed.is_there() {
        let why =
            "no session is repeated, because other work affects all combinations of a session";
        return Err(disturbed.error(refused("[disturbed]", why)));
    }
    for (table, key, why) in REFUSED {
        let section = top.section(table, format!("[{table}]"))?;
        if section.value(key).is_some() {
            return Err(section.error_at(key, refused(&format!("`{key}`"), why)));
        }
    }
    let order = top.string("order")?;
    match order.filter(|order| ["grouped", "file"].contains(&order.value.as_str())) {
        None => Ok(()),
        Some(order) => {
            let what = format!("order = {:?}", order.value);
            Err(order.error(refused(&what, "the order of the slices is always random")))
        }
    }
}

fn refused(what: &str, why: &str) -> Problem {
    Problem::Conflict {
        problem: format!("{what} {CANNOT}: {why}"),
        hint: CLASSICAL,
    }
}

/// An error unless this number of combinations can be measured side by side.
pub(super) fn check_count(
    top: &Section<'_>,
    overrides: &Overrides,
    combinations: usize,
) -> Result<(), Error> {
    let most = Slicing::COMBINATIONS_AT_MOST;
    let (problem, hint) = match combinations {
        0 | 1 if !overrides.only.is_empty() => {
            return Err(Error::Override {
                option: "only",
                value: overrides.only_in_words(),
                expected: "at least two combinations, which design = \"side by side\" compares"
                    .to_owned(),
            });
        }
        0 | 1 => (
            "design = \"side by side\" compares combinations, and the experiment has only one"
                .to_owned(),
            "list the levels to compare in [matrix], or write design = \"classical\"",
        ),
        _ if combinations <= most => return Ok(()),
        _ => (
            format!(
                "the experiment has {combinations} combinations, and design = \"side by side\" measures at most {most}"
            ),
            "use fewer levels, leave combinations out with [[exclude]] or --only, or write design = \"classical\"",
        ),
    };
    let place = if top.value("matrix").is_some() {
        "matrix"
    } else {
        "design"
    };
    Err(top.error_at(place, Problem::Conflict { problem, hint }))
}

/// An error for a load that cannot be divided into slices, or not into enough of them.
pub(super) fn check_load(
    load: &ReadLoad<'_>,
    slicing: Slicing,
    overrides: &Overrides,
) -> Result<(), Error> {
    let ReadLoad { section, spec } = load;
    let name = spec.source.name();
    let why = if !spec.source.kind.needs_server() {
        Some("it needs no server, and each combination is measured on a server of its own")
    } else if spec.ends_by_itself() {
        Some("it ends by itself, so its work cannot be divided into slices")
    } else {
        None
    };
    if let Some(why) = why {
        let problem = format!("the load `{name}` {CANNOT}: {why}");
        let hint = "use another load, or write design = \"classical\"";
        return Err(section.error_at(name, Problem::Conflict { problem, hint }));
    }
    let fault = spec.source.kind.fault_with_slices(&spec.source.values);
    if let Some(Conflict { problem, hint, .. }) = fault {
        let problem = format!("the load `{name}` {CANNOT}: {problem}");
        return Err(section.error_at(name, Problem::Conflict { problem, hint }));
    }
    let (shortest, slice) = (slicing.shortest(), slicing.slice);
    if spec.duration >= shortest {
        return Ok(());
    }
    let (batches, slices) = (Slicing::BATCHES_AT_LEAST, Slicing::BATCH);
    let needed = format!("{shortest:?}: {batches} batches of {slices} slices of {slice:?}");
    if let Some(duration) = &overrides.duration {
        return Err(Error::Override {
            option: "duration",
            value: duration.clone(),
            expected: format!("at least {needed}, which design = \"side by side\" needs"),
        });
    }
    let problem = format!(
        "`duration` is {:?}, and design = \"side by side\" needs at least {needed}",
        spec.duration
    );
    let hint = "use a longer `duration` or a shorter `slice`";
    Err(section.error_at("duration", Problem::Conflict { problem, hint }))
}

/// An error unless the combinations are measured for the same time, and not in too many batches.
pub(super) fn check_durations(
    top: &Section<'_>,
    slicing: Slicing,
    cells: &[Cell],
    repeats: Repeats,
) -> Result<(), Error> {
    let mut durations = cells.iter().map(|cell| cell.data_load().duration);
    let Some(first) = durations.next() else {
        return Ok(());
    };
    let load = top.section("load", "[load]")?;
    if durations.any(|other| other != first) {
        let problem = "`duration` differs between combinations, and design = \"side by side\" measures all of them \
                       for the same time"
            .to_owned();
        let hint = "write one `duration` for all combinations, or design = \"classical\"";
        return Err(load.error_at("duration", Problem::Conflict { problem, hint }));
    }
    let (sessions, batches) = (repeats.blocks(), slicing.batches_at_most(first));
    let all = u64::from(sessions) * u64::from(batches);
    let most = repeats.executions_at_most();
    if all <= u64::from(most) {
        return Ok(());
    }
    let sessions = counted(sessions as usize, "session");
    let problem = format!(
        "the plan has {all} batches of each combination ({sessions} of {batches}); at most {most} can be compared"
    );
    let hint = "use a longer `slice`, a shorter `duration` or fewer sessions";
    Err(load.error_at("duration", Problem::Conflict { problem, hint }))
}

/// An error for variables that are set before each turn, where no load takes turns.
pub(super) fn refuse_on_this_server(top: &Section<'_>) -> Result<(), Error> {
    let server = top.section("server", "[server]")?;
    if server.value("on_this_server").is_none() {
        return Ok(());
    }
    let problem = "`on_this_server` applies only to design = \"side by side\"".to_owned();
    let hint = "write design = \"side by side\", or remove it";
    Err(server.error_at("on_this_server", Problem::Conflict { problem, hint }))
}

/// An error for a pause until a server is quiet, where the variables of one server are set before each turn: no server waits
/// for its turn meanwhile.
pub(super) fn refuse_quiet_here(top: &Section<'_>) -> Result<(), Error> {
    let server = top.section("server", "[server]")?;
    let is_set_here = server.flag("on_this_server")?.unwrap_or(false);
    if !is_set_here || !top.flag("quiet")?.unwrap_or(false) {
        return Ok(());
    }
    let problem =
        "`quiet` cannot be used with `on_this_server`: all turns are on one server".to_owned();
    let hint = "remove `quiet`";
    Err(top.error_at("quiet", Problem::Conflict { problem, hint }))
}

/// An error where combinations share a given server and differ in more than their loads and the variables that are set
/// before each turn, or not at all; and where variables are set on several servers.
pub(super) fn check_servers(top: &Section<'_>, cells: &[Cell]) -> Result<(), Error> {
    check_only_server(top, cells)?;
    for (at, cell) in cells.iter().enumerate() {
        let ServerSpec::Given { address, .. } = &cell.server else {
            continue;
        };
        for other in cells[..at].iter().filter(|it| is_at(address, it)) {
            let (why, hint) = match difference_beside_load(other, cell) {
                Some(table) => (
                    format!("may differ only in their loads, but {table} differs"),
                    "name a server of its own for each, or write design = \"classical\"",
                ),
                None if other.server == cell.server && other.loads == cell.loads => (
                    "have the same load".to_owned(),
                    "name another server for one of them",
                ),
                None => continue,
            };
            let [one, two] = [other, cell].map(|it| in_words(&it.combination));
            let problem = format!("{one} and {two} share the server {address} and {why}");
            let server = top.section("server", "[server]")?;
            return Err(server.error_at("address", Problem::Conflict { problem, hint }));
        }
    }
    Ok(())
}

/// An error where variables are set before each turn, and not all combinations are measured on the same server.
fn check_only_server(top: &Section<'_>, cells: &[Cell]) -> Result<(), Error> {
    let mut addresses = cells.iter().filter_map(|cell| match &cell.server {
        ServerSpec::Given { address, set, .. } if !set.is_empty() => Some(address),
        _ => None,
    });
    match addresses.next() {
        Some(first) if addresses.any(|other| other != first) => {}
        _ => return Ok(()),
    }
    let problem =
        "`on_this_server` compares values on one server, but `address` differs between combinations"
            .to_owned();
    let hint = "name one server in `address`";
    let server = top.section("server", "[server]")?;
    Err(server.error_at("on_this_server", Problem::Conflict { problem, hint }))
}

/// True if a combination is measured on the given server at this address.
fn is_at(address: &str, cell: &Cell) -> bool {
    matches!(&cell.server, ServerSpec::Given { address: own, .. } if own == address)
}

/// The first table in which two combinations on one given server differ, apart from that of their loads and from their
/// clients' access.
fn difference_beside_load(one: &Cell, two: &Cell) -> Option<&'static str> {
    if !one.server.starts_like(&two.server) {
        Some("[server]")
    } else if one.data != two.data {
        Some("[data]")
    } else if one.before != two.before || one.after != two.after {
        Some("[each]")
    } else {
        None
    }
}

/// Restores the data of a given server at most once for all runs of a session: combinations that share the server also
/// share its data.
pub(super) fn restore_once(server: &ServerSpec, data: &mut DataSpec) {
    if matches!(server, ServerSpec::Given { .. }) && data.restore == Restore::PerRun {
        data.restore = Restore::PerBlock;
    }
}

/// An error where combinations would be left out of a session.
pub(super) fn refuse_leave_decided(verdict: &Section<'_>) -> Error {
    let why = "all combinations are measured until the session ends";
    verdict.error_at("leave_decided", refused("`leave_decided`", why))
}
