//! When the parts of an answer came, for callers that want to know where a statement's time goes.

use reactor::Instant;

/// The moments of one exchange, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerMoments {
    /// The last byte of the statement was given to the operating system.
    pub sent: Instant,
    pub first_byte: Instant,
    /// The bytes with the first row came; `None` for an answer without rows.
    pub first_row: Option<Instant>,
    /// The last byte came.
    pub end: Instant,
}

/// Notes the moments of exchanges. A connection that does not watch them takes no time from the clock.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    is_on: bool,
    sent: Option<Instant>,
    first_byte: Option<Instant>,
    first_row: Option<Instant>,
    last_byte: Option<Instant>,
}

impl Watch {
    pub(crate) fn switch_on(&mut self) {
        self.is_on = true;
    }

    pub(crate) fn sent(&mut self) {
        if self.is_on {
            *self = Self {
                is_on: true,
                sent: Some(reactor::now()),
                ..Self::default()
            };
        }
    }

    pub(crate) fn received(&mut self) {
        if self.is_on {
            let now = reactor::now();
            self.first_byte.get_or_insert(now);
            self.last_byte = Some(now);
        }
    }

    /// The bytes that came last hold rows.
    pub(crate) fn had_rows(&mut self) {
        if self.first_row.is_none() {
            self.first_row = self.last_byte;
        }
    }

    /// The moments of the last exchange; `None` if it was not watched or not completed.
    pub(crate) fn moments(&self) -> Option<AnswerMoments> {
        Some(AnswerMoments {
            sent: self.sent?,
            first_byte: self.first_byte?,
            first_row: self.first_row,
            end: self.last_byte?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reactor::Listener;

    use crate::{
        Connection,
        testing::{Answer, Request, endpoint, serve},
    };

    #[test]
    fn the_parts_of_an_answer_follow_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        let later = Duration::from_millis(10);
        let [unwatched, rows, none] = reactor::block_on(async {
            serve(Listener::bind_unix(&path).unwrap(), move |request| {
                if request == Request::Query(b"rows") {
                    Answer::rows(&["a"], &[&[Some("1")]]).after(later)
                } else {
                    Answer::rows(&["a"], &[]).after(later)
                }
            });
            let mut connection = Connection::open(&endpoint(&path)).await.unwrap();
            connection.query(b"rows").await.unwrap();
            let unwatched = connection.moments();
            connection.watch_moments();
            connection.query(b"rows").await.unwrap();
            let rows = connection.moments();
            connection.query(b"none").await.unwrap();
            [unwatched, rows, connection.moments()]
        })
        .unwrap();
        assert_eq!(unwatched, None);
        let (rows, none) = (rows.unwrap(), none.unwrap());
        assert!(rows.first_byte - rows.sent >= later);
        assert!(
            rows.first_row
                .is_some_and(|at| at >= rows.first_byte && at <= rows.end)
        );
        assert_eq!(none.first_row, None);
        assert!(none.sent > rows.end && none.end >= none.first_byte);
    }
}
