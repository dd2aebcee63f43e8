//! Packet exchange over a transport, used by a connection before and after its login.

use std::{io, ops::Range, time::Duration};

use crate::{
    error::Error,
    packets::{self, CONTROL_BYTES_MAX, PacketReader},
    replies::server_error,
    transport::Transport,
};

/// Sends and receives the packets of one exchange after another.
pub(crate) struct Channel {
    pub(crate) transport: Transport,
    pub(crate) packets: PacketReader,
    /// The packet to be built and sent next; kept to reuse its memory.
    pub(crate) out: Vec<u8>,
    /// Payload of a data packet at most.
    pub(crate) data_max: usize,
    /// Half of the delay added to a round trip.
    delay: Duration,
    /// The last bytes were ours, so the next bytes of the server are delayed.
    ours: bool,
}

impl Channel {
    /// A channel that adds this delay to every round trip.
    pub(crate) fn new(transport: Transport, round_trip: Duration) -> Self {
        Self {
            transport,
            packets: PacketReader::new(),
            out: Vec::new(),
            data_max: packets::DATA_MAX,
            delay: round_trip / 2,
            ours: false,
        }
    }

    /// Begins an exchange: the next packet sent has the number 0.
    pub(crate) fn begin_exchange(&mut self) {
        self.packets.set_sequence(0);
        self.transport.begin_exchange();
    }

    /// Whether received bytes are unread.
    pub(crate) fn has_unread(&self) -> bool {
        self.packets.has_unread() || self.transport.has_unread()
    }

    pub(crate) fn compress(mut self) -> Self {
        self.packets.ignore_numbers();
        Self {
            transport: self.transport.compressed(),
            ..self
        }
    }

    /// Sends the content of `out` as the next packet of the exchange, in one write.
    pub(crate) async fn send(&mut self, during: &'static str) -> Result<(), Error> {
        let next = packets::finish(&mut self.out, self.packets.sequence());
        self.write(next, during).await
    }

    /// Sends the content of `out` as packets of a data stream; an empty packet ends the stream.
    pub(crate) async fn send_data(&mut self, during: &'static str) -> Result<(), Error> {
        let next = packets::finish_data(&mut self.out, self.data_max, self.packets.sequence());
        self.write(next, during).await
    }

    async fn write(&mut self, next: u8, during: &'static str) -> Result<(), Error> {
        self.packets.set_sequence(next);
        if !self.delay.is_zero() {
            self.travel(true).await;
        }
        // A command nearly always fits into the socket at once.
        let sent = self.transport.try_send(&self.out);
        match sent {
            Ok(count) if count == self.out.len() => Ok(()),
            // Boxed, like all rare paths: the future of a connection is as large as its largest path.
            _ => Box::pin(self.write_rest(sent, during)).await,
        }
    }

    /// Waits while the first bytes of a turn are in transit; the following ones arrive directly after them.
    async fn travel(&mut self, ours: bool) {
        if self.ours != ours {
            self.ours = ours;
            Box::pin(reactor::sleep(self.delay)).await;
        }
    }

    async fn write_rest(
        &mut self,
        sent: io::Result<usize>,
        during: &'static str,
    ) -> Result<(), Error> {
        let sent = match sent {
            Ok(count) => self.transport.send(&self.out[count..]).await,
            Err(source) => Err(source),
        };
        match sent {
            Ok(()) => Ok(()),
            Err(source) => match self.last_words().await {
                Some(error) => Err(error),
                None => Err(Error::Lost { during, source }),
            },
        }
    }

    /// The error that a server may have sent before it closed the connection.
    async fn last_words(&mut self) -> Option<Error> {
        let range = loop {
            match self.packets.peek().ok()? {
                Some(head) if head.first != Some(0xff) => return None,
                Some(_) => {
                    if let Some(range) = self.packets.take(CONTROL_BYTES_MAX).ok()? {
                        break range;
                    }
                }
                None => {}
            }
            self.receive("").await.ok()?;
        };
        match server_error(self.packets.payload(range)) {
            Error::Server(error) => Some(Error::Ended(error)),
            _ => None,
        }
    }

    /// Receives at least one byte.
    pub(crate) async fn receive(&mut self, during: &'static str) -> Result<(), Error> {
        self.packets.rest();
        loop {
            let read = match self.transport.readable().await {
                Ok(()) => self.transport.try_read(self.packets.room()),
                Err(error) => Err(error),
            };
            match read {
                Ok(None) => {}
                Ok(Some(0)) => {
                    let source =
                        io::Error::new(io::ErrorKind::UnexpectedEof, "closed by the server");
                    return Err(Error::Lost { during, source });
                }
                Ok(Some(count)) => {
                    self.packets.received(count);
                    if !self.delay.is_zero() {
                        self.travel(false).await;
                    }
                    return Ok(());
                }
                Err(source) => return Err(Error::Lost { during, source }),
            }
        }
    }

    /// Receives one complete packet of at most `CONTROL_BYTES_MAX`.
    pub(crate) async fn packet(&mut self, during: &'static str) -> Result<Range<usize>, Error> {
        loop {
            if self.packets.peek()?.is_some()
                && let Some(range) = self.packets.take(CONTROL_BYTES_MAX)?
            {
                return Ok(range);
            }
            self.receive(during).await?;
        }
    }
}

/// The result of an exchange, or a timeout, which drops the exchange.
pub(crate) async fn in_time<T>(
    limit: Duration,
    exchange: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match reactor::timeout(limit, exchange).await {
        Ok(result) => result,
        Err(reactor::Elapsed) => Err(Error::NoAnswer { after: limit }),
    }
}
