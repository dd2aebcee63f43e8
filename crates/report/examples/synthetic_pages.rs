//! Writes pages of fabricated results into the given directory, for viewing in a browser.

#[path = "../tests/report/observed.rs"]
mod observed;
#[path = "../tests/report/sliced.rs"]
mod sliced;
#[path = "../tests/report/synthetic.rs"]
mod synthetic;

use std::{env, error::Error, fs, path::PathBuf};

use report::Results;
use samples::Host;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(env::args().nth(1).ok_or("which directory?")?);
    fs::create_dir_all(&directory)?;
    let single = Results {
        runs: synthetic::quickstart(Host::Both).runs[..1].to_vec(),
        planned_runs: 1,
        ..synthetic::quickstart(Host::Both)
    };
    let quickstart = synthetic::quickstart(Host::Both);
    let busy = |record| synthetic::disturbed(synthetic::drained(record), 0.25);
    let disturbed = Results {
        runs: quickstart.runs.iter().cloned().map(busy).collect(),
        ..quickstart
    };
    let mut hundred = synthetic::sizing(60, 100);
    hundred.runs = hundred.runs.into_iter().map(observed::observed).collect();
    hundred.planned_runs = 100;
    let pages = [
        ("asked", synthetic::asked()),
        ("disturbed", disturbed),
        ("hundred", hundred),
        ("quickstart", synthetic::quickstart(Host::Both)),
        ("remote", synthetic::quickstart(Host::Client)),
        ("sizing", synthetic::sizing(30, 140)),
        ("side-by-side", sliced::sliced()),
        ("single", single),
        ("two-hosts", synthetic::two_hosts()),
    ];
    for (name, results) in pages {
        fs::write(
            directory.join(name).with_extension("html"),
            report::html(&results),
        )?;
        fs::write(
            directory.join(name).with_extension("txt"),
            report::table(&results, 100),
        )?;
        report::write_summary(&results, &directory.join(name).with_extension("sqlite"))?;
    }
    Ok(())
}
