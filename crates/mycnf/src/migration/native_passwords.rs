//! The accounts that cannot log in to the new version.

use super::{Migration, Move};
use crate::authentication::enables_native_password;
use crate::catalogue::Family;
use crate::finding::option_as_written;
use crate::rules::OLD_PASSWORDS;
use crate::subject::Subject;

const OPTION: &str = "mysql_native_password";

impl Migration {
    /// MySQL 9.0 removed the plugin mysql_native_password. No option file shows whether accounts use it, so that it is the
    /// user's to decide wherever the old version has the plugin.
    pub(super) fn leave_native_passwords_open(
        &mut self,
        before: &Subject<'_>,
        after: &Subject<'_>,
    ) {
        let old = before.target;
        let is_removed = after.target.is_at_least(Family::MySql, &[9]);
        let had_plugin = if old.is_at_least(Family::MySql, &[8, 4]) {
            !old.is_at_least(Family::MySql, &[9]) && enables_native_password(before)
        } else {
            true
        };
        let is_reported = self
            .moves
            .iter()
            .any(|one| matches!(one, Move::Open { option, .. } if option.starts_with(OPTION)));
        if !is_removed || !had_plugin || is_reported {
            return;
        }
        let line = before.set(OPTION).map(|line| line.entry);
        self.moves.push(Move::Open {
            at: line.map(|entry| entry.origin.clone()),
            option: line.map_or(OPTION.to_owned(), option_as_written),
            what: "accounts with this plugin cannot log in: MySQL 9.0 removed it; before the move, switch them to \
                   caching_sha2_password"
                .to_owned(),
        });
    }

    /// MySQL 5.7 removed the password hashes from before MySQL 4.1, which these lines of the old version create or accept.
    pub(super) fn leave_old_hashes_open(&mut self, before: &Subject<'_>, after: &Subject<'_>) {
        if !after.target.is_at_least(Family::MySql, &[5, 7]) {
            return;
        }
        for found in (OLD_PASSWORDS.check)(before) {
            if found.at.as_ref().is_none_or(|at| self.has_open(at)) {
                continue;
            }
            self.moves.push(Move::Open {
                at: found.at,
                option: found.option,
                what: "accounts with password hashes from before MySQL 4.1 cannot log in: MySQL 5.7 removed these \
                       hashes; before the move, set new passwords for such accounts"
                    .to_owned(),
            });
        }
    }
}
