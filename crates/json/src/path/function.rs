//! Functions at the end of a path.

use std::borrow::Cow;

use myelin_java_text::number;

use super::ast::{Argument, Function, FunctionKind as Kind, Path};
use super::evaluate::Evaluator;
use super::found::Match;
use crate::error::Error;
use crate::reader::Options;
use crate::text;
use crate::value::{NodeId, Type, Value};

const EMPTY: Error = Error::Inapplicable("a function over numbers found none");

impl Function {
    /// A function by its name; what is wrong with it otherwise.
    pub(super) fn new(name: &str, arguments: Vec<Argument>) -> Result<Function, String> {
        let kind = match name {
            "length" | "size" => Kind::Length,
            "keys" => Kind::Keys,
            "min" => Kind::Min,
            "max" => Kind::Max,
            "sum" => Kind::Sum,
            "avg" => Kind::Average,
            "stddev" => Kind::Deviation,
            "first" => Kind::First,
            "last" => Kind::Last,
            "index" => Kind::Index,
            "concat" => Kind::Concat,
            "append" => Kind::Append,
            _ => return Err(format!("there is no function `{name}`")),
        };
        let fits = match kind {
            Kind::Length | Kind::Keys | Kind::First | Kind::Last => arguments.is_empty(),
            Kind::Index => arguments.len() == 1,
            _ => true,
        };
        if fits { Ok(Function { kind, arguments }) } else { Err(format!("`{name}` has other arguments")) }
    }

    /// Whether it can take everything that a path finds at once.
    pub(super) fn gathers(&self) -> bool {
        !matches!(self.kind, Kind::Keys | Kind::First | Kind::Last | Kind::Index | Kind::Append)
    }

    /// What it makes of one node.
    pub(super) fn apply(&self, evaluator: &mut Evaluator<'_>, node: NodeId) -> Result<Match, Error> {
        let kind = evaluator.value.kind(node);
        let elements = if kind == Type::Array { evaluator.children(node)? } else { Vec::new() };
        match self.kind {
            Kind::Length => match kind {
                Type::Array => Ok(Match::Made(elements.len().to_string())),
                Type::Object => Ok(Match::Made(evaluator.children(node)?.len().to_string())),
                _ => Ok(Match::Made("null".to_owned())),
            },
            Kind::Keys if kind == Type::Object => {
                let mut json = Vec::new();
                for member in evaluator.children(node)? {
                    json.push(if json.is_empty() { b'[' } else { b',' });
                    text::write_string(&evaluator.value.key(member).unwrap_or_default(), &mut json);
                }
                json.extend_from_slice(if json.is_empty() { b"[]" } else { b"]" });
                evaluator.made(json)
            }
            Kind::Keys => Ok(Match::Made("null".to_owned())),
            Kind::First => self.element(&elements, 0),
            Kind::Last => self.element(&elements, -1),
            Kind::Index => {
                let index = self.numbers(evaluator)?;
                self.element(&elements, index.first().copied().ok_or(EMPTY)? as i64)
            }
            Kind::Append if kind == Type::Array => self.appended(evaluator, node),
            Kind::Append => Ok(Match::Node(node)),
            Kind::Concat => {
                let texts = elements.iter().filter(|&&element| evaluator.value.kind(element) == Type::String);
                let text = texts.filter_map(|&element| evaluator.value.scalar(element)).collect::<String>();
                self.concatenated(evaluator, text)
            }
            _ => {
                let numbers = elements.iter().filter_map(|&element| double(evaluator.value, element)).collect();
                self.computed(evaluator, numbers)
            }
        }
    }

    /// What it makes of everything that a path found: `length` counts what is in it, the others take it with the elements of arrays.
    pub(super) fn gather(&self, evaluator: &mut Evaluator<'_>, found: &[Match]) -> Result<Match, Error> {
        let mut length = 0;
        let mut nodes = Vec::new();
        for found in found {
            let Match::Node(node) = *found else { continue };
            let children = evaluator.children(node)?;
            length += children.len();
            if evaluator.value.kind(node) == Type::Array {
                nodes.extend(children);
            } else {
                nodes.push(node);
            }
        }
        match self.kind {
            Kind::Length => Ok(Match::Made(length.to_string())),
            Kind::Concat => {
                let text = nodes.iter().filter_map(|&node| evaluator.value.scalar(node)).collect();
                self.concatenated(evaluator, text)
            }
            _ => {
                let numbers = nodes.iter().filter_map(|&node| double(evaluator.value, node)).collect();
                self.computed(evaluator, numbers)
            }
        }
    }

    fn element(&self, elements: &[NodeId], index: i64) -> Result<Match, Error> {
        let index = if index < 0 { elements.len() as i64 + index } else { index };
        let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
        element.map(|&element| Match::Node(element)).ok_or(Error::Inapplicable("there is no element at that index"))
    }

    fn appended(&self, evaluator: &mut Evaluator<'_>, array: NodeId) -> Result<Match, Error> {
        let mut json = Vec::new();
        evaluator.rules.write(evaluator.value, array, &mut json)?;
        // `]`
        json.pop();
        for argument in &self.arguments {
            if json.len() > 1 {
                json.push(b',');
            }
            match argument {
                Argument::Json(value) => value.write_compact(value.root(), &mut json),
                Argument::Path(path) => json.extend_from_slice(evaluator.argument(path)?.as_bytes()),
            }
        }
        json.push(b']');
        evaluator.made(json)
    }

    fn concatenated(&self, evaluator: &mut Evaluator<'_>, mut text: String) -> Result<Match, Error> {
        for argument in &self.arguments {
            evaluator.each_scalar(argument, |value, node| text.push_str(&value.scalar(node).unwrap_or_default()))?;
        }
        let mut json = Vec::new();
        text::write_string(&text, &mut json);
        evaluator.made(json)
    }

    fn numbers(&self, evaluator: &mut Evaluator<'_>) -> Result<Vec<f64>, Error> {
        let mut numbers = Vec::new();
        for argument in &self.arguments {
            evaluator.each_scalar(argument, |value, node| numbers.extend(double(value, node)))?;
        }
        Ok(numbers)
    }

    fn computed(&self, evaluator: &mut Evaluator<'_>, mut numbers: Vec<f64>) -> Result<Match, Error> {
        numbers.extend(self.numbers(evaluator)?);
        if numbers.is_empty() {
            return Err(EMPTY);
        }
        let count = numbers.len() as f64;
        let sum: f64 = numbers.iter().sum();
        let result = match self.kind {
            Kind::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Kind::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Kind::Average => sum / count,
            Kind::Deviation => {
                let squares: f64 = numbers.iter().map(|number| number * number).sum();
                (squares / count - sum * sum / count / count).sqrt()
            }
            _ => sum,
        };
        // Java would say `Infinity`, which is no JSON.
        if !result.is_finite() {
            return Err(Error::Inapplicable("a function over numbers gave one that is too large"));
        }
        Ok(Match::Made(number::java(result)))
    }
}

impl Evaluator<'_> {
    /// What an argument's path leads to, as JSON.
    fn argument(&mut self, path: &Path) -> Result<String, Error> {
        let found = self.run(path, self.root)?;
        path.as_one(self.value, found, self.rules)?.json(self.value, self.rules).map(Cow::into_owned)
    }

    /// Shows `take` the scalars of an argument: itself, or the elements of the array it is.
    fn each_scalar(&mut self, argument: &Argument, mut take: impl FnMut(&Value, NodeId)) -> Result<(), Error> {
        let mut each = |value: &Value, node: NodeId| {
            if value.kind(node) == Type::Array {
                value.children(node).for_each(|element| take(value, element));
            } else {
                take(value, node);
            }
        };
        match argument {
            Argument::Json(value) => each(value, value.root()),
            Argument::Path(path) => {
                for found in self.run(path, self.root)? {
                    match found {
                        Match::Node(node) => {
                            self.children(node)?;
                            each(self.value, node);
                        }
                        Match::Made(json) => {
                            if let Ok(value) = Value::parse(json.into_bytes(), &Options::UNLIMITED) {
                                each(&value, value.root());
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn double(value: &Value, node: NodeId) -> Option<f64> {
    (value.kind(node) == Type::Number).then(|| value.scalar(node)?.parse().ok()).flatten()
}
