//! Tests of the null server's service-time law on a driven clock: the throughput of closed loops, the counted reads.

use std::{cell::Cell, rc::Rc, time::Duration};

use protocol::null_server::{Behaviour, CpuDemand, ReadDemand, ServiceLaw, Settings};
use reactor::{now, sleep_until, spawn};

use crate::null_server::{Served, against};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs a test against a server with this law.
fn with_law<T>(law: ServiceLaw, test: impl AsyncFnOnce(&Served) -> T) -> T {
    let settings = Settings {
        behaviour: Behaviour {
            law: Some(law),
            ..Behaviour::default()
        },
        ..Settings::default()
    };
    against(settings, test)
}

/// Number of statements that this number of connections completes in a time, each without pauses.
async fn completed(served: &Served, connections: usize, time: Duration) -> u64 {
    let mut opened = Vec::new();
    for _ in 0..connections {
        opened.push(served.open().await);
    }
    let count = Rc::new(Cell::new(0));
    let start = now();
    for mut connection in opened {
        let count = Rc::clone(&count);
        spawn(async move {
            while connection.query(b"SELECT c FROM t").await.is_ok() {
                count.set(count.get() + 1);
            }
        });
    }
    sleep_until(start + time).await;
    count.get()
}

#[test]
fn cpus_bound_the_throughput_of_a_closed_loop() {
    let law = ServiceLaw {
        cpu: Some(CpuDemand {
            cpus: 2,
            time: ms(10),
        }),
        ..ServiceLaw::default()
    };
    // One connection uses one CPU: every 10 ms a statement. From two on, both CPUs are busy.
    for (connections, expected) in [(1, 100), (2, 200), (3, 200), (16, 200)] {
        let found = with_law(law, async |served| {
            completed(served, connections, ms(1_005)).await
        });
        assert_eq!(found, expected, "{connections} connections");
    }
    // With a serial part of 10 ms, the first statement ends after 20 ms, and then one every 10 ms: 1 + 980 / 10.
    let serial = ServiceLaw {
        serial_time: ms(10),
        ..law
    };
    let found = with_law(serial, async |served| {
        completed(served, 16, ms(1_005)).await
    });
    assert_eq!(found, 99);
}

#[test]
fn a_closed_loop_keeps_the_read_limit_and_the_server_counts_its_reads() {
    let law = ServiceLaw {
        reads: Some(ReadDemand {
            per_statement: 2.5,
            iops: Some(500.0),
        }),
        ..ServiceLaw::default()
    };
    with_law(law, async |served| {
        let mut observer = served.open().await;
        let status = "SHOW GLOBAL STATUS LIKE 'Innodb%'";
        let text = |value: &Option<Vec<u8>>| String::from_utf8(value.clone().unwrap()).unwrap();
        let sets = observer.rows(status).await.unwrap();
        let values: Vec<String> = sets[0].rows.iter().map(|row| text(&row[1])).collect();
        assert_eq!(values, ["0", "0", "0"]);
        // 500 / 2.5 statements per second.
        assert_eq!(completed(served, 4, ms(1_001)).await, 200);
        // The four that wait for the disk are counted, too: 2.5 · 204, in pages of 16 KiB.
        let sets = observer.rows(status).await.unwrap();
        let found: Vec<String> = sets[0]
            .rows
            .iter()
            .map(|row| format!("{}={}", text(&row[0]), text(&row[1])))
            .collect();
        assert_eq!(
            found,
            [
                "Innodb_buffer_pool_reads=510",
                "Innodb_data_read=8355840",
                "Innodb_data_reads=510"
            ]
        );
        assert_eq!(served.server.counters().page_reads, Some(510));
    });
}

#[test]
fn a_server_without_reads_has_no_counters_of_them() {
    with_law(ServiceLaw::default(), async |served| {
        let mut observer = served.open().await;
        let sets = observer.rows("SHOW STATUS LIKE 'Innodb%'").await.unwrap();
        assert!(sets[0].rows.is_empty());
        assert_eq!(served.server.counters().page_reads, None);
    });
}
