//! The file of rules, read again when it has changed.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use super::{loader::Loader, problem::RewriteError, rules::Rules, session_rules::SessionRules};
use crate::{
    Backends, HookMaker, Hooks, Level, MakerOfThread, Metrics, SharedSession, Surroundings,
};

/// Bytes of a file of rules.
const BYTES_MAX: u64 = 64 << 20;

/// A file of rules, shared by all event threads. New sessions get the rules of its newest version that has no error.
#[derive(Debug)]
pub struct RewriteSource {
    path: PathBuf,
    backends: Arc<Backends>,
    metrics: Arc<Metrics>,
    seed: u64,
    loaded: Mutex<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    stamp: Option<(SystemTime, u64)>,
    rules: Arc<Rules>,
}

impl RewriteSource {
    /// Reads a file of rules. Shares and delays are drawn from `seed` and the session's number.
    pub fn open(
        path: &Path,
        seed: u64,
        backends: Arc<Backends>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, RewriteError> {
        let loaded = Loaded {
            stamp: stamp(path),
            rules: Arc::new(load(path, &backends, &metrics)?),
        };
        Ok(Self {
            path: path.to_owned(),
            backends,
            metrics,
            seed,
            loaded: Mutex::new(loaded),
        })
    }

    /// The maker of hooks that apply the rules.
    pub fn maker(self) -> Arc<MakerOfThread> {
        let source = Arc::new(self);
        Arc::new(move |surroundings| {
            Ok(Rc::new(RuleMaker {
                source: Arc::clone(&source),
                surroundings,
            }))
        })
    }

    /// The rules for a new session.
    fn rules(&self, surroundings: &dyn Surroundings) -> Arc<Rules> {
        let stamp = stamp(&self.path);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.stamp != stamp {
            loaded.stamp = stamp;
            match load(&self.path, &self.backends, &self.metrics) {
                Ok(rules) => {
                    let text = format!("rules of {} loaded again", self.path.display());
                    surroundings.log(Level::Message, &text);
                    loaded.rules = Arc::new(rules);
                }
                Err(error) => {
                    let text = format!("{error}; the rules of the version before stay");
                    surroundings.log(Level::Critical, &text);
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

fn load(path: &Path, backends: &Backends, metrics: &Metrics) -> Result<Rules, RewriteError> {
    let text =
        files::read_regular_text(path, BYTES_MAX).map_err(|source| RewriteError::Unreadable {
            path: path.display().to_string(),
            source,
        })?;
    let loader = Loader {
        directory: path.parent().unwrap_or(Path::new("")),
        backends,
        counters: metrics.rules(),
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
    surroundings: Rc<dyn Surroundings>,
}

impl HookMaker for RuleMaker {
    fn hooks(&self, session: &SharedSession) -> Box<dyn Hooks> {
        Box::new(SessionRules::new(
            self.source.rules(&*self.surroundings),
            Arc::clone(&self.source.backends),
            Rc::clone(&self.surroundings),
            self.source.seed,
            session.borrow().number,
        ))
    }
}
