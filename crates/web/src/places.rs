//! Places for the connections of viewers: a newcomer gets that of the client that has been there longest.
//!
//! A limit that refuses newcomers would let idle clients, which only have to connect again, keep everyone else out. Who asks
//! and reads at once is gone before its place is given away.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    task::{Poll, Waker},
};

/// The places that are taken, those of the longest time first.
#[derive(Default)]
pub(crate) struct Places {
    taken: RefCell<VecDeque<Rc<Place>>>,
}

/// A connection's place.
#[derive(Default)]
pub(crate) struct Place {
    is_lost: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Places {
    /// A place for a newcomer, of at most this many.
    pub(crate) fn take(&self, most: usize) -> Rc<Place> {
        let mut taken = self.taken.borrow_mut();
        if taken.len() >= most
            && let Some(longest) = taken.pop_front()
        {
            longest.is_lost.set(true);
            if let Some(waker) = longest.waker.take() {
                waker.wake();
            }
        }
        let place = Rc::new(Place::default());
        taken.push_back(Rc::clone(&place));
        place
    }

    /// Gives a place back at the end of its connection.
    pub(crate) fn leave(&self, place: &Rc<Place>) {
        let mut taken = self.taken.borrow_mut();
        taken.retain(|other| !Rc::ptr_eq(other, place));
    }
}

impl Place {
    /// Waits until a newcomer has got the place.
    pub(crate) async fn lost(&self) {
        poll_fn(|context| {
            if self.is_lost.get() {
                return Poll::Ready(());
            }
            *self.waker.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_longest_time_is_given_away() {
        let places = Places::default();
        let (first, second) = (places.take(2), places.take(2));
        places.leave(&first);
        let third = places.take(2);
        assert!(!second.is_lost.get() && !third.is_lost.get());
        let fourth = places.take(2);
        assert!(second.is_lost.get() && !third.is_lost.get() && !fourth.is_lost.get());
        // Its connection ends later.
        places.leave(&second);
        assert_eq!(places.taken.borrow().len(), 2);
    }
}
