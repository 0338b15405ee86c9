//! What attributes hold: expressions, value templates, patterns, types and names.

use std::rc::Rc;

use myelin_xpath::types::SequenceType;
use myelin_xpath::{Expression, SyntaxError};

use super::braces::{self, Piece};
use super::compiler::Compiler;
use super::element::{Attribute, Element};
use super::environment::Surroundings;
use super::here::Here;
use super::problems::{Made, Reported};
use crate::name::ExpandedName;
use crate::pattern::{self, Pattern};
use crate::program::{Avt, AvtPart, Condition, Expr, ParameterId, ScopeId, Select, TextSource};
use crate::scope::Scope;

impl<'s> Compiler<'s> {
    /// The expression of an attribute.
    pub(super) fn expression(&mut self, attribute: &Attribute<'s>, here: &Rc<Here>) -> Made<Expr> {
        self.part(attribute, &attribute.value, 0, here)
    }

    /// A part of an attribute or text as an expression; `offset` is where it stands in it.
    fn part(&mut self, attribute: &Attribute<'s>, text: &str, offset: usize, here: &Rc<Here>) -> Made<Expr> {
        let at = attribute.inside(offset);
        let compiled = Expression::compile(text, &mut Surroundings::new(self, here, at));
        match compiled {
            Ok(compiled) => {
                self.asks_for_last |= compiled.asks_for_last();
                Ok(Expr::new(compiled, text))
            }
            Err(error) => Err(self.refuse(attribute, &error, offset)),
        }
    }

    /// Notes what is wrong with an expression that stands at `offset` of an attribute.
    fn refuse(&mut self, attribute: &Attribute<'s>, error: &SyntaxError, offset: usize) -> Reported {
        self.problems.error(attribute.inside(offset + error.offset), error.code, error.message.clone())
    }

    pub(super) fn select(&mut self, attribute: &Attribute<'s>, here: &Rc<Here>) -> Made<Select> {
        Ok(Select::new(self.expression(attribute, here)?))
    }

    pub(super) fn text_source(&mut self, attribute: &Attribute<'s>, here: &Rc<Here>) -> Made<TextSource> {
        Ok(TextSource::new(self.expression(attribute, here)?))
    }

    /// The attribute `select` of an element that cannot do without.
    pub(super) fn required_select(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Select> {
        let attribute = self.required(element, "select")?;
        self.select(&attribute, here)
    }

    /// The attribute `test`.
    pub(super) fn test(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Condition> {
        let attribute = self.required(element, "test")?;
        Ok(Condition::new(self.expression(&attribute, here)?))
    }

    /// `.`, where an attribute that says what is taken may be left out.
    pub(super) fn context_item(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Select> {
        let at = element.at();
        match Expression::compile(".", &mut Surroundings::new(self, here, at)) {
            Ok(compiled) => Ok(Select::new(Expr::new(compiled, "."))),
            Err(error) => Err(self.problems.error(at, error.code, error.message)),
        }
    }

    /// An attribute that has to be there.
    pub(super) fn required(&mut self, element: Element<'s>, local: &str) -> Made<Attribute<'s>> {
        element.attribute(local).ok_or_else(|| {
            let message = format!("<{}> needs {local}=\"…\"", element.written());
            self.problems.error(element.at(), "XTSE0010", message)
        })
    }

    /// An attribute that says something by a pattern.
    pub(super) fn patterns(&mut self, attribute: &Attribute<'s>, here: &Rc<Here>) -> Made<Vec<Pattern>> {
        let at = attribute.inside(0);
        let parsed = pattern::parse(&attribute.value, &mut Surroundings::new(self, here, at));
        parsed.map_err(|error| {
            // What is wrong with an expression in a pattern makes it no pattern (XSLT 2.0 §5.5.3).
            let code = if error.code == "XPST0003" { "XTSE0340" } else { error.code };
            self.problems.error(attribute.inside(error.offset), code, error.message)
        })
    }

    /// `as="…"`, where it is written.
    pub(super) fn kind(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Option<SequenceType>> {
        let Some(attribute) = element.attribute("as") else { return Ok(None) };
        let at = attribute.inside(0);
        let parsed = SequenceType::parse(&attribute.value, &mut Surroundings::new(self, here, at));
        parsed.map(Some).map_err(|error| self.refuse(&attribute, &error, 0))
    }

    /// An attribute value template, where the attribute is written.
    pub(super) fn template(&mut self, element: Element<'s>, local: &str, here: &Rc<Here>) -> Made<Option<Avt>> {
        element.attribute(local).map(|attribute| self.avt(&attribute, here)).transpose()
    }

    pub(super) fn required_template(&mut self, element: Element<'s>, local: &str, here: &Rc<Here>) -> Made<Avt> {
        let attribute = self.required(element, local)?;
        self.avt(&attribute, here)
    }

    /// A value with expressions between braces.
    pub(super) fn avt(&mut self, attribute: &Attribute<'s>, here: &Rc<Here>) -> Made<Avt> {
        let split = braces::split(&attribute.value, here.is_backwards());
        let pieces = split.map_err(|error| self.refuse(attribute, &error, 0))?;
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => AvtPart::Text(text.into()),
                Piece::Expression(text, offset) => {
                    AvtPart::Value(TextSource::new(self.part(attribute, text, offset, here)?))
                }
            });
        }
        Ok(match parts.as_slice() {
            [] => Avt::Constant(Box::default()),
            [AvtPart::Text(text)] => Avt::Constant(text.clone()),
            // A literal text is no less constant for its braces.
            [AvtPart::Value(only)] if only.expr.compiled.as_text().is_some() => {
                Avt::Constant(only.expr.compiled.as_text().unwrap_or_default().into())
            }
            _ => Avt::Parts(parts.into()),
        })
    }

    /// The name that an attribute holds; without a prefix it is in no namespace.
    pub(super) fn qname(&mut self, attribute: &Attribute<'s>, here: &Here) -> Made<ExpandedName> {
        here.name(attribute, attribute.trimmed(), &mut self.problems)
    }

    /// The names that an attribute lists.
    pub(super) fn qnames(&mut self, attribute: &Attribute<'s>, here: &Here) -> Made<Vec<ExpandedName>> {
        attribute.words().map(|word| here.name(attribute, word, &mut self.problems)).collect()
    }

    pub(super) fn parameter(&mut self, name: ExpandedName) -> ParameterId {
        ParameterId(self.parameters.number(name))
    }

    /// The number under which the program knows what holds here.
    pub(super) fn scope(&mut self, here: &Rc<Here>) -> ScopeId {
        if let Some(scope) = here.scope.get() {
            return scope;
        }
        let scope = ScopeId(self.scopes.len() as u32);
        self.scopes.push(Scope { namespaces: here.namespaces.clone(), base: here.base.clone(), version: here.version });
        here.scope.set(Some(scope));
        scope
    }
}
