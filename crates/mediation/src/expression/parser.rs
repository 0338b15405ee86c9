//! From words to a tree, by operator precedence.

use super::functions::{self, Function};
use super::lexer::{Kind, Token, tokens};
use super::{Base, Error, Expr, Operator, Source};
use crate::property::Names;

/// Expressions nested deeper than this are refused.
const DEPTH_LIMIT: usize = 64;

/// Expressions with more operators than this are refused: a chain of them is a deep tree.
const OPERATOR_LIMIT: usize = 500;

/// What is said of everything that looks into the message.
const NEEDS_BODY: &str = "needs the body: not offered yet";

pub(super) fn parse(text: &str, names: &mut Names) -> Result<Expr, Error> {
    if text.trim_start().starts_with("json-eval(") {
        return Err(Error { offset: 0, message: format!("json-eval() {NEEDS_BODY}") });
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, operators: 0, names };
    let root = parser.expression(0)?;
    match parser.peek() {
        Kind::End => Ok(root),
        Kind::Path(path) => Err(parser.error(format!("the path at {path:?} {NEEDS_BODY}"))),
        _ => Err(parser.error("an operator is missing here")),
    }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    operators: usize,
    names: &'a mut Names,
}

impl Parser<'_> {
    fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn next(&mut self) -> Kind {
        let kind = self.tokens[self.at].kind.clone();
        // The end is never passed: whatever asks again gets it again.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        kind
    }

    fn error(&self, message: impl Into<String>) -> Error {
        Error { offset: self.tokens[self.at].offset, message: message.into() }
    }

    /// An operand and all operators behind it that bind at least as tightly as `minimum`.
    fn expression(&mut self, minimum: u8) -> Result<Expr, Error> {
        if self.depth == DEPTH_LIMIT {
            return Err(self.error(format!("nests deeper than {DEPTH_LIMIT}")));
        }
        self.depth += 1;
        let mut left = self.operand()?;
        while let Kind::Operator(text) = self.peek() {
            let (operator, precedence) = binary(text);
            if precedence < minimum {
                break;
            }
            self.operators += 1;
            if self.operators > OPERATOR_LIMIT {
                return Err(self.error(format!("more than {OPERATOR_LIMIT} operators")));
            }
            self.next();
            let right = self.expression(precedence + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr, Error> {
        let start = self.at;
        let operand = match self.next() {
            // Unary minus binds tighter than every binary operator but union (§3.5), which is a path's.
            Kind::Operator("-") => return Ok(Expr::Negate(Box::new(self.expression(UNARY)?))),
            Kind::Number(number) => Expr::Number(number),
            Kind::Literal(text) => Expr::Text(text),
            Kind::Variable { prefix, name } => self.variable(prefix.as_deref(), &name, start)?,
            Kind::Open => {
                let inside = self.expression(0)?;
                self.expect_close()?;
                inside
            }
            Kind::Name(name) if *self.peek() == Kind::Open => self.call(&name, start)?,
            Kind::Name(name) => {
                self.at = start;
                return Err(self.error(format!("the path {name:?} {NEEDS_BODY}")));
            }
            Kind::Path(path) => {
                self.at = start;
                return Err(self.error(format!("the path at {path:?} {NEEDS_BODY}")));
            }
            _ => {
                self.at = start;
                return Err(self.error("a value is missing here"));
            }
        };
        // A path may go on behind any operand: `$ctx:order/id`, `get-property('x')[1]`.
        if let Kind::Path(path) = self.peek() {
            return Err(self.error(format!("the path at {path:?} {NEEDS_BODY}")));
        }
        Ok(operand)
    }

    fn expect_close(&mut self) -> Result<(), Error> {
        if *self.peek() != Kind::Close {
            return Err(self.error("a closing parenthesis is missing here"));
        }
        self.next();
        Ok(())
    }

    fn variable(&mut self, prefix: Option<&str>, name: &str, start: usize) -> Result<Expr, Error> {
        let refuse = |parser: &Self, message: String| Err(Error { offset: parser.tokens[start].offset, message });
        let base = match prefix {
            Some("trp") => return Ok(Expr::Source(Source::Header(name.to_owned()))),
            Some("url") => return Ok(Expr::Source(Source::Query(name.to_owned()))),
            Some("ctx") => Base::Default,
            Some("axis2") => Base::Axis2,
            Some("operation") => Base::Operation,
            Some("sys" | "system") => Base::System,
            Some("func") => return refuse(self, format!("${name}: templates are not offered yet")),
            Some(other) => return refuse(self, format!("${other}: is no known kind of variable")),
            None if matches!(name, "body" | "header" | "env") => return refuse(self, format!("${name} {NEEDS_BODY}")),
            None => return refuse(self, format!("${name} is no known variable")),
        };
        Ok(Expr::Source(Source::property(base, name, self.names)))
    }

    fn call(&mut self, name: &str, start: usize) -> Result<Expr, Error> {
        let offset = self.tokens[start].offset;
        let refuse = |message: String| Err(Error { offset, message });
        if let Some(message) = functions::refused(name) {
            return refuse(format!("{name}() {message}"));
        }
        let arguments = self.arguments()?;
        if name == "get-property" {
            return self.get_property(arguments, offset);
        }
        if matches!(name, "position" | "last") {
            // Outside a path there is one node, the message (§4.1).
            return if arguments.is_empty() {
                Ok(Expr::Number(1.0))
            } else {
                refuse(format!("{name}() takes no arguments"))
            };
        }
        let Some((mut function, least, most)) = Function::find(name) else {
            return refuse(format!("{name}() is no known function"));
        };
        if arguments.is_empty() && function.defaults_to_context() {
            return refuse(format!("{name}() without an argument {NEEDS_BODY}"));
        }
        if arguments.len() < least || arguments.len() > most {
            return refuse(format!("{name}() does not take {} arguments", arguments.len()));
        }
        function.check(&arguments).map_err(|message| Error { offset, message })?;
        Ok(Expr::Call(function, arguments))
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, Error> {
        self.next();
        let mut arguments = Vec::new();
        if *self.peek() == Kind::Close {
            self.next();
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression(0)?);
            match self.peek() {
                Kind::Comma => {
                    self.next();
                }
                _ => return self.expect_close().map(|()| arguments),
            }
        }
    }

    fn get_property(&mut self, mut arguments: Vec<Expr>, offset: usize) -> Result<Expr, Error> {
        let refuse = |message: String| Err(Error { offset, message });
        let name = match arguments.pop() {
            Some(name) if arguments.len() <= 1 => name,
            _ => return refuse("get-property() takes a name, or a scope and a name".to_owned()),
        };
        let base = match arguments.pop() {
            None => Base::Default,
            Some(Expr::Text(first)) if first == "SYSTEM_DATE" => return Ok(Expr::Date(Box::new(name))),
            Some(Expr::Text(scope)) => match scope.as_str() {
                "default" | "synapse" => Base::Default,
                "axis2" => Base::Axis2,
                "axis2-client" => Base::Axis2Client,
                "operation" => Base::Operation,
                "transport" => Base::Transport,
                "system" | "env" => Base::System,
                "func" => return refuse("get-property('func', …): templates are not offered yet".to_owned()),
                "registry" => return refuse("get-property('registry', …): the registry is not offered yet".to_owned()),
                other => return refuse(format!("get-property(): scope {other:?} is not known")),
            },
            Some(_) => return refuse("get-property(): the scope must be a text literal".to_owned()),
        };
        match name {
            Expr::Text(name) if base == Base::Default && name == "FAULT" => {
                refuse(format!("get-property('FAULT') {NEEDS_BODY}"))
            }
            Expr::Text(name) => Ok(Expr::Source(Source::property(base, &name, self.names))),
            dynamic => Ok(Expr::Property(base, Box::new(dynamic))),
        }
    }
}

/// How tightly a unary minus binds.
const UNARY: u8 = 7;

fn binary(text: &str) -> (Operator, u8) {
    match text {
        "or" => (Operator::Or, 1),
        "and" => (Operator::And, 2),
        "=" => (Operator::Equal, 3),
        "!=" => (Operator::NotEqual, 3),
        "<" => (Operator::Less, 4),
        "<=" => (Operator::LessOrEqual, 4),
        ">" => (Operator::Greater, 4),
        ">=" => (Operator::GreaterOrEqual, 4),
        "+" => (Operator::Add, 5),
        "-" => (Operator::Subtract, 5),
        "*" => (Operator::Multiply, 6),
        "div" => (Operator::Divide, 6),
        _ => (Operator::Modulo, 6),
    }
}
