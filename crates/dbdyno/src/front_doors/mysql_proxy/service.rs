//! From the command line to the settings of the proxy.

use std::{path::Path, sync::Arc};

use blame::{Blame, Blamed};
use proxy::{
    AdminAccount, AdminMaker, Backend, BackendKind, Backends, HostOptions, MakerOfThread, Metrics,
    RewriteOptions, RewriteSource, ScriptHost, ScriptOptions, Service, Settings,
};

use super::{
    address,
    arguments::{Arguments, PASSWORD_VARIABLE},
    base_directory::below,
};

/// The settings of the proxy.
pub(super) fn settings(arguments: &Arguments) -> Result<Settings, Blamed> {
    let has = |plugin: &str| arguments.plugins.iter().any(|name| name == plugin);
    let backends = Arc::new(backends(arguments)?);
    let metrics = Arc::new(Metrics::new(Arc::clone(&backends)));
    let mut services = Vec::new();
    if has("proxy") && !arguments.no_proxy {
        services.push(Service {
            address: address::to_listen("proxy-address", &arguments.proxy_address)?,
            hooks: match (&arguments.proxy_lua_script, &arguments.own.rewrite) {
                (Some(path), _) => Some(script(arguments, path, &backends)?),
                (None, Some(path)) => Some(rules(arguments, path, &backends, &metrics)?),
                (None, None) => None,
            },
        });
    }
    if let (true, Some(path)) = (services.is_empty(), &arguments.own.rewrite) {
        let message = format!("--rewrite {}: the proxy is not started", path.display());
        let hint = "leave --no-proxy out, or add --plugins=proxy";
        return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
    }
    if has("admin") {
        services.push(admin(arguments, &backends)?);
    }
    if services.is_empty() {
        let message = "nothing to start: neither the plugin proxy nor the plugin admin is enabled";
        let hint = "add --plugins=admin, or leave --no-proxy out";
        return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
    }
    let mut settings = Settings::new(services, backends);
    settings.connect_timeout = arguments.proxy_connect_timeout;
    settings.read_timeout = arguments.proxy_read_timeout;
    settings.write_timeout = arguments.proxy_write_timeout;
    settings.pool_changes_user = !arguments.proxy_pool_no_change_user;
    settings.threads = usize::from(arguments.event_threads);
    settings.metrics = metrics;
    settings.check_interval = arguments.own.backend_check_interval;
    settings.faults = arguments.faults.faults();
    let place = |path: &Path| below(arguments, path);
    settings.client_side = arguments.sides.client_side(&place)?;
    settings.server_side = arguments.sides.server_side(&place)?;
    settings.account = arguments.sides.account(&place)?;
    Ok(settings)
}

fn backends(arguments: &Arguments) -> Result<Backends, Blamed> {
    let kinds = [
        (
            "proxy-backend-addresses",
            &arguments.proxy_backend_addresses,
            BackendKind::ReadWrite,
        ),
        (
            "proxy-read-only-backend-addresses",
            &arguments.proxy_read_only_backend_addresses,
            BackendKind::ReadOnly,
        ),
    ];
    let mut backends = Vec::new();
    for (option, texts, kind) in kinds {
        for text in texts {
            let mut backend = Backend::new(address::of_server(option, text)?, kind);
            backend.host = address::host(text);
            backends.push(backend);
        }
    }
    Ok(Backends(backends))
}

fn admin(arguments: &Arguments, backends: &Arc<Backends>) -> Result<Service, Blamed> {
    let missing = |option: &str, hint: &str| {
        let message = format!("--plugins=admin needs --{option}");
        Blamed::new(Blame::Input, message).hint(hint.to_owned())
    };
    let account = AdminAccount {
        user: arguments
            .admin_username
            .clone()
            .ok_or_else(|| missing("admin-username", "give a name, such as --admin-username=root"))?,
        password: arguments
            .admin_password
            .clone()
            .filter(|password| !password.is_empty())
            .ok_or_else(|| {
                let hint = format!(
                    "put admin-password = ... into the --defaults-file, or set {PASSWORD_VARIABLE}; it must \
                     not be empty"
                );
                missing("admin-password", &hint)
            })?,
    };
    let script = match &arguments.admin_lua_script {
        Some(path) => Some(script(arguments, path, backends)?),
        None => None,
    };
    Ok(Service {
        address: address::to_listen("admin-address", &arguments.admin_address)?,
        hooks: Some(AdminMaker::maker(account, script)),
    })
}

/// The hooks of a file of rules.
fn rules(
    arguments: &Arguments,
    path: &Path,
    backends: &Arc<Backends>,
    metrics: &Arc<Metrics>,
) -> Result<Arc<MakerOfThread>, Blamed> {
    let options = RewriteOptions {
        path: below(arguments, path)?,
        seed: arguments.faults.faults().seed,
        opens_connections: arguments.sides.has_account(),
    };
    let source = RewriteSource::open(options, Arc::clone(backends), Arc::clone(metrics));
    let source = source.map_err(|error| {
        let hint = "docs/proxy.md, section \"Rewriting without Lua\", describes the file";
        Blamed::new(Blame::Input, format!("--rewrite {error}")).hint(hint.to_owned())
    })?;
    Ok(source.maker())
}

/// Where scripts find modules: as the option says, else as the environment does, which Lua reads by itself, else below the base
/// directory.
fn lua_path(arguments: &Arguments, is_in_environment: bool) -> Option<String> {
    let base = arguments.basedir.as_ref().filter(|_| !is_in_environment);
    let default = base.map(|base| format!("{}/lib/mysql-proxy/lua/?.lua", base.display()));
    arguments.lua_path.clone().or(default)
}

/// The hooks of a script.
fn script(
    arguments: &Arguments,
    path: &Path,
    backends: &Arc<Backends>,
) -> Result<Arc<MakerOfThread>, Blamed> {
    let options = ScriptOptions {
        script: below(arguments, path)?,
        lua: HostOptions {
            memory_limit: arguments
                .lua_memory_limit
                .and_then(|it| usize::try_from(it).ok()),
            instruction_limit: Some(arguments.lua_instruction_limit).filter(|limit| *limit > 0),
            path: lua_path(arguments, std::env::var_os("LUA_PATH").is_some()),
            ..HostOptions::default()
        },
    };
    Ok(ScriptHost::maker(options, Arc::clone(backends)))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn the_environment_s_path_holds_also_with_a_base_directory() {
        let base = Some("/base/lib/mysql-proxy/lua/?.lua");
        let option = Some("/own/?.lua");
        for (words, is_in_environment, expected) in [
            (&["mysql-proxy"][..], false, None),
            (&["mysql-proxy"], true, None),
            (&["mysql-proxy", "--basedir=/base"], false, base),
            (&["mysql-proxy", "--basedir=/base"], true, None),
            (
                &["mysql-proxy", "--basedir=/base", "--lua-path=/own/?.lua"],
                true,
                option,
            ),
            (&["mysql-proxy", "--lua-path=/own/?.lua"], false, option),
        ] {
            let arguments = Arguments::parse_from(words);
            let path = lua_path(&arguments, is_in_environment);
            assert_eq!(path.as_deref(), expected, "{words:?}");
        }
    }
}
