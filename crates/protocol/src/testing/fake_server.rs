//! A server with scripted answers.

use std::{io, path::Path, rc::Rc, time::Duration};

use reactor::{Listener, now, sleep_until, spawn};

use crate::{
    endpoint::{Address, Endpoint},
    outgoing_greeting::OutgoingGreeting,
    testing::{
        answer::{Answer, column},
        peer::Peer,
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// COM_QUERY with its statement.
    Query(&'a [u8]),
    /// COM_STMT_EXECUTE with the prepared statement.
    Execute(&'a [u8]),
}

/// Serves every connection on the running reactor: accepts any login, prepares any statement (its question marks are
/// the placeholders), and answers everything else with the result of `answer`.
pub fn serve(listener: Listener, answer: impl Fn(Request<'_>) -> Answer + 'static) {
    let answer = Rc::new(answer);
    spawn(async move {
        let mut connection_id = 0;
        while let Ok(stream) = listener.accept().await {
            connection_id += 1;
            let hello = OutgoingGreeting {
                connection_id,
                ..OutgoingGreeting::default()
            };
            let answer = Rc::clone(&answer);
            spawn(async move {
                // A lost client is not a failure of the server.
                let _ = converse(Peer::new(stream), &hello, &*answer).await;
            });
        }
    });
}

async fn converse(
    mut peer: Peer,
    hello: &OutgoingGreeting,
    answer: &dyn Fn(Request<'_>) -> Answer,
) -> io::Result<()> {
    peer.greet(hello).await?;
    peer.answer(&Answer::ok(0)).await?;
    let mut prepared: Vec<Vec<u8>> = Vec::new();
    while let Some(command) = peer.receive_command().await? {
        let start = now();
        let reply = match &command[..] {
            [0x01, ..] => return Ok(()),
            [0x03, sql @ ..] => answer(Request::Query(sql)),
            [0x16, sql @ ..] => {
                prepared.push(sql.to_vec());
                send_prepared(&mut peer, prepared.len(), sql).await?;
                continue;
            }
            [0x17, a, b, c, d, ..] => {
                let id = u32::from_le_bytes([*a, *b, *c, *d]);
                match (id as usize)
                    .checked_sub(1)
                    .and_then(|index| prepared.get(index))
                {
                    Some(sql) => answer(Request::Execute(sql)),
                    None => Answer::error(1243, "HY000", "Unknown prepared statement handler"),
                }
            }
            [0x19, ..] => continue,
            _ => Answer::ok(0),
        };
        sleep_until(start + reply.after).await;
        peer.answer(&reply).await?;
        if reply.close {
            return Ok(());
        }
    }
    Ok(())
}

async fn send_prepared(peer: &mut Peer, id: usize, sql: &[u8]) -> io::Result<()> {
    let parameters = sql.iter().filter(|&&byte| byte == b'?').count();
    let mut payload = vec![0];
    payload.extend_from_slice(&(id as u32).to_le_bytes());
    // Columns are defined only when it is executed.
    payload.extend_from_slice(&[0, 0]);
    payload.extend_from_slice(&(parameters as u16).to_le_bytes());
    payload.extend_from_slice(&[0, 0, 0]);
    peer.send(&payload).await?;
    for _ in 0..parameters {
        peer.send(&column("?")).await?;
    }
    Ok(())
}

/// An endpoint for the fake server at this unix socket, with an arbitrary user.
pub fn endpoint(socket: &Path) -> Endpoint {
    Endpoint::plain(
        Address::Unix(socket.to_owned()),
        "user",
        Duration::from_secs(10),
    )
}
