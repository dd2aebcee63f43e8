//! A second server with the data, accounts and options of a stopped one, for changes that the first must not see.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use mycnf::{OptionFile, OptionName, Options, PrivateOptions, parse_size_bytes};

use crate::configuration::{Settings, configure};
use crate::directory::layout::Layout;
use crate::directory::lock::Lock;
use crate::error::Error;
use crate::initialise::accounts::Accounts;
use crate::redo_log;
use crate::server::Server;
use crate::snapshot::binary_logs::binary_logs;
use crate::snapshot::copy::{OWN_FILES, copy_directory};

/// The server's default.
const DEFAULT_BUFFER_POOL_BYTES: u64 = 128 << 20;

impl Server {
    /// Makes a server in a directory that does not exist yet, with a copy of the data of this one, which must be stopped
    /// cleanly. `settings` override the options of this one; those that are fixed in the data directory must not change.
    /// The copy is not started, and it is removed once this process has ended.
    pub fn duplicate(&self, dir: &Path, settings: &Settings) -> Result<Self, Error> {
        let _lock = Lock::take(&self.layout)?;
        self.refuse_if_running()?;
        let own = || self.layout.dir.clone();
        if !self.marker.stopped_cleanly {
            return Err(Error::NotStoppedCleanly { dir: own() });
        }
        if redo_log::is_off(&self.layout.data) {
            return Err(Error::RedoLogOff { dir: own() });
        }
        let target = Layout::of(dir)?;
        let own_file = std::iter::once(self.layout.option_file.clone());
        let checked = Settings {
            cnf: own_file.chain(settings.cnf.iter().cloned()).collect(),
            ..settings.clone()
        };
        let settings = Settings {
            set: self.moved_directories(&target, &checked.set)?,
            ..checked.clone()
        };
        let installation = self.installation()?;
        let private = configure(&target, &installation, &settings)?;
        self.refuse_other_data(private.options())?;
        let mut left_out = binary_logs(&self.layout.data)?;
        left_out.extend(OWN_FILES.map(OsString::from));
        let fill = |layout: &Layout, _: &PrivateOptions| {
            copy_directory(&self.layout.data, &layout.data, &left_out)?;
            Accounts::read(&self.layout)
        };
        Self::create_with(dir, &installation, &settings, &checked, fill)
    }

    /// Buffer pool of this server, or of a copy with these settings, bytes; the server's default if it is not set.
    pub fn buffer_pool_bytes(&self, settings: &Settings) -> Result<u64, Error> {
        const NAME: &str = "innodb_buffer_pool_size";
        let wanted = OptionName::new(NAME);
        let mut set = settings.set.iter();
        let single = set.find(|(name, _)| OptionName::new(name).base() == wanted.base());
        if let Some((_, value)) = single {
            return Ok(parse_size_bytes(value).unwrap_or(DEFAULT_BUFFER_POOL_BYTES));
        }
        let groups = self.installation()?.option_groups();
        // A later file wins.
        for path in settings.cnf.iter().rev() {
            let options = Options::from_groups(&OptionFile::read(path)?, &groups);
            if let Some(bytes) = options.value(NAME).and_then(parse_size_bytes) {
                return Ok(bytes);
            }
        }
        let own = self.options()?;
        let bytes = own.value(NAME).and_then(parse_size_bytes);
        Ok(bytes.unwrap_or(DEFAULT_BUFFER_POOL_BYTES))
    }

    /// The options with the directories of temporary tables and exports in the directory of the copy, unless the user put
    /// them elsewhere.
    fn moved_directories(
        &self,
        target: &Layout,
        set: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let options = self.options()?;
        let mut moved = set.clone();
        for (option, was, now) in [
            ("tmpdir", &self.layout.temporary, &target.temporary),
            ("secure_file_priv", &self.layout.files, &target.files),
        ] {
            let is_own = options.value(option) == Some(was.to_string_lossy().as_ref());
            if is_own && !set.keys().any(|name| name.replace('-', "_") == option) {
                moved.insert(option.to_owned(), now.to_string_lossy().into_owned());
            }
        }
        Ok(moved)
    }
}
