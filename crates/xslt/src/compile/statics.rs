//! What is decided while a stylesheet is compiled: `use-when` and static variables (XSLT 3.0 §3.13.1, §9.7).

use myelin_xpath::{
    Argument, Context, Declared, Environment, Error, Expression, Host, Item, Limits, Meter, NodeRef, Value, Version,
};

use myelin_xpath::types::{AtomicType, SequenceType};

use super::braces::{self, Piece};
use super::element::{Attribute, Element, XSLT};
use super::here::Here;
use super::problems::{Made, Problems, Reported};
use crate::functions;
use crate::library::{self, Library, LibraryCalls, LibraryScope, LibraryStore};
use crate::name::ExpandedName;
use crate::options::{Parameter, ParameterValue};
use crate::resolver::NoResolver;

/// What all static expressions of a stylesheet may do together.
const LIMITS: Limits = Limits { steps: 1_000_000, bytes: 1 << 20 };

const SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";

/// Slots from here on are answers that were known when the expression was compiled.
const ANSWER: u32 = 1 << 31;

/// The static variables that are known so far.
pub(super) struct Statics {
    /// Each may refer to those before it.
    variables: Vec<Static>,
    /// Values of parameters that the caller gives.
    given: Vec<(ExpandedName, String)>,
    answers: Vec<Answer>,
    calls: LibraryCalls,
    /// The stylesheet levels that are being read, the outermost first.
    open: Vec<u32>,
    levels: u32,
    meter: Meter,
    /// Whether XSLT has an element of that local name, and this crate offers it.
    offers: fn(&str) -> bool,
}

/// A static variable or parameter.
struct Static {
    name: ExpandedName,
    value: Expression,
    kind: Option<SequenceType>,
    parameter: bool,
    /// The stylesheet level it is declared in.
    level: u32,
}

/// What a function says whose arguments are literals.
enum Answer {
    Text(String),
    Truth(bool),
    /// An error: its code and its text.
    Wrong(&'static str, String),
}

impl Statics {
    /// `offers` says whether an element of XSLT is offered.
    pub(super) fn new(offers: fn(&str) -> bool, given: &[Parameter]) -> Statics {
        let given = given.iter().filter_map(|parameter| {
            let text = match &parameter.value {
                ParameterValue::Expression(text) => text.clone(),
                ParameterValue::Text(text) => format!("'{}'", text.replace('\'', "''")),
            };
            Some((ExpandedName::parse(&parameter.name)?, text))
        });
        Statics {
            variables: Vec::new(),
            given: given.collect(),
            answers: Vec::new(),
            calls: LibraryCalls::default(),
            open: Vec::new(),
            levels: 0,
            meter: Meter::default(),
            offers,
        }
    }

    /// Begins a stylesheet level: what it imports are levels of their own, and have lower precedence.
    pub(super) fn enter_level(&mut self) {
        self.levels += 1;
        self.open.push(self.levels);
    }

    pub(super) fn leave_level(&mut self) {
        self.open.pop();
    }

    /// The expression that the caller gives for a static parameter.
    pub(super) fn given(&self, name: &ExpandedName) -> Option<&str> {
        self.given.iter().rev().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Whether `use-when` lets an element be there; it does where it is not written.
    pub(super) fn use_when(&mut self, element: Element<'_>, here: &Here, problems: &mut Problems) -> Made<bool> {
        let namespace = if element.name().namespace == XSLT { "" } else { XSLT };
        let Some(attribute) = element.attribute_in(namespace, "use-when") else { return Ok(true) };
        let mark = problems.mark();
        let compiled = self.compile(&attribute, here, problems);
        // What a later version has is false here, and nothing more.
        if compiled.is_err() && here.is_forwards() && problems.take_back(mark).is_some() {
            return Ok(false);
        }
        let expression = compiled?;
        let value = self.run(here, &expression, |expression, context| expression.condition(context));
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
        let Some(attribute) = element.attribute("name") else { return Ok(()) };
        let name = here.name(&attribute, attribute.trimmed(), problems)?;
        let given = self.given(&name).filter(|_| element.is("param")).map(str::to_owned);
        let value = match (given, element.attribute("select")) {
            (Some(text), _) => self.compile(&attribute.with_value(text), here, problems)?,
            (None, Some(select)) => self.compile(&select, here, problems)?,
            (None, None) if element.is("param") => {
                let required =
                    element.attribute("required").is_some_and(|word| matches!(word.trimmed(), "yes" | "true" | "1"));
                if required {
                    let message = format!("the static parameter {name} must be given");
                    return Err(problems.error(element.at(), "XTDE0050", message));
                }
                // Nothing, where a type is said, and otherwise the empty text (§9.5).
                let text = if element.attribute("as").is_some() { "()" } else { "''" };
                self.compile(&attribute.with_value(text.to_owned()), here, problems)?
            }
            (None, None) => return Ok(()),
        };
        let kind = match element.attribute("as") {
            None => None,
            Some(kind) => {
                let parsed = SequenceType::parse(&kind.value, &mut Surroundings { statics: self, here });
                Some(parsed.map_err(|error| problems.error(kind.inside(error.offset), error.code, error.message))?)
            }
        };
        // One that is imported gives way to the one that was read before (§9.7).
        let parameter = element.is("param");
        let Some(known) = self.variables.iter().position(|known| known.name == name) else {
            let level = self.open.last().copied().unwrap_or_default();
            self.variables.push(Static { name, value, kind, parameter, level });
            return Ok(());
        };
        // One of lower precedence that comes before has to say the same.
        if self.open.contains(&self.variables[known].level) {
            return Ok(());
        }
        let shown = |value: Result<Value<'_>, Error>| {
            let item = |item: Item<'_>| item.into_text(Version::V3).into_owned();
            value.ok().map(|value| value.into_items().map(item).collect::<Vec<_>>())
        };
        let same = self.run(here, &value, |value, context| {
            let before = shown(context.host.variable(known as u32));
            before.is_some() && shown(value.evaluate(context)) == before
        });
        if !same || self.variables[known].parameter != parameter {
            let message = format!("${name} is declared before, and not the same");
            return Err(problems.error(element.at(), "XTSE3450", message));
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
        let texts = self.run(here, &compiled, |compiled, context| {
            let items = compiled.evaluate(context)?;
            Ok(items.items().map(|item| item.text(Version::V3).into_owned()).collect::<Vec<_>>())
        });
        Ok(texts.map_err(|error: Error| self.refuse(attribute, &error, problems))?.join(" "))
    }

    fn compile(&mut self, attribute: &Attribute<'_>, here: &Here, problems: &mut Problems) -> Made<Expression> {
        let compiled = Expression::compile(&attribute.value, &mut Surroundings { statics: self, here });
        compiled.map_err(|error| problems.error(attribute.inside(error.offset), error.code, error.message))
    }

    /// Runs a static expression that stands there; it reads no documents.
    fn run<T>(
        &self,
        here: &Here,
        expression: &Expression,
        run: impl for<'a> FnOnce(&'a Expression, &Context<'a>) -> T,
    ) -> T {
        let namespaces = here.namespaces.clone();
        let store = LibraryStore::new(LibraryScope { namespaces, base: here.base.clone(), later: true });
        let library = Library::new(&store, &self.calls, &NoResolver, None, (&self.meter, LIMITS));
        let running = Running { statics: self, library };
        run(expression, &running.context())
    }

    fn refuse(&self, attribute: &Attribute<'_>, error: &Error, problems: &mut Problems) -> Reported {
        problems.error(attribute.at(), error.code().unwrap_or("XPDY0002"), error.to_string())
    }
}

/// What static expressions ask while they run.
struct Running<'a> {
    statics: &'a Statics,
    library: Library<'a>,
}

impl<'a> Running<'a> {
    fn context(&'a self) -> Context<'a> {
        Context { limits: LIMITS, meter: Some(&self.statics.meter), ..Context::new(self) }
    }
}

impl<'a> Host<'a> for Running<'a> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        if let Some(answer) = slot.checked_sub(ANSWER) {
            return match &self.statics.answers[answer as usize] {
                Answer::Text(text) => Ok(Value::from(text.as_str())),
                Answer::Truth(truth) => Ok(Value::from(*truth)),
                Answer::Wrong(code, message) => Err(Error::value(code, message.clone())),
            };
        }
        let Static { value, kind, .. } = &self.statics.variables[slot as usize];
        let value = value.evaluate(&self.context())?;
        match kind {
            Some(kind) => value.convert(kind, Version::V3),
            None => Ok(value),
        }
    }

    fn call(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        self.library.call(slot, arguments, item)
    }

    fn find_function(&'a self, namespace: &str, local: &str, arity: usize) -> Option<u32> {
        self.library.find(namespace, local, arity)
    }

    fn function_name(&'a self, slot: u32) -> Option<(String, String)> {
        self.library.name(slot)
    }

    fn base_uri(&'a self, node: NodeRef<'a>) -> Option<Option<String>> {
        self.library.base(node)
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
        let braced = prefix.and_then(|prefix| prefix.strip_prefix("Q{")?.strip_suffix('}')).map(str::trim);
        let declared = prefix.and_then(|prefix| self.here.namespace(prefix));
        let name = ExpandedName::new(braced.or(declared).unwrap_or_default(), local);
        let found = self.statics.variables.iter().position(|known| known.name == name);
        found.map(|slot| slot as u32).ok_or_else(|| format!("${local} is no static variable that is known here"))
    }

    fn function(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> Result<Option<Declared>, String> {
        let answer = match namespace {
            Some(namespace) if !namespace.ends_with("/xpath-functions") => None,
            _ => self.answer(name, arguments),
        };
        let Some(answer) = answer else {
            return self.statics.calls.declare(name, namespace, arguments.len());
        };
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
        let code = match name {
            "system-property" => "XTDE1390",
            "element-available" => "XTDE1440",
            "function-available" => "XTDE1400",
            "type-available" => "XTDE1428",
            _ => return None,
        };
        let asked = asked.trim();
        let (namespace, local) = match ExpandedName::parse(asked).filter(|_| asked.starts_with("Q{")) {
            Some(name) => (name.namespace, name.local),
            None => {
                let (prefix, local) = asked.split_once(':').unwrap_or(("", asked));
                let known = prefix.is_empty() || self.here.namespace(prefix).is_some();
                if !known || !myelin_xml::is_ncname(local) || (prefix.is_empty() && asked.contains(':')) {
                    let message = format!("{asked:?} is no name, or its prefix stands for no namespace");
                    return Some(Answer::Wrong(code, message));
                }
                (self.here.namespace(prefix).unwrap_or_default().to_owned(), local.to_owned())
            }
        };
        let (prefix, namespace, local) = (asked.contains([':', '{']), namespace.as_str(), local.as_str());
        Some(match name {
            "system-property" => Answer::Text(functions::property(namespace, local, self.here.rules()).to_owned()),
            "element-available" => Answer::Truth(namespace == XSLT && (self.statics.offers)(local)),
            "function-available" => {
                // A name in no namespace, written with braces, is the name of nothing.
                if asked.starts_with("Q{}") {
                    return Some(Answer::Truth(false));
                }
                let namespace = if prefix { namespace } else { "" };
                let count = match arguments.get(1) {
                    Some(Argument::Number(count)) => Some(*count),
                    _ => None,
                };
                let name = ExpandedName::new(namespace, local);
                Answer::Truth(!library::needs_stylesheet(&name) && functions::is_available(&name, count))
            }
            "type-available" => Answer::Truth(namespace == SCHEMA && AtomicType::find(local).is_some()),
            _ => return None,
        })
    }
}
