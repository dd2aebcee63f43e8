//! The servers that one option file is for: several where it has the instances of mysqld_multi.

use crate::file::OptionFile;

/// The group that every server reads.
pub(crate) const SERVER_GROUP: &str = "mysqld";

/// The group of mysqld_multi itself.
const MULTI: &str = "mysqld_multi";

/// A file as one of its servers reads it.
#[derive(Debug, Clone)]
pub struct ServerFile {
    /// The group of the instance: `mysqld2`; `None` where the file is for one server.
    pub instance: Option<String>,
    /// Its lines; those of the instance's own group are in `[mysqld]`.
    pub file: OptionFile,
}

/// Whether a group is that of an instance of mysqld_multi: `mysqld2`.
///
/// Source: `mysqld_multi.pl`, which takes `[mysqld]` with digits behind it.
pub(crate) fn is_instance(group: &str) -> bool {
    let number = group.trim().to_ascii_lowercase();
    let number = number.strip_prefix(SERVER_GROUP).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a group is that of mysqld_multi itself.
pub(crate) fn is_multi(group: &str) -> bool {
    group.trim().eq_ignore_ascii_case(MULTI)
}

impl OptionFile {
    /// The file as each of its servers reads it: one for each instance, where the file has `[mysqld_multi]` and
    /// instances; else the file itself.
    pub fn per_server(&self) -> Vec<ServerFile> {
        let entries = self.entries().iter();
        let mut instances: Vec<&str> = Vec::new();
        for entry in entries.filter(|entry| is_instance(&entry.group)) {
            if !instances
                .iter()
                .any(|one| one.eq_ignore_ascii_case(&entry.group))
            {
                instances.push(&entry.group);
            }
        }
        let has_multi = self.entries().iter().any(|entry| is_multi(&entry.group));
        if instances.is_empty() || !has_multi {
            return vec![ServerFile {
                instance: None,
                file: self.clone(),
            }];
        }
        let file_of = |instance: &str| {
            let mut file = self.clone();
            let is_own = |group: &str| group.eq_ignore_ascii_case(instance);
            file.rename_groups(|group| is_own(group).then(|| SERVER_GROUP.to_owned()));
            file
        };
        let files = instances.iter().map(|instance| ServerFile {
            instance: Some((*instance).to_owned()),
            file: file_of(instance),
        });
        files.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn instances_have_files_of_their_own() {
        let servers = |text: &str| -> Vec<(Option<String>, usize)> {
            let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
            let of_server = |server: ServerFile| {
                let entries = server.file.entries().iter();
                let own = entries.filter(|entry| entry.group == SERVER_GROUP);
                (server.instance, own.count())
            };
            file.per_server().into_iter().map(of_server).collect()
        };
        let instances = "[mysqld]\na=1\n[mysqld1]\nb=1\nc=1\n[mysqld22]\nd=1\n";
        assert_eq!(servers(instances), [(None, 1)]);
        let multi = format!("[mysqld_multi]\nuser=x\n{instances}");
        let expected = [
            (Some("mysqld1".to_owned()), 3),
            (Some("mysqld22".to_owned()), 2),
        ];
        assert_eq!(servers(&multi), expected);
        assert_eq!(
            servers("[mysqld_multi]\nuser=x\n[mysqld]\na=1\n"),
            [(None, 1)]
        );
        for group in [
            "mysqld",
            "mysqld_safe",
            "mysqld-5.7",
            "mysqld1a",
            "mysqldump",
        ] {
            assert!(!is_instance(group), "{group}");
        }
    }
}
