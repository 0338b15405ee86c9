//! What attributes hold: expressions, value templates, patterns, types and names.

use std::rc::Rc;

use myelin_xpath::types::SequenceType;
use myelin_xpath::{Expression, SyntaxError};

use super::Compiler;
use super::element::{Attribute, Element};
use super::environment::Surroundings;
use super::here::Here;
use super::problems::{Made, Reported};
use crate::pattern::{self, Pattern};
use crate::program::{Avt, AvtPart, Condition, ExpandedName, Expr, ParameterId, Scope, ScopeId, Select, TextSource};

impl<'s> Compiler<'s> {
    /// The expression of an attribute.
    pub(super) fn expression(&mut self, attribute: &Attribute<'s>, here: &Rc<Here>) -> Made<Expr> {
        self.part(attribute, &attribute.value, 0, here)
    }

    /// A part of an attribute or text as an expression; `offset` is where it stands in it.
    fn part(&mut self, attribute: &Attribute<'s>, text: &str, offset: usize, here: &Rc<Here>) -> Made<Expr> {
        let at = attribute.inside(offset);
        let compiled = Expression::compile(text, &mut Surroundings { compiler: self, here, at });
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
        match Expression::compile(".", &mut Surroundings { compiler: self, here, at }) {
            Ok(compiled) => Ok(Select::new(Expr::new(compiled, "."))),
            Err(error) => Err(self.problems.error(at, error.code, error.message)),
        }
    }

    /// An attribute that has to be there.
    pub(super) fn required(&mut self, element: Element<'s>, local: &str) -> Made<Attribute<'s>> {
        self.attribute(element, local).ok_or_else(|| {
            let message = format!("<{}> needs {local}=\"…\"", element.written());
            self.problems.error(element.at(), "XTSE0010", message)
        })
    }

    /// An attribute that says something by a pattern.
    pub(super) fn patterns(&mut self, attribute: &Attribute<'s>, here: &Rc<Here>) -> Made<Vec<Pattern>> {
        let at = attribute.inside(0);
        let parsed = pattern::parse(&attribute.value, &mut Surroundings { compiler: self, here, at });
        parsed.map_err(|error| {
            // What is wrong with an expression in a pattern makes it no pattern (XSLT 2.0 §5.5.3).
            let code = if error.code == "XPST0003" { "XTSE0340" } else { error.code };
            self.problems.error(attribute.inside(error.offset), code, error.message)
        })
    }

    /// `as="…"`, where it is written.
    pub(super) fn kind(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Option<SequenceType>> {
        let Some(attribute) = self.attribute(element, "as") else { return Ok(None) };
        let at = attribute.inside(0);
        let parsed = SequenceType::parse(&attribute.value, &mut Surroundings { compiler: self, here, at });
        parsed.map(Some).map_err(|error| self.refuse(&attribute, &error, 0))
    }

    /// An attribute value template, where the attribute is written.
    pub(super) fn template(&mut self, element: Element<'s>, local: &str, here: &Rc<Here>) -> Made<Option<Avt>> {
        match self.attribute(element, local) {
            Some(attribute) => self.avt(&attribute, here).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn required_template(&mut self, element: Element<'s>, local: &str, here: &Rc<Here>) -> Made<Avt> {
        let attribute = self.required(element, local)?;
        self.avt(&attribute, here)
    }

    /// A value with expressions between braces (XSLT 1.0 §7.6.2).
    pub(super) fn avt(&mut self, attribute: &Attribute<'s>, here: &Rc<Here>) -> Made<Avt> {
        let value = &*attribute.value;
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut at = 0;
        while let Some(found) = value[at..].find(['{', '}']) {
            text.push_str(&value[at..at + found]);
            at += found;
            let brace = value.as_bytes()[at];
            if value.as_bytes().get(at + 1) == Some(&brace) {
                text.push(char::from(brace));
                at += 2;
                continue;
            }
            if brace == b'}' {
                let message = "`}` closes what nothing has opened: as itself it is written `}}`";
                return Err(self.problems.error(attribute.inside(at), "XTSE0370", message));
            }
            let Some(length) = expression_length(&value[at + 1..]) else {
                let message =
                    "`{` begins an expression that does not end: `}` is missing, as itself `{` is written `{{`";
                return Err(self.problems.error(attribute.inside(at), "XTSE0350", message));
            };
            let inside = &value[at + 1..at + 1 + length];
            // An expression left out gives nothing (XSLT 3.0 §5.6).
            if here.is_backwards() || !is_comment_only(inside) {
                if !text.is_empty() {
                    parts.push(AvtPart::Text(std::mem::take(&mut text).into()));
                }
                parts.push(AvtPart::Value(TextSource::new(self.part(attribute, inside, at + 1, here)?)));
            }
            at += length + 2;
        }
        text.push_str(&value[at..]);
        if parts.is_empty() {
            return Ok(Avt::Constant(text.into()));
        }
        if !text.is_empty() {
            parts.push(AvtPart::Text(text.into()));
        }
        // A literal text is no less constant for its braces.
        if let [AvtPart::Value(only)] = parts.as_slice()
            && let Some(text) = only.expr.compiled.as_text()
        {
            return Ok(Avt::Constant(text.into()));
        }
        Ok(Avt::Parts(parts.into()))
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

/// Where the expression ends that a brace has begun: at the brace that closes it, which is not in a text or comment.
fn expression_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut braces, mut comments) = (0, 0_usize, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'(' if bytes.get(at + 1) == Some(&b':') => {
                comments += 1;
                at += 1;
            }
            b':' if comments > 0 && bytes.get(at + 1) == Some(&b')') => {
                comments -= 1;
                at += 1;
            }
            _ if comments > 0 => {}
            quote @ (b'"' | b'\'') => at += 1 + memchr::memchr(quote, &bytes[at + 1..])?,
            b'{' => braces += 1,
            b'}' if braces == 0 => return Some(at),
            b'}' => braces -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

fn is_comment_only(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || (text.starts_with("(:") && text.find(":)") == Some(text.len() - 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_ends_at_the_brace_that_closes_it() {
        let check = |text: &str, expected: Option<usize>| assert_eq!(expression_length(text), expected, "{text}");
        check("a}b", Some(1));
        check("'}'}", Some(3));
        check("map{'a':1}}", Some(10));
        check("a(: } (: ' :) :)}", Some(16));
        check("'a", None);
        check("a", None);
    }
}
