//! The paths in an experiment file, made independent of its directory, because a file derived from it is in another one.

use std::path::Path;

use benchmarks::VOCABULARY;
use experiment::written;
use settings::{Kind, OptionTable};
use toml_edit::{DocumentMut, Item, TableLike, Value, value};

/// Keys of `[server]` whose values are paths.
const OF_SERVER: [&str; 5] = [
    "cnf",
    "datadir",
    "password_file",
    "ssl_ca",
    "observe_secret_file",
];
/// Keys of `[proxy]` whose values are paths, and the values of them that are none.
const OF_PROXY: [&str; 2] = ["script", "rewrite"];
const NO_FILE_OF_PROXY: [&str; 2] = ["none", "direct"];

/// The paths of one file.
struct Paths<'d> {
    /// The directory from which they count.
    directory: &'d Path,
    /// The levels of all factors that are whole paths.
    whole_levels: Vec<String>,
}

/// Makes all relative paths count from the root; `directory` is that of the file, from the root.
pub(super) fn make_whole(file: &mut DocumentMut, directory: &Path) {
    let paths = Paths {
        directory,
        whole_levels: whole_levels(file),
    };
    if let Some(server) = section(file, "server") {
        for key in OF_SERVER {
            paths.make_whole(server.get_mut(key), |_| true);
        }
    }
    if let Some(proxy) = section(file, "proxy") {
        for key in OF_PROXY {
            paths.make_whole(proxy.get_mut(key), |text| !NO_FILE_OF_PROXY.contains(&text));
        }
    }
    if let Some(data) = section(file, "data") {
        paths.of_benchmarks(data, &VOCABULARY.data);
    }
    if let Some(load) = section(file, "load") {
        paths.of_benchmarks(load, &VOCABULARY.loads);
    }
    for event in events(file) {
        let command = event.get_mut("command");
        if let Some(words) = command.and_then(Item::as_array_mut) {
            // A name without a directory is searched in PATH.
            paths.make_whole_value(words.get_mut(0), &|text| text.contains('/'));
        }
    }
}

fn section<'f>(file: &'f mut DocumentMut, name: &str) -> Option<&'f mut dyn TableLike> {
    file.get_mut(name)?.as_table_like_mut()
}

/// The events, each a table of its own or one in a list.
fn events(file: &mut DocumentMut) -> Vec<&mut dyn TableLike> {
    match file.get_mut("event") {
        Some(Item::ArrayOfTables(events)) => {
            let events = events.iter_mut();
            events.map(|it| it as &mut dyn TableLike).collect()
        }
        Some(Item::Value(Value::Array(events))) => {
            let events = events.iter_mut().filter_map(Value::as_inline_table_mut);
            events.map(|it| it as &mut dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

/// The levels of all factors that are paths from the root.
fn whole_levels(file: &DocumentMut) -> Vec<String> {
    let matrix = file.get("matrix").and_then(Item::as_table_like);
    let factors = matrix.into_iter().flat_map(|matrix| matrix.iter());
    let has_whole = |levels: &Item| {
        let mut levels = levels.as_array().into_iter().flat_map(|it| it.iter());
        levels.any(|level| {
            let labelled = level.as_inline_table().and_then(|it| it.get("value"));
            let text = labelled.unwrap_or(level).as_str();
            text.is_some_and(|text| text.starts_with('/'))
        })
    };
    let whole = factors.filter(|(_, levels)| has_whole(levels));
    whole.map(|(name, _)| name.to_owned()).collect()
}

impl Paths<'_> {
    /// The paths among the options of benchmarks: in a table of their own, as the short form of it, or beside that.
    fn of_benchmarks<K: OptionTable + ?Sized>(
        &self,
        section: &mut dyn TableLike,
        kinds: &[&'static K],
    ) {
        for kind in kinds {
            for option in kind.options() {
                let is_path = |text: &str| match option.kind {
                    Kind::Script(_) => self.is_script(text),
                    _ => true,
                };
                if !is_of_files(option.kind) {
                    continue;
                }
                if kind.is_flat() {
                    self.make_whole(section.get_mut(option.name), is_path);
                    continue;
                }
                let Some(own) = section.get_mut(kind.name()) else {
                    continue;
                };
                match own.as_table_like_mut() {
                    Some(table) => self.make_whole(table.get_mut(option.name), is_path),
                    None if kind.short() == Some(option.name) => {
                        self.make_whole(Some(own), is_path)
                    }
                    None => self.make_whole(section.get_mut(option.name), is_path),
                }
            }
        }
    }

    /// Whether SQL or the name of a file of it is a name.
    fn is_script(&self, text: &str) -> bool {
        let is_file = self.directory.join(text).is_file();
        is_file || Path::new(text).extension().is_some_and(|it| it == "sql")
    }

    /// Makes a value whole, or all values in it, if it is a path.
    fn make_whole(&self, item: Option<&mut Item>, is_path: impl Fn(&str) -> bool) {
        self.make_whole_item(item, &is_path);
    }

    fn make_whole_item(&self, item: Option<&mut Item>, is_path: &dyn Fn(&str) -> bool) {
        let Some(item) = item else { return };
        if let Some(all) = item.as_array_mut() {
            for value in all.iter_mut() {
                self.make_whole_value(Some(value), is_path);
            }
        } else if let Some(table) = item.as_table_like_mut() {
            for (_, item) in table.iter_mut() {
                self.make_whole_item(Some(item), is_path);
            }
        } else if let Some(whole) = item.as_str().and_then(|text| self.whole(text, is_path)) {
            *item = value(written::string(&whole));
        }
    }

    fn make_whole_value(&self, value: Option<&mut Value>, is_path: &dyn Fn(&str) -> bool) {
        let Some(value) = value else { return };
        if let Some(whole) = value.as_str().and_then(|text| self.whole(text, is_path)) {
            *value = written::string(&whole);
        }
    }

    /// A relative path from the root; `None` for another text, and for a level that may be a whole path.
    fn whole(&self, text: &str, is_path: &dyn Fn(&str) -> bool) -> Option<String> {
        let mut factors = self.whole_levels.iter();
        let begins_whole = factors.any(|name| text.starts_with(&format!("{{{name}}}")));
        let is_relative = !text.starts_with('/') && !begins_whole;
        (is_relative && is_path(text)).then(|| {
            // Braces of the directory are no factors.
            let directory = self.directory.to_string_lossy();
            let directory = directory.replace('{', "{{").replace('}', "}}");
            format!("{directory}/{text}")
        })
    }
}

/// Whether the values of an option are paths.
fn is_of_files(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::File(_)
            | Kind::Directory(_)
            | Kind::Script(_)
            | Kind::WeightedFiles(_)
            | Kind::DataFile(_)
            | Kind::DataFiles(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> String {
        let mut file: DocumentMut = text.parse().unwrap();
        make_whole(&mut file, Path::new("/home/{dba}"));
        file.to_string()
    }

    #[test]
    fn relative_paths_count_from_the_root() {
        for (text, expected) in [
            (
                "[server]\ncnf = [\"a.cnf\", \"/etc/b.cnf\"]\n",
                "[server]\ncnf = [\"/home/{{dba}}/a.cnf\", \"/etc/b.cnf\"]\n",
            ),
            (
                "[data]\nsmack = \"smacks/x.smack\"\nrows = \"1k\"\n",
                "[data]\nsmack = \"/home/{{dba}}/smacks/x.smack\"\nrows = \"1k\"\n",
            ),
            (
                "[load]\nsmack = { file = \"x.smack\" }\n",
                "[load]\nsmack = { file = \"/home/{{dba}}/x.smack\" }\n",
            ),
            (
                "[load]\nscript = { files = [\"a.sql@70\"] }\n",
                "[load]\nscript = { files = [\"/home/{{dba}}/a.sql@70\"] }\n",
            ),
            (
                "[[event]]\ncommand = [\"./resize.sh\", \"a/b\"]\n",
                "[[event]]\ncommand = [\"/home/{{dba}}/./resize.sh\", \"a/b\"]\n",
            ),
            (
                "event = [{ command = [\"./resize.sh\", \"a/b\"] }]\n",
                "event = [{ command = [\"/home/{{dba}}/./resize.sh\", \"a/b\"] }]\n",
            ),
            (
                "[matrix]\ncnf = [\"a.cnf\"]\n[server]\ncnf = \"{cnf}\"\n",
                "[matrix]\ncnf = [\"a.cnf\"]\n[server]\ncnf = \"/home/{{dba}}/{cnf}\"\n",
            ),
        ] {
            assert_eq!(whole(text), expected);
        }
    }

    #[test]
    fn other_values_stay() {
        for text in [
            "[load]\noltp = { script = \"read_write\" }\n",
            "[matrix]\ndir = [\"/mnt/a\", \"/mnt/b\"]\n[server]\ndatadir = \"{dir}\"\n",
            "[proxy]\nscript = \"direct\"\n",
            "[[event]]\ncommand = [\"sh\", \"-c\", \"a/b\"]\n",
        ] {
            assert_eq!(whole(text), text);
        }
    }
}
