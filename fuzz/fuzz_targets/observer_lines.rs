//! Any bytes as a line of `dbdyno observe`, from either side: a message that is written as it was read, or an error that
//! shows the line, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use observer::{FromClient, FromObserver, read};

fuzz_target!(|line: &[u8]| {
    if let Ok(message) = read::<FromClient>(line) {
        let written = serde_json::to_vec(&message).expect("it was read");
        assert_eq!(read::<FromClient>(&written).expect("it was written"), message);
    }
    match read::<FromObserver>(line) {
        Ok(message) => {
            let written = serde_json::to_vec(&message).expect("it was read");
            assert!(!written.contains(&b'\n'));
            read::<FromObserver>(&written).expect("it was written");
        }
        Err(error) => assert!(!error.to_string().chars().any(|shown| shown == '\u{1b}')),
    }
});
