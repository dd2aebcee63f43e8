//! Prints a syntax tree as the text of a .smack file, for the parser's round-trip test.

use super::ast::{Expression, Operand, Program, Statement};

/// A program as source text.
pub(super) struct Printed<'p>(pub(super) &'p Program);

impl Printed<'_> {
    /// The source text.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for section in &self.0.sections {
            out.extend_from_slice(section.kind.keyword().as_bytes());
            out.push(b' ');
            quote(&section.name.value, &mut out);
            out.extend_from_slice(b"\n{\n");
            for member in &section.members {
                out.extend_from_slice(format!("  {} ", member.key.value).as_bytes());
                quote(&member.value.value, &mut out);
                out.extend_from_slice(b";\n");
            }
            out.extend_from_slice(b"}\n");
        }
        out.extend_from_slice(b"main\n{\n");
        for statement in &self.0.main {
            print_statement(statement, &mut out);
        }
        out.extend_from_slice(b"}\n");
        out
    }
}

fn print_statement(statement: &Statement, out: &mut Vec<u8>) {
    match statement {
        Statement::Call {
            client,
            method,
            arguments,
        } => {
            out.extend_from_slice(format!("  {}.{}(", client.value, method.value).as_bytes());
            for (index, argument) in arguments.iter().enumerate() {
                if index > 0 {
                    out.extend_from_slice(b", ");
                }
                print_expression(argument, out);
            }
            out.extend_from_slice(b");\n");
        }
        Statement::Assignment { variable, value } => {
            out.extend_from_slice(format!("  ${} = ", variable.value).as_bytes());
            print_expression(value, out);
            out.extend_from_slice(b";\n");
        }
    }
}

fn print_expression(expression: &Expression, out: &mut Vec<u8>) {
    for (index, part) in expression.0.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b" . ");
        }
        print_part(part, out);
    }
}

fn print_part(part: &Operand, out: &mut Vec<u8>) {
    let text = match part {
        Operand::Text(text) => return quote(&text.value, out),
        Operand::Number(number) => number.clone(),
        Operand::Argument(word) | Operand::Variable(word) => format!("${}", word.value),
        Operand::OfClient { client, field } => format!("{}::{}", client.value, field.value),
        Operand::OfQueryType {
            client,
            query_type,
            field,
        } => format!("{}::{}::{}", client.value, query_type.value, field.value),
    };
    out.extend_from_slice(text.as_bytes());
}

/// Writes a string so that the parser reads the same bytes.
fn quote(value: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in value {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}
