//! Tests of the null server's behaviour on a driven clock, and of its log.

use std::{cell::RefCell, io, rc::Rc, time::Duration};

use protocol::null_server::{Behaviour, Delay, Freeze, Settings, Stalls};
use reactor::{now, sleep_until};

use crate::null_server::against;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A log that a test can read.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The times of statements sent at these times after the first one, and their log lines: received and answered, in
/// milliseconds after the first one, and the rest of the line.
fn measured(behaviour: Behaviour, at_ms: &[u64]) -> (Vec<Duration>, Vec<(u64, u64, String)>) {
    let log = Shared::default();
    let settings = Settings {
        behaviour,
        log: Some(Box::new(log.clone())),
        ..Settings::default()
    };
    let (start, took) = against(settings, async |served| {
        let mut connection = served.open().await;
        // These are not statements of the load, so they do not start the clock of stalls and freezes.
        connection.query(b"SET NAMES utf8mb4").await.unwrap();
        reactor::sleep(ms(1000)).await;
        let start = now();
        let mut took = Vec::new();
        for at in at_ms {
            sleep_until(start + ms(*at)).await;
            let sent = now();
            connection.query(b"SELECT c FROM t").await.unwrap();
            took.push(now() - sent);
        }
        served.server.finish().unwrap();
        (start.as_ns(), took)
    });
    let text = String::from_utf8(log.0.take()).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("connection received_ns answered_ns command result")
    );
    let entries = lines.map(|line| {
        let mut words = line.splitn(4, ' ');
        assert_eq!(words.next(), Some("1"));
        let mut time = || (words.next().unwrap().parse::<u64>().unwrap() - start) / 1_000_000;
        (time(), time(), words.next().unwrap().to_owned())
    });
    (took, entries.collect())
}

#[test]
fn a_delay_is_the_response_time() {
    let behaviour = Behaviour {
        delay: Some(Delay::Fixed(ms(3))),
        ..Behaviour::default()
    };
    let (took, log) = measured(behaviour, &[0, 10]);
    assert_eq!(took, [ms(3), ms(3)]);
    let rows = "query rows".to_owned();
    assert_eq!(log, [(0, 3, rows.clone()), (10, 13, rows)]);
}

#[test]
fn nothing_is_answered_in_a_freeze_or_a_stall() {
    let freeze = Behaviour {
        freeze: Some(Freeze {
            at: ms(20),
            length: ms(50),
        }),
        ..Behaviour::default()
    };
    let (took, log) = measured(freeze, &[0, 19, 30, 75]);
    assert_eq!(took, [ms(0), ms(0), ms(40), ms(0)]);
    assert_eq!((log[2].0, log[2].1), (30, 70));

    let stalls = Behaviour {
        stalls: Some(Stalls {
            every: ms(100),
            length: ms(10),
        }),
        ..Behaviour::default()
    };
    let (took, _) = measured(stalls, &[0, 101, 150, 205, 309]);
    assert_eq!(took, [ms(0), ms(9), ms(0), ms(5), ms(1)]);
}

#[test]
fn a_slow_reader_lets_a_statement_wait() {
    let behaviour = Behaviour {
        read_delay: ms(7),
        ..Behaviour::default()
    };
    let (took, log) = measured(behaviour, &[0, 100]);
    // The server waits again as soon as it has answered, so later statements are read without delay.
    assert_eq!(took, [ms(0), ms(0)]);
    assert_eq!(log.len(), 2);
    let (took, _) = measured(
        Behaviour {
            read_delay: ms(7),
            ..Behaviour::default()
        },
        &[0, 0, 0],
    );
    assert_eq!(took, [ms(0), ms(7), ms(7)]);
}

#[test]
fn errors_and_dropped_connections() {
    let behaviour = Behaviour {
        error_rate: 1.0,
        ..Behaviour::default()
    };
    let settings = Settings {
        behaviour,
        ..Settings::default()
    };
    against(settings, async |served| {
        let mut connection = served.open().await;
        let statement = connection.prepare("SELECT c FROM t").await.unwrap();
        for _ in 0..3 {
            let error = connection.query(b"DELETE FROM t").await.unwrap_err();
            assert_eq!(error.server_error().unwrap().sqlstate, "40001");
            let error = connection.execute(&statement, &[]).await.unwrap_err();
            assert_eq!(error.server_number(), Some(1213));
            assert_eq!(connection.query(b"SELECT 1").await.unwrap().rows, 1);
        }
        assert_eq!(served.server.counters().errors, 6);
    });

    let behaviour = Behaviour {
        drop_rate: 1.0,
        ..Behaviour::default()
    };
    let settings = Settings {
        behaviour,
        ..Settings::default()
    };
    against(settings, async |served| {
        let mut connection = served.open().await;
        let error = connection.query(b"SELECT c FROM t").await.unwrap_err();
        assert!(
            error.is_connection_lost() && error.server_error().is_none(),
            "{error}"
        );
        assert_eq!(served.server.counters().drops, 1);
    });
}
