//! Embeds uPlot into the crate if `npm ci --prefix crates/report/assets` has fetched it.
//!
//! The code of uPlot comes from its package at build time and is never kept in the repository. Without it the crate
//! still builds, and the page draws each run's time series as static SVG.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    // The directory, not the files: for a missing file cargo would rebuild every time.
    println!("cargo:rerun-if-changed=assets");
    println!("cargo:rerun-if-changed=build.rs");
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("assets/node_modules/uplot");
    let read = |name: &str| fs::read_to_string(package.join(name)).ok();
    let parts = (
        read("dist/uPlot.iife.min.js"),
        read("dist/uPlot.min.css"),
        read("LICENSE"),
    );
    let code = match parts {
        (Some(script), Some(style), Some(licence)) => {
            if script.contains("</script") || style.contains("</style") || licence.contains("*/") {
                return Err("uPlot's files cannot stand inside an HTML page".into());
            }
            format!("Some(Uplot {{ script: {script:?}, style: {style:?}, licence: {licence:?} }})")
        }
        _ => "None".to_owned(),
    };
    let target = PathBuf::from(env::var("OUT_DIR")?).join("uplot.rs");
    fs::write(target, code)?;
    Ok(())
}
