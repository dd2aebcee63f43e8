//! LOAD DATA LOCAL, the only case in which a server may request data, and the client's answer.

use std::io;

use crate::{command::COM_QUERY, connection::Connection, error::Error, packets, skim::Outcome};

/// The source of the data of a LOAD DATA LOCAL statement.
pub trait LocalSource {
    /// Appends the next piece (any size; about 1 MiB is best) to `buffer`; false at the end of the data.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool>;
}

impl Connection {
    /// Executes a LOAD DATA LOCAL statement with data from `source`; the file name in it is ignored.
    ///
    /// If `source` fails the connection is closed: ending the data normally would commit a part of it.
    pub async fn load_local(
        &mut self,
        sql: &str,
        source: &mut dyn LocalSource,
    ) -> Result<Outcome, Error> {
        self.run(COM_QUERY, sql.as_bytes(), Some(source), None)
            .await
    }

    /// Sends no longer packets of data than a server takes with this `max_allowed_packet`: half of it, which leaves room for
    /// what the server counts with it.
    pub fn limit_data_packets(&mut self, max_allowed_packet: u64) {
        let half = usize::try_from(max_allowed_packet / 2).unwrap_or(usize::MAX);
        self.channel.data_max = half.clamp(1, packets::DATA_MAX);
    }

    /// Sends all data of the source, and the empty packet that ends it.
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
