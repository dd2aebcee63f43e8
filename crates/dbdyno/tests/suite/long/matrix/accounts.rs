//! Accounts with one login method, created with the statements of each server generation.

use std::process::Command;

use crate::long::matrix::subject::Subject;

/// The account of the login checks.
pub(crate) const USER: &str = "matrix";
pub(crate) const PASSWORD: &str = "correct horse 7";

/// Error number of a syntax error.
const SYNTAX: u16 = 1064;

/// Creates [`USER`] again with this login method; an error if this build does not support it.
pub(crate) fn create(subject: &Subject, plugin: &str) -> Result<(), String> {
    load(subject, plugin)?;
    let user = format!("'{USER}'@'%'");
    // This fails the first time.
    let _ = subject.try_run(&format!("DROP USER {user}"));
    let forms = [
        vec![format!(
            "CREATE USER {user} IDENTIFIED WITH {plugin} BY '{PASSWORD}'"
        )],
        vec![format!(
            "CREATE USER {user} IDENTIFIED VIA {plugin} USING PASSWORD('{PASSWORD}')"
        )],
        // Before MySQL 5.7 the hash is selected separately from the method, for one session.
        vec![
            format!("CREATE USER {user} IDENTIFIED WITH {plugin}"),
            format!(
                "SET SESSION old_passwords = {}",
                u8::from(plugin == "sha256_password") * 2
            ),
            format!("SET PASSWORD FOR {user} = PASSWORD('{PASSWORD}')"),
        ],
    ];
    for form in forms {
        match subject.try_run_together(&form) {
            Ok(()) => return Ok(()),
            Err(error) if error.server_number() == Some(SYNTAX) => {}
            Err(error) => panic!("{form:?}: {error}"),
        }
    }
    panic!("no way to make an account with {plugin}");
}

/// Ensures that the server has a login method, built in or from its plugin directory.
pub(crate) fn load(subject: &Subject, plugin: &str) -> Result<(), String> {
    let active = format!(
        "SELECT 1 FROM information_schema.PLUGINS \
         WHERE PLUGIN_NAME = '{plugin}' AND PLUGIN_STATUS = 'ACTIVE'"
    );
    if !subject.rows(&active).is_empty() {
        return Ok(());
    }
    let file = format!("auth_{}", plugin.trim_start_matches("auth_"));
    for file in [file.as_str(), plugin] {
        let install = format!("INSTALL PLUGIN {plugin} SONAME '{file}.so'");
        if subject.try_run(&install).is_ok() {
            return Ok(());
        }
    }
    Err(format!("the build has no {plugin}"))
}

/// The operating system's name of the account that runs this test.
pub(crate) fn system_user() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
