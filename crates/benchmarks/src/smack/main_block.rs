//! Compiles the statements of main to the programs of its clients.
//!
//! Super Smack ran main once per client process; each client here has its own copy of the steps, and the copies run
//! concurrently.

use super::{
    ast::{Expression, Operand, Statement, Word},
    client_program::{ClientProgram, Command, Step},
    script::Script,
};
use crate::diagnostic::{Diagnostic, Source};

/// Assigns the statements to their clients and checks everything that does not depend on arguments.
pub(super) fn compile(
    source: &Source<'_>,
    statements: &[Statement],
    script: &Script,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<ClientProgram>, Box<Diagnostic>> {
    let mut programs: Vec<ClientProgram> = Vec::new();
    // Assignments before the first init belong to every client.
    let mut common: Vec<Step> = Vec::new();
    for statement in statements {
        match statement {
            Statement::Assignment { variable, value } => {
                let step = Step {
                    command: Command::Assign(variable.value.clone(), value.clone()),
                    place: Box::new(source.diagnostic(variable.at, "")),
                };
                for program in &mut programs {
                    // The figures of another client's report are not available to this client.
                    if speaks_of_others(value, &script.clients[program.client].name).is_none() {
                        program.steps.push(step.clone());
                    }
                }
                common.push(step);
            }
            Statement::Call {
                client,
                method,
                arguments,
            } => {
                let index = script
                    .client(&client.value)
                    .ok_or_else(|| undefined_client(source, client))?;
                if method.value == "init" {
                    expect_arguments(source, method, arguments, [])?;
                    if !programs.iter().any(|program| program.client == index) {
                        programs.push(ClientProgram {
                            client: index,
                            steps: common.clone(),
                        });
                    }
                    continue;
                }
                let command = command(source, client, method, arguments, script)?;
                let place = Box::new(source.diagnostic(client.at, ""));
                match programs.iter_mut().find(|program| program.client == index) {
                    Some(program) => program
                        .steps
                        .extend(command.map(|command| Step { command, place })),
                    None => warnings.push(source.diagnostic(
                        client.at,
                        format!(
                            "nothing happens here: {}.init() has not been called",
                            client.value
                        ),
                    )),
                }
            }
        }
    }
    Ok(programs)
}

fn undefined_client(source: &Source<'_>, client: &Word) -> Box<Diagnostic> {
    Box::new(
        source
            .diagnostic(
                client.at,
                format!(
                    "client '{}' referenced on line {} is not defined",
                    client.value,
                    source.line(client.at)
                ),
            )
            .hint(format!("define it: client \"{}\" {{ ... }}", client.value)),
    )
}

/// The action of a method; `None` for run_check_result, which had no effect in Super Smack either.
fn command(
    source: &Source<'_>,
    client: &Word,
    method: &Word,
    arguments: &[Expression],
    script: &Script,
) -> Result<Option<Command>, Box<Diagnostic>> {
    let one = |what: fn(Expression) -> Command| {
        expect_arguments(source, method, arguments, ["value"]).map(|[value]| what(value))
    };
    let none = |command: Command| expect_arguments(source, method, arguments, []).map(|[]| command);
    let command = match method.value.as_str() {
        "set_num_rounds" => one(Command::SetRounds)?,
        "create_threads" => one(Command::CreateThreads)?,
        "print" => one(Command::Print)?,
        "query" => one(Command::Query)?,
        "connect" => none(Command::Connect)?,
        "collect_threads" => none(Command::Collect)?,
        "disconnect" => none(Command::Disconnect)?,
        "unload_query_barrel" => {
            let index = script.client(&client.value);
            if index.is_none_or(|index| script.clients[index].barrel.is_none()) {
                return Err(Box::new(source.diagnostic(
                    client.at,
                    format!("client '{}' has no query_barrel to unload", client.value),
                )));
            }
            none(Command::UnloadBarrel)?
        }
        "sleep" => {
            let [seconds, milliseconds] =
                expect_arguments(source, method, arguments, ["sec", "ms"])?;
            Command::Sleep(seconds, milliseconds)
        }
        "run_save_result" => {
            let [query, file] = expect_arguments(source, method, arguments, ["query", "file"])?;
            Command::SaveResult(query, file)
        }
        "run_check_result" => return Ok(None),
        unknown => {
            return Err(Box::new(source.diagnostic(
                method.at,
                format!(
                    "unknown method '{unknown}' called for client '{}' on line {}",
                    client.value,
                    source.line(method.at)
                ),
            )));
        }
    };
    Ok(Some(command))
}

/// The arguments of a call; an error unless their number is that of the method's parameters.
fn expect_arguments<const N: usize>(
    source: &Source<'_>,
    method: &Word,
    arguments: &[Expression],
    names: [&str; N],
) -> Result<[Expression; N], Box<Diagnostic>> {
    <[Expression; N]>::try_from(arguments.to_vec()).map_err(|arguments| {
        let takes = match N {
            0 => "no parameter".to_owned(),
            1 => "one parameter".to_owned(),
            _ => format!("two parameters ({})", names.join(",")),
        };
        Box::new(source.diagnostic(
            method.at,
            format!(
                "line {}: {} takes {takes}, you have {}",
                source.line(method.at),
                method.value,
                arguments.len()
            ),
        ))
    })
}

/// Name of another client whose report an expression refers to.
pub(super) fn speaks_of_others<'e>(expression: &'e Expression, own: &str) -> Option<&'e str> {
    expression.0.iter().find_map(|part| match part {
        Operand::OfClient { client, .. } | Operand::OfQueryType { client, .. } => {
            (client.value != own).then_some(client.value.as_str())
        }
        _ => None,
    })
}
