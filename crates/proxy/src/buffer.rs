//! Memory for bytes on their way.

use std::{
    cell::RefCell,
    ops::{Deref, DerefMut},
};

/// Size of a buffer that the sessions of a thread share, in turn: an idle session has none.
const SIZE: usize = 64 << 10;
/// Free buffers that a thread keeps.
const KEPT_AT_MOST: usize = 16;

thread_local! {
    static FREE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A buffer, given back to its thread when dropped unless it has grown.
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    /// A free buffer; its content is of no meaning.
    pub(crate) fn take() -> Self {
        let free = FREE.with_borrow_mut(Vec::pop);
        Self(free.unwrap_or_else(|| vec![0; SIZE]))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.0);
        if buffer.len() != SIZE {
            return;
        }
        // A session may be dropped while its thread ends; the memory is freed then.
        let _ = FREE.try_with(|free| {
            let mut free = free.borrow_mut();
            if free.len() < KEPT_AT_MOST {
                free.push(buffer);
            }
        });
    }
}

impl Deref for Buffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}
