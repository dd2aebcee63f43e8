//! Private servers as text for people.

use std::{fmt::Write, path::Path, time::Duration};

use server::Server;

use crate::blame::Blamed;

/// The columns of the table.
const HEAD: [&str; 5] = ["NAME", "VERSION", "STATE", "PORT", "DIRECTORY"];

/// All servers of a directory of servers, one line each.
pub(super) fn table(root: &Path) -> Result<String, Blamed> {
    let mut rows = vec![HEAD.map(str::to_owned)];
    for server::Listed { path, server } in server::list(root)? {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        rows.push(match server {
            Ok(server) => {
                let dir = server.dir().display().to_string();
                let state = if server.is_running() {
                    "running"
                } else {
                    "stopped"
                };
                [
                    name,
                    version(&server)?,
                    state.to_owned(),
                    server.port().to_string(),
                    dir,
                ]
            }
            Err(error) => {
                eprintln!("warning: {error}");
                let unknown = || "-".to_owned();
                [
                    name,
                    unknown(),
                    "broken".to_owned(),
                    unknown(),
                    path.display().to_string(),
                ]
            }
        });
    }
    Ok(aligned(&rows))
}

/// One server, a property per line.
pub(super) fn status(name: &str, server: &Server) -> Result<String, Blamed> {
    let state = if server.is_running() {
        "running"
    } else {
        "stopped"
    };
    let mut rows = vec![
        ["name", name].map(str::to_owned),
        ["state", state].map(str::to_owned),
    ];
    let mut push = |property: &str, value: String| rows.push([property.to_owned(), value]);
    if let (Some(pid), Some(uptime)) = (server.pid(), server.uptime()) {
        push("pid", pid.to_string());
        push("uptime", duration(uptime));
    }
    push("version", version(server)?);
    push("port", server.port().to_string());
    push("socket", server.socket().display().to_string());
    push("data", mebibytes(server.data_bytes()?));
    push("directory", server.dir().display().to_string());
    Ok(aligned(&rows))
}

fn version(server: &Server) -> Result<String, Blamed> {
    let installation = server.installation()?;
    Ok(format!("{} {}", installation.flavour, installation.version))
}

/// Columns as wide as their longest cell; the last one as it is.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    let mut text = String::new();
    for row in rows {
        for (cell, width) in row[..N - 1].iter().zip(widths) {
            write!(text, "{cell:width$}  ").expect("writing to a String cannot fail");
        }
        text.push_str(&row[N - 1]);
        text.push('\n');
    }
    text
}

/// `2 d 3 h`, `3 h 5 min`, `5 min 7 s` or `7 s`.
fn duration(duration: Duration) -> String {
    let s = duration.as_secs();
    match (s / 86_400, s / 3_600, s / 60) {
        (0, 0, 0) => format!("{s} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", s % 60),
        (0, hours, minutes) => format!("{hours} h {} min", minutes % 60),
        (days, hours, _) => format!("{days} d {} h", hours % 24),
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units() {
        for (s, text) in [
            (7, "7 s"),
            (307, "5 min 7 s"),
            (3 * 3_600 + 305, "3 h 5 min"),
            (51 * 3_600, "2 d 3 h"),
        ] {
            assert_eq!(duration(Duration::from_secs(s)), text);
        }
    }

    #[test]
    fn columns_are_aligned_without_trailing_blanks() {
        let rows = [["NAME", "PORT"], ["a-long-name", "1"]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows), "NAME         PORT\na-long-name  1\n");
    }
}
