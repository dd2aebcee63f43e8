//! Places for the connections of viewers: a newcomer gets that of the client that has been there longest.
//!
//! A limit that refuses newcomers would let idle clients, which only have to connect again, keep everyone else out. Who asks
//! and reads at once is gone before its place is given away.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use reactor::Interrupt;

/// A connection's place, which is raised when a newcomer gets it.
pub(crate) type Place = Rc<Interrupt>;

/// The places that are taken, those of the longest time first.
#[derive(Default)]
pub(crate) struct ConnectionSlots {
    taken: RefCell<VecDeque<Place>>,
}

impl ConnectionSlots {
    /// A place for a newcomer, of at most this many.
    pub(crate) fn take(&self, most: usize) -> Place {
        let mut taken = self.taken.borrow_mut();
        if taken.len() >= most
            && let Some(longest) = taken.pop_front()
        {
            longest.raise();
        }
        let place = Place::default();
        taken.push_back(Rc::clone(&place));
        place
    }

    /// Gives a place back at the end of its connection.
    pub(crate) fn leave(&self, place: &Place) {
        let mut taken = self.taken.borrow_mut();
        taken.retain(|other| !Rc::ptr_eq(other, place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_longest_time_is_given_away() {
        let places = ConnectionSlots::default();
        let (first, second) = (places.take(2), places.take(2));
        places.leave(&first);
        let third = places.take(2);
        assert!(!second.is_raised() && !third.is_raised());
        let fourth = places.take(2);
        assert!(second.is_raised() && !third.is_raised() && !fourth.is_raised());
        // Its connection ends later.
        places.leave(&second);
        assert_eq!(places.taken.borrow().len(), 2);
    }
}
