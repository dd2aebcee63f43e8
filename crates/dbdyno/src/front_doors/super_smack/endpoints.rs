//! Where the clients of a .smack file connect: the command line overrules the file, the file the option files.

use std::sync::Arc;

use protocol::Endpoint;
use workload::smack::{ClientSection, Script};

use crate::connection_options::ConnectionOptions;

/// One endpoint for each client section, in file order.
pub(super) struct Endpoints(Vec<Arc<Endpoint>>);

impl Endpoints {
    pub(super) fn new(script: &Script, options: &ConnectionOptions) -> anyhow::Result<Self> {
        script
            .clients
            .iter()
            .map(|client| endpoint(client, options).map(Arc::new))
            .collect::<anyhow::Result<_>>()
            .map(Self)
    }

    /// The endpoint of the client with this index.
    pub(super) fn of(&self, client: usize) -> &Arc<Endpoint> {
        &self.0[client]
    }
}

fn endpoint(client: &ClientSection, options: &ConnectionOptions) -> anyhow::Result<Endpoint> {
    let mut endpoint = completed(client, options).endpoint()?;
    if options.password_file.is_none()
        && let Some(password) = &client.password
    {
        endpoint.password = Some(password.clone());
    }
    Ok(endpoint)
}

/// The command line's options, with the file's where it names none.
fn completed(client: &ClientSection, options: &ConnectionOptions) -> ConnectionOptions {
    let mut completed = options.clone();
    // A place that the command line names replaces the file's as a whole: its socket, say, does not outlive
    // another host.
    if options.host.is_none() && options.port.is_none() && options.socket.is_none() {
        completed.host.clone_from(&client.host);
        completed.port = client.port;
        completed.socket = client.socket.as_ref().map(Into::into);
    } else if options.socket.is_none() && options.host.is_none() {
        // -P alone is for sections without a port of their own.
        completed.host.clone_from(&client.host);
        completed.port = client.port.or(options.port);
    }
    completed.user = options.user.clone().or_else(|| client.user.clone());
    completed.database = options.database.clone().or_else(|| client.database.clone());
    completed
}
