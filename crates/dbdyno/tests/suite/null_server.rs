//! A null server of a scene: what answers where a test is about our side.

use std::{
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use crate::scene::{Running, Scene};

/// Starts a null server on a unix socket of the scene, with additional options, and waits until it listens.
pub(crate) fn null_server(scene: &Scene, options: &[&str]) -> (Running, PathBuf) {
    let socket = scene.path().join("null.sock");
    let path = socket.to_str().unwrap().to_owned();
    let mut running = scene.start([&["null-server", "--socket", &path], options].concat());
    running.wait_until("it listens", || UnixStream::connect(&socket).is_ok());
    (running, socket)
}

/// Writes a .smack file whose client sends this one statement to the null server.
pub(crate) fn write_smack(scene: &Scene, socket: &Path, statement: &str) {
    let has_rows = if statement.starts_with("select") {
        "y"
    } else {
        "n"
    };
    let text = format!(
        "client \"one\" {{ user \"u\"; host \"localhost\"; db \"test\"; socket \"{}\"; query_barrel \"1 it\"; }}
         query \"it\" {{ query \"{statement}\"; type \"it\"; has_result_set \"{has_rows}\"; parsed \"n\"; }}
         main {{ one.init(); one.set_num_rounds($2); one.create_threads($1); one.connect(); \
         one.unload_query_barrel(); one.collect_threads(); one.disconnect(); }}",
        socket.display()
    );
    scene.file("one.smack", &text);
}
