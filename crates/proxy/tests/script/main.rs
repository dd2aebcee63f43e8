//! Scripts as hooks, without any network: each test gives a script as text and plays the relay.
//!
//! Where each part of MySQL Proxy's behaviour is tested; `relay/` is the other test program of this crate:
//!
//! - environments, shared globals and modules, reload, scripts that fail to load or run: `loading`, `reference`,
//!   `relay/scripts`
//! - `proxy.response` and `proxy.queries` empty before each `read_query`: `loading`, `decisions`, `reference`
//! - a coroutine for each connection: `reference`
//! - errors of hooks, by their names: `decisions`, `relay/scripts`
//! - `connect_server`: choice of the backend, states, pooled connection, a script as the server: `decisions`,
//!   `relay/login`, `relay/pooling`, `relay/scripts`
//! - `read_handshake`, `read_auth`, `read_auth_result`: answers, another login, errors of the server: `decisions`,
//!   `relay/login`, `relay/injections`, `relay/scripts`
//! - `read_query`, `read_query_result`: every decision, results that were kept or passed on, numbers of packets:
//!   `decisions`, `relay/injections`
//! - no server for a command; COM_CHANGE_USER to 5.1.14 to 5.1.17: `relay/scripts`
//! - constants: `objects`
//! - `proxy.queries` with its error texts: `objects`, `decisions`
//! - `inj`, `inj.resultset`, fields, rows, flags, error texts; times from the append: `results`, `kept`
//! - objects that outlive their result, their memory: `results`, `kept`
//! - `proxy.response` of each type, missing and invalid fields: `responses`
//! - `proxy.connection`, its ends, addresses, what cannot be read or written: `objects`, `reference`
//! - `proxy.global`, backends, pools: `objects`, `reference`; the pool's matches in `relay/pooling`; what a connection of the
//!   pool brings to its next session: `relay/leftovers`, and on real servers `state/`
//! - `proxy.connection.server` after an assignment to `backend_ndx`: `relay/scripts`
//! - `mysql.proto`: `proto`, `reference`
//! - `mysql.password`, `mysql.tokenizer`, `lfs`, `glib2`, `posix`, `chassis`, `lpeg`: `modules`, `reference`
//! - rules of tokens, ids of keywords: unit tests of `src/script/modules/token.rs` and `keywords.rs`
//! - `proxy.tokenizer` (normalized statements), `parser`, `commands`, `balance`, `auto-config`, `test`: `modules`,
//!   `reference`
//! - admin interface: `relay/admin`, and `admin.lua` with the other bundled scripts
//! - bundled scripts: `bundled`; all of them with a real server in `crates/dbdyno/tests/suite/servers/proxy/scripts.rs`

mod bundled;
mod decisions;
mod kept;
mod loading;
mod modules;
mod objects;
mod proto;
mod reference;
mod responses;
mod results;
mod scene;
