//! The command line of gen-data, for the front door and for a table's `gen_data_file`.

use std::fmt;

use bstr::{BString, ByteSlice};

use super::{
    field::Field,
    format::{Format, FormatError},
    rows::Rows,
};

/// Size of a generated piece, bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// `gen-data -n ROWS -f FORMAT`: a finite stream of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenData {
    pub rows: u64,
    format: Format,
    /// The format as the user wrote it.
    text: BString,
}

/// The request on a gen-data command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `-n ROWS -f FORMAT`
    Rows(GenData),
    /// `-?`
    Usage,
    /// `-V` or `--version`
    Version,
}

/// Error in a gen-data command line; the texts are the original's where it had one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No rows, zero rows, or no format.
    #[error("You must supply num-rows and fmt")]
    Missing,
    /// An option that gen-data does not have.
    #[error("unrecognized option '{0}'")]
    Option(BString),
    /// An option without its value.
    #[error("option requires an argument -- '{0}'")]
    Value(BString),
    #[error(transparent)]
    Format(#[from] FormatError),
}

impl Request {
    /// Parses the arguments after the program's name, with options in any order as GNU getopt accepts them.
    pub fn parse<A: AsRef<[u8]>>(arguments: &[A]) -> Result<Self, CommandError> {
        let mut rows = 0;
        let mut format: Option<&[u8]> = None;
        let mut arguments = arguments.iter().map(AsRef::as_ref);
        while let Some(argument) = arguments.next() {
            if argument == b"--" {
                break;
            }
            let Some((option, attached)) = option(argument)? else {
                continue;
            };
            if matches!(option, b'?' | b'V') {
                return Ok(if option == b'?' {
                    Self::Usage
                } else {
                    Self::Version
                });
            }
            let value = attached
                .or_else(|| arguments.next())
                .ok_or_else(|| CommandError::Value(BString::from(vec![option])))?;
            match option {
                b'n' => rows = leading_number(value),
                _ => format = Some(value),
            }
        }
        match format {
            Some(format) if rows > 0 => Ok(Self::Rows(GenData::new(rows, format)?)),
            _ => Err(CommandError::Missing),
        }
    }
}

/// An option's letter and the value attached to it.
type ShortOption<'a> = (u8, Option<&'a [u8]>);

/// The option in an argument; `None` for an argument that is not an option.
fn option(argument: &[u8]) -> Result<Option<ShortOption<'_>>, CommandError> {
    if let Some(long) = argument.strip_prefix(b"--") {
        let (name, value) = match long.split_once_str("=") {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        return match name {
            b"num-rows" => Ok(Some((b'n', value))),
            b"format" => Ok(Some((b'f', value))),
            b"version" => Ok(Some((b'V', None))),
            _ => Err(CommandError::Option(argument.into())),
        };
    }
    match argument {
        [b'-', letter @ (b'n' | b'f'), attached @ ..] => {
            Ok(Some((*letter, (!attached.is_empty()).then_some(attached))))
        }
        [b'-', letter @ (b'?' | b'V'), ..] => Ok(Some((*letter, None))),
        [b'-', _, ..] => Err(CommandError::Option(argument.into())),
        _ => Ok(None),
    }
}

/// The number at the start of a text; 0 where there is none.
fn leading_number(text: &[u8]) -> u64 {
    text.trim_ascii_start()
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0_u64, |number, byte| {
            number
                .saturating_mul(10)
                .saturating_add(u64::from(byte - b'0'))
        })
}

impl GenData {
    /// `rows` rows of a format.
    pub fn new(rows: u64, format: &[u8]) -> Result<Self, FormatError> {
        Ok(Self {
            rows,
            format: Format::parse(format)?,
            text: format.into(),
        })
    }

    /// Recognises a shell command that is a plain call of gen-data, so that it runs within this program.
    ///
    /// `None` for any other command, which the shell must run.
    pub(crate) fn from_shell_command(command: &[u8]) -> Option<Result<Self, CommandError>> {
        let words = shell_words(command)?;
        let (program, arguments) = words.split_first()?;
        let name = program
            .rsplit_once_str("/")
            .map_or(&program[..], |(_, name)| name);
        if name != b"gen-data" {
            return None;
        }
        match Request::parse(arguments) {
            Ok(Request::Rows(generator)) => Some(Ok(generator)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// The fields of each row, for naming the cause of a bad value.
    pub(crate) fn fields(&self) -> Result<Vec<Field>, FormatError> {
        Field::all(&self.text)
    }

    pub fn stream(&self) -> GenDataStream {
        GenDataStream {
            rows: Rows::new(&self.format, self.rows),
            done: false,
        }
    }
}

impl fmt::Display for GenData {
    /// The command that makes these rows.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "gen-data -n {} -f {}", self.rows, self.text)
    }
}

/// The rows of a [`GenData`], about a mebibyte at a time.
#[derive(Debug, Clone)]
pub struct GenDataStream {
    rows: Rows,
    done: bool,
}

impl GenDataStream {
    /// Appends the next complete rows to `out`; false when there were none.
    pub fn fill(&mut self, out: &mut Vec<u8>) -> bool {
        if self.done {
            return false;
        }
        // One row more than the chunk fits without reallocation, whatever the format.
        out.reserve(CHUNK_BYTES + CHUNK_BYTES / 16);
        let until = out.len() + CHUNK_BYTES;
        self.done = !self.rows.fill(out, until);
        true
    }
}

/// The words of a command whose only shell syntax is quotes; `None` for any other command.
fn shell_words(command: &[u8]) -> Option<Vec<BString>> {
    let mut words = Vec::new();
    let mut word: Option<BString> = None;
    let mut quote = None;
    for &byte in command.trim_ascii() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(b'"'), b'$' | b'`' | b'\\') => return None,
            (Some(_), _) => word.get_or_insert_default().push(byte),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, b' ' | b'\t') => words.extend(word.take()),
            (None, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9') => {
                word.get_or_insert_default().push(byte);
            }
            (None, b'%' | b',' | b'.' | b'-' | b'_' | b'/' | b':' | b'=' | b'+' | b'@') => {
                word.get_or_insert_default().push(byte);
            }
            _ => return None,
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> Result<Request, CommandError> {
        Request::parse(arguments)
    }

    #[test]
    fn command_lines() {
        let expected = Request::Rows(GenData::new(7, b"%n,x").unwrap());
        for arguments in [
            &["-n", "7", "-f", "%n,x"][..],
            &["-f%n,x", "-n7"],
            &["--format=%n,x", "--num-rows", "7"],
            &["surplus", "-n", "7rows", "-f", "%n,x", "--", "-x"],
        ] {
            assert_eq!(request(arguments).as_ref(), Ok(&expected), "{arguments:?}");
        }
        assert_eq!(request(&["-?"]), Ok(Request::Usage));
        assert_eq!(request(&["-n", "1", "-V"]), Ok(Request::Version));
    }

    #[test]
    fn refused_command_lines() {
        for (arguments, message) in [
            (&[][..], "You must supply num-rows and fmt"),
            (&["-n", "3"], "You must supply num-rows and fmt"),
            (&["-f", "%n"], "You must supply num-rows and fmt"),
            (&["-n", "0", "-f", "%n"], "You must supply num-rows and fmt"),
            (
                &["-n", "-3", "-f", "%n"],
                "You must supply num-rows and fmt",
            ),
            (&["-n", "3", "-f", "%x"], "'x' - invalid format specifier"),
            (&["--help"], "unrecognized option '--help'"),
            (&["-f", "%n", "-n"], "option requires an argument -- 'n'"),
        ] {
            let error = request(arguments).unwrap_err();
            assert_eq!(error.to_string(), message, "{arguments:?}");
        }
    }

    #[test]
    fn shell_commands_that_run_inside() {
        for (command, inside) in [
            ("gen-data -n 3 -f %12-12s%n,%d", true),
            ("  /usr/local/bin/gen-data -n 3 -f '%n x'\n", true),
            ("gen-data -n 3 -f \"%n|%d\"", true),
            ("gen-data -n 3 -f %n | sort", false),
            ("gen-data -n 3 -f %n\nsort", false),
            ("gen-data -n $ROWS -f %n", false),
            ("gen-data -n 3 -f \"%n$x\"", false),
            ("perl rows.pl", false),
            ("", false),
        ] {
            let found = GenData::from_shell_command(command.as_bytes());
            assert_eq!(found.is_some(), inside, "{command}");
        }
        let error = GenData::from_shell_command(b"gen-data -n 3 -f %x").unwrap();
        assert!(error.is_err());
    }
}
