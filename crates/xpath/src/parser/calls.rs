//! Calls: which function a name means, and whether it takes so many arguments.

use super::{Parser, refuse};
use crate::ast::{Callee, Expr, InlineFunction};
use crate::environment::{Argument, Declared};
use crate::error::SyntaxError;
use crate::function::{Function, Library, MOST_ARGUMENTS};
use crate::functions;
use crate::lexer::Kind;
use crate::pattern::Pattern;
use crate::types::{AtomicType, SequenceType};

/// The namespace of XML Schema's types.
pub(super) const SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";

/// The name of a function as it is written.
#[derive(Clone, Copy)]
pub(super) enum FunctionName<'n> {
    /// `local`
    Plain(&'n str),
    /// `prefix:local`
    Prefixed(&'n str, &'n str),
    /// `Q{namespace}local`
    Braced(&'n str, &'n str),
}

/// What a name of this library means.
enum Known {
    Library(&'static Function),
    Constructor(AtomicType),
}

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
                _ => Library::of_prefix(prefix)?.namespace(),
            };
            Some(known.to_owned())
        })
    }

    /// A call; the name has been read, its `(` comes next. `first` is an argument that stands before the name.
    pub(super) fn call(
        &mut self,
        name: FunctionName<'_>,
        first: Option<Expr>,
        offset: usize,
    ) -> Result<Expr, SyntaxError> {
        let arguments = self.arguments(first)?;
        self.call_with(name, arguments, offset)
    }

    /// The same, its arguments read; apart, so that calls alone nest on small frames.
    fn call_with(
        &mut self,
        name: FunctionName<'_>,
        arguments: Vec<Option<Expr>>,
        offset: usize,
    ) -> Result<Expr, SyntaxError> {
        if arguments.iter().any(Option::is_none) {
            let function = self.reference(name, arguments.len(), offset)?;
            return Ok(Expr::Apply(Box::new(function), arguments));
        }
        let arguments: Vec<Expr> = arguments.into_iter().flatten().collect();
        match self.known(name, offset)? {
            Some(Known::Library(function)) => library_call(function, arguments, offset),
            Some(Known::Constructor(atomic)) => self.constructor(atomic, arguments, offset),
            None => match self.declared(name, &arguments, offset)? {
                Declared::Variable(slot) => Ok(Expr::Variable(slot)),
                Declared::Function(slot) => Ok(Expr::HostCall(slot, arguments)),
                Declared::Current => Ok(Expr::Current),
            },
        }
    }

    /// `name#1`, the name having been read: the function that takes so many arguments.
    pub(super) fn reference_behind(&mut self, name: FunctionName<'_>, offset: usize) -> Result<Expr, SyntaxError> {
        self.expect("#")?;
        let Kind::Integer(digits) = self.next() else {
            return Err(refuse(offset, "behind `#` stands how many arguments the function takes"));
        };
        let count = digits.parse().ok().filter(|count| *count <= MOST_ARGUMENTS);
        let count = count.ok_or_else(|| unknown(offset, format!("no function takes {digits} arguments")))?;
        self.reference(name, count, offset)
    }

    /// A function that takes so many arguments, as a value.
    fn reference(&mut self, name: FunctionName<'_>, count: usize, offset: usize) -> Result<Expr, SyntaxError> {
        if count > MOST_ARGUMENTS {
            return Err(unknown(offset, format!("no function takes {count} arguments")));
        }
        let callee = match self.known(name, offset)? {
            Some(Known::Library(function)) => {
                check_count(function, count, offset)?;
                Callee::Library(function)
            }
            Some(Known::Constructor(atomic)) if count == 1 => Callee::Cast(atomic),
            Some(Known::Constructor(atomic)) => {
                return Err(unknown(offset, format!("{atomic}() takes 1 argument, not {count}")));
            }
            None => {
                // Arguments that are known only later.
                let arguments = vec![Expr::Context; count];
                match self.declared(name, &arguments, offset)? {
                    Declared::Function(slot) => Callee::Host(slot),
                    Declared::Variable(slot) => {
                        let function = InlineFunction {
                            parameters: vec![SequenceType::ANY; count],
                            result: SequenceType::ANY,
                            body: Expr::Variable(slot),
                            captured: Vec::new(),
                        };
                        return Ok(Expr::Inline(Box::new(function)));
                    }
                    Declared::Current => return Err(unknown(offset, "current() cannot be a value".to_owned())),
                }
            }
        };
        Ok(Expr::Named(callee, count))
    }

    /// What a name means in this library; `None`: nothing.
    fn known(&self, name: FunctionName<'_>, offset: usize) -> Result<Option<Known>, SyntaxError> {
        let (namespace, local) = match name {
            FunctionName::Plain(local) => (None, local),
            FunctionName::Prefixed(prefix, local) => match self.known_prefix(prefix) {
                Some(namespace) => (Some(namespace), local),
                None => return Ok(None),
            },
            FunctionName::Braced(namespace, local) => (Some(namespace.to_owned()), local),
        };
        let library = match namespace.as_deref() {
            None => Some(Library::Core),
            Some(SCHEMA) => {
                if let Some(list) = functions::list_constructor(local) {
                    return Ok(Some(Known::Library(list)));
                }
                let found = AtomicType::find(local)
                    .filter(|atomic| !matches!(atomic, AtomicType::AnyAtomic | AtomicType::Notation));
                let unknown = || unknown(offset, format!("xs:{local} is no type that can be made"));
                return found.map(|atomic| Some(Known::Constructor(atomic))).ok_or_else(unknown);
            }
            Some(namespace) => Library::of_namespace(namespace),
        };
        Ok(library.and_then(|library| functions::find(library, local)).map(Known::Library))
    }

    /// What a name means to the host.
    fn declared(&mut self, name: FunctionName<'_>, arguments: &[Expr], offset: usize) -> Result<Declared, SyntaxError> {
        let arguments: Vec<Argument<'_>> = arguments
            .iter()
            .map(|argument| match argument {
                Expr::Text(text) => Argument::Text(text),
                Expr::Number(number) => Argument::Number(*number),
                Expr::Integer(number) => Argument::Number(*number as f64),
                _ => Argument::Dynamic,
            })
            .collect();
        let (written, namespace, local) = match name {
            FunctionName::Plain(local) => (local.to_owned(), None, local),
            FunctionName::Prefixed(prefix, local) => (format!("{prefix}:{local}"), self.known_prefix(prefix), local),
            FunctionName::Braced(namespace, local) => (local.to_owned(), Some(namespace.to_owned()), local),
        };
        let declared = self.environment.function(&written, namespace.as_deref(), &arguments);
        match declared.map_err(|message| unknown(offset, message))? {
            Some(declared) => {
                match declared {
                    Declared::Variable(slot) => self.variables.push(slot),
                    Declared::Function(slot) => self.functions.push(slot),
                    Declared::Current => {}
                }
                Ok(declared)
            }
            None => {
                if let (FunctionName::Prefixed(prefix, _), None) = (name, &namespace) {
                    self.prefix(prefix, offset)?;
                }
                let library = namespace.as_deref().map_or(Some(Library::Core), Library::of_namespace);
                let nearest = library.and_then(|library| functions::nearest(library, local));
                let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest}()?"));
                Err(unknown(offset, format!("{written}() is no known function{hint}")))
            }
        }
    }

    /// `xs:date(…)`: the same as a cast that lets an empty sequence be.
    fn constructor(
        &mut self,
        atomic: AtomicType,
        mut arguments: Vec<Expr>,
        offset: usize,
    ) -> Result<Expr, SyntaxError> {
        match (arguments.len(), arguments.pop()) {
            (1, Some(argument)) => self.cast(argument, atomic, true, offset),
            (count, _) => Err(unknown(offset, format!("{atomic}() takes 1 argument, not {count}"))),
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

fn check_count(function: &Function, count: usize, offset: usize) -> Result<(), SyntaxError> {
    let (least, most) = (usize::from(function.least), usize::from(function.most));
    if count >= least && (count <= most || function.most == u8::MAX) {
        return Ok(());
    }
    let takes = match (least, most) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "1 argument".to_owned(),
        _ if least == most => format!("{least} arguments"),
        (_, 255) => format!("at least {least} arguments"),
        _ => format!("{least} to {most} arguments"),
    };
    Err(unknown(offset, format!("{}() takes {takes}, not {count}", function.name)))
}

fn library_call(function: &'static Function, mut arguments: Vec<Expr>, offset: usize) -> Result<Expr, SyntaxError> {
    check_count(function, arguments.len(), offset)?;
    if function.defaults_to_context && arguments.len() == usize::from(function.least) {
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
