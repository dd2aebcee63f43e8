//! LOAD DATA LOCAL: the one case in which a server may ask for data, and how it is answered.

use std::io;

use crate::{command::COM_QUERY, connection::Connection, error::Error, packets, skim::Outcome};

/// Where the data of a LOAD DATA LOCAL statement comes from.
pub trait LocalSource {
    /// Appends the next piece (any size; about 1 MiB is best) to `buffer`; false when there is no more.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool>;
}

impl Connection {
    /// Runs a LOAD DATA LOCAL statement with data from `source`; the file name in it does not matter.
    ///
    /// Where `source` fails the connection is given up: to end the data as if it were complete would keep half.
    pub async fn load_local(
        &mut self,
        sql: &str,
        source: &mut dyn LocalSource,
    ) -> Result<Outcome, Error> {
        self.run(COM_QUERY, sql.as_bytes(), Some(source), None)
            .await
    }

    /// Sends everything that the source has, and the empty packet that ends it.
    pub(crate) async fn send_source(&mut self, source: &mut dyn LocalSource) -> Result<(), Error> {
        loop {
            packets::begin(&mut self.channel.out);
            let more = source
                .fill(&mut self.channel.out)
                .map_err(|source| Error::Source { source })?;
            // An empty packet would end the data, so an empty piece is not sent.
            if self.channel.out.len() > packets::HEADER {
                self.channel.send_data("sending data").await?;
            }
            if !more {
                return self.send_nothing().await;
            }
        }
    }

    /// Ends the data, or refuses to send any.
    pub(crate) async fn send_nothing(&mut self) -> Result<(), Error> {
        packets::begin(&mut self.channel.out);
        self.channel.send_data("sending data").await
    }
}
