//! The messages between client and observer: one JSON object per line.
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

/// The protocol version; both sides must have the same.
pub const PROTOCOL: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromClient {
    /// The first message.
    Hello(Hello),
    /// Proof that the client knows the secret, base64.
    Proof {
        /// See [`crate::Secret`].
        proof: String,
    },
    /// Requests the observer's time.
    Ping {
        /// The client's monotonic clock when it sent this.
        t1_ns: u64,
    },
    /// Selects what to watch; answered by `watching`.
    Watch(ObservationRequest),
    Start {
        /// Sampling interval, 100 ms to 60 s.
        every_ns: u64,
    },
    /// Ends the samples; answered by `stopped`.
    Stop,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromObserver {
    /// Answers the client's hello.
    Hello(Hello),
    /// Proof that the observer knows the secret as well, base64.
    Proof {
        /// See [`crate::Secret`].
        proof: String,
    },
    /// The client is admitted.
    Welcome {
        boot_id: Option<String>,
    },
    /// The client is refused, or its message was not valid; the connection ends.
    Refused {
        why: String,
        /// The reason as a value, where the client treats it in its own way; an older observer sends none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<RefusalCode>,
    },
    Pong {
        /// As in the ping.
        t1_ns: u64,
        /// The observer's monotonic clock when the ping was received.
        t2_ns: u64,
        /// The same clock when this message was sent.
        t3_ns: u64,
        /// The observer's time of day when this message was sent, since 1970.
        wall_ns: u64,
    },
    Watching(Box<Watching>),
    /// The use in one interval.
    Sample {
        /// Start of the interval on the observer's monotonic clock.
        begin_ns: u64,
        /// The sample; its own `t_s` has an origin that the client does not know.
        telemetry: Box<Telemetry>,
    },
    /// The summary at the end.
    Stopped {
        /// The differences from the values at the start.
        changed: Vec<Changed>,
        /// The cost of sampling.
        collected: Collected,
    },
    /// The observer ends.
    Bye {
        why: String,
    },
}

/// The reason of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    WrongSecret,
    /// A reason that only a newer observer knows.
    #[serde(other)]
    Unknown,
}

/// The identity of the sender. Unknown fields are accepted: they belong to another version, which is then reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of the sender.
    pub protocol: u32,
    /// Version of its dbdyno.
    #[serde(default)]
    pub version: String,
    /// Random bytes for the other side's proof, base64; none over pipes, where ssh has authenticated the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
}

/// The targets that a client selects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationRequest {
    /// The file that contains the server's process id.
    pub pid_file: Option<PathBuf>,
    /// The TCP port on which it listens.
    pub port: Option<u16>,
    pub datadir: Option<PathBuf>,
    /// Description and path of each directory that it writes to.
    pub directories: Vec<(String, PathBuf)>,
}

/// The targets that the observer watches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Watching {
    /// The machine, with everything that cannot be observed.
    pub machine: Machine,
    /// The storage of the server's directories.
    pub storage: Storage,
    /// How the server's process was found, such as `port 3306`; `None` if it was not found.
    pub server_process: Option<String>,
}

/// Parses one line without its newline.
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
        let watch = FromClient::Watch(ObservationRequest {
            port: Some(3306),
            directories: vec![("redo log".to_owned(), "/redo".into())],
            ..ObservationRequest::default()
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
    fn a_refusal_may_have_a_code_that_this_version_does_not_know() {
        for (line, code) in [
            (
                r#"{"message":"refused","why":"wrong secret","code":"wrong_secret"}"#,
                Some(RefusalCode::WrongSecret),
            ),
            (
                r#"{"message":"refused","why":"wrong secret","code":"too_late"}"#,
                Some(RefusalCode::Unknown),
            ),
            (r#"{"message":"refused","why":"wrong secret"}"#, None),
        ] {
            let why = "wrong secret".to_owned();
            let message = FromObserver::Refused { why, code };
            assert_eq!(read::<FromObserver>(line.as_bytes()).unwrap(), message);
            if code != Some(RefusalCode::Unknown) {
                assert_eq!(serde_json::to_string(&message).unwrap(), line);
            }
        }
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
