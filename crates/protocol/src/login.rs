//! Logging in: the answer to the greeting and the methods of proving a password.

use mysql_common::{
    auth::plugins::{
        caching_sha2_password::scramble_sha256, mysql_native_password::scramble_native,
    },
    constants::CapabilityFlags,
    packets::{AuthPlugin, HandshakeResponse},
    proto::MySerialize,
};

use crate::{
    connection::Channel, endpoint::Endpoint, error::Error, greeting::Greeting, packets,
    replies::server_error, skim::CONTROL_BYTES_MAX,
};

/// What this client can do and wants.
fn wanted() -> CapabilityFlags {
    CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_LOCAL_FILES
        | CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_MULTI_STATEMENTS
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_DEPRECATE_EOF
}

pub(crate) async fn log_in(
    channel: &mut Channel,
    endpoint: &Endpoint,
    greeting: &Greeting,
) -> Result<CapabilityFlags, Error> {
    let capabilities = (greeting.capabilities
        | CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LOCAL_FILES)
        & wanted();
    let password = endpoint
        .password
        .as_ref()
        .map_or(&b""[..], |password| password.as_bytes());
    let proof = prove(&greeting.plugin, password, &greeting.nonce);
    let response = HandshakeResponse::new(
        Some(proof),
        (5, 5, 5),
        Some(endpoint.user.as_bytes()),
        endpoint.database.as_deref().map(str::as_bytes),
        Some(AuthPlugin::from_bytes(&greeting.plugin)),
        capabilities,
        None,
        1 << 30,
    );
    packets::begin(&mut channel.out);
    response.serialize(&mut channel.out);
    channel.send("logging in").await?;
    loop {
        let range = channel.packet(CONTROL_BYTES_MAX, "logging in").await?;
        let payload = channel.packets.payload(range);
        match payload.first() {
            Some(0) => return Ok(capabilities),
            Some(0xff) => return Err(server_error(payload)),
            Some(0xfe) => {
                let mut fields = crate::lenenc::Fields(&payload[1..]);
                let plugin = fields.until_nul().unwrap_or_default().to_vec();
                let nonce = fields.0.strip_suffix(&[0]).unwrap_or(fields.0).to_vec();
                packets::begin(&mut channel.out);
                let proof = prove(&plugin, password, &nonce);
                channel.out.extend_from_slice(&proof);
                channel.send("logging in").await?;
            }
            _ => return Err(Error::Malformed { what: "login" }),
        }
    }
}

fn prove(plugin: &[u8], password: &[u8], nonce: &[u8]) -> Vec<u8> {
    match plugin {
        b"mysql_native_password" => scramble_native(nonce, password)
            .map(|proof| proof.to_vec())
            .unwrap_or_default(),
        b"caching_sha2_password" => nonce
            .try_into()
            .ok()
            .and_then(|nonce| scramble_sha256(nonce, password))
            .map(|proof| proof.to_vec())
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}
