//! From the items of a script to its steps.

use std::{ops::Range, time::Duration};

use super::{
    expression::{self, Expression},
    item::{Command, Item, Part, Sql},
    lexer::{Fault, continuation, tokens},
    names::{DEFAULT_SEED, Names, is_name},
    places::Places,
    program::{Action, Kept, Length, Role, Statement, Step},
    statement_names::StatementNames,
};

/// Compiles one script after all names that any script sets are known.
pub(super) struct Compiler<'a> {
    pub(super) places: Places<'a>,
    pub(super) statement_names: StatementNames<'a>,
    pub(super) script: &'a str,
    pub(super) names: &'a mut Names,
    /// The names of this script's lists, and their indexes among all lists.
    pub(super) lists: &'a [(String, usize)],
    /// The statements of all scripts.
    pub(super) statements: &'a mut Vec<Statement>,
    pub(super) steps: Vec<Step>,
    pub(super) is_random: bool,
    pub(super) blocks: Vec<Block>,
}

/// An `\if` that has no `\endif` yet.
pub(super) struct Block {
    at: usize,
    /// The condition that is to jump to the next branch.
    condition: Option<usize>,
    /// The ends of branches, which are to jump behind the block.
    ends: Vec<usize>,
    has_else: bool,
}

impl Compiler<'_> {
    pub(super) fn compile(&mut self, items: &[Item]) -> Result<(), Fault> {
        // The statement to which a \gset belongs: the item before it.
        let mut before = None;
        for item in items {
            before = match item {
                Item::Sql(sql) => Some(self.statement(sql)?),
                Item::Command(command) => {
                    self.command(command, before)?;
                    None
                }
            };
        }
        match self.blocks.last() {
            Some(block) => Err((block.at, "this \\if has no \\endif".to_owned())),
            None => {
                let mut steps = self.steps.iter();
                let runs = steps.any(|step| matches!(step.action, Action::Run(_)));
                let end = (self.script.len(), "the script has no statement".to_owned());
                runs.then_some(()).ok_or(end)
            }
        }
    }

    fn statement(&mut self, sql: &Sql) -> Result<usize, Fault> {
        let mut statement = Statement {
            name: String::new(),
            sql: String::new(),
            pieces: vec![String::new()],
            parameters: Vec::new(),
            kept: None,
            role: Role::Other,
        };
        let mut shown = String::new();
        for part in &sql.parts {
            match part {
                Part::Text(text) => {
                    statement.sql.push_str(text);
                    shown.push_str(text);
                    let last = statement.pieces.last_mut();
                    last.expect("there is a piece").push_str(text);
                }
                Part::Variable { at, name } => {
                    let slot = self.names.used(name).map_err(|fault| (*at, fault))?;
                    statement.parameters.push(slot);
                    statement.pieces.push(String::new());
                    statement.sql.push('?');
                    shown.push(':');
                    shown.push_str(name);
                }
            }
        }
        statement.role = Role::of(&statement.sql);
        let place = self.places.of(sql.at);
        statement.name = self.statement_names.add(place.line, &shown);
        let index = self.statements.len();
        self.statements.push(statement);
        self.steps.push(Step {
            place,
            action: Action::Run(index),
        });
        Ok(index)
    }

    fn command(&mut self, command: &Command, before: Option<usize>) -> Result<(), Fault> {
        let (at, rest) = (command.at, command.rest.clone());
        match command.name.as_str() {
            "set" => {
                let (name, name_at, rest) = self.first_word(rest);
                if !is_name(&name) {
                    let message = "expected the name of a variable after \\set".to_owned();
                    return Err((name_at, message));
                }
                let code = self.expression(rest)?;
                let slot = self.names.define(&name);
                self.add(at, Action::Set { slot, code });
            }
            "gset" | "aset" => {
                let prefix = self.prefix(rest, &command.name)?;
                let statement = before.ok_or_else(|| {
                    let message = format!("\\{} must follow a statement", command.name);
                    (at, message)
                })?;
                let is_one = command.name == "gset";
                self.statements[statement].kept = Some(Kept { prefix, is_one });
            }
            "if" => {
                let condition = self.condition(at, rest)?;
                self.blocks.push(Block {
                    at,
                    condition: Some(condition),
                    ends: Vec::new(),
                    has_else: false,
                });
            }
            "elif" => {
                self.end_branch(at, "elif")?;
                let condition = self.condition(at, rest)?;
                let block = self.blocks.last_mut();
                block.expect("its branch has just ended").condition = Some(condition);
            }
            "else" => {
                self.nothing_more(rest, "else")?;
                self.end_branch(at, "else")?;
                let block = self.blocks.last_mut();
                block.expect("its branch has just ended").has_else = true;
            }
            "endif" => {
                self.nothing_more(rest, "endif")?;
                let block = (self.blocks.pop())
                    .ok_or_else(|| (at, "\\endif without an \\if".to_owned()))?;
                for jump in block.ends.into_iter().chain(block.condition) {
                    self.land(jump);
                }
            }
            "sleep" => {
                let length = self.length(rest)?;
                self.add(at, Action::Sleep(length));
            }
            "draw" => self.draw(at, rest)?,
            // Declared before anything is compiled.
            "list" if self.blocks.is_empty() => {}
            "list" => return Err((at, "\\list cannot depend on an \\if".to_owned())),
            "shell" | "setshell" => {
                let message = format!("\\{} runs a program, which is not supported", command.name);
                return Err((at, message));
            }
            "setrandom" => {
                let message = "\\setrandom is from pgbench before 9.6: \\set id random(1, 1000) does the same";
                return Err((at, message.to_owned()));
            }
            "startpipeline" | "endpipeline" | "syncpipeline" => {
                let message = "the MySQL protocol has no pipelines".to_owned();
                return Err((at, message));
            }
            other => {
                let known = [
                    "set", "gset", "aset", "if", "elif", "else", "endif", "sleep", "draw", "list",
                ];
                let near = expression::nearest(other, known.into_iter());
                return Err((at, format!("there is no command \\{other}{near}")));
            }
        }
        Ok(())
    }

    fn add(&mut self, at: usize, action: Action) -> usize {
        let place = self.places.of(at);
        self.steps.push(Step { place, action });
        self.steps.len() - 1
    }

    fn expression(&mut self, part: Range<usize>) -> Result<Box<[super::op::Op]>, Fault> {
        let tokens = tokens(self.script.as_bytes(), part)?;
        let names = &mut *self.names;
        let Expression { code, is_random } =
            expression::parse(&tokens, DEFAULT_SEED, &mut |name| names.used(name))?;
        self.is_random |= is_random;
        Ok(code.into())
    }

    fn condition(&mut self, at: usize, rest: Range<usize>) -> Result<usize, Fault> {
        let code = self.expression(rest)?;
        Ok(self.add(at, Action::Unless { code, to: 0 }))
    }

    /// Ends a branch: it jumps behind the block, and its condition jumps to the next branch.
    fn end_branch(&mut self, at: usize, command: &str) -> Result<(), Fault> {
        let Some(mut block) = self.blocks.pop() else {
            return Err((at, format!("\\{command} without an \\if")));
        };
        if block.has_else {
            return Err((at, format!("\\{command} after the \\else of its \\if")));
        }
        block.ends.push(self.add(at, Action::Jump(0)));
        if let Some(condition) = block.condition.take() {
            self.land(condition);
        }
        self.blocks.push(block);
        Ok(())
    }

    /// Lets a jump lead to the next step.
    fn land(&mut self, jump: usize) {
        let here = self.steps.len();
        match &mut self.steps[jump].action {
            Action::Unless { to, .. } | Action::Jump(to) => *to = here,
            _ => {}
        }
    }

    /// `\draw LIST [PREFIX]`
    fn draw(&mut self, at: usize, rest: Range<usize>) -> Result<(), Fault> {
        let (list, list_at, rest) = self.first_word(rest);
        let prefix = self.prefix(rest, "draw")?;
        let mut lists = self.lists.iter();
        let Some((_, index)) = lists.find(|(name, _)| *name == list) else {
            let near = expression::nearest(&list, self.lists.iter().map(|(name, _)| name.as_str()));
            let message = format!("there is no list `{list}` in this script{near}");
            return Err((list_at, message));
        };
        let action = Action::Draw {
            list: *index,
            prefix,
            targets: Vec::new(),
        };
        self.add(at, action);
        Ok(())
    }

    /// `\sleep NUMBER [us | ms | s]`, or a variable for the number.
    fn length(&mut self, rest: Range<usize>) -> Result<Length, Fault> {
        let (number, number_at, rest) = self.first_word(rest);
        let (unit, unit_at, rest) = self.first_word(rest);
        let unit = match unit.to_ascii_lowercase().as_str() {
            "us" => Duration::from_micros(1),
            "ms" => Duration::from_millis(1),
            "s" | "" => Duration::from_secs(1),
            _ => return Err((unit_at, "expected us, ms or s".to_owned())),
        };
        self.nothing_more(rest, "sleep")?;
        if let Some(name) = number.strip_prefix(':').filter(|name| is_name(name)) {
            let slot = self.names.used(name).map_err(|fault| (number_at, fault))?;
            return Ok(Length::Variable { slot, unit });
        }
        let number = number.parse::<u32>().map_err(|_| {
            let message = "expected a whole number or a variable after \\sleep".to_owned();
            (number_at, message)
        })?;
        Ok(Length::Fixed(unit * number))
    }

    /// The optional prefix of variables, which ends the line.
    fn prefix(&self, rest: Range<usize>, command: &str) -> Result<String, Fault> {
        let (prefix, at, rest) = self.first_word(rest);
        self.nothing_more(rest, command)?;
        if prefix.is_empty() || is_name(&prefix) {
            Ok(prefix)
        } else {
            let message = format!("`{prefix}` cannot begin the name of a variable");
            Err((at, message))
        }
    }

    fn first_word(&self, rest: Range<usize>) -> (String, usize, Range<usize>) {
        first_word(self.script, rest)
    }

    fn nothing_more(&self, rest: Range<usize>, command: &str) -> Result<(), Fault> {
        let (word, at, _) = self.first_word(rest);
        if word.is_empty() {
            Ok(())
        } else {
            Err((
                at,
                format!("`{word}` is one argument too many for \\{command}"),
            ))
        }
    }
}

/// The first word of a command's line, its offset, and what follows; an empty word at the end of the line.
pub(super) fn first_word(script: &str, rest: Range<usize>) -> (String, usize, Range<usize>) {
    let bytes = script.as_bytes();
    let mut start = rest.start;
    while start < rest.end {
        match continuation(&bytes[start..rest.end]) {
            Some(length) => start += length,
            None if bytes[start].is_ascii_whitespace() => start += 1,
            None => break,
        }
    }
    let mut end = start;
    while end < rest.end
        && !bytes[end].is_ascii_whitespace()
        && continuation(&bytes[end..rest.end]).is_none()
    {
        end += 1;
    }
    (script[start..end].to_owned(), start, end..rest.end)
}
