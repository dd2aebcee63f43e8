//! Tests of the simulated round trip, which is added to every exchange.

use std::time::Duration;

use protocol::{
    Connection, Endpoint, LocalSource,
    testing::{Answer, endpoint, serve},
};
use reactor::{Clock, Listener, Reactor, now};

const ROUND_TRIP: Duration = Duration::from_millis(20);
const WORK: Duration = Duration::from_millis(3);

/// A data source larger than one packet.
struct Data(u32);

impl LocalSource for Data {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> std::io::Result<bool> {
        buffer.resize(buffer.len() + 300_000, b'x');
        self.0 -= 1;
        Ok(self.0 > 0)
    }
}

#[test]
fn an_exchange_takes_one_round_trip_more_whatever_its_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    Reactor::new(Clock::Driven).unwrap().run(async {
        let long = "v".repeat(500_000);
        serve(Listener::bind_unix(&path).unwrap(), move |_| {
            Answer::rows(&["a"], &[&[Some(&long)], &[None]]).after(WORK)
        });
        let endpoint = Endpoint {
            round_trip: ROUND_TRIP,
            ..endpoint(&path)
        };
        let begin = now();
        let mut connection = Connection::open(&endpoint).await.unwrap();
        // The greeting has already arrived; the proof and the answer to it are delayed.
        assert_eq!(now() - begin, ROUND_TRIP);
        for _ in 0..3 {
            let begin = now();
            // Several reads, of which only the first is delayed.
            assert_eq!(connection.query(b"SELECT 1").await.unwrap().rows, 2);
            assert_eq!(now() - begin, ROUND_TRIP + WORK);
        }
        let begin = now();
        let statement = connection.prepare("SELECT 1").await.unwrap();
        connection.execute(&statement, &[]).await.unwrap();
        assert_eq!(now() - begin, ROUND_TRIP * 2 + WORK);
    });
}

#[test]
fn a_stream_of_data_waits_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    Reactor::new(Clock::Driven).unwrap().run(async {
        let settings = protocol::null_server::Settings::default();
        let server = protocol::null_server::NullServer::new(settings);
        server.serve(Listener::bind_unix(&path).unwrap(), None);
        let endpoint = Endpoint {
            round_trip: ROUND_TRIP,
            ..endpoint(&path)
        };
        let mut connection = Connection::open(&endpoint).await.unwrap();
        let begin = now();
        let load = "LOAD DATA LOCAL INFILE 'x' INTO TABLE t";
        connection.load_local(load, &mut Data(5)).await.unwrap();
        // One round trip for the statement and the file request, one for the data and the answer.
        assert_eq!(now() - begin, ROUND_TRIP * 2);
    });
}
