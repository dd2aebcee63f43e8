//! A connection on which a text is one statement.

use crate::{
    channel::{Channel, in_time},
    command::COM_SET_OPTION,
    connection::Connection,
    error::Error,
    replies::server_error,
};

/// MYSQL_OPTION_MULTI_STATEMENTS_OFF, as the two bytes of the command.
const MULTI_STATEMENTS_OFF: [u8; 2] = [1, 0];

impl Connection {
    /// From now on the server refuses a text of several statements: for texts of which one statement is to be executed,
    /// whatever the server takes for the end of one.
    pub async fn refuse_multi_statements(&mut self) -> Result<(), Error> {
        self.begin(COM_SET_OPTION)?;
        self.channel.out.extend_from_slice(&MULTI_STATEMENTS_OFF);
        let limit = self.answer_limit();
        let exchange = agreed(&mut self.channel);
        let result = match limit {
            None => exchange.await,
            Some(limit) => Box::pin(in_time(limit, exchange)).await,
        };
        self.settle(&result);
        result
    }
}

/// The answer is one packet: an error, or an EOF or OK packet by the server's dialect.
async fn agreed(channel: &mut Channel) -> Result<(), Error> {
    const DURING: &str = "setting an option of the session";
    channel.send(DURING).await?;
    let range = channel.packet(DURING).await?;
    let payload = channel.packets.payload(range);
    match payload.first() {
        Some(0xff) => Err(server_error(payload)),
        Some(0xfe | 0x00) => Ok(()),
        _ => Err(Error::Malformed {
            what: "answer to an option of the session",
        }),
    }
}
