//! The first lines that sysbench prints before anything else.

use super::options::{Format, Options};

pub(super) fn print_title(options: &Options) {
    if options.report.format == Format::Sysbench {
        let program = format!("dbdyno {}", env!("CARGO_PKG_VERSION"));
        print!("{}", benchmarks::oltp::layout::title(&program));
    }
}
