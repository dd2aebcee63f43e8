//! Whether a script can send a statement at all, as far as its conditions are fixed.

use std::collections::{BTreeMap, BTreeSet};

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

use super::{
    op::{Op, Scope},
    program::{Action, Step},
    scalar::{EvalError, Scalar},
};

/// Whether a statement can be reached with variables that have fixed values; all others may have any.
pub(super) fn sends(steps: &[Step], fixed: &BTreeMap<u32, Scalar>) -> bool {
    let mut reached = BTreeSet::new();
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let Some(step) = steps.get(at).filter(|_| reached.insert(at)) else {
            continue;
        };
        match &step.action {
            Action::Run(_) => return true,
            Action::Jump(to) => open.push(*to),
            Action::Unless { code, to } => match truth(code, fixed) {
                Some(true) => open.push(at + 1),
                Some(false) => open.push(*to),
                None => open.extend([at + 1, *to]),
            },
            Action::Set { .. } | Action::Sleep(_) | Action::Draw { .. } => open.push(at + 1),
        }
    }
    false
}

/// Whether a condition holds; `None` where that is not fixed.
fn truth(code: &[Op], fixed: &BTreeMap<u32, Scalar>) -> Option<bool> {
    let is_random = |op: &Op| matches!(op, Op::Call(function, _) if function.is_random());
    if code.iter().any(is_random) {
        return None;
    }
    let mut scope = Scope {
        load: |slot| fixed.get(&slot).copied().ok_or(EvalError::Unset(slot)),
        random: &mut Xoshiro256PlusPlus::seed_from_u64(0),
        stack: &mut Vec::new(),
    };
    scope.evaluate(code).ok().map(Scalar::is_true)
}
