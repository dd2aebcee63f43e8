//! A password that is never displayed.

use std::fmt;

use zeroize::Zeroizing;

/// A password; erased from memory when dropped, and never shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// The password as plain text, for a pipe to a process of our own; never for a list, log or report.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The password as plain text, for the server.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<String> for Password {
    fn from(password: String) -> Self {
        Self(Zeroizing::new(password))
    }
}

impl From<&str> for Password {
    fn from(password: &str) -> Self {
        password.to_owned().into()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_show_it() {
        assert_eq!(format!("{:?}", Password::from("hunter2")), "Password(..)");
    }
}
