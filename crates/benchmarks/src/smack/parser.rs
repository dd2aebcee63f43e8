//! The parser: the grammar of Super Smack 1.3 over tokens.
//!
//! ```text
//! program    = section { section } "main" "{" { statement } "}" ;
//! section    = ("query"|"dictionary"|"client"|"table") STRING "{" { member } "}" ;
//! member     = WORD STRING ";" ;
//! statement  = WORD "." WORD "(" [ expression { "," expression } ] ")" ";" | "$" WORD "=" expression ";" ;
//! expression = part { "." part } ;
//! part       = NUMBER | STRING | "$" NUMBER | "$" WORD | WORD "::" WORD | WORD "::" WORD "::" WORD ;
//! ```

use winnow::{
    ModalParser, Parser,
    combinator::{alt, cut_err, eof, opt, peek, preceded, repeat, terminated},
    error::{ContextError, ErrMode},
    stream::TokenSlice,
    token::any,
};

use super::{
    ast::{Expression, Member, Operand, Program, Section, SectionKind, Statement, Text, Word},
    lexer::{Token, TokenKind, tokens},
};
use crate::diagnostic::{Diagnostic, Source};

type Input<'t> = TokenSlice<'t, Token>;
/// The token that the grammar expected, in words.
type Expected = &'static str;
type Fault = ErrMode<ContextError<Expected>>;
type Parsed<T> = Result<T, Fault>;

/// Parses a whole file.
pub(super) fn parse(source: &Source<'_>) -> Result<Program, Box<Diagnostic>> {
    let (tokens, open_string) = tokens(source);
    let parsed = program.parse(TokenSlice::new(&tokens));
    if let Err(error) = &parsed
        && error.offset() < tokens.len()
    {
        return Err(Box::new(explain(
            source,
            &tokens,
            error.offset(),
            error.inner(),
        )));
    }
    if let Some(open_string) = open_string {
        return Err(open_string);
    }
    parsed.map_err(|error| Box::new(explain(source, &tokens, error.offset(), error.inner())))
}

fn program(input: &mut Input<'_>) -> Parsed<Program> {
    let sections: Vec<Section> = repeat(1.., section).parse_next(input)?;
    let _: &Token = cut_err(keyword("main"))
        .context("a section (`client`, `table`, `dictionary` or `query`) or `main`")
        .parse_next(input)?;
    let main = cut_err(block(statement, "a statement or `}`")).parse_next(input)?;
    cut_err(eof.context("the end of the file: `main` comes last")).parse_next(input)?;
    Ok(Program { sections, main })
}

fn section(input: &mut Input<'_>) -> Parsed<Section> {
    let kind = alt((
        keyword("client").value(SectionKind::Client),
        keyword("table").value(SectionKind::Table),
        keyword("dictionary").value(SectionKind::Dictionary),
        keyword("query").value(SectionKind::Query),
    ))
    .context("a section: `client`, `table`, `dictionary` or `query`")
    .parse_next(input)?;
    let name = cut_err(text.context("the section's name in quotes")).parse_next(input)?;
    let members = cut_err(block(member, "a member or `}`")).parse_next(input)?;
    Ok(Section {
        kind,
        name,
        members,
    })
}

/// `{ item item ... }`
fn block<'t, T>(
    item: impl ModalParser<Input<'t>, T, ContextError<Expected>>,
    expected: Expected,
) -> impl ModalParser<Input<'t>, Vec<T>, ContextError<Expected>> {
    preceded(
        punctuation(TokenKind::Open, "`{`"),
        terminated(repeat(0.., item), punctuation(TokenKind::Close, expected)),
    )
}

fn member(input: &mut Input<'_>) -> Parsed<Member> {
    let key = word.parse_next(input)?;
    let value = cut_err(text.context("the member's value in quotes")).parse_next(input)?;
    cut_err(punctuation(
        TokenKind::Semicolon,
        "`;` after the member's value",
    ))
    .parse_next(input)?;
    Ok(Member { key, value })
}

fn statement(input: &mut Input<'_>) -> Parsed<Statement> {
    alt((assignment, call)).parse_next(input)
}

fn assignment(input: &mut Input<'_>) -> Parsed<Statement> {
    punctuation(TokenKind::Dollar, "`$`").parse_next(input)?;
    let variable = cut_err(word.context("a variable's name")).parse_next(input)?;
    cut_err(punctuation(TokenKind::Equals, "`=`")).parse_next(input)?;
    let value = cut_err(expression).parse_next(input)?;
    cut_err(punctuation(TokenKind::Semicolon, "`.` or `;`")).parse_next(input)?;
    Ok(Statement::Assignment { variable, value })
}

fn call(input: &mut Input<'_>) -> Parsed<Statement> {
    let client = word.parse_next(input)?;
    cut_err(punctuation(
        TokenKind::Dot,
        "`.` and a method after the client's name",
    ))
    .parse_next(input)?;
    let method = cut_err(word.context("a method's name")).parse_next(input)?;
    cut_err(punctuation(TokenKind::OpenArguments, "`(`")).parse_next(input)?;
    let arguments = if opt(punctuation(TokenKind::CloseArguments, "`)`"))
        .parse_next(input)?
        .is_some()
    {
        Vec::new()
    } else {
        let mut arguments = vec![cut_err(expression).parse_next(input)?];
        while opt(punctuation(TokenKind::Comma, "`,`"))
            .parse_next(input)?
            .is_some()
        {
            arguments.push(cut_err(expression).parse_next(input)?);
        }
        cut_err(punctuation(TokenKind::CloseArguments, "`.`, `,` or `)`")).parse_next(input)?;
        arguments
    };
    cut_err(punctuation(TokenKind::Semicolon, "`;` after the call")).parse_next(input)?;
    Ok(Statement::Call {
        client,
        method,
        arguments,
    })
}

fn expression(input: &mut Input<'_>) -> Parsed<Expression> {
    let mut parts = vec![part.parse_next(input)?];
    while opt(punctuation(TokenKind::Dot, "`.`"))
        .parse_next(input)?
        .is_some()
    {
        parts.push(cut_err(part).parse_next(input)?);
    }
    Ok(Expression(parts))
}

fn part(input: &mut Input<'_>) -> Parsed<Operand> {
    alt((
        number.map(|number| Operand::Number(number.value)),
        text.map(Operand::Text),
        preceded(
            punctuation(TokenKind::Dollar, "`$`"),
            cut_err(
                alt((number.map(Operand::Argument), word.map(Operand::Variable)))
                    .context("an argument's number or a variable's name after `$`"),
            ),
        ),
        report_field,
    ))
    .context("a number, a string, `$1`, `$name` or `client::...`")
    .parse_next(input)
}

/// `client::field` or `client::query_type::field`
fn report_field(input: &mut Input<'_>) -> Parsed<Operand> {
    let scope = || punctuation(TokenKind::Scope, "`::` after the client's name");
    let client = word.parse_next(input)?;
    let field_or_type =
        cut_err(preceded(scope(), word.context("a field or a query type"))).parse_next(input)?;
    if opt(peek(scope())).parse_next(input)?.is_none() {
        return Ok(Operand::OfClient {
            client,
            field: field_or_type,
        });
    }
    let field = cut_err(preceded(scope(), word.context("a field"))).parse_next(input)?;
    Ok(Operand::OfQueryType {
        client,
        query_type: field_or_type,
        field,
    })
}

fn word(input: &mut Input<'_>) -> Parsed<Word> {
    any.verify_map(|token: &Token| match &token.kind {
        TokenKind::Word(value) => Some(Word {
            value: value.clone(),
            at: token.at,
        }),
        _ => None,
    })
    .parse_next(input)
}

fn number(input: &mut Input<'_>) -> Parsed<Word> {
    any.verify_map(|token: &Token| match &token.kind {
        TokenKind::Number(value) => Some(Word {
            value: value.clone(),
            at: token.at,
        }),
        _ => None,
    })
    .parse_next(input)
}

fn text(input: &mut Input<'_>) -> Parsed<Text> {
    any.verify_map(|token: &Token| match &token.kind {
        TokenKind::Text(value) => Some(Text {
            value: value.clone(),
            at: token.at,
        }),
        _ => None,
    })
    .parse_next(input)
}

fn keyword<'t>(
    keyword: &'static str,
) -> impl ModalParser<Input<'t>, &'t Token, ContextError<Expected>> {
    any.verify(move |token: &Token| matches!(&token.kind, TokenKind::Word(word) if word == keyword))
}

fn punctuation<'t>(
    kind: TokenKind,
    expected: Expected,
) -> impl ModalParser<Input<'t>, &'t Token, ContextError<Expected>> {
    any.verify(move |token: &Token| token.kind == kind)
        .context(expected)
}

/// The error: the expected token, the token found, and the likely cause.
fn explain(
    source: &Source<'_>,
    tokens: &[Token],
    index: usize,
    error: &ContextError<Expected>,
) -> Diagnostic {
    let expected = error.context().next().copied().unwrap_or("something else");
    let (at, found) = match tokens.get(index) {
        Some(token) => (token.at, token.kind.describe()),
        None => (source.text.len(), "the end of the file".to_owned()),
    };
    let message = if source.is_quotable() {
        format!("expected {expected}, found {found}")
    } else {
        format!("expected {expected}")
    };
    let diagnostic = source.diagnostic(at, message);
    match cause(source, tokens, index) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// The most frequent cause of an error at the token `index`.
fn cause(source: &Source<'_>, tokens: &[Token], index: usize) -> Option<String> {
    let before = index.checked_sub(1).and_then(|index| tokens.get(index));
    // A string without its closing quote extends to the next quote of the file.
    if let Some(Token {
        kind: TokenKind::Text(value),
        at,
    }) = before
        && value.contains(&b'\n')
    {
        return Some(format!(
            "the string before it runs from line {} over {} lines: its closing `\"` is probably missing",
            source.line(*at),
            1 + value.iter().filter(|&&byte| byte == b'\n').count(),
        ));
    }
    match (
        before.map(|token| &token.kind),
        tokens.get(index).map(|token| &token.kind),
    ) {
        (Some(TokenKind::Word(key)), Some(TokenKind::Number(number))) => {
            Some(format!("values are quoted: {key} \"{number}\";"))
        }
        (Some(TokenKind::Word(key)), Some(TokenKind::Word(value))) if key != "main" => {
            Some(format!("values are quoted: {key} \"{value}\";"))
        }
        (_, None) => Some("is a closing `}` missing?".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
