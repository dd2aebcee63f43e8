//! The metrics of a proxy, as it serves them.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

use samples::{ProxyChange, ProxyHook, ProxyRule, ProxyWork};
use serde::Deserialize;

/// Time limit for each part of the exchange.
const LIMIT: Duration = Duration::from_secs(5);
/// Longest answer: a thousand digests of a few kilobytes.
const BYTES_MAX: u64 = 16 << 20;

/// The part of `/metrics.json` that a record keeps; docs/proxy.md has the whole.
#[derive(Deserialize)]
struct Metrics {
    cpu_s: f64,
    sessions: Sessions,
    commands: u64,
    hooks: Vec<ProxyHook>,
    rules: Vec<ProxyRule>,
    changes: Vec<ProxyChange>,
}

#[derive(Deserialize)]
struct Sessions {
    total: u64,
}

/// Asks the proxy that serves its metrics at this host and port.
pub(super) fn fetch(address: &str) -> io::Result<ProxyWork> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    stream
        .write_all(b"GET /metrics.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(BYTES_MAX).read_to_end(&mut answer)?;
    parse(&answer)
}

fn parse(answer: &[u8]) -> io::Result<ProxyWork> {
    const BLANK: &[u8] = b"\r\n\r\n";
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let head = answer.windows(BLANK.len()).position(|it| it == BLANK);
    let head = head.ok_or_else(|| invalid("no HTTP answer"))?;
    let status = answer[..head].split(|byte| *byte == b' ').nth(1);
    if status != Some(b"200") {
        return Err(invalid("the answer is not 200 OK"));
    }
    let metrics: Metrics = serde_json::from_slice(&answer[head + BLANK.len()..])?;
    Ok(ProxyWork {
        sessions: metrics.sessions.total,
        commands: metrics.commands,
        cpu_s: metrics.cpu_s,
        hooks: metrics.hooks,
        rules: metrics.rules,
        changes: metrics.changes,
        ..ProxyWork::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_and_a_wrong_one_refused() {
        let body = r#"{"uptime_s":1.5,"cpu_s":0.25,"sessions":{"open":1,"total":5},"commands":10,"hooks":[{"hook":"read_query","calls":10,"errors":0,"seconds":0.001}],"rules":[],"changes":[{"digest":"RESET QUERY CACHE","change":"replaced","count":3}],"backends":[]}"#;
        let ok = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{body}");
        let work = parse(ok.as_bytes()).unwrap();
        assert_eq!((work.sessions, work.commands, work.cpu_s), (5, 10, 0.25));
        assert_eq!(work.changes[0].digest, "RESET QUERY CACHE");
        for wrong in [
            "",
            "HTTP/1.1 404 Not Found\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\n\r\n{}",
        ] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
