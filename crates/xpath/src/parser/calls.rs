//! Calls: which function a name means, and whether it takes so many arguments.

use super::{FUNCTIONS, Parser, refuse};
use crate::ast::Expr;
use crate::environment::{Argument, Declared};
use crate::error::SyntaxError;
use crate::functions::{self, Library, Pattern};
use crate::lexer::Kind;
use crate::types::AtomicType;

/// The namespace of XML Schema's types.
pub(super) const SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";
const CORE: &str = "http://www.w3.org/2005/xpath-functions";
const MATH: &str = "http://www.w3.org/2005/xpath-functions/math";

impl Parser<'_, '_> {
    /// The namespace of a prefix.
    pub(super) fn prefix(&self, prefix: &str, offset: usize) -> Result<String, SyntaxError> {
        self.known_prefix(prefix).ok_or_else(|| SyntaxError {
            offset,
            message: format!("the prefix {prefix:?} stands for no namespace: xmlns:{prefix}=\"…\" is missing"),
            code: "XPST0081",
        })
    }

    fn known_prefix(&self, prefix: &str) -> Option<String> {
        self.environment.namespace(prefix).or_else(|| {
            let known = match prefix {
                "xml" => "http://www.w3.org/XML/1998/namespace",
                "xs" => SCHEMA,
                "fn" => CORE,
                "math" => MATH,
                _ => return None,
            };
            Some(known.to_owned())
        })
    }

    /// A call; the name has been read, its `(` comes next. `first` is an argument that stands before the name.
    pub(super) fn call(
        &mut self,
        prefix: Option<&str>,
        local: &str,
        first: Option<Expr>,
        offset: usize,
    ) -> Result<Expr, SyntaxError> {
        let Some(prefix) = prefix else { return self.call_in(None, local, first, offset) };
        if let Some(namespace) = self.known_prefix(prefix)
            && (is_library(&namespace) || namespace == SCHEMA)
        {
            return self.call_in(Some(&namespace), local, first, offset);
        }
        let name = format!("{prefix}:{local}");
        let arguments = self.arguments(first)?;
        let namespace = self.known_prefix(prefix);
        match self.host_call(&name, namespace.as_deref(), arguments, offset)? {
            Some(call) => Ok(call),
            None if namespace.is_none() => Err(self
                .prefix(prefix, offset)
                .err()
                .unwrap_or_else(|| refuse(offset, format!("{name}() is no known function")))),
            None => Err(unknown(offset, format!("{name}() is no known function"))),
        }
    }

    /// A call of a function whose namespace is known; `None`: written without a prefix.
    pub(super) fn call_in(
        &mut self,
        namespace: Option<&str>,
        local: &str,
        first: Option<Expr>,
        offset: usize,
    ) -> Result<Expr, SyntaxError> {
        let arguments = self.arguments(first)?;
        if namespace == Some(SCHEMA) {
            return self.constructor(local, arguments, offset);
        }
        let library = if namespace == Some(MATH) { Library::Math } else { Library::Core };
        let ours = namespace.is_none_or(is_library);
        if ours && let Some(function) = functions::find(library, local) {
            return library_call(function, arguments, offset);
        }
        if let Some(call) = self.host_call(local, namespace, arguments, offset)? {
            return Ok(call);
        }
        let nearest = functions::nearest(library, local);
        let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest}()?"));
        Err(unknown(offset, format!("{local}() is no known function{hint}")))
    }

    fn arguments(&mut self, first: Option<Expr>) -> Result<Vec<Expr>, SyntaxError> {
        let mut arguments: Vec<Expr> = first.into_iter().collect();
        self.expect("(")?;
        if self.take(")") {
            return Ok(arguments);
        }
        loop {
            if *self.peek() == Kind::Symbol("?") {
                return Err(self.error(FUNCTIONS));
            }
            arguments.push(self.inner()?);
            if !self.take(",") {
                break;
            }
        }
        match self.take(")") {
            true => Ok(arguments),
            false => Err(self.error("`)` or `,` is missing here")),
        }
    }

    /// `xs:date(…)`: the same as a cast that lets an empty sequence be.
    fn constructor(&mut self, local: &str, mut arguments: Vec<Expr>, offset: usize) -> Result<Expr, SyntaxError> {
        let atomic = AtomicType::find(local)
            .filter(|atomic| !matches!(atomic, AtomicType::AnyAtomic | AtomicType::Notation))
            .ok_or_else(|| unknown(offset, format!("xs:{local} is no type that can be made")))?;
        match (arguments.len(), arguments.pop()) {
            (1, Some(argument)) => self.cast(argument, atomic, true, offset),
            (count, _) => Err(unknown(offset, format!("xs:{local}() takes 1 argument, not {count}"))),
        }
    }

    /// A cast; a name in a literal is resolved now, as only the environment knows what its prefix stands for.
    pub(super) fn cast(
        &mut self,
        operand: Expr,
        target: AtomicType,
        optional: bool,
        offset: usize,
    ) -> Result<Expr, SyntaxError> {
        if target == AtomicType::QName
            && let Expr::Text(name) = &operand
        {
            let prefix = name.split_once(':').map(|(prefix, _)| prefix.trim());
            let namespace = match prefix {
                Some(prefix) => self.known_prefix(prefix).ok_or_else(|| SyntaxError {
                    offset,
                    message: format!("the prefix {prefix:?} stands for no namespace"),
                    code: "FONS0004",
                })?,
                None => self.environment.default_namespace().unwrap_or_default(),
            };
            return Ok(Expr::Call(functions::QNAME, vec![Expr::Text(namespace), operand]));
        }
        Ok(Expr::Cast(Box::new(operand), target, optional))
    }

    fn host_call(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: Vec<Expr>,
        offset: usize,
    ) -> Result<Option<Expr>, SyntaxError> {
        let known: Vec<Argument<'_>> = arguments
            .iter()
            .map(|argument| match argument {
                Expr::Text(text) => Argument::Text(text),
                Expr::Number(number) => Argument::Number(*number),
                Expr::Integer(number) => Argument::Number(*number as f64),
                _ => Argument::Dynamic,
            })
            .collect();
        match self.environment.function(name, namespace, &known) {
            Ok(Some(Declared::Variable(slot))) => {
                self.variables.push(slot);
                Ok(Some(Expr::Variable(slot)))
            }
            Ok(Some(Declared::Function(slot))) => {
                self.functions.push(slot);
                Ok(Some(Expr::HostCall(slot, arguments)))
            }
            Ok(Some(Declared::Current)) => Ok(Some(Expr::Current)),
            Ok(None) => Ok(None),
            Err(message) => Err(unknown(offset, message)),
        }
    }
}

fn as_text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Text(text) => Some(text),
        _ => None,
    }
}

fn unknown(offset: usize, message: String) -> SyntaxError {
    SyntaxError { offset, message, code: "XPST0017" }
}

/// Drafts of the functions' specification had a year and a month in the namespace; configurations still use them.
fn is_library(namespace: &str) -> bool {
    namespace == MATH || (namespace.starts_with("http://www.w3.org/") && namespace.ends_with("/xpath-functions"))
}

fn library_call(
    function: &'static functions::Function,
    mut arguments: Vec<Expr>,
    offset: usize,
) -> Result<Expr, SyntaxError> {
    let (least, most, count) = (usize::from(function.least), usize::from(function.most), arguments.len());
    if count < least || count > most {
        let takes = match (least, most) {
            (0, 0) => "no arguments".to_owned(),
            (1, 1) => "1 argument".to_owned(),
            _ if least == most => format!("{least} arguments"),
            (_, 255) => format!("at least {least} arguments"),
            _ => format!("{least} to {most} arguments"),
        };
        return Err(unknown(offset, format!("{}() takes {takes}, not {count}", function.name)));
    }
    if function.defaults_to_context && count == least {
        arguments.push(Expr::Context);
    }
    if let Some((pattern, flags)) = functions::pattern_arguments(function)
        && let Some(Expr::Text(source)) = arguments.get(pattern)
        && let Some(flags) = arguments.get(flags).map_or(Some(""), as_text)
    {
        let compiled = Pattern::new(source, flags).map_err(|error| SyntaxError {
            offset,
            message: error.to_string(),
            code: error.code().unwrap_or("FORX0002"),
        })?;
        arguments[pattern] = Expr::Pattern(Box::new(compiled));
    }
    Ok(Expr::Call(function, arguments))
}
