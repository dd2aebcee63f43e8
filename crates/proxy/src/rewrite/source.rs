//! The file of rules, read again when it has changed.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use super::{loader::Loader, problem::RewriteError, rules::Rules, session_rules::SessionRules};
use crate::{
    Backends, HookMaker, Hooks, Level, MakerOfThread, Metrics, ScriptEnvironment, SharedSession,
};

/// Bytes of a file of rules.
const BYTES_MAX: u64 = 64 << 20;

/// Which rules, and what they can do.
#[derive(Debug, Clone)]
pub struct RewriteOptions {
    pub path: PathBuf,
    /// Shares and delays are drawn from it and the session's number.
    pub seed: u64,
    /// The proxy has an account of its own, which opens connections for routed statements.
    pub opens_connections: bool,
}

/// A file of rules, shared by all event threads. New sessions get the rules of its newest version that has no error.
#[derive(Debug)]
pub struct RewriteSource {
    options: RewriteOptions,
    backends: Arc<Backends>,
    metrics: Arc<Metrics>,
    loaded: Mutex<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    stamp: Option<(SystemTime, u64)>,
    rules: Arc<Rules>,
}

impl RewriteSource {
    /// Reads a file of rules.
    pub fn open(
        options: RewriteOptions,
        backends: Arc<Backends>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, RewriteError> {
        let loaded = Loaded {
            stamp: stamp(&options.path),
            rules: Arc::new(load(&options, &backends, &metrics)?),
        };
        Ok(Self {
            options,
            backends,
            metrics,
            loaded: Mutex::new(loaded),
        })
    }

    /// The maker of hooks that apply the rules.
    pub fn maker(self) -> Arc<MakerOfThread> {
        let source = Arc::new(self);
        Arc::new(move |environment| {
            Ok(Rc::new(RuleMaker {
                source: Arc::clone(&source),
                environment,
            }))
        })
    }

    /// The rules for a new session.
    fn rules(&self, environment: &dyn ScriptEnvironment) -> Arc<Rules> {
        let stamp = stamp(&self.options.path);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.stamp != stamp {
            loaded.stamp = stamp;
            match load(&self.options, &self.backends, &self.metrics) {
                Ok(rules) => {
                    let text = format!("rules of {} reloaded", self.options.path.display());
                    environment.log(Level::Message, &text);
                    loaded.rules = Arc::new(rules);
                }
                Err(error) => {
                    let text = format!("{error}; the previous rules stay in effect");
                    environment.log(Level::Critical, &text);
                }
            }
        }
        Arc::clone(&loaded.rules)
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

fn load(
    options: &RewriteOptions,
    backends: &Backends,
    metrics: &Metrics,
) -> Result<Rules, RewriteError> {
    let path = &options.path;
    let text = files::read_handed_over_text(path, BYTES_MAX).map_err(|source| {
        RewriteError::Unreadable {
            path: path.display().to_string(),
            source,
        }
    })?;
    let loader = Loader {
        is_quotable: files::is_quotable(path),
        directory: path.parent().unwrap_or(Path::new("")),
        backends,
        counters: metrics.rules(),
        opens_connections: options.opens_connections,
    };
    let rules = loader.rules(&text).map_err(|it| it.in_file(path, &text))?;
    Rules::new(rules).map_err(|what| RewriteError::Wrong {
        path: path.display().to_string(),
        line: 1,
        what,
    })
}

struct RuleMaker {
    source: Arc<RewriteSource>,
    environment: Rc<dyn ScriptEnvironment>,
}

impl HookMaker for RuleMaker {
    fn hooks(&self, session: &SharedSession) -> Box<dyn Hooks> {
        Box::new(SessionRules::new(
            self.source.rules(&*self.environment),
            Arc::clone(&self.source.backends),
            Rc::clone(&self.environment),
            self.source.options.seed,
            session.borrow().number,
        ))
    }
}
