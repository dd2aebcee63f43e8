//! `dbdyno top --serve` for a real server.

use rustix::process::Signal;

use crate::{
    mariadb::{MariaDb, PASSWORD},
    program::serve::{get, is_openmetrics, listens_at, send, shows},
    scene::Scene,
};

#[test]
fn top_is_shown_in_a_browser() {
    let scene = Scene::for_servers();
    let server = MariaDb::shared(&scene);
    let mut arguments = vec![
        "top".to_owned(),
        "--serve".to_owned(),
        "127.0.0.1:0".to_owned(),
    ];
    arguments.extend(server.by_socket());
    arguments.push("--plain".to_owned());
    let mut top = scene.start(&arguments);
    let port = listens_at(&mut top);
    shows(&mut top, port, "/", "queries/s");
    shows(&mut top, port, "/now/connections", "Connections (");
    shows(
        &mut top,
        port,
        "/metrics",
        "dbdyno_now_queries_per_second{server=",
    );
    let metrics = get(port, "/metrics");
    is_openmetrics(&metrics.body);
    assert!(
        metrics.head.contains("text/plain; version=0.0.4"),
        "{}",
        metrics.head
    );
    let accept = format!(
        "GET /metrics HTTP/1.1\r\nHost: localhost:{port}\r\nAccept: application/openmetrics-text\r\n\r\n"
    );
    let accepted = send(port, accept.as_bytes()).unwrap();
    assert!(
        accepted.head.contains("application/openmetrics-text"),
        "{}",
        accepted.head
    );
    assert_eq!(get(port, "/version").status, 404);
    for path in ["/", "/now/connections", "/now/statements"] {
        assert!(!get(port, path).body.contains(PASSWORD), "{path}");
    }
    top.signal(Signal::INT);
    top.finish().exits(0);
}
