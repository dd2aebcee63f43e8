//! Which revision belongs to which page, when it was made and under which number.

use jiff::Timestamp;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

use super::{curve::Curve, shuffle::Shuffle};
use crate::uniform::below;

/// Rows of the article's tables, as the server estimated them.
pub(super) const PAGES: u64 = 1_670_757;
const REVISIONS: u64 = 1_599_526;
/// The next numbers in them: pages are deleted, and the older revisions are not in the dump.
const NEXT_PAGE: u64 = 2_704_666;
const NEXT_REVISION: u64 = 45_658_130;
/// Numbers from one `rev_id` to the next, rounded down.
const ID_GAP: u64 = (NEXT_REVISION - 1) / REVISIONS;
/// Users that have edited something, per page of the article's.
const USERS: u64 = 40_600;

/// Flatness of the first ranks: the most edited page has about 600 revisions at the article's size.
const PAGE_OFFSET: f64 = 50.0;
const USER_OFFSET: f64 = 2.0;
/// Days from the first revision to the end.
const DAYS: i64 = 3650;

const SHUFFLED_PAGES: u64 = 1;
const SHUFFLED_REVISIONS: u64 = 2;
const SHUFFLED_USERS: u64 = 3;

/// What a number is drawn for: each kind has its own sequence for every row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Draw {
    Page = 11,
    Revision = 12,
    UserName = 13,
    RevisionNumber = 14,
    PageTitle = 15,
}

/// The numbers of one row for one purpose, always the same.
pub(super) fn random(draw: Draw, row: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64((draw as u64) << 48 | row)
}

/// The revisions of a number of pages, in the order in which they were made. Each belongs to a page by a Zipf-like curve over the
/// pages in an order that looks random, and can be found from its page and the other way round.
#[derive(Debug, Clone, Copy)]
pub(super) struct History {
    pages: u64,
    revisions: u64,
    end: Timestamp,
    page_curve: Curve,
    user_curve: Curve,
    shuffled_pages: Shuffle,
    shuffled_revisions: Shuffle,
    shuffled_users: Shuffle,
}

impl History {
    /// The history of this number of pages up to a time.
    pub(super) fn new(pages: u64, end: Timestamp) -> Self {
        let revisions = (pages * REVISIONS).div_ceil(PAGES);
        let users = (pages * USERS).div_ceil(PAGES);
        Self {
            pages,
            revisions,
            end,
            page_curve: Curve::new(pages, PAGE_OFFSET, 2),
            user_curve: Curve::new(users, USER_OFFSET, 4),
            shuffled_pages: Shuffle::new(pages, SHUFFLED_PAGES),
            shuffled_revisions: Shuffle::new(revisions, SHUFFLED_REVISIONS),
            shuffled_users: Shuffle::new(users, SHUFFLED_USERS),
        }
    }

    pub(super) fn pages(&self) -> u64 {
        self.pages
    }

    pub(super) fn revisions(&self) -> u64 {
        self.revisions
    }

    /// The time up to which there are revisions.
    pub(super) fn end(&self) -> Timestamp {
        self.end
    }

    /// How much a page is edited: 0 is the most.
    pub(super) fn rank_of(&self, page: u64) -> u64 {
        self.shuffled_pages.place_of(page)
    }

    pub(super) fn page_of(&self, revision: u64) -> u64 {
        let slot = self.shuffled_revisions.place_of(revision);
        let mut rank = self
            .page_curve
            .rank_at((slot as f64 + 0.5) / self.revisions as f64);
        while self.first_slot(rank) > slot {
            rank -= 1;
        }
        while self.first_slot(rank + 1) <= slot {
            rank += 1;
        }
        self.shuffled_pages.at(rank)
    }

    /// The revisions of a page, in no order.
    pub(super) fn revisions_of(&self, page: u64) -> impl Iterator<Item = u64> + use<> {
        let rank = self.rank_of(page);
        let shuffled = self.shuffled_revisions;
        (self.first_slot(rank)..self.first_slot(rank + 1)).map(move |slot| shuffled.at(slot))
    }

    /// `page_id`: ascending, with gaps.
    pub(super) fn page_id(page: u64) -> u64 {
        page * (NEXT_PAGE - 1) / PAGES + 1
    }

    /// `rev_id`: ascending, with gaps.
    pub(super) fn revision_id(revision: u64) -> u64 {
        Self::first_id(revision) + below(&mut random(Draw::RevisionNumber, revision), ID_GAP - 1)
    }

    /// A number between two `rev_id` that is none.
    pub(super) fn free_id(revision: u64) -> u64 {
        Self::first_id(revision) + ID_GAP - 1
    }

    fn first_id(revision: u64) -> u64 {
        revision * (NEXT_REVISION - 1) / REVISIONS + 1
    }

    /// Seconds of the epoch at which a revision was made: their number grows with the square of the time.
    pub(super) fn second_of(&self, revision: u64) -> i64 {
        let span = (DAYS * 86_400) as f64;
        let part = ((revision as f64 + 0.5) / self.revisions as f64).sqrt();
        self.end.as_second() - (span - part * span) as i64
    }

    /// The registered user at a share of all their edits, from 1; some have most of them.
    pub(super) fn user_at(&self, share: f64) -> u64 {
        self.shuffled_users.at(self.user_curve.rank_at(share)) + 1
    }

    /// The first of the places that the revisions of a rank have.
    fn first_slot(&self, rank: u64) -> u64 {
        if rank >= self.pages {
            return self.revisions;
        }
        (self.page_curve.before(rank) * self.revisions as f64) as u64
    }
}

/// A time as MediaWiki keeps it, such as `20130303205420`.
pub(super) fn write_time(second: i64, out: &mut Vec<u8>) {
    let day = second.div_euclid(86_400);
    let of_day = second.rem_euclid(86_400);
    let time = Timestamp::from_second(day * 86_400).expect("times are bounded");
    let date = time.to_zoned(jiff::tz::TimeZone::UTC).date();
    let number =
        i64::from(date.year()) * 10_000 + i64::from(date.month()) * 100 + i64::from(date.day());
    let clock = of_day / 3600 * 10_000 + of_day / 60 % 60 * 100 + of_day % 60;
    out.extend_from_slice(
        itoa::Buffer::new()
            .format(number * 1_000_000 + clock)
            .as_bytes(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(pages: u64) -> History {
        History::new(pages, "2013-03-03T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn every_revision_is_one_of_its_page() {
        let history = history(5000);
        let mut found = 0;
        for page in 0..history.pages() {
            for revision in history.revisions_of(page) {
                assert_eq!(history.page_of(revision), page);
                found += 1;
            }
        }
        assert_eq!(found, history.revisions());
    }

    #[test]
    fn numbers_and_times_ascend() {
        let history = history(100_000);
        let last = history.revisions() - 1;
        for revision in (0..last).step_by(37) {
            assert!(History::revision_id(revision) < History::revision_id(revision + 1));
            assert!(history.second_of(revision) <= history.second_of(revision + 1));
        }
        let mut text = Vec::new();
        write_time(history.second_of(0), &mut text);
        assert!(text.starts_with(b"2003"), "{text:?}");
        text.clear();
        write_time(history.second_of(last), &mut text);
        assert!(text.starts_with(b"201303022"), "{text:?}");
        assert!((0..1000).all(|page| History::page_id(page) < History::page_id(page + 1)));
        assert!(History::page_id(PAGES - 1) < NEXT_PAGE);
        assert!(History::revision_id(REVISIONS - 1) < NEXT_REVISION);
    }
}
