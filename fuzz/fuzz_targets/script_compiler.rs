//! Any text is a script of pgbench's language or has a fault with a place.
#![no_main]

use benchmarks::script::Scripts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = Scripts::of_text("any.sql", text) {
        assert!(error.to_string().contains("line "));
    }
});
