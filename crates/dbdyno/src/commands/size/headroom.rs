//! `dbdyno size --headroom`: how many times the present peak load of a running server fits.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use blame::{Blame, Blamed};
use results::record_files;
use sizing::{HeadroomRequest, LoadCurve, headroom, headroom_csv, headroom_json, headroom_lines};

use super::{
    answer_output::{Format, print_lines},
    load_files::{directory, system},
};

/// Reads the load, and prints the headroom.
pub(super) fn print(
    paths: &[PathBuf],
    request: &HeadroomRequest,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let answer = headroom(server(paths)?, request).map_err(Blamed::from)?;
    match format {
        Format::Text => print_lines(&headroom_lines(&answer), &answer.remarks),
        Format::Json => print!("{}", headroom_json(&answer)),
        Format::Csv => print!("{}", headroom_csv(&answer)),
    }
    Ok(if answer.times.is_some() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Blame::Undecided as u8)
    })
}

/// The load of the server in all of these files and directories.
fn server(paths: &[PathBuf]) -> Result<LoadCurve, Blamed> {
    let curves: Vec<LoadCurve> = paths
        .iter()
        .map(|path| load(path))
        .collect::<Result<_, _>>()?;
    let all = curves.into_iter().reduce(LoadCurve::with);
    Ok(all.expect("the option requires RESULTS"))
}

/// The load in a file, in the run records of a directory, or in all files of a directory without any.
fn load(path: &Path) -> Result<LoadCurve, Blamed> {
    match record_files(path) {
        Ok(records) if path.is_dir() => directory(path, &records),
        _ => system(path),
    }
}
