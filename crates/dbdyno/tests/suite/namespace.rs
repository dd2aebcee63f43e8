//! Another host in a test: a network namespace with a pair of virtual interfaces.

use std::{
    net::Ipv4Addr,
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The names below are valid for one other host at a time in this process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Another host, removed at the end of the test.
pub(crate) struct OtherHost {
    pub(crate) namespace: String,
    /// Our end of the link; its own is `far`.
    pub(crate) link: String,
    /// Its address; ours is the previous one.
    pub(crate) address: Ipv4Addr,
    _turn: MutexGuard<'static, ()>,
}

impl OtherHost {
    /// Creates one; an error if this is not possible.
    pub(crate) fn new() -> Result<Self, String> {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        // Four addresses of 10.0.0.0/8 for each possible process id, which has 22 bits at most.
        let network = u32::from(Ipv4Addr::new(10, 0, 0, 0)) + (process << 2);
        let (near, far) = (Ipv4Addr::from(network + 1), Ipv4Addr::from(network + 2));
        let host = Self {
            namespace: format!("dbdyno-{process}"),
            link: format!("dyn{process}"),
            address: far,
            _turn: turn,
        };
        let Self {
            namespace, link, ..
        } = &host;
        for command in [
            format!("netns add {namespace}"),
            format!("link add {link} type veth peer name far netns {namespace}"),
            format!("addr add {near}/30 dev {link}"),
            format!("link set {link} up"),
            format!("-n {namespace} addr add {far}/30 dev far"),
            format!("-n {namespace} link set far up"),
            format!("-n {namespace} link set lo up"),
        ] {
            ip(&command)?;
        }
        Ok(host)
    }
}

impl Drop for OtherHost {
    fn drop(&mut self) {
        // This fails if the link was never created.
        let _ = ip(&format!("link del {}", self.link));
        let _ = ip(&format!("netns del {}", self.namespace));
    }
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| format!("ip: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "ip {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        ))
    }
}
