//! Scripts as hooks, without any network: each test gives a script as text and plays the relay.

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
