//! The parser of expressions: from tokens to flat code.
//!
//! Source: PostgreSQL manual, "pgbench", built-in operators: their precedence is that of SQL in PostgreSQL.

use super::{
    function::{self, Function},
    lexer::{Fault, Token, TokenKind},
    op::{Binary, Op},
    scalar::Scalar,
};

/// Deepest nesting of an expression.
const DEPTH_MAX: usize = 100;

/// How tightly operators bind, from the loosest to the tightest.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARISON: u8 = 5;
const BITS: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

/// The code of an expression.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Expression {
    pub(super) code: Vec<Op>,
    /// It calls a function of a random value.
    pub(super) is_random: bool,
}

/// Parses the tokens of one expression. `slot` returns the slot of a variable, or why it has none; `seed` is the slot of
/// the default seed of hash functions.
pub(super) fn parse(
    tokens: &[Token],
    seed: u32,
    slot: &mut dyn FnMut(&str) -> Result<u32, String>,
) -> Result<Expression, Fault> {
    let mut parser = Parser {
        tokens,
        next: 0,
        depth: 0,
        seed,
        slot,
        out: Expression::default(),
    };
    parser.expression(OR)?;
    match parser.peek().kind {
        TokenKind::End => Ok(parser.out),
        _ => Err(parser.unexpected("an operator or the end of the line")),
    }
}

struct Parser<'a> {
    /// The last one is `End`.
    tokens: &'a [Token],
    next: usize,
    depth: usize,
    seed: u32,
    slot: &'a mut dyn FnMut(&str) -> Result<u32, String>,
    out: Expression,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[self.next.min(last)]
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Symbol(found) if found == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Word(found) if found == word)
    }

    fn skip_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.next += usize::from(found);
        found
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let found = match &self.peek().kind {
            TokenKind::End => "the end of the line".to_owned(),
            TokenKind::Int(number) => format!("`{number}`"),
            TokenKind::TwoTo63 => "`9223372036854775808`".to_owned(),
            TokenKind::Double(number) => format!("`{number}`"),
            TokenKind::Variable(name) => format!("`:{name}`"),
            TokenKind::Word(word) => format!("`{word}`"),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
        };
        (
            self.peek().at,
            format!("expected {expected}, found {found}"),
        )
    }

    fn emit(&mut self, op: Op) -> usize {
        self.out.code.push(op);
        self.out.code.len() - 1
    }

    /// The place of the next operation.
    fn here(&self) -> u32 {
        self.out.code.len() as u32
    }

    /// Lets the jump at a place lead to the next operation.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.out.code[jump] {
            Op::Decide { to, .. } | Op::JumpUnless(to) | Op::Jump(to) => *to = here,
            _ => {}
        }
    }

    /// An expression whose operators bind at least this tightly.
    fn expression(&mut self, binds: u8) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("an expression nests deeper than {DEPTH_MAX}");
            return Err((self.peek().at, message));
        }
        self.prefix()?;
        let mut last = None;
        while let Some((operator, level)) = self.infix().filter(|(_, level)| *level >= binds) {
            if level == COMPARISON && last == Some(level) {
                let message = "comparisons cannot follow each other: use parentheses".to_owned();
                return Err((self.peek().at, message));
            }
            last = Some(level);
            self.next += 1;
            match operator {
                Infix::Binary(operator) => {
                    self.expression(level + 1)?;
                    self.emit(Op::Binary(operator));
                }
                Infix::Either(by) => {
                    let jump = self.emit(Op::Decide { by, to: 0 });
                    self.expression(level + 1)?;
                    self.emit(Op::Boolean);
                    self.land(jump);
                }
                Infix::Is => self.is()?,
                Infix::Null(is) => {
                    self.emit(Op::IsNull(is));
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn infix(&self) -> Option<(Infix, u8)> {
        let of = |operator, level| Some((Infix::Binary(operator), level));
        match &self.peek().kind {
            TokenKind::Symbol(symbol) => match *symbol {
                "||" => Some((Infix::Either(true), OR)),
                "&&" => Some((Infix::Either(false), AND)),
                "=" => of(Binary::Equal, COMPARISON),
                "<>" | "!=" => of(Binary::Unequal, COMPARISON),
                "<" => of(Binary::Less, COMPARISON),
                "<=" => of(Binary::LessOrEqual, COMPARISON),
                ">" => of(Binary::Greater, COMPARISON),
                ">=" => of(Binary::GreaterOrEqual, COMPARISON),
                "|" => of(Binary::BitOr, BITS),
                "#" => of(Binary::BitXor, BITS),
                "&" => of(Binary::BitAnd, BITS),
                "<<" => of(Binary::ShiftLeft, BITS),
                ">>" => of(Binary::ShiftRight, BITS),
                "+" => of(Binary::Add, SUM),
                "-" => of(Binary::Subtract, SUM),
                "*" => of(Binary::Multiply, PRODUCT),
                "/" => of(Binary::Divide, PRODUCT),
                "%" => of(Binary::Remainder, PRODUCT),
                _ => None,
            },
            TokenKind::Word(word) => match word.as_str() {
                "or" => Some((Infix::Either(true), OR)),
                "and" => Some((Infix::Either(false), AND)),
                "is" => Some((Infix::Is, IS)),
                "isnull" => Some((Infix::Null(true), IS)),
                "notnull" => Some((Infix::Null(false), IS)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `IS [NOT] NULL | TRUE | FALSE`, behind the IS.
    fn is(&mut self) -> Result<(), Fault> {
        let is = !self.skip_word("not");
        let op = if self.skip_word("null") {
            Op::IsNull(is)
        } else if self.skip_word("true") {
            Op::IsBool { value: true, is }
        } else if self.skip_word("false") {
            Op::IsBool { value: false, is }
        } else {
            return Err(self.unexpected("NULL, TRUE or FALSE"));
        };
        self.emit(op);
        Ok(())
    }

    fn prefix(&mut self) -> Result<(), Fault> {
        if self.skip_symbol("+") {
            // Only of numbers, as 0 + x.
            self.emit(Op::Push(Scalar::Int(0)));
            self.expression(SIGN)?;
            self.emit(Op::Binary(Binary::Add));
            return Ok(());
        }
        if self.skip_symbol("-") {
            if self.peek().kind == TokenKind::TwoTo63 {
                self.next += 1;
                self.emit(Op::Push(Scalar::Int(i64::MIN)));
                return Ok(());
            }
            self.emit(Op::Push(Scalar::Int(0)));
            self.expression(SIGN)?;
            self.emit(Op::Binary(Binary::Subtract));
            return Ok(());
        }
        if self.skip_symbol("~") {
            self.emit(Op::Push(Scalar::Int(-1)));
            self.expression(SUM)?;
            self.emit(Op::Binary(Binary::BitXor));
            return Ok(());
        }
        if self.skip_symbol("!") || self.skip_word("not") {
            self.expression(NOT)?;
            self.emit(Op::Not);
            return Ok(());
        }
        if self.skip_symbol("(") {
            self.expression(OR)?;
            return self.close();
        }
        self.operand()
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.skip_symbol(")") {
            Ok(())
        } else {
            Err(self.unexpected("an operator or `)`"))
        }
    }

    fn operand(&mut self) -> Result<(), Fault> {
        let Token { at, kind } = self.peek().clone();
        let value = match kind {
            TokenKind::Int(number) => Scalar::Int(number),
            TokenKind::Double(number) => Scalar::Double(number),
            TokenKind::Variable(name) => {
                let slot = (self.slot)(&name).map_err(|fault| (at, fault))?;
                self.next += 1;
                self.emit(Op::Load(slot));
                return Ok(());
            }
            TokenKind::TwoTo63 => {
                let message = "9223372036854775808 does not fit into a 64-bit integer".to_owned();
                return Err((at, message));
            }
            TokenKind::Word(word) => match word.as_str() {
                "null" => Scalar::Null,
                "true" => Scalar::Bool(true),
                "false" => Scalar::Bool(false),
                "case" => {
                    self.next += 1;
                    return self.case();
                }
                "and" | "or" | "is" | "isnull" | "notnull" | "when" | "then" | "else" | "end" => {
                    return Err(self.unexpected("a value"));
                }
                name => {
                    self.next += 1;
                    return self.call(at, name);
                }
            },
            TokenKind::Symbol(_) | TokenKind::End => return Err(self.unexpected("a value")),
        };
        self.next += 1;
        self.emit(Op::Push(value));
        Ok(())
    }

    /// `CASE WHEN ... THEN ... [WHEN ...] [ELSE ...] END`, behind the CASE.
    fn case(&mut self) -> Result<(), Fault> {
        if !self.is_word("when") {
            return Err(self.unexpected("WHEN"));
        }
        let mut ends = Vec::new();
        while self.skip_word("when") {
            self.expression(OR)?;
            if !self.skip_word("then") {
                return Err(self.unexpected("THEN"));
            }
            let otherwise = self.emit(Op::JumpUnless(0));
            self.expression(OR)?;
            ends.push(self.emit(Op::Jump(0)));
            self.land(otherwise);
        }
        if self.skip_word("else") {
            self.expression(OR)?;
        } else {
            self.emit(Op::Push(Scalar::Null));
        }
        if !self.skip_word("end") {
            return Err(self.unexpected("WHEN, ELSE or END"));
        }
        for end in ends {
            self.land(end);
        }
        Ok(())
    }

    /// A function's name, at this offset, is read; its arguments follow.
    fn call(&mut self, at: usize, name: &str) -> Result<(), Fault> {
        if name == "debug" {
            let message = "debug() prints, which a measured run must not do".to_owned();
            return Err((at, message));
        }
        let Some((function, min, max)) = function::named(name) else {
            let near = nearest(name, function::names());
            return Err((at, format!("there is no function `{name}`{near}")));
        };
        if !self.skip_symbol("(") {
            return Err(self.unexpected("`(`"));
        }
        let mut arguments = 0;
        if !self.is_symbol(")") {
            loop {
                self.expression(OR)?;
                arguments += 1;
                if !self.skip_symbol(",") {
                    break;
                }
            }
        }
        self.close()?;
        if !(min..=max).contains(&arguments) {
            let takes = match (min, max) {
                (1, 1) => "1 argument".to_owned(),
                (min, max) if min == max => format!("{min} arguments"),
                (min, max) => format!("{min} to {max} arguments"),
            };
            return Err((at, format!("{name} takes {takes}, not {arguments}")));
        }
        if function.is_seeded() && arguments < max {
            self.emit(Op::Load(self.seed));
            arguments += 1;
        }
        self.out.is_random |= Function::is_random(function);
        self.emit(Op::Call(function, arguments as u8));
        Ok(())
    }
}

/// An operator behind its left operand.
#[derive(Debug, Clone, Copy)]
enum Infix {
    Binary(Binary),
    /// AND, which FALSE decides, or OR, which TRUE decides.
    Either(bool),
    Is,
    Null(bool),
}

/// `, did you mean ...`, where one of the known names is a typing error or two away; empty otherwise.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let near = known
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, known)| *distance <= (known.len() / 3).max(1))
        .min();
    near.map_or_else(String::new, |(_, known)| {
        format!(", did you mean `{known}`?")
    })
}

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;
