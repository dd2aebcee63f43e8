//! What client and observer say to each other: one JSON object per line.
//!
//! ```json
//! {"message":"hello","protocol":1,"version":"0.1.0","nonce":"mCJ6UOCMiHdVbmYRUZo5sQ=="}
//! {"message":"ping","t1_ns":81723019283}
//! {"message":"sample","begin_ns":912837192873,"telemetry":{"t_s":0.0,"length_s":1.0,"host":"server"}}
//! ```

use std::path::PathBuf;

use samples::{Changed, Collected, Machine, Storage, Telemetry};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::wire::WireError;

/// The version of what is said; both sides must have the same.
pub const PROTOCOL: u32 = 1;

/// What a client says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromClient {
    /// The first line.
    Hello(Hello),
    /// That it knows the secret, base64.
    Proof {
        /// See [`crate::Secret`].
        proof: String,
    },
    /// Asks for the time there.
    Ping {
        /// The client's monotonic clock when it sent this.
        t1_ns: u64,
    },
    /// What to watch; answered by `watching`.
    Watch(Watch),
    /// Samples from now on.
    Start {
        /// Time from sample to sample, 100 ms to 60 s.
        every_ns: u64,
    },
    /// No more samples; answered by `stopped`.
    Stop,
}

/// What an observer says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromObserver {
    /// Answers the client's.
    Hello(Hello),
    /// That it knows the secret as well, base64.
    Proof {
        /// See [`crate::Secret`].
        proof: String,
    },
    /// The client may go on.
    Welcome {
        /// What tells this start of this kernel from every other.
        boot_id: Option<String>,
    },
    /// It may not, or what it said was no sense; the connection ends.
    Refused {
        /// In words.
        why: String,
    },
    /// Answers a ping.
    Pong {
        /// As in the ping.
        t1_ns: u64,
        /// The observer's monotonic clock when the ping came.
        t2_ns: u64,
        /// The same clock when this went.
        t3_ns: u64,
        /// The observer's time of day when this went, since 1970.
        wall_ns: u64,
    },
    /// What is watched.
    Watching(Box<Watching>),
    /// What was used in one interval.
    Sample {
        /// Begin of the interval on the observer's monotonic clock.
        begin_ns: u64,
        /// The sample; its own `t_s` counts from nothing that the client knows.
        telemetry: Box<Telemetry>,
    },
    /// What is to be said at the end.
    Stopped {
        /// What is otherwise than at the start.
        changed: Vec<Changed>,
        /// What sampling cost.
        collected: Collected,
    },
    /// The observer ends, in words.
    Bye {
        /// Why.
        why: String,
    },
}

/// Who speaks. A field that is not known here belongs to another version, which is to be told, not tripped over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of the speaker.
    pub protocol: u32,
    /// Version of its dbdyno.
    #[serde(default)]
    pub version: String,
    /// Random bytes for the other one's proof, base64; none over pipes, where ssh has let the client in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
}

/// What to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The file into which the server writes its process id.
    pub pid_file: Option<PathBuf>,
    /// The TCP port on which it listens.
    pub port: Option<u16>,
    /// Its data directory.
    pub datadir: Option<PathBuf>,
    /// What it holds, and where, of each directory that it writes to.
    pub directories: Vec<(String, PathBuf)>,
}

/// What is watched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Watching {
    /// The machine, with what cannot be observed.
    pub machine: Machine,
    /// What stands behind the server's directories.
    pub storage: Storage,
    /// By what the server's process was found, as `port 3306`; `None` where it was not.
    pub server_process: Option<String>,
}

/// Reads one line, without its end.
pub fn read<M: DeserializeOwned>(line: &[u8]) -> Result<M, WireError> {
    serde_json::from_slice(line).map_err(|error| WireError::not_understood(line, &error))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_look_like_this() {
        let hello = FromClient::Hello(Hello {
            protocol: 1,
            version: "0.1.0".to_owned(),
            nonce: None,
        });
        let watch = FromClient::Watch(Watch {
            port: Some(3306),
            directories: vec![("redo log".to_owned(), "/redo".into())],
            ..Watch::default()
        });
        for (message, line) in [
            (
                hello,
                r#"{"message":"hello","protocol":1,"version":"0.1.0"}"#,
            ),
            (FromClient::Stop, r#"{"message":"stop"}"#),
            (
                watch,
                r#"{"message":"watch","pid_file":null,"port":3306,"datadir":null,"directories":[["redo log","/redo"]]}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&message).unwrap(), line);
            assert_eq!(read::<FromClient>(line.as_bytes()).unwrap(), message);
        }
    }

    #[test]
    fn a_hello_of_another_version_is_understood() {
        let line = r#"{"message":"hello","protocol":9,"version":"7.0.0","zeal":[1,2]}"#;
        let FromObserver::Hello(hello) = read(line.as_bytes()).unwrap() else {
            panic!("it is a hello");
        };
        assert_eq!((hello.protocol, hello.nonce), (9, None));
    }

    #[test]
    fn what_is_no_message_is_shown() {
        for line in ["", "Welcome to db1!", "{}", r#"{"message":"dance"}"#] {
            let error = read::<FromObserver>(line.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(line), "{error}");
        }
        let greeting = b"\x4a\x00\x00\x00\x0a8.0.36\x00".as_slice();
        let error = read::<FromObserver>(greeting).unwrap_err().to_string();
        assert!(!error.contains('\0') && error.contains("8.0.36"), "{error}");
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_reader(line in proptest::collection::vec(any::<u8>(), 0..400)) {
            // Both only have to return.
            let _ = read::<FromClient>(&line);
            let _ = read::<FromObserver>(&line);
        }

        #[test]
        fn a_damaged_line_is_read_or_refused(at in 0usize..200, byte in any::<u8>()) {
            let pong = FromObserver::Pong { t1_ns: u64::MAX, t2_ns: 2, t3_ns: 3, wall_ns: 4 };
            let mut line = serde_json::to_vec(&pong).unwrap();
            let at = at % line.len();
            line[at] = byte;
            match read::<FromObserver>(&line) {
                Ok(FromObserver::Pong { .. }) => {}
                Ok(other) => prop_assert!(false, "{other:?}"),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }

        #[test]
        fn what_was_said_is_heard(t1_ns: u64, t2_ns: u64, t3_ns: u64, wall_ns: u64, why in ".{0,60}") {
            for message in [
                FromObserver::Pong { t1_ns, t2_ns, t3_ns, wall_ns },
                FromObserver::Bye { why: why.clone() },
            ] {
                let line = serde_json::to_vec(&message).unwrap();
                prop_assert!(!line.contains(&b'\n'));
                prop_assert_eq!(read::<FromObserver>(&line).unwrap(), message);
            }
        }
    }
}
