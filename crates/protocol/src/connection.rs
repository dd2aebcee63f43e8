//! The client connection to a server.

use std::{fmt, io, time::Duration};

use reactor::Stream;

use crate::{
    channel::{Channel, in_time},
    command::{COM_PING, COM_QUERY, COM_QUIT},
    endpoint::{Address, Endpoint, SslMode},
    error::Error,
    greeting::Greeting,
    load_local::LocalSource,
    login,
    moments::{AnswerMoments, Watch},
    name_lookup, packets,
    replies::NO_BACKSLASH_ESCAPES,
    row_sink::RowSink,
    skim::{Dialect, Outcome, Skim, Step},
    statement::StatementCache,
    transport::Transport,
};

/// A connection that is logged in; closed when dropped.
pub struct Connection {
    pub(crate) channel: Channel,
    server_version: String,
    connection_id: u32,
    pub(crate) dialect: Dialect,
    /// The server's status at the end of the last answer.
    status: u16,
    /// The state of prepared statements that both sides keep.
    pub(crate) known: StatementCache,
    /// Time limit of each exchange.
    answer_limit: Option<Duration>,
    /// The last exchange was completed, so that another one can begin.
    in_step: bool,
    /// The last OK packet's text, or the name of a requested file; kept to reuse its memory.
    info: Vec<u8>,
    watch: Watch,
}

impl Connection {
    /// Connects and logs in, for statements around a load: each ends after `limit`, including the time to send it,
    /// unless the endpoint has a limit set by the user.
    pub async fn open_within(endpoint: &Endpoint, limit: Duration) -> Result<Self, Error> {
        let limit = endpoint.statement_timeout.unwrap_or(limit);
        Ok(Self {
            answer_limit: Some(limit),
            ..Self::open(endpoint).await?
        })
    }

    /// Connects and logs in without a time limit for answers: for a measured load, or a caller with its own timeout.
    pub async fn open(endpoint: &Endpoint) -> Result<Self, Error> {
        let after = endpoint.connect_timeout;
        match reactor::timeout(after, Self::log_in(endpoint)).await {
            Ok(result) => result,
            Err(reactor::Elapsed) => Err(Error::Timeout {
                address: endpoint.address.to_string(),
                after,
            }),
        }
    }

    async fn log_in(endpoint: &Endpoint) -> Result<Self, Error> {
        match Self::log_in_with(endpoint, endpoint.ssl_mode).await {
            // The server's TLS is too old for this client or broken, and the user does not require it.
            Err(Error::Tls { .. }) if endpoint.ssl_mode == SslMode::Preferred => {
                Self::log_in_with(endpoint, SslMode::Disabled).await
            }
            result => result,
        }
    }

    async fn log_in_with(endpoint: &Endpoint, ssl_mode: SslMode) -> Result<Self, Error> {
        let stream = connect(&endpoint.address)
            .await
            .map_err(|source| Error::Connect {
                address: endpoint.address.to_string(),
                source,
            })?;
        let mut channel = Channel::new(Transport::Plain(stream), endpoint.round_trip);
        let range = channel.packet("waiting for the greeting").await?;
        let greeting = Greeting::parse(channel.packets.payload(range))?;
        let (channel, dialect, status) =
            login::log_in(channel, endpoint, ssl_mode, &greeting).await?;
        Ok(Self {
            channel,
            server_version: greeting.version,
            connection_id: greeting.connection_id,
            dialect,
            status,
            known: StatementCache::default(),
            answer_limit: None,
            in_step: true,
            info: Vec::new(),
            watch: Watch::default(),
        })
    }

    /// The version string of the server, such as `10.11.14-MariaDB-0+deb12u2`.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// The server's id of this connection, as in `KILL 42`.
    pub fn connection_id(&self) -> u32 {
        self.connection_id
    }

    pub fn tls(&self) -> bool {
        self.channel.transport.is_tls()
    }

    pub fn compressed(&self) -> bool {
        self.channel.transport.is_compressed()
    }

    /// The server's message about the last statement, such as `Records: 3  Deleted: 0  Skipped: 0  Warnings: 0`;
    /// empty if it sent none.
    pub fn info(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.info)
    }

    /// Whether a backslash escapes a character of a string, as of the last answer: it does not while the session's SQL
    /// mode has NO_BACKSLASH_ESCAPES.
    pub fn escapes_with_backslash(&self) -> bool {
        self.status & NO_BACKSLASH_ESCAPES == 0
    }

    /// Executes a statement and reads all its results, counting rows without keeping them.
    pub async fn query(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
        self.run(COM_QUERY, sql, None, None).await
    }

    /// Notes the moments of each exchange from now on.
    pub fn watch_moments(&mut self) {
        self.watch.switch_on();
    }

    /// The moments of the last exchange; `None` if they are not watched.
    pub fn moments(&self) -> Option<AnswerMoments> {
        self.watch.moments()
    }

    pub async fn ping(&mut self) -> Result<(), Error> {
        self.run(COM_PING, b"", None, None).await.map(drop)
    }

    /// Sends COM_QUIT and closes the connection.
    pub async fn close(mut self) -> Result<(), Error> {
        self.begin(COM_QUIT)?;
        self.channel.send("taking leave").await
    }

    /// Sends a command and reads the whole answer.
    pub(crate) async fn run(
        &mut self,
        command: u8,
        argument: &[u8],
        source: Option<&mut dyn LocalSource>,
        kept: Option<&mut dyn RowSink>,
    ) -> Result<Outcome, Error> {
        self.begin(command)?;
        self.channel.out.extend_from_slice(argument);
        self.exchange(source, kept).await
    }

    /// Begins a command in the output buffer; fails if an earlier exchange was interrupted.
    pub(crate) fn begin(&mut self, command: u8) -> Result<(), Error> {
        if !self.in_step {
            let source = io::Error::new(
                io::ErrorKind::NotConnected,
                "given up after an earlier failure",
            );
            return Err(Error::Lost {
                during: "sending a statement",
                source,
            });
        }
        // Set until the answer has been read completely: the future may be dropped before.
        self.in_step = false;
        self.channel.begin_exchange();
        // Unsolicited bytes can only be the error with which the server ended the connection.
        if self.channel.has_unread() && !self.channel.packets.begins_with_error() {
            return Err(Error::Malformed {
                what: "bytes after the end of an answer",
            });
        }
        packets::begin(&mut self.channel.out);
        self.channel.out.push(command);
        Ok(())
    }

    /// Records whether another exchange can follow.
    pub(crate) fn settle<T>(&mut self, result: &Result<T, Error>) {
        self.channel.packets.rest();
        self.in_step = match result {
            Ok(_) => true,
            Err(error) => !error.is_connection_lost(),
        };
    }

    /// Sends the command in the buffer and reads the whole answer.
    pub(crate) async fn exchange(
        &mut self,
        source: Option<&mut dyn LocalSource>,
        kept: Option<&mut dyn RowSink>,
    ) -> Result<Outcome, Error> {
        let result = match self.answer_limit {
            None => self.send_and_skim(source, kept).await,
            // Boxed, so that the future of a connection without a limit needs no space for it.
            Some(limit) => Box::pin(in_time(limit, self.send_and_skim(source, kept))).await,
        };
        self.settle(&result);
        result
    }

    /// Sets the time limit of each exchange; returns the former one.
    pub(crate) fn limit_answers(&mut self, limit: Option<Duration>) -> Option<Duration> {
        std::mem::replace(&mut self.answer_limit, limit)
    }

    pub(crate) fn answer_limit(&self) -> Option<Duration> {
        self.answer_limit
    }

    async fn send_and_skim(
        &mut self,
        mut source: Option<&mut dyn LocalSource>,
        mut kept: Option<&mut dyn RowSink>,
    ) -> Result<Outcome, Error> {
        self.info.clear();
        self.channel.send("sending a statement").await?;
        self.watch.sent();
        let mut skim = Skim::new(self.dialect);
        loop {
            // Bytes are already there if the server ended the connection, or did not wait for a file's content.
            if !self.channel.packets.has_unread() {
                self.channel.receive("waiting for the answer").await?;
            }
            self.watch.received();
            let keep = kept.as_mut().map(|kept| &mut **kept as &mut dyn RowSink);
            let step = skim.step(&mut self.channel.packets, &mut self.info, keep)?;
            if skim.has_rows() {
                self.watch.had_rows();
            }
            match step {
                Step::More => self.channel.receive("waiting for the answer").await?,
                Step::FileRequest => match source.take() {
                    Some(source) => Box::pin(self.send_source(source)).await?,
                    None => return Err(Box::pin(self.refuse_file(&mut skim)).await),
                },
                Step::Done(_) if source.is_some() => return Err(Error::DataNotRequested),
                Step::Done(outcome) => {
                    self.status = skim.status();
                    return Ok(outcome);
                }
            }
        }
    }

    /// Sends an empty file, and reads the whole answer.
    #[cold]
    async fn refuse_file(&mut self, skim: &mut Skim) -> Error {
        let name = String::from_utf8_lossy(&self.info).into_owned();
        match self.answer_without_file(skim).await {
            // The request itself is the error, whatever the server answers to the empty file.
            Ok(()) | Err(Error::Server(_)) => Error::FileRequested { name },
            Err(error) => error,
        }
    }

    async fn answer_without_file(&mut self, skim: &mut Skim) -> Result<(), Error> {
        self.send_nothing().await?;
        loop {
            let packets = &mut self.channel.packets;
            match skim.step(packets, &mut self.info, None)? {
                Step::More => self.channel.receive("waiting for the answer").await?,
                // The skimmer treats a second request as an error.
                Step::FileRequest => {}
                Step::Done(_) => return Ok(()),
            }
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server_version", &self.server_version)
            .field("connection_id", &self.connection_id)
            .finish_non_exhaustive()
    }
}

/// Tries the addresses of a host in turn.
async fn connect(address: &Address) -> io::Result<Stream> {
    match address {
        Address::Unix(path) => Stream::connect_unix(path).await,
        Address::Tcp { host, port } => {
            let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            for address in name_lookup::addresses(host, *port).await? {
                match Stream::connect_tcp(address).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}
