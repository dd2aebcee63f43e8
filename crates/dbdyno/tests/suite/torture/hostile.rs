//! Hostile servers: every kind of reply damaged in every way, against every command that connects to a server.

use std::{net::SocketAddr, sync::atomic::Ordering, time::Duration};

use rustix::process::Signal;

use crate::torture::{
    attack::{ATTACKS, Attack, Backend},
    budget::Budget,
    chance::{Chance, shuffled},
    figures::{Case, Kind},
    ground::{self, CANARY, Ground, Place},
    judgement,
    mischief::{self, Mischief},
    packets::Reply,
    relay::{Relay, Script},
    trial::{Ended, Trial},
};

const REPLIES: [Reply; 14] = [
    Reply::Greeting,
    Reply::AuthSwitch,
    Reply::AuthMore,
    Reply::LoginOk,
    Reply::Ok,
    Reply::Error,
    Reply::ColumnCount,
    Reply::Column,
    Reply::EndOfColumns,
    Reply::TextRow,
    Reply::BinaryRow,
    Reply::EndOfRows,
    Reply::PrepareOk,
    Reply::FileRequest,
];

/// 2 s are documented; the rest is for a busy machine.
const ENDS_WITHIN: Duration = Duration::from_secs(12);

/// The kind `hostile`: single replies of a real server are damaged.
pub(crate) struct Hostile<'a> {
    ground: &'a Ground,
    attacks: Vec<&'static Attack>,
    seed: u64,
    is_long: bool,
}

impl<'a> Hostile<'a> {
    pub(crate) fn new(ground: &'a Ground, budget: &Budget) -> Self {
        let has_mariadb = ground.mariadb().is_some();
        let attacks = ATTACKS.iter().filter(|attack| {
            (has_mariadb || attack.backend == Backend::Null)
                && (budget.is_long() || !attack.is_long)
        });
        Self {
            ground,
            attacks: attacks.collect(),
            seed: budget.seed,
            is_long: budget.is_long(),
        }
    }

    fn server(&self, attack: &Attack) -> SocketAddr {
        match (attack.backend, self.ground.mariadb()) {
            (Backend::MariaDb, Some(server)) => ground::address(server),
            _ => self.ground.null_server(),
        }
    }
}

impl Kind for Hostile<'_> {
    fn name(&self) -> &'static str {
        "hostile"
    }

    fn workers(&self) -> usize {
        // Most of them wait for a silent server.
        6
    }

    fn case(&self, number: u64, mut chance: Chance) -> Case {
        let pairs = REPLIES.len() * mischief::ALL.len();
        let pair = shuffled(self.seed, "pairs", number, pairs);
        let reply = REPLIES[pair / mischief::ALL.len()];
        let mischief = mischief::ALL[pair % mischief::ALL.len()];
        // Short rounds omit damage that only a time limit ends.
        let mischief = match mischief {
            Mischief::Never | Mischief::Promised | Mischief::Dripping if !self.is_long => {
                Mischief::Truncated
            }
            other => other,
        };
        let fitting: Vec<_> = self
            .attacks
            .iter()
            .filter(|attack| attack.meets.contains(&met(reply)))
            .collect();
        let attack = if fitting.is_empty() {
            chance.one_of(&self.attacks)
        } else {
            *chance.one_of(&fitting)
        };
        let script = Script {
            reply,
            mischief,
            from: [0, 0, 0, 1, 2, 5, 30][chance.below(7)],
            from_connection: [0, 0, 0, 0, 1, 2][chance.below(6)],
        };
        (attack.prepare)(self.ground);
        let place = self.ground.place();
        let relay = Relay::start(self.server(attack), script, chance, CANARY);
        let trial = attack.trial(&place, relay.port);
        let trial = trial.below(attack.mib_max << 20);
        let ended = bounded(attack, trial, self.is_long).run();
        let fired = relay.seen.fired.load(Ordering::Relaxed);
        let mut faults = judgement::faults(&ended);
        faults.extend(self.false_result(script, fired, &ended));
        if relay.seen.leaked.load(Ordering::Relaxed) {
            faults.push("sent a file that the server asked for".to_owned());
        }
        faults.extend(written_secrets(&place));
        let sort = match fired {
            0 => format!("{}: not reached", attack.name),
            _ => format!("{}: {reply:?}", attack.name),
        };
        let story = format!("{script:?}, {fired} times, port {}", relay.port);
        Case::of(sort, &story, &ended, faults)
    }
}

/// The reply of the real server that this one replaces, or that it is.
fn met(reply: Reply) -> Reply {
    match reply {
        Reply::AuthSwitch | Reply::AuthMore => Reply::LoginOk,
        Reply::Error => Reply::Ok,
        other => other,
    }
}

/// The bounds of a command under a hostile server or network.
///
/// A command that a short round does not wait for, or that has no limit by design, is ended by Ctrl-C.
pub(crate) fn bounded(attack: &Attack, trial: Trial, is_long: bool) -> Trial {
    let interrupted_after = match (is_long, attack.is_counted) {
        (false, _) => Duration::from_secs(8),
        (true, true) => Duration::from_secs(20),
        (true, false) => {
            return Trial {
                time_max: attack.time_max,
                ..trial
            };
        }
    };
    Trial {
        signals: vec![(interrupted_after, Signal::INT)],
        time_max: interrupted_after + ENDS_WITHIN,
        ..trial
    }
}

impl Hostile<'_> {
    /// A fault for exit code 0 without any message although a damaged reply could not be valid.
    fn false_result(&self, script: Script, fired: usize, ended: &Ended) -> Option<String> {
        let is_fatal = script.mischief.is_fatal() && script.reply != Reply::Error && fired > 0;
        let told = format!("{}{}", ended.stderr, String::from_utf8_lossy(&ended.stdout));
        // The last one is the audit's text after a failed reading of the server's counters.
        let is_told = ["warning", "note:", "error", "server not observed"]
            .iter()
            .any(|word| told.contains(word));
        (is_fatal && ended.code == Some(0) && !is_told)
            .then(|| format!("exit code 0 without a word, and {fired} replies were damaged"))
    }
}

/// The first file written by dbdyno that contains the password.
pub(crate) fn written_secrets(place: &Place) -> Option<String> {
    let found = ground::contents(place.path());
    let mut paths = found.keys().filter(|path| path.is_file());
    let told = paths.find(|path| {
        let is_given = path.ends_with("password");
        let content = std::fs::read(path).unwrap_or_default();
        let secret = crate::torture::trial::PASSWORD.as_bytes();
        !is_given && content.windows(secret.len()).any(|part| part == secret)
    });
    told.map(|path| format!("{} holds the password", path.display()))
}
