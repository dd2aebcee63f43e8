//! Tests of the rules that use the server's own figures, and of these figures.

use samples::{Edge, ServerIdentity, ServerStatus};

use super::*;

fn server(change: impl FnOnce(&mut ServerSignals)) -> Vec<Resource> {
    case(|it| change(it.server.as_mut().unwrap()))
}

fn in_state(state: &str, share: f64) -> Vec<Resource> {
    server(|it| {
        it.states.insert(state.to_owned(), share);
    })
}

#[test]
fn row_locks_by_their_time() {
    let row_locks = |share| server(|it| it.row_locks = share);
    assert_eq!(row_locks(0.68), [Resource::RowLocks]);
    assert_eq!(
        row_locks(0.45),
        [Resource::RowLocks],
        "two that wait for each other"
    );
    assert_eq!(row_locks(0.3), []);
}

#[test]
fn a_lock_that_is_held_for_a_sync_is_named_before_the_sync() {
    let found = case(|it| {
        it.disk.as_mut().unwrap().flushing = 0.5;
        with_pressure(it, |it| it.io_some = 0.6);
        it.server.as_mut().unwrap().row_locks = 0.7;
    });
    assert_eq!(found, [Resource::RowLocks, Resource::DiskFlushes]);
}

#[test]
fn other_locks_by_the_states_of_the_threads() {
    for (state, resource) in [
        ("Waiting for table level lock", Resource::TableLocks),
        ("Waiting for table metadata lock", Resource::MetadataLocks),
        ("Waiting for schema metadata lock", Resource::MetadataLocks),
        ("Waiting for backup lock", Resource::MetadataLocks),
        ("Waiting for global read lock", Resource::MetadataLocks),
        ("Waiting for table flush", Resource::MetadataLocks),
        ("User lock", Resource::UserLocks),
        ("Waiting for query cache lock", Resource::QueryCache),
    ] {
        assert_eq!(in_state(state, 0.6), [resource], "{state}");
        assert_eq!(in_state(state, 0.3), [], "{state}");
    }
    for state in ["User sleep", "Updating", "Sleep", "Waiting for work"] {
        assert_eq!(in_state(state, 1.0), [], "{state}");
    }
}

#[test]
fn states_that_mean_the_same_add_up() {
    let found = server(|it| {
        it.states.insert("Waiting for backup lock".to_owned(), 0.25);
        it.states.insert("Waiting for commit lock".to_owned(), 0.25);
    });
    assert_eq!(found, [Resource::MetadataLocks]);
}

#[test]
fn innodb_concurrency_by_its_queue() {
    assert_eq!(server(|it| it.queued = 0.7), [Resource::InnodbConcurrency]);
    assert_eq!(server(|it| it.queued = 0.2), []);
}

#[test]
fn checkpoint_by_its_age() {
    let age = |age| server(|it| it.checkpoint_age = Some(age));
    assert_eq!(age(0.97), [Resource::Checkpoint]);
    assert_eq!(age(0.8), [], "pages are written ahead of it");
}

#[test]
fn flushes_by_those_who_commit() {
    let commits = |share, synced_by: &[&'static str]| {
        server(|it| {
            it.states.insert("Commit".to_owned(), share);
            it.synced_by = synced_by.to_vec();
        })
    };
    let synced = ["innodb_flush_log_at_trx_commit = 1"];
    assert_eq!(commits(0.6, &synced), [Resource::DiskFlushes]);
    assert_eq!(commits(0.3, &synced), []);
    assert_eq!(commits(0.6, &[]), [], "nothing is synced at a commit");
}

#[test]
fn network_by_those_who_send() {
    assert_eq!(in_state("Writing to net", 0.9), [Resource::Network]);
    assert_eq!(in_state("Sending to client", 0.9), [Resource::Network]);
    assert_eq!(in_state("Writing to net", 0.2), []);
    let through_a_socket = case(|it| {
        it.load.as_mut().unwrap().is_networked = false;
        let states = &mut it.server.as_mut().unwrap().states;
        states.insert("Writing to net".to_owned(), 0.9);
    });
    assert_eq!(through_a_socket, []);
}

#[test]
fn network_by_a_way_that_is_longer_than_its_round_trips() {
    // Of the 8 ms of a statement 7.5 ms are in transit.
    let way = |connect_s| {
        case(|it| {
            it.load.as_mut().unwrap().in_flight = 1.0;
            it.server.as_mut().unwrap().running = Some(0.0625);
            it.client.connect_s = connect_s;
        })
    };
    let slow = [Resource::Network, Resource::RoundTrips];
    assert_eq!(way(Some(0.001)), slow, "a transfer");
    assert_eq!(
        way(Some(0.02)),
        [Resource::RoundTrips],
        "two of them and more"
    );
    assert_eq!(way(None), [Resource::RoundTrips]);
}

#[test]
fn connection_limit_by_its_refusals() {
    assert_eq!(server(|it| it.refused = 2.0), [Resource::ConnectionLimit]);
    assert_eq!(server(|it| it.refused = 0.0), []);
}

#[test]
fn connections_where_the_cpus_had_time_for_more() {
    let connections = |connections, busy, idle| {
        case(|it| {
            let cpu = it.cpu.as_mut().unwrap();
            (cpu.server, cpu.client, cpu.idle) = (busy / 2.0, busy / 2.0, idle);
            let load = it.load.as_mut().unwrap();
            (load.connections, load.in_flight) = (connections, 0.98);
        })
    };
    assert_eq!(
        connections(1, 0.45, 0.5),
        [Resource::Connections],
        "0.9 of a CPU for it"
    );
    assert_eq!(connections(8, 0.45, 0.5), [], "0.1 of a CPU for each");
    assert_eq!(connections(1, 0.45, 0.1), [], "the CPUs are not idle");
    let short = case(|it| it.load.as_mut().unwrap().has_too_few_connections = true);
    assert_eq!(short, [Resource::Connections]);
}

#[test]
fn round_trips_where_the_server_waits_while_the_client_does() {
    let round_trips = |in_flight, running, idle: Option<f64>| {
        case(|it| {
            it.load.as_mut().unwrap().in_flight = in_flight;
            it.server.as_mut().unwrap().running = running;
            it.cpu = idle.map(|idle| CpuShares {
                idle,
                ..it.cpu.unwrap()
            });
        })
    };
    assert_eq!(
        round_trips(0.99, Some(0.05), Some(0.9)),
        [Resource::RoundTrips]
    );
    assert_eq!(
        round_trips(0.99, Some(0.05), None),
        [Resource::RoundTrips],
        "from afar"
    );
    assert_eq!(
        round_trips(0.99, Some(0.9), Some(0.9)),
        [],
        "the server is at work"
    );
    assert_eq!(
        round_trips(0.99, Some(0.05), Some(0.1)),
        [],
        "it wants a CPU"
    );
    assert_eq!(round_trips(0.99, None, Some(0.9)), [], "nobody asked it");
}

/// A run of four connections whose measurement lasts from 1 s to 4 s.
fn record() -> Record {
    let mut text = concat!(
        r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"one","experiment_sha256":"","seed":1,"run":1,"#,
        r#""block":1,"combination":{},"started_at":"","connections":4,"loops":1,"io":"epoll","transport":"tcp remote"}"#,
        "\n",
    )
    .to_owned();
    for (t_s, phase) in [
        (0, "warm_up"),
        (1, "measurement"),
        (2, "measurement"),
        (3, "measurement"),
    ] {
        text += &format!(
            r#"{{"line":"interval","t_s":{t_s},"length_s":1.0,"phase":"{phase}","operations":[]}}"#
        );
        text.push('\n');
    }
    Record::read(text.as_bytes()).unwrap()
}

/// A reading over the second that begins at `t_s`.
fn reading(t_s: f64, values: &[(&str, f64)], processes: &[(&str, u32)]) -> ServerStatus {
    let owned = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
    let listed = |(name, count): &(&str, u32)| ((*name).to_owned(), *count);
    ServerStatus {
        t_s,
        length_s: 0.99,
        values: values.iter().map(owned).collect(),
        processes: processes.iter().map(listed).collect(),
        ..ServerStatus::default()
    }
}

#[test]
fn values_hold_until_they_change_and_those_after_the_load_do_not_count() {
    let mut record = record();
    record.server_status = vec![
        reading(0.0, &[("Threads_running", 3.0)], &[("Query: Updating", 4)]),
        reading(1.0, &[], &[("Query: User sleep", 3), ("Sleep", 1)]),
        reading(
            2.0,
            &[("Threads_running", 5.0)],
            &[("Execute: User sleep", 4)],
        ),
        reading(3.5, &[("Threads_running", 1.0)], &[("Sleep", 4)]),
    ];
    let signals = Signals::of(&record).unwrap();
    let server = signals.server.unwrap();
    assert_eq!(server.running, Some((2.0 + 4.0) / 2.0 / 4.0));
    let states: Vec<_> = server.states.clone().into_iter().collect();
    let expected = [
        ("Sleep".to_owned(), 0.125),
        ("User sleep".to_owned(), 0.875),
    ];
    assert_eq!(states, expected);
    assert_eq!(server.in_words().unwrap(), "User sleep 88 %, Sleep 12 %");
}

#[test]
fn waits_for_rows_count_while_they_last_and_when_they_have_ended() {
    let ended = {
        let mut record = record();
        record.server_status = (1..4)
            .map(|t_s| reading(f64::from(t_s), &[], &[]))
            .collect();
        for status in &mut record.server_status {
            status
                .counters
                .insert("Innodb_row_lock_time".to_owned(), 2970.0);
        }
        record
    };
    let waiting = {
        let mut record = record();
        let values = [("Innodb_row_lock_current_waits", 3.0)];
        record.server_status = vec![reading(0.5, &values, &[]), reading(1.5, &[], &[])];
        record
    };
    for record in [ended, waiting] {
        let server = Signals::of(&record).unwrap().server.unwrap();
        assert!(
            (server.row_locks - 0.75).abs() < 1e-9,
            "{}",
            server.row_locks
        );
    }
}

#[test]
fn the_limit_of_the_checkpoint_age_is_the_servers_or_that_of_its_files() {
    let with = |values: &[(&str, f64)], variables: &[(&str, &str)]| {
        let mut record = record();
        let mut status = reading(1.0, values, &[]);
        status.innodb = Some(samples::InnodbStatus {
            lsn: Some(9_100_000),
            checkpoint_lsn: Some(1_000_000),
            queries_queued: Some(2),
            ..samples::InnodbStatus::default()
        });
        record.server_status = vec![status];
        record.servers = vec![identity(variables)];
        Signals::of(&record).unwrap().server.unwrap()
    };
    let told = with(&[("Innodb_checkpoint_max_age", 9_000_000.0)], &[]);
    assert_eq!(told.checkpoint_age, Some(0.9));
    assert_eq!(told.queued, 0.5);
    let files = [
        ("innodb_log_file_size", "5000000"),
        ("innodb_log_files_in_group", "2"),
    ];
    let of_files = with(&[], &files).checkpoint_age.unwrap();
    assert!((of_files - 1.0).abs() < 1e-9, "{of_files}");
    let capacity = [
        ("innodb_log_file_size", "1"),
        ("innodb_redo_log_capacity", "20000000"),
    ];
    let of_capacity = with(&[], &capacity).checkpoint_age.unwrap();
    assert!((of_capacity - 0.5).abs() < 1e-9, "{of_capacity}");
    assert_eq!(with(&[], &[]).checkpoint_age, None);
}

fn identity(variables: &[(&str, &str)]) -> ServerIdentity {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    ServerIdentity {
        at: Edge::Start,
        version: String::new(),
        version_comment: String::new(),
        address: String::new(),
        private: false,
        variables: variables.iter().map(owned).collect(),
        settings_changed: Vec::new(),
    }
}

#[test]
fn a_commit_is_synced_by_the_redo_log_or_the_binary_log() {
    for (variables, expected) in [
        (
            vec![("innodb_flush_log_at_trx_commit", "1")],
            vec!["innodb_flush_log_at_trx_commit = 1"],
        ),
        (vec![("innodb_flush_log_at_trx_commit", "2")], vec![]),
        (
            vec![("sync_binlog", "1"), ("log_bin", "ON")],
            vec!["sync_binlog = 1"],
        ),
        (vec![("sync_binlog", "1"), ("log_bin", "OFF")], vec![]),
    ] {
        let mut record = record();
        record.server_status = vec![reading(1.0, &[], &[])];
        record.servers = vec![identity(&variables)];
        let server = Signals::of(&record).unwrap().server.unwrap();
        assert_eq!(server.synced_by, expected, "{variables:?}");
    }
}
