//! Results that scripts asked to keep: memory outside of Lua, which its collector would not know of.

use std::{
    cell::{Cell, OnceCell},
    ops::Deref,
    rc::Rc,
};

use lua::mlua::Lua;

use super::field::Field;
use crate::{QueryResult, packets::PACKET_BYTES};

/// Kept bytes since the last collection from which the next one is worth its time.
const COLLECT_FROM: usize = 16 << 20;

/// The bytes of all kept results that scripts of a Lua state can still reach, or could before the next collection.
#[derive(Debug, Default)]
pub(super) struct KeptMemory {
    bytes: Cell<usize>,
    after_collection: Cell<usize>,
}

/// An answer with its share of the memory. Objects of scripts share it.
#[derive(Debug)]
pub(super) struct KeptResult {
    result: QueryResult,
    bytes: usize,
    memory: Rc<KeptMemory>,
    /// The columns, once they were asked for; `None` if they cannot be read.
    pub(super) fields: OnceCell<Option<Rc<[Field]>>>,
}

impl KeptMemory {
    /// Counts a result. `None` if it does not fit below `limit` together with everything that Lua still uses.
    ///
    /// Lua frees an object without references at its next collection, whose time it chooses by its own memory. Here a
    /// collection is also due when the results since the last one take as much as everything that was left then.
    pub(super) fn keep(
        self: &Rc<Self>,
        lua: &Lua,
        result: QueryResult,
        limit: Option<usize>,
    ) -> Option<Rc<KeptResult>> {
        let packets = result.packets.as_deref().map_or(&[][..], Vec::as_slice);
        let of_packets = packets
            .iter()
            .map(|packet| packet.capacity() + PACKET_BYTES);
        let bytes = of_packets.sum();
        // Lua may have collected meanwhile.
        let after_collection = self.after_collection.get().min(self.bytes.get());
        self.after_collection.set(after_collection);
        let since = self.bytes.get() - after_collection;
        let left = after_collection + lua.used_memory();
        // A result that was passed on as it came takes nothing.
        if bytes > 0 {
            if since + bytes > COLLECT_FROM.max(left) {
                self.collect(lua);
            }
            if !self.has_room(lua, bytes, limit) {
                return None;
            }
        }
        self.bytes.set(self.bytes.get() + bytes);
        Some(Rc::new(KeptResult {
            result,
            bytes,
            memory: Rc::clone(self),
            fields: OnceCell::new(),
        }))
    }

    /// Whether a result that takes `bytes` by now fits below `limit`, together with everything that Lua still uses.
    pub(super) fn has_room(&self, lua: &Lua, bytes: usize, limit: Option<usize>) -> bool {
        let is_below = || {
            let total = self.bytes.get().saturating_add(lua.used_memory());
            limit.is_none_or(|limit| total.saturating_add(bytes) <= limit)
        };
        if is_below() {
            return true;
        }
        self.collect(lua);
        is_below()
    }

    fn collect(&self, lua: &Lua) {
        // It fails only if a finalizer does; ours do not.
        let _ = lua.gc_collect();
        self.after_collection.set(self.bytes.get());
    }

    /// The bytes of all results that are not freed yet.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }
}

impl Deref for KeptResult {
    type Target = QueryResult;

    fn deref(&self) -> &QueryResult {
        &self.result
    }
}

impl Drop for KeptResult {
    fn drop(&mut self) {
        let memory = &self.memory;
        memory.bytes.set(memory.bytes.get() - self.bytes);
    }
}
