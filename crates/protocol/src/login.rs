//! The login: TLS if required, the answer to the greeting, the rounds of the login method, then compression.

use std::borrow::Cow;

use mysql_common::{
    collations::CollationId,
    constants::{CapabilityFlags, MariadbCapabilities},
    packets::{AuthPlugin, HandshakeResponse, SslRequest},
    proto::MySerialize,
};

use zeroize::Zeroize;

use crate::{
    channel::Channel,
    endpoint::{Address, Compression, Endpoint, SslMode},
    error::Error,
    greeting::Greeting,
    layers::Layers,
    lenenc::Fields,
    login_methods::{Method, Secret},
    packets,
    replies::{OkReply, server_error},
    skim::Dialect,
    tls::ClientTls,
    transport::Transport,
};

/// The current action, for errors.
const DURING: &str = "logging in";
/// Largest number of rounds; the longest known method uses five packets.
const ROUNDS_MAX: usize = 16;
/// Bytes of a plugin's name that errors show; the server's own limit is 64.
const PLUGIN_BYTES_MAX: usize = 64;
/// The packet size that we announce; no server sends packets of this size to a client.
const PACKET_MAX: u32 = 1 << 30;

/// The capabilities that this client requests if the server has them.
///
/// Session tracking is not requested.
const WANTED: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

/// The capabilities without which no login is possible.
const NEEDED: CapabilityFlags =
    CapabilityFlags::CLIENT_PROTOCOL_41.union(CapabilityFlags::CLIENT_SECURE_CONNECTION);

/// Announced regardless of the server: it decides on LOAD DATA LOCAL when a statement uses it.
const ALWAYS: CapabilityFlags = CapabilityFlags::CLIENT_LOCAL_FILES;

/// The MariaDB capabilities that this client requests: the columns of a prepared statement are described once.
const WANTED_OF_MARIADB: MariadbCapabilities = MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;

/// The capabilities that both sides have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Negotiated {
    pub(crate) capabilities: CapabilityFlags,
    pub(crate) mariadb: MariadbCapabilities,
    /// The number of the character set; 0 is that of the library.
    pub(crate) charset: u8,
}

impl Negotiated {
    fn with(greeting: &Greeting) -> Self {
        let mut capabilities = (greeting.capabilities | ALWAYS) & WANTED;
        let mariadb = greeting.mariadb & WANTED_OF_MARIADB;
        // This flag selects MySQL's dialect; MariaDB servers and their clients omit it.
        capabilities.set(CapabilityFlags::CLIENT_LONG_PASSWORD, mariadb.is_empty());
        if leaves_out_definitions(&greeting.version) {
            capabilities.remove(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        }
        Self {
            capabilities,
            mariadb,
            charset: 0,
        }
    }

    fn dialect(self) -> Dialect {
        Dialect {
            deprecate_eof: self
                .capabilities
                .contains(CapabilityFlags::CLIENT_DEPRECATE_EOF),
            cache_metadata: self
                .mariadb
                .contains(MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA),
        }
    }
}

/// Whether a server announces a definition for each parameter of a prepared statement and sends none for those of an ORDER BY:
/// only an EOF packet tells where its definitions end. Seen with MySQL 8.0.33; mended in 8.0.38 and 8.4.1.
fn leaves_out_definitions(version: &str) -> bool {
    let numbers: Vec<u32> = version
        .split(|it: char| !it.is_ascii_digit())
        .map_while(|number| number.parse().ok())
        .collect();
    let of_mysql = !version.contains("MariaDB");
    of_mysql
        && matches!(
            numbers[..],
            [8, 0, 22..=37, ..] | [8, 1..=3, ..] | [8, 4, 0, ..]
        )
}

/// Logs in; returns the channel, encrypted if negotiated, the dialect of the answers, and the server's status.
pub(crate) async fn log_in(
    channel: Channel,
    endpoint: &Endpoint,
    ssl_mode: SslMode,
    greeting: &Greeting,
) -> Result<(Channel, Dialect, u16), Error> {
    let agreed = Negotiated::with(greeting);
    let tls = ClientTls::new(ssl_mode, endpoint.ssl_ca.as_deref())?;
    let accepted = log_in_as(channel, endpoint, &tls, greeting, agreed).await?;
    Ok((accepted.channel, agreed.dialect(), accepted.status))
}

pub(crate) struct Accepted {
    pub(crate) channel: Channel,
    /// All capabilities, MariaDB's in the upper half.
    pub(crate) capabilities: u64,
    pub(crate) status: u16,
}

/// Logs in with these capabilities, to which those of the login itself are added.
pub(crate) async fn log_in_as(
    mut channel: Channel,
    endpoint: &Endpoint,
    tls: &ClientTls,
    greeting: &Greeting,
    mut agreed: Negotiated,
) -> Result<Accepted, Error> {
    if !greeting.capabilities.contains(NEEDED) {
        return Err(Error::TooOld {
            version: greeting.version.clone(),
        });
    }
    // MySQL uses the capabilities of the TLS request, not those of the login packet after it.
    agreed.capabilities.set(
        CapabilityFlags::CLIENT_CONNECT_WITH_DB,
        endpoint.database.is_some(),
    );
    let is_compressed = wants_compression(endpoint, greeting)?;
    agreed
        .capabilities
        .set(CapabilityFlags::CLIENT_COMPRESS, is_compressed);
    if wants_tls(endpoint, tls.mode, greeting)? {
        agreed.capabilities |= CapabilityFlags::CLIENT_SSL;
        channel = encrypt(channel, endpoint, tls, agreed).await?;
    }
    let secret = Secret {
        password: endpoint
            .password
            .as_ref()
            .map_or(b"", |password| password.as_bytes()),
        nonce: Cow::Borrowed(&greeting.nonce),
        tls: channel.transport.is_tls(),
        socket: matches!(endpoint.address, Address::Unix(_)),
        server_key: &endpoint.server_key,
    };
    // The server may propose a method unknown to us although the account uses another one.
    let method = Method::of_plugin(&greeting.plugin)
        .unwrap_or(Method::Native)
        .to_begin_with(&secret);
    let proof = method.first(&secret)?;
    let response = HandshakeResponse::new(
        Some(&proof[..]),
        // Affects only the character set: utf8mb4.
        (5, 5, 3),
        Some(endpoint.user.as_bytes()),
        endpoint.database.as_deref().map(str::as_bytes),
        Some(AuthPlugin::from_bytes(method.plugin().as_bytes())),
        agreed.capabilities,
        None,
        PACKET_MAX,
    )
    .with_mariadb_ext_capabilities(agreed.mariadb);
    packets::begin(&mut channel.out);
    response.serialize(&mut channel.out);
    if agreed.charset != 0 {
        // Behind the header, the capabilities and the largest packet.
        channel.out[packets::HEADER + 8] = agreed.charset;
    }
    send_secret(&mut channel).await?;
    let status = prove(&mut channel, method, secret).await?;
    if is_compressed {
        // Bytes that are already here were sent without a frame and without a request.
        if channel.has_unread() {
            return Err(Error::Malformed {
                what: "bytes before compression begins",
            });
        }
        channel = channel.compress();
    }
    channel.packets.rest();
    Ok(Accepted {
        channel,
        capabilities: u64::from(agreed.capabilities.bits())
            | u64::from(agreed.mariadb.bits()) << 32,
        status,
    })
}

/// Whether to encrypt, decided as by the mysql client; an error if TLS is required and the server does not offer it.
fn wants_tls(endpoint: &Endpoint, ssl_mode: SslMode, greeting: &Greeting) -> Result<bool, Error> {
    let offered = greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL);
    match ssl_mode {
        SslMode::Disabled => Ok(false),
        SslMode::Preferred => Ok(offered && matches!(endpoint.address, Address::Tcp { .. })),
        SslMode::Required | SslMode::VerifyCa | SslMode::VerifyIdentity if !offered => {
            Err(Error::Tls {
                address: endpoint.address.to_string(),
                what: "the server offers none".to_owned(),
            })
        }
        SslMode::Required | SslMode::VerifyCa | SslMode::VerifyIdentity => Ok(true),
    }
}

/// Whether to compress; an error if compression is required and the server does not offer it.
fn wants_compression(endpoint: &Endpoint, greeting: &Greeting) -> Result<bool, Error> {
    let offered = greeting
        .capabilities
        .contains(CapabilityFlags::CLIENT_COMPRESS);
    match endpoint.compression {
        Compression::Off => Ok(false),
        Compression::Preferred => Ok(offered),
        Compression::Required if !offered => Err(Error::NoCompression {
            address: endpoint.address.to_string(),
        }),
        Compression::Required => Ok(true),
    }
}

async fn encrypt(
    mut channel: Channel,
    endpoint: &Endpoint,
    tls: &ClientTls,
    agreed: Negotiated,
) -> Result<Channel, Error> {
    // An attacker could insert an answer before the encryption begins.
    if channel.packets.has_unread() {
        return Err(Error::Malformed {
            what: "bytes before TLS begins",
        });
    }
    packets::begin(&mut channel.out);
    let usual = CollationId::UTF8MB4_GENERAL_CI as u8;
    SslRequest::new(
        agreed.capabilities,
        PACKET_MAX,
        // MySQL refuses a login with another one than the request has.
        if agreed.charset == 0 {
            usual
        } else {
            agreed.charset
        },
    )
    .with_mariadb_capabilities(agreed.mariadb)
    .serialize(&mut channel.out);
    channel.send(DURING).await?;
    if let Transport::Plain(mut stream) = channel.transport {
        let layers = Layers::to_server(&mut stream, tls, &endpoint.address).await?;
        channel.transport = Transport::layered(stream, layers);
    }
    Ok(channel)
}

/// Sends a packet that may contain the password, and erases it from the buffer.
async fn send_secret(channel: &mut Channel) -> Result<(), Error> {
    let sent = channel.send(DURING).await;
    channel.out.zeroize();
    sent
}

/// Answers the server's requests until it accepts the login; returns the server's status.
async fn prove(
    channel: &mut Channel,
    mut method: Method,
    mut secret: Secret<'_>,
) -> Result<u16, Error> {
    for _ in 0..ROUNDS_MAX {
        let range = channel.packet(DURING).await?;
        let payload = channel.packets.payload(range);
        let answer = match payload {
            [0x00, ..] => return Ok(OkReply::parse(payload)?.status),
            [0xff, ..] => return Err(server_error(payload)),
            [0xfe, request @ ..] => {
                (method, secret.nonce) = switched(request)?;
                Some(method.first(&secret)?)
            }
            // MySQL before 8 and MariaDB escape only data that could be mistaken for another packet.
            [0x01, challenge @ ..] | challenge => method.next(&secret, challenge)?,
        };
        if let Some(answer) = answer {
            packets::begin(&mut channel.out);
            channel.out.extend_from_slice(&answer);
            send_secret(channel).await?;
        }
    }
    Err(Error::Malformed {
        what: "login without end",
    })
}

/// Parses the request to switch to another method: its name and a new nonce.
fn switched<'a>(request: &[u8]) -> Result<(Method, Cow<'a, [u8]>), Error> {
    let refused = |plugin: &[u8], what| Error::Auth {
        plugin: String::from_utf8_lossy(&plugin[..plugin.len().min(PLUGIN_BYTES_MAX)]).into_owned(),
        what,
    };
    if request.is_empty() {
        return Err(refused(
            b"mysql_old_password",
            "not safe, and not supported",
        ));
    }
    let mut fields = Fields(request);
    let plugin = fields.until_nul().ok_or(Error::Malformed {
        what: "login packet",
    })?;
    match Method::of_plugin(plugin) {
        Some(method) => Ok((method, Cow::Owned(fields.0.to_vec()))),
        None if plugin == b"mysql_clear_password" => Err(refused(
            plugin,
            "would hand out the password, and is not supported",
        )),
        None => Err(refused(plugin, "not supported")),
    }
}
