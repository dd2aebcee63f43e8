//! What can be compared on existing servers, checked before anything is written.

use blame::{Blame, Blamed};
use experiment::Design;

use super::{
    factor::{Factor, Kind},
    measurement::Measurement,
};

const OPTION: &str = "--on-this-server";

/// An error for settings of existing servers, unless they are to be set in turn on one of them, and for options that need
/// an existing server.
pub(super) fn check(
    factors: &[Factor],
    measurement: &Measurement,
    database: Option<&str>,
) -> Result<(), Blamed> {
    let wrong =
        |message: String, hint: &str| Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
    let server = factors.iter().find(|it| it.kind == Kind::Server);
    let is_setting = |it: &&Factor| matches!(it.kind, Kind::Setting(_));
    let setting = factors.iter().find(is_setting);
    if server.is_none() && database.is_some() {
        let message = "--database can only be used with --host or --server".to_owned();
        return wrong(message, "name existing servers, or leave it out");
    }
    if !measurement.on_this_server {
        let (Some(server), Some(setting)) = (server, setting) else {
            return Ok(());
        };
        let (server, setting) = (&server.option, &setting.option);
        let message = format!(
            "{setting} cannot be used with {server}: dbdyno does not change existing servers"
        );
        let hint = "to set the values in turn on one existing server, with SET GLOBAL, add --on-this-server";
        return wrong(message, hint);
    }
    let Some(server) = server else {
        let message = format!("{OPTION} needs an existing server");
        return wrong(message, "name it with --host or --server");
    };
    if server.varies() {
        let (option, servers) = (&server.option, server.levels.len());
        let message =
            format!("{OPTION} compares values on one server, but {option} names {servers}");
        return wrong(message, "name one server");
    }
    if setting.is_none() {
        let message = format!("{OPTION} needs values to compare");
        let hint = "name them with --set, for example --set innodb_flush_log_at_trx_commit=1,2";
        return wrong(message, hint);
    }
    if measurement.design() == Design::Classical {
        let message = format!("{OPTION} cannot be used with --design classical");
        return wrong(
            message,
            "leave out --design: the values take turns, side by side",
        );
    }
    let refused = [
        (
            "--confirm",
            measurement.confirm,
            "classical runs need servers of their own",
        ),
        (
            "--wait-until-quiet",
            measurement.wait_until_quiet,
            "all turns are on one server",
        ),
    ];
    if let Some((option, _, why)) = refused.into_iter().find(|(_, is_given, _)| *is_given) {
        let message = format!("{OPTION} cannot be used with {option}: {why}");
        return wrong(message, &format!("leave out {option}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        super::factor::{hosts, setting},
        *,
    };

    #[test]
    fn settings_of_existing_servers_are_set_only_when_asked() {
        let (one, two) = (hosts("db1").unwrap(), hosts("db1,db2").unwrap());
        let values = setting("sync_binlog=0,1").unwrap();
        let here = &["--on-this-server"][..];
        for (factors, words, database, expected) in [
            (vec![&two], &[][..], Some("shop"), ""),
            (vec![&values], &[], None, ""),
            (
                vec![&values],
                &[],
                Some("shop"),
                "--database can only be used with --host or --server",
            ),
            (
                vec![&values, &one],
                &[],
                None,
                "--set sync_binlog cannot be used with --host: dbdyno does not change existing servers",
            ),
            (vec![&values, &one], here, Some("shop"), ""),
            (
                vec![&values, &one],
                &["--on-this-server", "--design", "side-by-side"],
                None,
                "",
            ),
            (
                vec![&values, &one],
                &["--on-this-server", "--design", "classical"],
                None,
                "--on-this-server cannot be used with --design classical",
            ),
            (
                vec![&values, &one],
                &["--on-this-server", "--confirm"],
                None,
                "--on-this-server cannot be used with --confirm: classical runs need servers of their own",
            ),
            (
                vec![&values, &one],
                &["--on-this-server", "--wait-until-quiet"],
                None,
                "--on-this-server cannot be used with --wait-until-quiet: all turns are on one server",
            ),
            (
                vec![&values],
                here,
                None,
                "--on-this-server needs an existing server",
            ),
            (
                vec![&one],
                here,
                None,
                "--on-this-server needs values to compare",
            ),
            (
                vec![&values, &two],
                here,
                None,
                "--on-this-server compares values on one server, but --host names 2",
            ),
        ] {
            let factors: Vec<Factor> = factors.into_iter().cloned().collect();
            let error = check(&factors, &Measurement::parsed(words), database).err();
            let message = error.map(|error| error.message).unwrap_or_default();
            assert_eq!(message, expected, "{words:?}");
        }
        let design = Measurement::parsed(here).design();
        assert_ne!(design, Design::Classical);
    }
}
