//! What the command line says of a proxy that does not start.

use blame::{Blame, Blamed};
use proxy::StartError;

/// The error of a proxy that does not start, with the option that it comes from.
pub(super) fn refusal(error: StartError) -> Blamed {
    match error {
        StartError::Listen { .. } => {
            let hint = "another program listens there, or the address is not this machine's: choose another \
                        --proxy-address or --admin-address";
            Blamed::new(Blame::Input, error).hint(hint.to_owned())
        }
        StartError::Thread(_) | StartError::Hooks(_) => Blamed::new(Blame::Input, error),
        StartError::File { path, source } => Blamed::io(Blame::Input, &path)(source),
        StartError::PidFileInUse { .. } => Blamed::new(Blame::Input, error)
            .hint("stop it first, or name another --pid-file".to_owned()),
        StartError::NotRoot(_) => Blamed::new(Blame::Input, "--user needs root"),
        StartError::User { .. } => Blamed::new(Blame::Input, format!("--{error}")),
        StartError::OpenFiles {
            files,
            source,
            most,
        } => {
            let message =
                format!("--max-open-files {files}: {source}; the system's limit is {most}");
            let hint =
                "raise the hard limit (LimitNOFILE of a systemd service, nofile in limits.conf)";
            Blamed::machine(message).hint(hint.to_owned())
        }
        StartError::Process(error) => Blamed::machine(error),
    }
}
