//! A compiled script.

use mlua::{Function, Table};

use crate::{Error, Host};

/// A compiled script: each user runs it in an environment of its own, and all share the compiled code.
#[derive(Debug, Clone)]
pub struct Script {
    /// Makes a fresh function of the script.
    factory: Function,
}

impl Script {
    pub(crate) fn new(factory: Function) -> Self {
        Self { factory }
    }

    /// A fresh function of the script whose globals, and those of all functions in it, are `environment`.
    pub fn instantiate(&self, host: &Host, environment: &Table) -> Result<Function, Error> {
        let function: Function = host.call(&self.factory, ())?;
        function.set_environment(environment.clone())?;
        Ok(function)
    }

    /// Runs the script in `environment`, within the limits of the host.
    pub fn run(&self, host: &Host, environment: &Table) -> Result<(), Error> {
        host.call(&self.instantiate(host, environment)?, ())
    }
}
