//! Any bytes as a .smack file: a script or an error that points into the text, never a panic.

#![no_main]

use benchmarks::smack::{Error, Script};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    match Script::parse("fuzz.smack", text) {
        Ok(script) => assert!(script.programs.len() <= script.clients.len()),
        Err(Error::Script(fault)) => {
            let lines = 1 + text.iter().filter(|&&byte| byte == b'\n').count();
            assert!((1..=lines).contains(&fault.line));
            assert!(fault.column >= fault.caret && fault.caret >= 1);
        }
        Err(other) => panic!("a file is parsed without reading others: {other}"),
    }
});
