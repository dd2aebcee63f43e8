//! The rules as the hooks of one session.

use std::{rc::Rc, sync::Arc, time::Duration};

use protocol::relay::{Fields, com};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    mirror::{Mirror, Target},
    rule::{RouteTarget, Rule},
    rules::{Facts, Rules},
};
use crate::{
    Backends, Decision, Hooks, Injection, Level, QueryResult, Route, ScriptEnvironment,
    SharedSession, Status,
    digest::digest_up_to,
    faults::{even, random},
};

/// The number of the client's own command, and of those before it.
const OWN: i64 = 0;
const BEFORE: i64 = 1;

/// About as many bytes of a digest are logged.
const LOGGED_MAX: usize = 2048;

/// The rules as the hooks of one session.
pub(super) struct SessionRules {
    rules: Arc<Rules>,
    backends: Arc<Backends>,
    environment: Rc<dyn ScriptEnvironment>,
    random: Xoshiro256PlusPlus,
    /// Open connections to targets; a rule's target is the same value for all its copies.
    mirrors: Vec<(Arc<Target>, Mirror)>,
    /// Kept for its memory.
    fitting: Vec<usize>,
}

/// What all rules that apply make of a command.
#[derive(Default)]
struct Plan {
    /// The statement instead of the client's.
    text: Option<Vec<u8>>,
    before: Vec<Vec<u8>>,
    delay: Duration,
    route: Option<Route>,
    answer: Option<Vec<Vec<u8>>>,
}

impl SessionRules {
    pub(super) fn new(
        rules: Arc<Rules>,
        backends: Arc<Backends>,
        environment: Rc<dyn ScriptEnvironment>,
        seed: u64,
        session: u64,
    ) -> Self {
        Self {
            rules,
            backends,
            environment,
            random: random(seed, session),
            mirrors: Vec::new(),
            fitting: Vec::new(),
        }
    }

    fn plan(&mut self, session: &SharedSession, command: u8, text: &[u8]) -> Plan {
        let rules = Arc::clone(&self.rules);
        let session = session.borrow();
        let facts = Facts {
            is_prepare: command == com::STMT_PREPARE,
            user: &session.client.username,
            database: &session.client.default_db,
            may_move: session.is_between_transactions(),
        };
        let deprecate_eof = session.client_deprecates_eof;
        let mut plan = Plan::default();
        let mut fitting = std::mem::take(&mut self.fitting);
        rules.fitting(text, 0, &mut fitting);
        let mut next = 0;
        while let Some(&place) = fitting.get(next) {
            next += 1;
            let rule = &rules.all[place];
            if !rule.applies(&facts, &mut self.random) {
                continue;
            }
            rule.counter.matches_one();
            let is_changed = self.apply(rule, text, deprecate_eof, &mut plan);
            if !rule.continues {
                break;
            }
            if is_changed {
                // The rules behind see the new text.
                let text = plan.text.as_deref().unwrap_or(text);
                rules.fitting(text, place + 1, &mut fitting);
                next = 0;
            }
        }
        self.fitting = fitting;
        plan
    }

    /// Adds what a rule does; true if it changes the text.
    fn apply(&mut self, rule: &Rule, own: &[u8], deprecate_eof: bool, plan: &mut Plan) -> bool {
        let text = plan.text.as_deref().unwrap_or(own);
        if rule.is_logged {
            // Values may be passwords, so the log gets the digest.
            let digest = digest_up_to(text, LOGGED_MAX);
            let line = format!(
                "rule {}: {}",
                rule.counter.name(),
                String::from_utf8_lossy(&digest)
            );
            self.environment.log(Level::Message, &line);
        }
        let replaced = rule.replaced(text);
        if let Some(target) = &rule.mirror {
            let copy = replaced.as_deref().unwrap_or(text);
            self.mirror(target).send(copy, &rule.counter);
        }
        plan.before.extend(rule.before.iter().cloned());
        if rule.delay.mean > Duration::ZERO {
            plan.delay += rule.delay.drawn(even(&mut self.random));
        }
        if let Some(reply) = &rule.reply {
            plan.answer = Some(reply.packets(deprecate_eof));
        }
        if let Some(way) = rule.route {
            plan.route = self.route(rule, way);
        }
        match replaced {
            Some(replaced) => {
                plan.text = Some(replaced);
                true
            }
            None => false,
        }
    }

    fn mirror(&mut self, target: &Arc<Target>) -> &Mirror {
        let known = self
            .mirrors
            .iter()
            .position(|(it, _)| Arc::ptr_eq(it, target));
        let at = known.unwrap_or_else(|| {
            let mirror = Mirror::new(target, &self.environment);
            self.mirrors.push((Arc::clone(target), mirror));
            self.mirrors.len() - 1
        });
        &self.mirrors[at].1
    }

    /// The backend of a route, if there is one that can be reached.
    fn route(&self, rule: &Rule, way: RouteTarget) -> Option<Route> {
        let now = reactor::now();
        let backend = match way {
            RouteTarget::ReadOnly => self.backends.least_used_for_reads(now),
            RouteTarget::Backend(place) => {
                Some(place).filter(|place| self.backends.0[*place].may_be_tried(now))
            }
        };
        if backend.is_none() {
            rule.counter.drop_one();
        }
        backend.map(|backend| Route {
            backend,
            rule: Arc::clone(&rule.counter),
        })
    }
}

impl Hooks for SessionRules {
    fn connect_server(&mut self, _: &SharedSession) -> Decision {
        Decision::PassOn
    }

    fn read_handshake(&mut self, _: &SharedSession) -> Decision {
        Decision::PassOn
    }

    fn read_auth(&mut self, _: &SharedSession) -> Decision {
        Decision::PassOn
    }

    fn read_auth_result(&mut self, session: &SharedSession, packet: &[u8]) -> Decision {
        // Whether autocommit is on; a default of the server's.
        if let Some((0, rest)) = packet.split_first() {
            let mut fields = Fields(rest);
            if let (Some(_), Some(_), Some(status)) =
                (fields.lenenc(), fields.lenenc(), fields.u16())
            {
                session.borrow_mut().know_status(status);
            }
        }
        Decision::PassOn
    }

    fn reads_queries(&self) -> bool {
        !self.rules.all.is_empty()
    }

    fn read_query(&mut self, session: &SharedSession, packet: &[u8]) -> Decision {
        let Some((&command @ (com::QUERY | com::STMT_PREPARE), text)) = packet.split_first() else {
            return Decision::PassOn;
        };
        let plan = self.plan(session, command, text);
        let mut session = session.borrow_mut();
        session.delay = plan.delay;
        if let Some(packets) = plan.answer {
            return Decision::Answer(packets);
        }
        session.route = plan.route;
        if plan.text.is_none() && plan.before.is_empty() {
            return Decision::PassOn;
        }
        let packet = |command: u8, text: &[u8]| [&[command][..], text].concat();
        for statement in &plan.before {
            session.queries.push_back(Injection {
                id: BEFORE,
                packet: packet(com::QUERY, statement),
                needs_result: true,
            });
        }
        session.queries.push_back(Injection {
            id: OWN,
            packet: packet(command, plan.text.as_deref().unwrap_or(text)),
            needs_result: false,
        });
        Decision::SendQueue
    }

    fn read_query_result(&mut self, session: &SharedSession, result: QueryResult) -> Decision {
        if result.injection.id != BEFORE {
            return Decision::PassOn;
        }
        if result.status == Status::Err {
            // The client gets the error instead of its result.
            session.borrow_mut().queries.clear();
            return Decision::PassOn;
        }
        Decision::Ignore
    }

    fn disconnect_client(&mut self, _: &SharedSession) {
        self.mirrors.clear();
    }
}

#[cfg(test)]
mod tests;
