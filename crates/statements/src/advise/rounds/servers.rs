//! The servers of the rounds: the named one where only sessions differ, else copies of it.

use blame::{Blame, Blamed};
use protocol::Endpoint;
use runs::{Context, named_server};
use server::Settings;

use crate::{
    advise::candidate::Parts,
    compare::{Copies, Variant},
    connection::Connection,
};

/// Name of the side without a candidate.
const BASELINE: &str = "baseline";

const NO_COPY: &str = "there is no copy for it";
/// Room in the buffer pool of a copy besides its data, for a new index and the server's own tables.
const ROOM_BYTES: u64 = 64 << 20;
/// Buffer pools are a multiple of this.
const STEP_BYTES: u64 = 16 << 20;

/// The endpoints of the rounds.
pub(super) struct Servers {
    /// Of the side without a candidate.
    pub(super) baseline: Endpoint,
    /// For candidates that are taken back; or why there is no copy.
    pub(super) changed: Result<Endpoint, String>,
    /// For each candidate that is an option, by its parts.
    with_options: Vec<(Parts, Result<Endpoint, String>)>,
    /// The processes of the copies; none if there are no copies.
    pub(super) pids: Vec<u32>,
}

impl Servers {
    /// The named server itself, which nothing changes.
    pub(super) fn named(endpoint: Endpoint) -> Self {
        Self {
            baseline: endpoint,
            changed: Err(NO_COPY.to_owned()),
            with_options: Vec::new(),
            pids: Vec::new(),
        }
    }

    /// Copies of the private server, and their endpoints: one for the baseline, one for all changes that are taken back, and
    /// one for each option, which has the parts of its candidate and their variant.
    pub(super) fn copied(
        connection: &dyn Connection,
        options: Vec<(Parts, Variant)>,
        context: &Context,
    ) -> Result<(Self, Copies), Blamed> {
        let Some(name) = connection.server() else {
            let message = "no private server to copy is named";
            return Err(Blamed::new(Blame::Input, message));
        };
        let server = named_server::open(name)?;
        let own_bytes = server.buffer_pool_bytes(&Settings::default())?;
        let pool_bytes = smaller_pool(own_bytes, server.data_bytes()?);
        let with_pool = |name: &str| {
            let pool = pool_bytes.map(|bytes| {
                let option = "innodb_buffer_pool_size".to_owned();
                (option, bytes.to_string())
            });
            Variant {
                name: name.to_owned(),
                options: pool.into_iter().collect(),
                ..Variant::default()
            }
        };
        let own = [with_pool(BASELINE), with_pool("candidates")];
        let of_options = options.iter().map(|(_, variant)| variant);
        let variants: Vec<&Variant> = own.iter().chain(of_options).collect();
        let copies = Copies::make(name, &variants, true, context)?;
        let endpoints = copies.servers().map(|server| match server {
            Ok(server) => connection.endpoint_of_server(server.endpoint()).map(Ok),
            Err(why) => Ok(Err(why)),
        });
        let endpoints: Vec<Result<Endpoint, String>> = endpoints.collect::<Result<_, Blamed>>()?;
        let mut endpoints = endpoints.into_iter();
        let mut next = || {
            let missing = || Err(NO_COPY.to_owned());
            endpoints.next().unwrap_or_else(missing)
        };
        let servers = Self {
            baseline: next().map_err(|why| Blamed::new(Blame::Server, why))?,
            changed: next(),
            with_options: options
                .into_iter()
                .map(|(parts, _)| (parts, next()))
                .collect(),
            pids: copies.pids().collect(),
        };
        Ok((servers, copies))
    }

    /// The server for a candidate with these parts, which changes it; or why there is none.
    pub(super) fn of(&self, parts: &Parts) -> Result<&Endpoint, String> {
        let mut own = self.with_options.iter();
        let own = own.find(|(known, _)| known == parts);
        match own {
            Some((_, endpoint)) => endpoint.as_ref().map_err(String::clone),
            None if parts.is_option() => Err(NO_COPY.to_owned()),
            None => self.changed.as_ref().map_err(String::clone),
        }
    }

    /// Those that run.
    pub(super) fn copies(&self) -> impl Iterator<Item = &Endpoint> {
        let options = self.with_options.iter().map(|(_, endpoint)| endpoint);
        let changed = [&self.changed].into_iter().chain(options);
        let changed = changed.filter_map(|endpoint| endpoint.as_ref().ok());
        [&self.baseline].into_iter().chain(changed)
    }
}

/// Buffer pool for a copy that holds all its data and an index in memory, bytes; `None` where the server's own is smaller,
/// so that the copy has the same.
fn smaller_pool(own_bytes: u64, data_bytes: u64) -> Option<u64> {
    let needed_bytes = data_bytes + data_bytes / 2 + ROOM_BYTES;
    let bytes = needed_bytes.next_multiple_of(STEP_BYTES);
    (bytes < own_bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_takes_the_memory_of_its_data_or_that_of_the_server() {
        const MIB: u64 = 1 << 20;
        for (own_mib, data_mib, expected) in [
            // A quarter of 24 GiB, as a server has it by default.
            (6144, 200, Some(368 * MIB)),
            (6144, 4100, None),
            (64, 30, None),
        ] {
            assert_eq!(smaller_pool(own_mib * MIB, data_mib * MIB), expected);
        }
    }
}
