//! Turns the syntax tree into a checked script: every member known, every name defined, every value valid.

use bstr::{BString, ByteSlice};
use protocol::Password;

use super::{
    Error,
    ast::{Member, Program, Section, SectionKind, Text},
    barrel_text,
    gen_data::GenData,
    main_block, parser,
    script::{
        ClientSection, DictionarySection, Generator, Order, QuerySection, Script, TableSection,
        WordSource,
    },
    statement::StatementText,
    template::Template,
};
use crate::diagnostic::{Diagnostic, Source};

type Checked<T> = Result<T, Box<Diagnostic>>;

impl Script {
    /// Parses and checks a .smack file; `name` is the file's name in errors.
    pub fn parse(name: &str, text: &[u8]) -> Result<Self, Error> {
        let source = Source { name, text };
        let program = parser::parse(&source)?;
        Ok(check(source, &program)?)
    }
}

/// Checks a program and converts its sections to a script.
fn check(source: Source<'_>, program: &Program) -> Checked<Script> {
    let mut checker = Checker {
        source,
        warnings: Vec::new(),
    };
    checker.script(program)
}

struct Checker<'s> {
    source: Source<'s>,
    warnings: Vec<Diagnostic>,
}

impl<'s> Checker<'s> {
    fn script(&mut self, program: &Program) -> Checked<Script> {
        let mut script = Script {
            clients: Vec::new(),
            tables: Vec::new(),
            dictionaries: Vec::new(),
            queries: Vec::new(),
            programs: Vec::new(),
            warnings: Vec::new(),
        };
        // By kind, so that a section may refer to a later one.
        for section in self.of_kind(program, SectionKind::Dictionary)? {
            script.dictionaries.push(self.dictionary(section)?);
        }
        for section in self.of_kind(program, SectionKind::Query)? {
            let query = self.query(section, &script)?;
            script.queries.push(query);
        }
        for section in self.of_kind(program, SectionKind::Client)? {
            let client = self.client(section, &script)?;
            script.clients.push(client);
        }
        for section in self.of_kind(program, SectionKind::Table)? {
            let table = self.table(section, &script)?;
            script.tables.push(table);
        }
        script.programs =
            main_block::compile(&self.source, &program.main, &script, &mut self.warnings)?;
        script.warnings = std::mem::take(&mut self.warnings);
        Ok(script)
    }

    /// The sections of one kind; two with the same name are an error.
    fn of_kind<'p>(&self, program: &'p Program, kind: SectionKind) -> Checked<Vec<&'p Section>> {
        let sections: Vec<&Section> = program
            .sections
            .iter()
            .filter(|section| section.kind == kind)
            .collect();
        for (index, section) in sections.iter().enumerate() {
            if sections[..index]
                .iter()
                .any(|earlier| earlier.name.value == section.name.value)
            {
                return Err(self.fault(
                    section.name.at,
                    format!(
                        "{} '{}' is defined twice",
                        kind.keyword(),
                        section.name.value
                    ),
                ));
            }
        }
        Ok(sections)
    }

    fn dictionary(&mut self, section: &Section) -> Checked<DictionarySection> {
        let members = self.members(
            section,
            &["type", "source_type", "source", "delim", "file_size_equiv"],
        )?;
        let name = section.name.text();
        let order_text = members.required("type")?;
        let order = match &order_text.value[..] {
            b"rand" => Order::Random,
            b"seq" => Order::Sequential,
            b"unique" => Order::Unique,
            other => {
                let message = format!("unknown dictionary type '{}'", other.as_bstr());
                return Err(Box::new(
                    self.source
                        .diagnostic(order_text.at, message)
                        .hint("the types are rand, seq and unique"),
                ));
            }
        };
        Ok(DictionarySection {
            name,
            order,
            words: self.word_source(&members, order)?,
        })
    }

    fn word_source(&mut self, members: &Members<'_, '_>, order: Order) -> Checked<WordSource> {
        let order_text = members.required("type")?;
        let kind = members.required("source_type")?;
        let text = members.take("source");
        let delimiter = members.take("delim");
        let equiv = members.number("file_size_equiv")?;
        let words = match (&kind.value[..], order) {
            (b"template", Order::Unique) => {
                let text = text.ok_or_else(|| members.missing("source"))?;
                let template = Template::parse(&text.value)
                    .map_err(|error| self.fault(text.at, error.to_string()))?;
                WordSource::Template(template)
            }
            (b"template", _) | (_, Order::Unique) => {
                return Err(Box::new(
                    self.source
                        .diagnostic(
                            kind.at,
                            format!(
                                "source_type '{}' cannot be used with type '{}'",
                                kind.value, order_text.value
                            ),
                        )
                        .hint("type unique needs source_type template; rand and seq need file or list"),
                ));
            }
            (b"file", _) => {
                let path = text.ok_or_else(|| members.missing("source"))?.text();
                if let Some(delimiter) = delimiter
                    && delimiter.value.len() > 1
                {
                    self.warn(
                        delimiter.at,
                        format!(
                            "only the first character of delim \"{}\" ends a word",
                            delimiter.value
                        ),
                    );
                }
                WordSource::File {
                    path,
                    delimiter: delimiter
                        .and_then(|delimiter| delimiter.value.first().copied())
                        .filter(|&delimiter| delimiter != b'\n'),
                    file_size_equiv: equiv,
                }
            }
            (b"list", _) => {
                WordSource::List(list(&text.ok_or_else(|| members.missing("source"))?.value))
            }
            (other, _) => {
                let message = format!("unknown source_type '{}'", other.as_bstr());
                return Err(Box::new(
                    self.source
                        .diagnostic(kind.at, message)
                        .hint("the source types are file, list and template"),
                ));
            }
        };
        Ok(words)
    }

    fn query(&mut self, section: &Section, script: &Script) -> Checked<QuerySection> {
        let members = self.members(section, &["query", "type", "has_result_set", "parsed"])?;
        let text = members.take("query");
        let query_type = members.take("type").map(Text::text).unwrap_or_default();
        // Every result that the server sends is read, regardless of has_result_set.
        let has_result_set = members.take("has_result_set");
        let parsed = members.take("parsed");
        for flag in [has_result_set, parsed].into_iter().flatten() {
            self.check_flag(flag);
        }
        let query: &[u8] = text.map_or(b"", |text| &text.value);
        let text = if parsed.is_some_and(|flag| is_yes(&flag.value)) {
            StatementText::with_words(query, |word| {
                script
                    .dictionaries
                    .iter()
                    .position(|dictionary| dictionary.name == word)
            })
            .map_err(|word| {
                self.fault(
                    text.map_or(section.name.at, |text| text.at),
                    format!("The dictionary {word} does not exist"),
                )
            })?
        } else {
            StatementText::plain(query)
        };
        Ok(QuerySection {
            name: section.name.text(),
            query_type,
            text,
        })
    }

    fn check_flag(&mut self, flag: &Text) {
        let value = &flag.value;
        if !is_yes(value) && !value.is_empty() && !matches!(value[0], b'n' | b'N') {
            self.warn(
                flag.at,
                format!("\"{value}\" counts as no: only a word with y is yes"),
            );
        }
    }

    fn client(&mut self, section: &Section, script: &Script) -> Checked<ClientSection> {
        let members = self.members(
            section,
            &[
                "user",
                "host",
                "db",
                "pass",
                "socket",
                "port",
                "query_barrel",
            ],
        )?;
        let barrel = match members.take("query_barrel") {
            None => None,
            Some(text) => Some(
                barrel_text::parse(&text.value, |name| script.query(name))
                    .map_err(|error| self.fault(text.at + 1 + error.offset, error.message))?,
            ),
        };
        let port = members.number("port")?;
        let port = u16::try_from(port)
            .map_err(|_| self.fault(section.name.at, format!("port {port} is beyond 65535")))?;
        let filled = |key| {
            members
                .take(key)
                .filter(|text| !text.value.is_empty())
                .map(Text::text)
        };
        Ok(ClientSection {
            name: section.name.text(),
            user: filled("user"),
            host: filled("host"),
            database: filled("db"),
            password: filled("pass").map(Password::from),
            socket: filled("socket"),
            port: (port != 0).then_some(port),
            barrel,
        })
    }

    fn table(&mut self, section: &Section, script: &Script) -> Checked<TableSection> {
        let members = self.members(
            section,
            &[
                "client",
                "min_rows",
                "create",
                "alter",
                "data_file",
                "gen_data_file",
            ],
        )?;
        let client = members.take("client");
        let client = client
            .and_then(|text| script.client(&text.text()))
            .ok_or_else(|| {
                self.fault(
                    client.map_or(section.name.at, |text| text.at),
                    "Missing or undefined client in the table section".to_owned(),
                )
            })?;
        let min_rows = members.number("min_rows")?;
        let create = members.take("create").map(|text| text.value.clone());
        let generator = match members.take("gen_data_file") {
            Some(text) if !text.value.trim_ascii().is_empty() => Some(self.generator(text)?),
            _ => None,
        };
        Ok(TableSection {
            name: section.name.text(),
            client,
            min_rows,
            create: create.unwrap_or_default(),
            alter: members.take("alter").map(|text| text.value.clone()),
            data_file: members
                .take("data_file")
                .filter(|text| !text.value.is_empty())
                .map(Text::text),
            generator,
        })
    }

    fn generator(&self, text: &Text) -> Checked<Generator> {
        let command = text.value.trim_ascii();
        match GenData::from_shell_command(command) {
            Some(Ok(generator)) => Ok(Generator::GenData(generator)),
            Some(Err(error)) => Err(self.fault(text.at, format!("gen-data: {error}"))),
            None if command.starts_with(b"gen-data ") && command.contains(&b'\n') => {
                // A command that was wrapped in a paper's listing: the shell would run two commands.
                let break_at = self.source.text[text.at..]
                    .find_byte(b'\n')
                    .map_or(text.at, |length| text.at + length);
                Err(Box::new(
                    self.source
                        .diagnostic(break_at, "a line break in the middle of a gen-data command")
                        .hint("join the two lines, or end the first with a backslash"),
                ))
            }
            None => Ok(Generator::Shell(command.into())),
        }
    }

    /// The members of a section; a key that is unknown in the section is an error.
    fn members<'p>(
        &self,
        section: &'p Section,
        known: &'static [&'static str],
    ) -> Checked<Members<'p, 's>> {
        for member in &section.members {
            if !known.contains(&member.key.value.as_str()) {
                let kind = section.kind.keyword();
                return Err(Box::new(
                    self.source
                        .diagnostic(
                            member.key.at,
                            format!("unknown member `{}` of a {kind}", member.key.value),
                        )
                        .hint(format!("the members of a {kind} are {}", known.join(", "))),
                ));
            }
        }
        Ok(Members {
            source: self.source,
            section,
        })
    }

    fn fault(&self, at: usize, message: String) -> Box<Diagnostic> {
        Box::new(self.source.diagnostic(at, message))
    }

    fn warn(&mut self, at: usize, message: String) {
        self.warnings.push(self.source.diagnostic(at, message));
    }
}

/// The members of one section by key; the last one of a repeated key applies.
struct Members<'p, 's> {
    source: Source<'s>,
    section: &'p Section,
}

impl<'p> Members<'p, '_> {
    fn take(&self, key: &str) -> Option<&'p Text> {
        self.section
            .members
            .iter()
            .rev()
            .find(|member| member.key.value == key)
            .map(|Member { value, .. }| value)
    }

    fn required(&self, key: &str) -> Checked<&'p Text> {
        self.take(key).ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &str) -> Box<Diagnostic> {
        let kind = self.section.kind.keyword();
        Box::new(self.source.diagnostic(
            self.section.name.at,
            format!("{kind} '{}' has no `{key}`", self.section.name.value),
        ))
    }

    /// The number at the start of a value, as the C library reads it; 0 where the member is absent.
    fn number(&self, key: &str) -> Checked<u64> {
        let Some(text) = self.take(key) else {
            return Ok(0);
        };
        let value = text.value.trim_ascii();
        let digits = value
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if value.is_empty() {
            return Ok(0);
        }
        value[..digits].to_str_lossy().parse().map_err(|_| {
            Box::new(
                self.source
                    .diagnostic(text.at, format!("{key} \"{}\" is not a number", text.value)),
            )
        })
    }
}

fn is_yes(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'y' | b'Y'))
}

/// The words of a list; a comma at the end closes the last word, and `\,` is a comma within a word.
///
/// Super Smack lost a last word that had no comma after it.
fn list(text: &[u8]) -> Vec<BString> {
    let mut words = Vec::new();
    let mut word = BString::default();
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if matches!(bytes.peek(), Some(b',')) => word.extend(bytes.next()),
            b',' => words.push(std::mem::take(&mut word)),
            _ => word.push(byte),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
#[path = "checker_tests.rs"]
mod tests;
