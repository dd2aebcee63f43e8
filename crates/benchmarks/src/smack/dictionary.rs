//! A dictionary with its words, shared by all clients that draw from it.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use dataset::uniform::below;
use rand_xoshiro::{
    SplitMix64, Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use super::{
    Error,
    gen_data::GenData,
    script::{DictionarySection, Order, Script, WordSource},
    template::Template,
    words::{LineReader, TooLarge, Words},
};

/// Read buffer for a file, bytes.
const READ_BYTES: usize = 1 << 18;

#[derive(Debug, Clone)]
pub struct Dictionary {
    content: Content,
    /// Number of words in its source, including those that are not used.
    offered: u64,
}

#[derive(Debug, Clone)]
enum Content {
    Random(Words),
    Sequential(Words),
    Unique(Template),
}

/// Directories of the data files.
#[derive(Debug, Clone, Default)]
pub struct DataFiles {
    /// Directory of relative names, in which data files are kept as by Super Smack. Without it a table's rows come
    /// directly from their generator, and other names are relative to the smack file.
    pub data_dir: Option<PathBuf>,
    pub smack_dir: PathBuf,
}

impl DataFiles {
    /// The path for a name in a smack file.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.data_dir.as_ref().unwrap_or(&self.smack_dir).join(name)
    }
}

impl Dictionary {
    /// Loads the words of all dictionaries of a script, in the script's order.
    pub fn load_all(script: &Script, files: &DataFiles) -> Result<Vec<Self>, Error> {
        script
            .dictionaries
            .iter()
            .map(|section| Self::load(section, script, files))
            .collect()
    }

    fn load(
        section: &DictionarySection,
        script: &Script,
        files: &DataFiles,
    ) -> Result<Self, Error> {
        match &section.words {
            WordSource::Template(template) => Ok(Self {
                content: Content::Unique(template.clone()),
                offered: 0,
            }),
            WordSource::List(list) => {
                let mut words = Words::default();
                for word in list {
                    words.push(word).map_err(|TooLarge| too_large(section))?;
                }
                let offered = words.len() as u64;
                Self::of_words(section, (words, offered), "its list is empty".to_owned())
            }
            WordSource::File {
                path: name,
                delimiter,
                file_size_equiv,
            } => {
                let path = files.path(name);
                let generator = script.generator_of(name);
                match generator {
                    Some(generator) if files.data_dir.is_none() => {
                        Self::from_generated(section, generator, *delimiter, *file_size_equiv)
                    }
                    _ => Self::from_file(section, &path, *delimiter, *file_size_equiv),
                }
            }
        }
    }

    /// Takes the words from the rows of a generator, without a file on the disk.
    fn from_generated(
        section: &DictionarySection,
        generator: &GenData,
        delimiter: Option<u8>,
        file_size_equiv: u64,
    ) -> Result<Self, Error> {
        let mut size = 0;
        if file_size_equiv > 0 {
            each_piece(generator, |piece| {
                size += piece.len() as u64;
                Ok(())
            })
            .map_err(|TooLarge| too_large(section))?;
        }
        let mut reader = LineReader::new(delimiter, step(size, file_size_equiv));
        let words = each_piece(generator, |piece| reader.feed(piece))
            .and_then(|()| reader.finish())
            .map_err(|TooLarge| too_large(section))?;
        Self::of_words(
            section,
            words,
            format!("gen-data -n {} generates no usable row", generator.rows),
        )
    }

    fn from_file(
        section: &DictionarySection,
        path: &Path,
        delimiter: Option<u8>,
        file_size_equiv: u64,
    ) -> Result<Self, Error> {
        let unreadable = |source: io::Error| Error::DataFile {
            path: path.to_owned(),
            source,
        };
        let mut file = files::open_regular(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NoWordFile {
                name: section.name.clone(),
                path: path.to_owned(),
            },
            _ => unreadable(error),
        })?;
        let size = file.metadata().map_err(unreadable)?.len();
        let mut reader = LineReader::new(delimiter, step(size, file_size_equiv));
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => reader
                    .feed(&buffer[..length])
                    .map_err(|TooLarge| too_large(section))?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
        let words = reader.finish().map_err(|TooLarge| too_large(section))?;
        Self::of_words(
            section,
            words,
            format!("no line of {} is usable", path.display()),
        )
    }

    fn of_words(
        section: &DictionarySection,
        (words, offered): (Words, u64),
        origin: String,
    ) -> Result<Self, Error> {
        if words.len() == 0 {
            return Err(Error::EmptyDictionary {
                name: section.name.clone(),
                words: origin,
            });
        }
        Ok(Self {
            content: match section.order {
                Order::Sequential => Content::Sequential(words),
                _ => Content::Random(words),
            },
            offered,
        })
    }

    /// Number of words in use, and of words in the source; `None` for a template, whose words have no end.
    pub fn coverage(&self) -> Option<(u64, u64)> {
        match &self.content {
            Content::Random(words) | Content::Sequential(words) => {
                Some((words.len() as u64, self.offered))
            }
            Content::Unique(_) => None,
        }
    }

    /// Appends the next word of a client, escaped for a string literal.
    #[inline]
    pub(super) fn draw(&self, draw_state: &mut DrawState, drawn: &mut u64, out: &mut Vec<u8>) {
        match &self.content {
            Content::Random(words) => {
                out.extend_from_slice(words.get(draw_state.below(words.len())))
            }
            Content::Sequential(words) => {
                out.extend_from_slice(words.get((*drawn % words.len() as u64) as usize));
            }
            Content::Unique(template) => template.write(draw_state.unique(*drawn), out),
        }
        *drawn += 1;
    }
}

fn too_large(section: &DictionarySection) -> Error {
    Error::DictionaryTooLarge {
        name: section.name.clone(),
    }
}

/// Step between the lines that are used.
fn step(file_bytes: u64, file_size_equiv: u64) -> u64 {
    file_bytes.checked_div(file_size_equiv).unwrap_or(1).max(1)
}

fn each_piece(
    generator: &GenData,
    mut take: impl FnMut(&[u8]) -> Result<(), TooLarge>,
) -> Result<(), TooLarge> {
    let mut stream = generator.stream();
    let mut piece = Vec::new();
    while stream.fill(&mut piece) {
        take(&piece)?;
        piece.clear();
    }
    Ok(())
}

/// The index of a client among all clients of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientIndex {
    /// From 0.
    pub index: u64,
    /// Number of clients.
    pub of: u64,
}

/// The state from which one client draws: its own random numbers and its share of the unique ones.
#[derive(Debug, Clone)]
pub(super) struct DrawState {
    random: Xoshiro256PlusPlus,
    client_index: ClientIndex,
}

impl DrawState {
    pub(super) fn new(seed: u64, client_index: ClientIndex) -> Self {
        // Seed and index are mixed one after the other, so that neighbouring values give unrelated sequences.
        let mixed = SplitMix64::seed_from_u64(seed).next_u64() ^ client_index.index;
        let own_seed = SplitMix64::seed_from_u64(mixed).next_u64();
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(own_seed),
            client_index,
        }
    }

    #[inline]
    fn below(&mut self, limit: usize) -> usize {
        below(&mut self.random, limit as u64) as usize
    }

    /// The nth number of this client that no other client draws.
    #[inline]
    fn unique(&self, nth: u64) -> u64 {
        nth.wrapping_mul(self.client_index.of)
            .wrapping_add(self.client_index.index)
    }
}

#[cfg(test)]
#[path = "dictionary_tests.rs"]
mod tests;
