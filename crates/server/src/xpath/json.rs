//! JSONPath on JSON documents: read as far as the path needs, or whole.

use std::io::{self, Read};
use std::path::Path as File;
use std::sync::Arc;

use myelin_json::{Answer, Duplicates, Error, Match, Options, Path, Plan, Progress, Rules, Run, Type, Value, text};
use serde_json::value::RawValue;

use super::printer::{Format, Printer};
use super::{Arguments, misplaced};
use crate::reading::{Complaint, open};

/// As for XPath: who typed the path waits for it and may interrupt it.
const RULES: Rules = Rules { duplicates: Duplicates::First, visits: usize::MAX, bytes: 1 << 30 };

/// What is read at a time.
const PIECE_BYTES: u64 = 64 << 10;

/// Whether an expression is a JSONPath: no XPath begins like one.
pub(super) fn is_path(expression: &str) -> bool {
    let expression = expression.trim_start();
    expression.starts_with("$.") || expression.starts_with("$[") || expression.trim_end() == "$"
}

/// A path, and how to find what it leads to.
pub(super) struct Question {
    path: Path,
    /// Only where one pass is enough.
    plan: Option<Arc<Plan>>,
}

/// What a path leads to.
struct Found {
    kind: Type,
    json: String,
}

impl Question {
    /// Errors: a sentence; the typist's.
    pub(super) fn new(arguments: &Arguments) -> Result<Question, String> {
        if arguments.format == Format::Xml {
            return Err("a JSONPath finds nothing that could be printed as XML".to_owned());
        }
        let path = Path::compile(&arguments.expression).map_err(|error| match error {
            Error::Path { offset, problem } => misplaced(&arguments.expression, offset, &problem),
            other => other.to_string(),
        })?;
        let plan = Plan::new(&[&path], RULES.duplicates).ok().map(Arc::new);
        if arguments.stream && plan.is_none() {
            return Err("the path cannot be streamed: only names and indexes from the front can".to_owned());
        }
        Ok(Question { path, plan: plan.filter(|_| !arguments.tree) })
    }

    /// Prints what the path leads to; whether it is something.
    pub(super) fn ask(&self, file: &File, printer: &mut Printer<'_>) -> io::Result<Result<bool, Complaint>> {
        let found = match &self.plan {
            Some(plan) => one_pass(plan, file),
            None => self.whole(file),
        };
        let found = match found {
            Ok(found) => found,
            Err(complaint) => return Ok(Err(complaint)),
        };
        for Found { kind, json } in &found {
            let text = match kind {
                Type::String => text::unescape(&json.as_bytes()[1..json.len() - 1]),
                _ => json.as_str().into(),
            };
            printer.json(file, name(*kind), &text, RawValue::from_string(json.clone())?)?;
        }
        Ok(Ok(!found.is_empty()))
    }

    fn whole(&self, file: &File) -> Result<Vec<Found>, Complaint> {
        let mut source = Vec::new();
        open(file)?.read_to_end(&mut source).map_err(|error| Complaint::about(file, error))?;
        let value = Value::parse(source, &Options::default()).map_err(|error| complaint(file, &error))?;
        let matches = match self.path.find(&value, &RULES) {
            Ok(matches) => matches,
            Err(Error::NotFound) => Vec::new(),
            Err(error) => return Err(complaint(file, &error)),
        };
        Ok(matches.into_iter().map(|found| of_match(&value, found)).collect())
    }
}

/// Reads as far as the answer needs; all of that stays in memory.
fn one_pass(plan: &Arc<Plan>, file: &File) -> Result<Vec<Found>, Complaint> {
    let (mut reader, mut source) = (open(file)?, Vec::new());
    let (mut run, mut complete) = (Run::new(Arc::clone(plan), Options::default()), false);
    while run.next(&source, complete).map_err(|error| complaint(file, &error))? == Progress::More {
        let more = reader.by_ref().take(PIECE_BYTES).read_to_end(&mut source);
        complete = more.map_err(|error| Complaint::about(file, error))? == 0;
    }
    let Some(answer @ Answer::Found(found)) = run.answers().first() else { return Ok(Vec::new()) };
    let json = match found.kind {
        Type::String => String::from_utf8_lossy(&source[found.range.clone()]),
        _ => answer.text(&source).map_err(|error| complaint(file, &error))?,
    };
    Ok(vec![Found { kind: found.kind, json: json.into_owned() }])
}

fn of_match(value: &Value, found: Match) -> Found {
    match found {
        Match::Node(node) => {
            let mut json = Vec::new();
            value.write_compact(node, &mut json);
            Found { kind: value.kind(node), json: String::from_utf8_lossy(&json).into_owned() }
        }
        Match::Made(json) => {
            let kind = match json.as_bytes().first() {
                Some(b'{') => Type::Object,
                Some(b'[') => Type::Array,
                Some(b'"') => Type::String,
                Some(b't') => Type::True,
                Some(b'f') => Type::False,
                Some(b'n') => Type::Null,
                _ => Type::Number,
            };
            Found { kind, json }
        }
    }
}

/// The type's name in JSON Schema.
fn name(kind: Type) -> &'static str {
    match kind {
        Type::Object => "object",
        Type::Array => "array",
        Type::String => "string",
        Type::Number => "number",
        Type::True | Type::False => "boolean",
        Type::Null => "null",
    }
}

/// As compilers say it, where the error has a place.
fn complaint(file: &File, error: &Error) -> Complaint {
    let place = match error {
        Error::Malformed { place, .. } | Error::Encoding(place) | Error::TooLarge(_, place) => *place,
        other => return Complaint::about(file, other),
    };
    let said = error.to_string();
    let sentence = said.strip_prefix(&format!("{place}: ")).unwrap_or(&said);
    Complaint::at(file, place.line as u64, place.column as u64, sentence)
}
