//! A login of the proxy's own at a server, for a client whose answers pass on.

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use reactor::Stream;

use crate::{
    channel::Channel,
    endpoint::Endpoint,
    error::Error,
    greeting::Greeting,
    layers::Layers,
    login::{self, Negotiated},
    tls::ClientTls,
    transport::Transport,
};

/// A connection that is logged in.
pub struct OwnLogin {
    pub stream: Stream,
    /// What lies above it, if anything.
    pub layers: Option<Layers>,
    /// The capabilities that both sides agreed on.
    pub capabilities: u64,
}

/// What a client's login decides for the answers.
#[derive(Debug, Clone, Copy)]
pub struct LoginForm {
    /// The capabilities that the client wants.
    pub capabilities: u64,
    /// The character set's number; 0 is the usual one.
    pub charset: u8,
}

/// Logs in with the account of the endpoint at a server that has sent this greeting, with the form that a
/// client wants, as far as the server has it.
pub async fn log_in(
    stream: Stream,
    greeting: &[u8],
    endpoint: &Endpoint,
    tls: &ClientTls,
    form: LoginForm,
) -> Result<OwnLogin, Error> {
    let greeting = Greeting::parse(greeting)?;
    let agreed = Negotiated::of_client(form, &greeting);
    let mut channel = Channel::new(Transport::Plain(stream), std::time::Duration::ZERO);
    // The greeting was packet 0.
    channel.packets.set_sequence(1);
    let accepted = login::log_in_as(channel, endpoint, tls, &greeting, agreed).await?;
    let channel = accepted.channel;
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
        capabilities: accepted.capabilities,
    })
}

impl Negotiated {
    fn of_client(form: LoginForm, greeting: &Greeting) -> Self {
        let [low, high] = [form.capabilities as u32, (form.capabilities >> 32) as u32];
        let low = CapabilityFlags::from_bits_retain(low);
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
            mariadb: MariadbCapabilities::from_bits_retain(high) & greeting.mariadb,
            charset: form.charset,
        }
    }
}
