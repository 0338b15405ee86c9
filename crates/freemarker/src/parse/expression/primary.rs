//! What expressions begin with, and built-ins with their arguments.

use super::{Parser, made};
use crate::builtin::Takes;
use crate::builtins;
use crate::decimal::Decimal;
use crate::error::Refusal;
use crate::parse::token::Token;
use crate::scan::{Kind, scan};
use crate::stack::with_enough;
use crate::syntax::{BuiltinCall, Expression, ExpressionKind as Is, LoopQuestion, Special};

impl Parser<'_> {
    /// What stands in brackets, up to the closing one.
    pub(super) fn arguments(&mut self, lambdas: bool) -> Result<Vec<Expression>, Refusal> {
        let mut arguments = Vec::new();
        while !self.take(")")? {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(match if lambdas { self.lambda()? } else { None } {
                Some(lambda) => lambda,
                None => self.or()?,
            });
        }
        Ok(arguments)
    }

    fn lambda(&mut self) -> Result<Option<Expression>, Refusal> {
        let (start, at) = (self.at, self.place());
        let in_brackets = self.take("(")?;
        if let Token::Name(name) = self.next()?
            && (!in_brackets || self.take(")")?)
            && self.take("->")?
        {
            let symbol = self.names.symbol(&name);
            return Ok(Some(made(at, Is::Lambda(symbol, self.or()?.into()))));
        }
        self.at = start;
        Ok(None)
    }

    pub(super) fn builtin(&mut self, subject: Expression) -> Result<Expression, Refusal> {
        let at = self.place();
        let start = self.at;
        let Token::Name(written) = self.next()? else {
            self.at = start;
            return Err(self.refuse("the name of a built-in is missing here"));
        };
        // FreeMarker knows each name in two ways of writing it.
        let name = builtins::with_underscores(&written);
        if let Some(question) = loop_question(&name) {
            let Is::Variable(symbol) = subject.kind else {
                return Err(self.refuse(format!("?{written} is asked of the variable of a loop")));
            };
            let arguments = if question == LoopQuestion::Cycle {
                self.expect("(")?;
                self.arguments(false)?
            } else {
                Vec::new()
            };
            return Ok(made(at, Is::Loop(symbol, question, arguments)));
        }
        if name == "then" || name == "switch" {
            self.expect("(")?;
            let mut arguments = self.arguments(false)?;
            if name == "switch" && arguments.len() >= 2 {
                return Ok(made(at, Is::Switch(subject.into(), arguments)));
            }
            let (Some(no), Some(yes), true) = (arguments.pop(), arguments.pop(), arguments.is_empty()) else {
                return Err(self.refuse(format!("?{written} takes other arguments")));
            };
            return Ok(made(at, Is::Then(Box::new([subject, yes, no]))));
        }
        let builtin = match builtins::find(&name) {
            Some(builtin) => builtin,
            None => {
                self.at = start;
                return Err(match builtins::is_known_elsewhere(&name) {
                    true => self.unsupported(format!("the built-in ?{written} is not offered")),
                    false => self.refuse(format!("there is no built-in ?{written}")),
                });
            }
        };
        let (least, most) = builtin.arguments;
        let arguments = match most > 0 && self.take("(")? {
            true => self.arguments(builtin.takes == Takes::Lambda)?,
            // `?string.short` and `?string["0.0"]` are other ways of writing the argument.
            false if takes_format(builtin.name) && self.take(".")? => {
                let at = self.place();
                vec![made(at, Is::Text(self.member_name()?))]
            }
            false if takes_format(builtin.name) && self.take("[")? => {
                let format = self.or()?;
                self.expect("]")?;
                vec![format]
            }
            false => Vec::new(),
        };
        if arguments.len() < least || arguments.len() > most {
            self.at = start;
            let message = match (least, most) {
                (least, most) if least == most => format!("?{written} takes {least} arguments"),
                _ => format!("?{written} takes {least} to {most} arguments"),
            };
            return Err(self.refuse(message));
        }
        if matches!(builtin.name, "eval" | "keys" | "values") {
            self.names.reach_all();
        }
        let regex = match builtins::literal_pattern(builtin, &arguments) {
            Some(Ok(regex)) => Some(regex),
            Some(Err(message)) => {
                self.at = start;
                return Err(self.unsupported(message));
            }
            None => None,
        };
        Ok(made(at, Is::Builtin(Box::new(BuiltinCall { subject, builtin, arguments, regex }))))
    }

    pub(super) fn primary(&mut self) -> Result<Expression, Refusal> {
        let (at, start) = (self.place(), self.at);
        let kind = match self.next()? {
            Token::Number(digits) => match Decimal::parse(&digits) {
                Some(number) => Is::Number(number),
                None => return Err(self.refuse("the number has more than 38 digits")),
            },
            Token::Text(text, has_holes) if has_holes && text.contains("${") => self.joined(&text, at)?,
            Token::Text(text, _) => Is::Text(text.into()),
            Token::Name(name) => match name.as_str() {
                "true" => Is::Boolean(true),
                "false" => Is::Boolean(false),
                "as" | "in" | "using" => {
                    self.at = start;
                    return Err(self.refuse(format!("an expression is missing in front of {name:?}")));
                }
                name => Is::Variable(self.names.symbol(name)),
            },
            Token::Sign("(") => {
                let inner = self.or()?;
                self.expect(")")?;
                Is::Group(inner.into())
            }
            Token::Sign("[") => {
                let mut items = Vec::new();
                while !self.take("]")? {
                    if !items.is_empty() {
                        self.expect(",")?;
                    }
                    items.push(self.or()?);
                }
                Is::List(items)
            }
            Token::Sign("{") => {
                let mut members = Vec::new();
                while !self.take("}")? {
                    if !members.is_empty() {
                        self.expect(",")?;
                    }
                    let name = self.or()?;
                    if !self.take(":")? {
                        self.expect(",")?;
                    }
                    members.push((name, self.or()?));
                }
                Is::Hash(members)
            }
            Token::Sign(".") => Is::Special(self.special()?),
            Token::End => return Err(self.refuse("an expression is missing here")),
            Token::Sign(sign) => {
                self.at = start;
                return Err(self.refuse(format!("an expression is missing in front of {sign:?}")));
            }
        };
        Ok(made(at, kind))
    }

    fn special(&mut self) -> Result<Special, Refusal> {
        let start = self.at;
        let name = match self.next()? {
            Token::Name(name) => name,
            _ => String::new(),
        };
        let name = builtins::with_underscores(&name);
        if matches!(name.as_str(), "vars" | "data_model" | "globals") {
            self.names.reach_all();
        }
        Ok(match name.as_str() {
            "now" => Special::Now,
            "vars" => Special::Vars,
            "data_model" => Special::DataModel,
            "globals" => Special::Globals,
            "error" => Special::Error,
            "locale" | "lang" => Special::Locale,
            _ => {
                self.at = start;
                return Err(self.unsupported(format!("the special variable .{name} is not offered")));
            }
        })
    }

    /// A text with interpolations, whose escapes are resolved.
    fn joined(&mut self, text: &str, at: u32) -> Result<Is, Refusal> {
        let moved = |(kind, _, message): Refusal| (kind, at as usize, message);
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut done = 0;
        for piece in scan(text, true).map_err(moved)? {
            let Kind::Print(range) = piece.kind else { continue };
            literal.push_str(&text[done..piece.range.start]);
            done = piece.range.end;
            if !literal.is_empty() {
                parts.push(made(at, Is::Text(std::mem::take(&mut literal).into())));
            }
            let mut inner = Parser::inside(text, range, at, self.links, self.names);
            parts.push(with_enough(|| inner.expression())?);
            let links = inner.links;
            inner.finish()?;
            self.links = links;
        }
        literal.push_str(&text[done..]);
        if !literal.is_empty() {
            parts.push(made(at, Is::Text(literal.into())));
        }
        Ok(Is::Join(parts))
    }
}

fn takes_format(builtin: &str) -> bool {
    matches!(builtin, "string" | "date" | "time" | "datetime")
}

fn loop_question(name: &str) -> Option<LoopQuestion> {
    Some(match name {
        "index" => LoopQuestion::Index,
        "counter" => LoopQuestion::Counter,
        "has_next" => LoopQuestion::HasNext,
        "is_first" => LoopQuestion::IsFirst,
        "is_last" => LoopQuestion::IsLast,
        "is_odd_item" => LoopQuestion::IsOdd,
        "is_even_item" => LoopQuestion::IsEven,
        "item_parity" => LoopQuestion::Parity,
        "item_parity_cap" => LoopQuestion::ParityCap,
        "item_cycle" => LoopQuestion::Cycle,
        _ => return None,
    })
}
