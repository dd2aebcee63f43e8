//! `dbdyno config explain`: what options do, since when, and what they cost.

use std::{fmt::Write as _, path::PathBuf, process::ExitCode};

use blame::{Blame, Blamed};
use mycnf::{
    Catalogue, Entry, Era, Explanation, OptionFile, OptionName, Options, Presence, Product, Target,
    eras, explain_unknown, explanation, is_secret, plugins_with, presence, shown, shown_value,
};
use serde_json::{Value, json};

use super::subject::{Format, VersionArgs, catalogue_line, read_file};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a file, each option is explained in one line. -v also shows when the option matters, what to measure, what the
option costs, and its default in each version. For a single option, all of this is always shown. If dbdyno has no
explanation for an option, it shows only the facts in its catalogue.

Examples:
  dbdyno config explain sync_binlog
  dbdyno config explain my.cnf --for mysql-8.0.33 -v")]
pub(crate) struct ExplainArgs {
    /// Option file, or the name of an option
    #[arg(value_name = "FILE|VARIABLE")]
    subject: PathBuf,
    #[command(flatten)]
    version: VersionArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Explain each option in the file in full
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let name = args.subject.to_string_lossy();
    // A name of an option has neither slash nor dot in it, and no file is called like one by accident.
    let is_file = args.subject.exists() || name.contains(['/', '.']);
    if is_file {
        let file = read_file(&args.subject)?;
        let (target, _) = args.version.resolve()?;
        match args.format {
            Format::Text => print!("{}", file_text(&file, &target, args.verbose)),
            Format::Json => print!("{}", file_json(&file, &target)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let option = OptionName::new(&name);
    let target = args.version.given();
    let Some(known) = known_name(&option) else {
        let plugin = plugins_with(&option).ok_or_else(|| unknown(&option))?;
        match args.format {
            Format::Text => println!("{option}: no explanation available; {plugin}"),
            Format::Json => println!("{:#}", variable_json(option.base(), target.as_ref())),
        }
        return Ok(ExitCode::SUCCESS);
    };
    match args.format {
        Format::Text => print!("{}", variable_text(&known, target.as_ref())),
        Format::Json => println!("{:#}", variable_json(&known, target.as_ref())),
    }
    Ok(ExitCode::SUCCESS)
}

/// The name under which a text or a catalogue knows an option.
fn known_name(option: &OptionName) -> Option<String> {
    let spellings = option.spellings();
    let is_known = |name: &&&str| {
        explanation(name).is_some()
            || Product::ALL.into_iter().any(|product| {
                eras(product, name)
                    .iter()
                    .any(|era| era.presence != Presence::Absent)
            })
    };
    spellings
        .iter()
        .find(is_known)
        .map(|name| (*name).to_owned())
}

fn unknown(option: &OptionName) -> Blamed {
    let all = Product::ALL.into_iter().flat_map(Catalogue::all);
    let hint = all.filter_map(|catalogue| {
        let knows = |name: &str| catalogue.has(&OptionName::new(name));
        explain_unknown(&catalogue, option, &knows).hint
    });
    let message = format!("no version has an option {option}");
    let hint = hint.last().map_or_else(
        || "name an option file or an option".to_owned(),
        |fix| fix.to_string(),
    );
    Blamed::new(Blame::Input, message).hint(hint)
}

fn variable_text(name: &str, target: Option<&Target>) -> String {
    let text = explanation(name);
    let mut out = match text {
        Some(text) => format!("{name} ({}): {}\n", text.unit, text.what),
        None => format!("{name}: no explanation available; facts from the catalogues:\n"),
    };
    if let Some(target) = target {
        let catalogue = target.catalogue();
        let here = match presence(&catalogue, name) {
            Presence::Absent => "no such option".to_owned(),
            Presence::WithoutEffect => "accepted, without effect".to_owned(),
            Presence::Default(None) => "the default depends on the instance".to_owned(),
            Presence::Default(Some(value)) => format!("default {}", shown(value, unit(text))),
        };
        let allowed = mycnf::allowed(&catalogue, &OptionName::new(name));
        let allowed = allowed
            .map(|allowed| format!("; {allowed}"))
            .unwrap_or_default();
        let change = match catalogue.needs_restart(name) {
            Some(true) if catalogue.changes_in_part(name) => {
                "; some of its values can be changed at run time, the others only at start"
            }
            Some(true) => "; set only at start",
            Some(false) => "; can be changed at run time",
            None => "",
        };
        line(&mut out, &format!("{target}: {here}{allowed}{change}"));
        out.push_str(&catalogue_line(target));
    }
    details(&mut out, text, "");
    history(&mut out, name, unit(text), "");
    out
}

fn unit(text: Option<&Explanation>) -> &str {
    text.map_or("", |text| text.unit.as_str())
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a String cannot fail");
}

fn details(out: &mut String, text: Option<&Explanation>, indent: &str) {
    if let Some(text) = text {
        line(out, &format!("{indent}matters when: {}", text.when));
        line(out, &format!("{indent}measure:      {}", text.measure));
        line(out, &format!("{indent}costs:        {}", text.cost));
    }
}

/// The history of an option by product; of Percona Server only where it is another one than MySQL's.
fn histories(name: &str) -> impl Iterator<Item = (Product, Vec<Era>)> {
    let products = Product::ALL
        .into_iter()
        .filter(move |product| *product != Product::Percona || Catalogue::is_added(*product, name));
    products.map(move |product| (product, eras(product, name)))
}

/// The defaults over all catalogues, one line for each product that has the option.
fn history(out: &mut String, name: &str, unit: &str, indent: &str) {
    for (product, eras) in histories(name) {
        if eras.iter().any(|era| era.presence != Presence::Absent) {
            let eras: Vec<String> = eras.iter().map(|era| era.text(unit)).collect();
            line(
                out,
                &format!(
                    "{indent}{:<13} {}",
                    format!("{}:", product.name()),
                    eras.join(", ")
                ),
            );
        }
    }
}

/// The lines that a version reads, with the name in its catalogue.
fn lines(file: &OptionFile, target: &Target) -> Vec<(Entry, Option<String>)> {
    let options = Options::from_groups(file, &target.groups());
    let entries = options.entries().iter();
    let catalogue = target.catalogue();
    let named = entries.map(|entry| {
        let listed = catalogue.listed_name(&entry.name).map(str::to_owned);
        (entry.clone(), listed.or_else(|| known_name(&entry.name)))
    });
    named.collect()
}

fn file_text(file: &OptionFile, target: &Target, verbose: bool) -> String {
    let lines = lines(file, target);
    let mut out = format!("{} for {target}\n", units::counted(lines.len(), "option"));
    out.push_str(&catalogue_line(target));
    for (entry, name) in &lines {
        let text = name.as_deref().and_then(explanation);
        let value = entry.value.as_ref();
        let value = value.map(|value| format!("={}", shown_value(&entry.name, value)));
        let value = value.unwrap_or_default();
        let what = match (text, name) {
            (Some(text), _) => text.what.clone(),
            (None, Some(_)) => {
                "no explanation available; -v shows facts from the catalogues".to_owned()
            }
            (None, None) => match plugins_with(&entry.name) {
                Some(plugin) => format!("no explanation available; {plugin}"),
                None => "no version has this option".to_owned(),
            },
        };
        line(&mut out, &format!("{}{value}: {what}", entry.name));
        if let Some(name) = name.as_deref().filter(|_| verbose) {
            details(&mut out, text, "  ");
            history(&mut out, name, unit(text), "  ");
        }
    }
    out
}

fn file_json(file: &OptionFile, target: &Target) -> String {
    let options = lines(file, target).into_iter().map(|(entry, name)| {
        let facts = name.map(|name| variable_json(&name, Some(target)));
        let value = entry.value.filter(|_| !is_secret(&entry.name));
        json!({
            "file": entry.origin.path().display().to_string(),
            "line": entry.origin.number(),
            "option": entry.name.as_written(),
            "value": value,
            "explained": facts,
        })
    });
    let object = json!({
        "version": target.to_string(),
        "catalogue_note": target.catalogue_note(),
        "options": options.collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

fn variable_json(name: &str, target: Option<&Target>) -> Value {
    let text = explanation(name);
    let history = histories(name).flat_map(|(_, eras)| eras);
    let history = history.map(|era| {
        let (state, default) = match era.presence {
            Presence::Absent => ("unknown", None),
            Presence::WithoutEffect => ("without effect", None),
            Presence::Default(value) => ("known", value),
        };
        json!({ "family": era.product.name(), "first": era.first, "last": era.last, "state": state, "default": default })
    });
    json!({
        "name": name,
        "topic": mycnf::topic(name).name(),
        "unit": text.map(|text| &text.unit),
        "what": text.map(|text| &text.what),
        "when": text.map(|text| &text.when),
        "measure": text.map(|text| &text.measure),
        "cost": text.map(|text| &text.cost),
        "version": target.map(Target::to_string),
        "catalogue_note": target.and_then(Target::catalogue_note),
        "needs_restart": target.and_then(|target| target.catalogue().needs_restart(name)),
        "default": target.and_then(|target| target.catalogue().default_value(name)),
        "history": history.collect::<Vec<_>>(),
    })
}
