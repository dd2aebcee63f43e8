//! The limit of instructions per call, which ends a script that loops for ever.
//!
//! LuaJIT counts instructions only in its interpreter: code that it has compiled to machine code never calls the
//! counting hook. A host with this limit therefore runs without the compiler. A hook of a few lines costs the same
//! with and without it, because most of its time is spent in calls to functions that are not compiled; a script that
//! computes in long loops is several times slower.

use std::{cell::Cell, rc::Rc};

use mlua::{HookTriggers, Lua, VmState};

/// Instructions between two calls of the counting hook; the limit is exact to this number.
const STEP: u32 = 10_000;

/// The instructions that a call may still run.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    step: u32,
    left: Cell<u64>,
    /// The limit was exceeded in this call, and each further instruction fails, too: a script that catches the error
    /// in a loop ends all the same.
    is_spent: Cell<bool>,
}

impl Budget {
    /// Counts the instructions of this state from now on.
    pub(crate) fn install(lua: &Lua, limit: u64) -> mlua::Result<Rc<Self>> {
        let limit = limit.max(1);
        let budget = Rc::new(Self {
            limit,
            step: u32::try_from(limit).unwrap_or(STEP).min(STEP),
            left: Cell::new(limit),
            is_spent: Cell::new(false),
        });
        budget.clone().count_every(lua, budget.step)?;
        Ok(budget)
    }

    /// Before a call: it has the whole limit.
    pub(crate) fn refill(&self) {
        self.left.set(self.limit);
    }

    /// Whether this call has exceeded the limit.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }

    /// After a call: instructions are counted in steps again.
    pub(crate) fn relax(self: &Rc<Self>, lua: &Lua) -> mlua::Result<()> {
        if self.is_spent.replace(false) {
            self.refill();
            self.clone().count_every(lua, self.step)?;
        }
        Ok(())
    }

    fn count_every(self: Rc<Self>, lua: &Lua, step: u32) -> mlua::Result<()> {
        let triggers = HookTriggers::new().every_nth_instruction(step);
        lua.set_global_hook(triggers, move |lua, _| {
            let left = self.left.get().saturating_sub(u64::from(step));
            self.left.set(left);
            if left > 0 {
                return Ok(VmState::Continue);
            }
            if !self.is_spent.replace(true) {
                self.clone().count_every(lua, 1)?;
            }
            let limit = self.limit;
            // The hook is no frame of its own: level 0 is the script.
            let place = lua.inspect_stack(0, |frame| {
                Some(format!("{}:{}: ", frame.source().short_src?, frame.current_line()?))
            });
            let place = place.flatten().unwrap_or_default();
            Err(mlua::Error::RuntimeError(format!(
                "{place}stopped after {limit} instructions in one call, the limit for scripts: end the loop, or raise the limit"
            )))
        })
    }
}
