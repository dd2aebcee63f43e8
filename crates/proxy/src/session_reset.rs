//! Removing what a session leaves on its connection, and finding what the server's reset does not remove.

use std::{io, time::Duration};

use protocol::relay::{Answer, AnswerKind, Fields, Step, com, put_packet};

use crate::{
    link::Link,
    packets::Packets,
    unreset_state::{Fresh, Role},
};

/// Unread bytes of an answer to a question of the proxy's own.
const ANSWER_MAX: usize = 1 << 20;

/// Why a connection cannot be given to another session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReuseObstacle {
    #[error("the server does not answer: {0}")]
    Io(#[from] io::Error),
    #[error("the server does not answer in time")]
    Late,
    #[error("a malformed answer: {0}")]
    Answer(protocol::Error),
    #[error("the server refuses the query for leftover session state")]
    Refused,
    #[error("a role is active that no command can reset")]
    Role,
    #[error("SHOW PROFILES has statements of the former session")]
    Profiles,
}

/// Takes from a connection what the session that used it last has left there, within a time limit. An error: the connection
/// has to be closed. The transaction is rolled back in any case, by the reset or by the end of the connection.
pub(crate) async fn remove(link: &mut Link, limit: Duration) -> Result<(), ReuseObstacle> {
    match reactor::timeout(limit, remove_all(link)).await {
        Ok(done) => done,
        Err(reactor::Elapsed) => Err(ReuseObstacle::Late),
    }
}

async fn remove_all(link: &mut Link) -> Result<(), ReuseObstacle> {
    let kind = link.kind;
    let is_reset = !is_error(&ask(link, &[com::RESET_CONNECTION]).await?);
    if !is_reset {
        // A server from before 5.7.3 or MariaDB 10.2.4.
        ask(link, b"\x03ROLLBACK").await?;
    }
    let question = [&[com::QUERY][..], kind.question().as_bytes()].concat();
    let row = first_row(&ask(link, &question).await?).ok_or(ReuseObstacle::Refused)?;
    let [database, role, default, profiles] = row.try_into().map_err(|_| ReuseObstacle::Refused)?;
    if profiles.as_deref() != Some(b"0") {
        return Err(ReuseObstacle::Profiles);
    }
    let role = match kind.survivors().role {
        Role::Set => {
            let statement: &[u8] = match role.as_deref() {
                Some(b"1") => b"\x03SET ROLE ALL",
                _ => b"\x03SET ROLE DEFAULT",
            };
            if is_error(&ask(link, statement).await?) {
                return Err(ReuseObstacle::Role);
            }
            None
        }
        _ if role != default => return Err(ReuseObstacle::Role),
        _ => role,
    };
    link.peer.default_db = database.unwrap_or_default();
    link.fresh = match (is_reset, role) {
        (true, None) => Fresh::ForAll,
        (true, Some(_)) => Fresh::ForItsUser,
        (false, None) => Fresh::ForLogins,
        (false, Some(_)) => return Err(ReuseObstacle::Role),
    };
    Ok(())
}

/// The database of a connection, as the server says; `None` if it does not say.
pub(crate) fn database_of(packets: &Packets) -> Option<Vec<u8>> {
    let [database] = first_row(packets)?.try_into().ok()?;
    Some(database.unwrap_or_default())
}

/// The values of the first row of an answer; `None` if it has none.
fn first_row(packets: &Packets) -> Option<Vec<Option<Vec<u8>>>> {
    let rows = usize::try_from(packets.summary.rows).ok()?;
    let end = packets.all.len().checked_sub(1)?;
    let at = end.checked_sub(rows.max(1)).filter(|_| rows > 0)?;
    let mut fields = Fields(packets.all.get(at)?);
    let mut row = Vec::new();
    while let Some(first) = fields.0.first() {
        if *first == 0xfb {
            fields.u8()?;
            row.push(None);
        } else {
            row.push(Some(fields.lenenc_bytes()?.to_vec()));
        }
    }
    Some(row)
}

fn is_error(packets: &Packets) -> bool {
    packets.all.last().and_then(|last| last.first()) == Some(&0xff)
}

/// Sends a command of the proxy's own, and receives the answer.
pub(crate) async fn ask(link: &mut Link, command: &[u8]) -> Result<Packets, ReuseObstacle> {
    let mut out = Vec::new();
    put_packet(command, 0, &mut out);
    link.wire.begin_exchange();
    let (stream, bytes) = link.wire.outgoing(&out)?;
    stream.write_all(bytes).await?;
    let mut answer = Answer::new(AnswerKind::of_packet(command), link.wording(), 0);
    let mut packets = Packets::default();
    loop {
        if !link.wire.has_unread() {
            link.wire.readable().await?;
            link.wire.try_receive(ANSWER_MAX)?;
            continue;
        }
        let fed = answer
            .feed(link.wire.unread_mut())
            .map_err(ReuseObstacle::Answer)?;
        packets.take(&mut link.wire.unread_mut()[..fed.used]);
        link.wire.consume(fed.used);
        match fed.step {
            Step::More => {}
            Step::Done => {
                packets.summary = *answer.summary();
                return Ok(packets);
            }
            Step::File => return Err(ReuseObstacle::Refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_with_and_without_the_packet_behind_the_columns() {
        let eof = b"\xfe\0\0\x02\0".to_vec();
        let row = b"\x04shop\xfb\x010".to_vec();
        let values = vec![Some(b"shop".to_vec()), None, Some(b"0".to_vec())];
        let head = || {
            vec![
                b"\x03".to_vec(),
                b"def".to_vec(),
                b"def".to_vec(),
                b"def".to_vec(),
            ]
        };
        let mut classic = head();
        classic.extend([eof.clone(), row.clone(), eof.clone()]);
        let mut today = head();
        today.extend([row, b"\xfe\0\0\x02\0\0\0".to_vec()]);
        for all in [classic, today] {
            let mut packets = Packets::default();
            packets.all = all;
            packets.summary.rows = 1;
            assert_eq!(first_row(&packets), Some(values.clone()));
        }
        let mut ok = Packets::default();
        ok.all.push(b"\0\0\0\x02\0\0\0".to_vec());
        assert_eq!(first_row(&ok), None);
    }
}
