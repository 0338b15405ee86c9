//! What is decided while a stylesheet is compiled: `use-when` and static variables (XSLT 3.0 §3.13.1, §9.7).

use myelin_xpath::{
    Argument, Context, Declared, Environment, Error, Expression, Host, Item, Limits, Meter, Value, Version,
};

use myelin_xpath::types::AtomicType;

use super::braces::{self, Piece};
use super::element::{Attribute, Element, XSLT};
use super::here::Here;
use super::problems::{Made, Problems, Reported};
use crate::functions;
use crate::name::ExpandedName;

/// What all static expressions of a stylesheet may do together.
const LIMITS: Limits = Limits { steps: 1_000_000, bytes: 1 << 20 };

const SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";

/// Slots from here on are answers that were known when the expression was compiled.
const ANSWER: u32 = 1 << 31;

/// The static variables that are known so far.
pub(super) struct Statics {
    /// Each may refer to those before it.
    variables: Vec<(ExpandedName, Expression)>,
    answers: Vec<Answer>,
    meter: Meter,
    /// Whether XSLT has an element of that local name, and this crate offers it.
    offers: fn(&str) -> bool,
}

/// What a function says whose arguments are literals.
enum Answer {
    Text(String),
    Truth(bool),
}

impl Statics {
    /// `offers` says whether an element of XSLT is offered.
    pub(super) fn new(offers: fn(&str) -> bool) -> Statics {
        Statics { variables: Vec::new(), answers: Vec::new(), meter: Meter::default(), offers }
    }

    /// Whether `use-when` lets an element be there; it does where it is not written.
    pub(super) fn use_when(&mut self, element: Element<'_>, here: &Here, problems: &mut Problems) -> Made<bool> {
        let namespace = if element.name().namespace == XSLT { "" } else { XSLT };
        let Some(attribute) = element.attribute_in(namespace, "use-when") else { return Ok(true) };
        let expression = self.compile(&attribute, here, problems)?;
        let value = expression.condition(&self.context());
        value.map_err(|error| self.refuse(&attribute, &error, problems))
    }

    /// Keeps a static variable or parameter.
    pub(super) fn declare(&mut self, element: Element<'_>, here: &Here, problems: &mut Problems) {
        let is_static = element.attribute("static").is_some_and(|word| matches!(word.trimmed(), "yes" | "true" | "1"));
        if !is_static {
            return;
        }
        let _: Made<()> = self.variable(element, here, problems);
    }

    fn variable(&mut self, element: Element<'_>, here: &Here, problems: &mut Problems) -> Made<()> {
        // What is missing is told where all declarations are looked at.
        let (Some(name), Some(select)) = (element.attribute("name"), element.attribute("select")) else {
            return Ok(());
        };
        let name = here.name(&name, name.trimmed(), problems)?;
        let expression = self.compile(&select, here, problems)?;
        // One that is imported gives way to the one that was read before (§9.7).
        if !self.variables.iter().any(|(known, _)| *known == name) {
            self.variables.push((name, expression));
        }
        Ok(())
    }

    /// Lets the shadow attributes of an element stand for those they shadow (XSLT 3.0 §3.13.2).
    pub(super) fn shadow(&mut self, element: Element<'_>, here: &Here, problems: &mut Problems) -> Made<()> {
        let is_shadow = |attribute: &Attribute<'_>| {
            let name = attribute.name();
            name.namespace.is_empty() && name.local.starts_with('_')
        };
        for attribute in element.attributes().filter(is_shadow).collect::<Vec<_>>() {
            let pieces = braces::split(&attribute.value, false)
                .map_err(|error| problems.error(attribute.inside(error.offset), error.code, error.message))?;
            let mut value = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(text) => value.push_str(&text),
                    Piece::Expression(text, offset) => {
                        value.push_str(&self.text(&attribute, text, offset, here, problems)?);
                    }
                }
            }
            attribute.shadow(value);
        }
        Ok(())
    }

    /// What an expression within an attribute gives, as a text.
    fn text(
        &mut self,
        attribute: &Attribute<'_>,
        text: &str,
        offset: usize,
        here: &Here,
        problems: &mut Problems,
    ) -> Made<String> {
        let compiled = Expression::compile(text, &mut Surroundings { statics: self, here });
        let compiled = compiled
            .map_err(|error| problems.error(attribute.inside(offset + error.offset), error.code, error.message))?;
        let items = compiled.evaluate(&self.context()).map_err(|error| self.refuse(attribute, &error, problems))?;
        let texts: Vec<String> = items.items().map(|item| item.text(Version::V3).into_owned()).collect();
        Ok(texts.join(" "))
    }

    fn compile(&mut self, attribute: &Attribute<'_>, here: &Here, problems: &mut Problems) -> Made<Expression> {
        let compiled = Expression::compile(&attribute.value, &mut Surroundings { statics: self, here });
        compiled.map_err(|error| problems.error(attribute.inside(error.offset), error.code, error.message))
    }

    fn context(&self) -> Context<'_> {
        Context { limits: LIMITS, meter: Some(&self.meter), ..Context::new(self) }
    }

    fn refuse(&self, attribute: &Attribute<'_>, error: &Error, problems: &mut Problems) -> Reported {
        problems.error(attribute.at(), error.code().unwrap_or("XPDY0002"), error.to_string())
    }
}

impl<'a> Host<'a> for Statics {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        if let Some(answer) = slot.checked_sub(ANSWER) {
            return Ok(match &self.answers[answer as usize] {
                Answer::Text(text) => Value::from(text.as_str()),
                Answer::Truth(truth) => Value::from(*truth),
            });
        }
        self.variables[slot as usize].1.evaluate(&self.context())
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }
}

struct Surroundings<'c> {
    statics: &'c mut Statics,
    here: &'c Here,
}

impl Environment for Surroundings<'_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.here.namespace(prefix).map(str::to_owned)
    }

    fn default_namespace(&self) -> Option<String> {
        Some(self.here.default_namespace.clone())
    }

    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String> {
        let namespace = prefix.and_then(|prefix| self.here.namespace(prefix)).unwrap_or_default();
        let name = ExpandedName::new(namespace, local);
        let found = self.statics.variables.iter().position(|(known, _)| *known == name);
        found.map(|slot| slot as u32).ok_or_else(|| format!("${local} is no static variable that is known here"))
    }

    fn function(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> Result<Option<Declared>, String> {
        if namespace.is_some_and(|namespace| !namespace.ends_with("/xpath-functions")) {
            return Ok(None);
        }
        let Some(answer) = self.answer(name, arguments) else { return Ok(None) };
        self.statics.answers.push(answer);
        Ok(Some(Declared::Variable(ANSWER + self.statics.answers.len() as u32 - 1)))
    }

    fn version(&self) -> Version {
        // Static expressions came with 2.0, whatever the stylesheet says it is.
        self.here.rules().max(Version::V2)
    }
}

impl Surroundings<'_> {
    /// What a function of XSLT says that asks about the processor; `None`: it is none of these.
    fn answer(&self, name: &str, arguments: &[Argument<'_>]) -> Option<Answer> {
        let name = name.rsplit(':').next()?;
        let Some(Argument::Text(asked)) = arguments.first() else {
            return (name == "static-base-uri").then(|| Answer::Text(self.here.base.clone()));
        };
        let (prefix, local) = asked.split_once(':').unwrap_or(("", asked));
        let namespace = self.here.namespace(prefix).unwrap_or_default();
        let local = local.trim();
        Some(match name {
            "system-property" => Answer::Text(functions::property(namespace, local, self.here.rules()).to_owned()),
            "element-available" => Answer::Truth(namespace == XSLT && (self.statics.offers)(local)),
            "function-available" => {
                let namespace = if prefix.is_empty() { "" } else { namespace };
                let count = match arguments.get(1) {
                    Some(Argument::Number(count)) => Some(*count),
                    _ => None,
                };
                Answer::Truth(functions::is_available(&ExpandedName::new(namespace, local), count))
            }
            "type-available" => Answer::Truth(namespace == SCHEMA && AtomicType::find(local).is_some()),
            _ => return None,
        })
    }
}
