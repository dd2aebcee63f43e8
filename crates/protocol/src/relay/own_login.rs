//! A login of the proxy's own at a server, for a client whose answers pass on.

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use reactor::Stream;

use crate::{
    channel::Channel, endpoint::Endpoint, error::Error, greeting::Greeting, layers::Layers,
    login::{self, Negotiated},
    tls::ClientTls,
    transport::Transport,
};

/// A connection that is logged in.
pub struct OwnLogin {
    /// The socket.
    pub stream: Stream,
    /// What lies above it, if anything.
    pub layers: Option<Layers>,
    /// The capabilities that both sides agreed on.
    pub capabilities: u64,
}

/// Logs in with the account of the endpoint at a server that has sent this greeting, with these capabilities of a
/// client as far as the server has them.
pub async fn log_in(
    stream: Stream,
    greeting: &[u8],
    endpoint: &Endpoint,
    tls: &ClientTls,
    capabilities: u64,
) -> Result<OwnLogin, Error> {
    let greeting = Greeting::parse(greeting)?;
    let agreed = Negotiated::of_client(capabilities, &greeting);
    let mut channel = Channel::new(Transport::Plain(stream), std::time::Duration::ZERO);
    // The greeting was packet 0.
    channel.packets.set_sequence(1);
    let (channel, agreed) = login::log_in_as(channel, endpoint, tls, &greeting, agreed).await?;
    if channel.has_unread() {
        return Err(Error::Malformed {
            what: "bytes after the end of a login",
        });
    }
    let is_compressed = channel.transport.is_compressed();
    let (stream, layers) = channel.transport.into_parts();
    let layers = layers.map(|mut layers| {
        if is_compressed {
            layers.compress_to_server();
        }
        layers
    });
    Ok(OwnLogin {
        stream,
        layers,
        capabilities: agreed,
    })
}

impl Negotiated {
    fn of_client(capabilities: u64, greeting: &Greeting) -> Self {
        let [low, high] = [capabilities as u32, (capabilities >> 32) as u32];
        let low = CapabilityFlags::from_bits_truncate(low);
        let own = CapabilityFlags::CLIENT_SSL
            | CapabilityFlags::CLIENT_COMPRESS
            | CapabilityFlags::CLIENT_CONNECT_WITH_DB
            | CapabilityFlags::CLIENT_CONNECT_ATTRS;
        let mut agreed = low & greeting.capabilities & !own;
        agreed |= greeting.capabilities
            & (CapabilityFlags::CLIENT_PLUGIN_AUTH
                | CapabilityFlags::CLIENT_SECURE_CONNECTION
                | CapabilityFlags::CLIENT_PROTOCOL_41
                | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA);
        Self {
            capabilities: agreed,
            mariadb: MariadbCapabilities::from_bits_truncate(high) & greeting.mariadb,
        }
    }
}
