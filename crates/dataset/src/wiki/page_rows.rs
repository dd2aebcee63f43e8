//! The rows of `page`.

use std::io::Write;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    history::{Draw, History, random, write_time},
    text::write_title,
};
use crate::{
    table_data::Rows,
    uniform::{below, unit},
};

/// Pages of one unit.
const UNIT: u64 = 1000;
/// Namespaces and their shares in percent: articles, project, files, templates, help, categories, portals. Talk pages and users are
/// in no dump of articles.
const NAMESPACES: [(u64, u64); 7] = [(0, 73), (4, 4), (6, 5), (10, 7), (12, 1), (14, 9), (100, 1)];
/// Redirects among the articles that are not edited often, in percent.
const REDIRECTS: u64 = 40;
/// The quarter of the pages that is edited most has no redirects.
const EDITED_PARTS: u64 = 4;
const PROTECTED: &[u8] = b"edit=autoconfirmed:move=autoconfirmed";

/// What revisions of a page know of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    pub(super) namespace: u64,
    pub(super) is_redirect: bool,
    /// Bytes of its text when it was written last.
    pub(super) bytes: u64,
}

impl Page {
    /// The page at a place, and the numbers that are left of it.
    pub(super) fn at(history: &History, page: u64) -> (Self, Xoshiro256PlusPlus) {
        let mut random = random(Draw::Page, page);
        let share = below(&mut random, 100);
        let mut up_to = 0;
        let of_share = NAMESPACES.iter().find(|(_, percent)| {
            up_to += percent;
            share < up_to
        });
        let namespace = of_share.map_or(0, |(number, _)| *number);
        let is_edited = history.rank_of(page) < history.pages() / EDITED_PARTS;
        let is_redirect = below(&mut random, 100) < REDIRECTS && namespace == 0 && !is_edited;
        // A product of uniform numbers: most pages are short, and a few are long.
        let part = unit(&mut random) * unit(&mut random) * unit(&mut random);
        let bytes = if is_redirect {
            30 + (part * 60.0) as u64
        } else {
            60 + (part * 40_000.0) as u64
        };
        let page = Self {
            namespace,
            is_redirect,
            bytes,
        };
        (page, random)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct PageRows {
    history: History,
}

impl PageRows {
    pub(super) fn new(history: History) -> Self {
        Self { history }
    }

    fn write_row(&self, index: u64, out: &mut Vec<u8>) {
        let history = &self.history;
        let (page, mut numbers) = Page::at(history, index);
        let latest = history.revisions_of(index).max();
        let has_one = history.revisions_of(index).nth(1).is_none();
        // A page without a revision here was made between two of those that are.
        let written = latest.unwrap_or_else(|| below(&mut numbers, history.revisions()));
        let latest_id = if latest.is_some() {
            History::revision_id(written)
        } else {
            History::free_id(written)
        };
        // Pages are touched by changes of their templates too, most of them not long ago.
        let (end, begin) = (history.end().as_second(), history.second_of(written));
        let since = unit(&mut numbers) * unit(&mut numbers);
        let touched = end - 1 - ((end - 1 - begin) as f64 * since) as i64;
        let place = unit(&mut numbers);

        field(History::page_id(index), out);
        field(page.namespace, out);
        write_title(index, &mut random(Draw::PageTitle, index), out);
        out.push(b'\t');
        if below(&mut numbers, 1000) == 0 {
            out.extend_from_slice(PROTECTED);
        }
        out.push(b'\t');
        field(0, out);
        field(page.is_redirect.into(), out);
        field(has_one.into(), out);
        write!(out, "{place:.12}\t").expect("a vector takes all");
        write_time(touched, out);
        out.push(b'\t');
        field(latest_id, out);
        field(page.bytes, out);
        let end = out.len() - 1;
        out[end] = b'\n';
    }
}

impl Rows for PageRows {
    fn units(&self) -> u64 {
        self.history.pages().div_ceil(UNIT)
    }

    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64 {
        let pages = unit * UNIT..self.history.pages().min((unit + 1) * UNIT);
        for page in pages.clone() {
            self.write_row(page, out);
        }
        pages.end - pages.start
    }
}

/// A number and a tab.
pub(super) fn field(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    out.push(b'\t');
}
