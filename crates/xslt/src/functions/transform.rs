//! `transform()`: another stylesheet, run from an expression (Functions and Operators §14.8).

use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Array, Atomic, Error, FunctionItem, Item, Map, NodeRef, Value, Version};

use super::{Call, Function, availability, resolve};
use crate::name::ExpandedName;
use crate::options::{Parameter, ParameterValue};
use crate::transformation::{Delivery, Named, Sheet, Transformation};

pub(super) const FUNCTIONS: &[Function] = &[Function::own("transform", 1, 1, transform)];

fn refused(what: impl std::fmt::Display) -> Error {
    Error::value("FOXT0002", format!("transform(): {what}"))
}

fn transform<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (1, Some(Item::Function(FunctionItem::Map(map)))) = (call.value(0).len(), call.value(0).get(0)) else {
        return Err(Error::value("XPTY0004", "transform(): options are one map"));
    };
    let options = Given { map: &map };
    let post_process = match options.item("post-process")? {
        None => None,
        Some(Item::Function(function)) if function.arity() == 2 => Some(function),
        Some(_) => return Err(refused("post-process is a function of a URI and a result")),
    };
    let results = call.machine.transform(options.read(call)?)?;
    let mut made = Map::EMPTY;
    for (uri, result) in results {
        let result = match &post_process {
            None => result,
            Some(function) => {
                let members =
                    [Value::Item(Item::Function(function.clone())), Value::from(uri.clone()), result].into_iter();
                let members = FunctionItem::Array(Array::new(members)?);
                let expression = call.machine.expression("?1(?2, ?3)", call.scope, &[])?;
                call.machine.run(expression, Some(Item::Function(members)), 1, 1)?
            }
        };
        made = made.with(Atomic::Text(uri.into(), T::String), result)?;
    }
    Ok(Value::Item(Item::Function(FunctionItem::Map(made))))
}

/// The map of options.
struct Given<'m, 'a> {
    map: &'m Map<'a>,
}

impl<'a> Given<'_, 'a> {
    fn value(&self, name: &str) -> Option<&Value<'a>> {
        self.map.get(&Atomic::Text(name.into(), T::String))
    }

    /// An option of one item; `None`: it is not given, or empty.
    fn item(&self, name: &str) -> Result<Option<Item<'a>>, Error> {
        match self.value(name) {
            None => Ok(None),
            Some(value) if value.len() > 1 => Err(refused(format!("{name} is one item, and not several"))),
            Some(value) => Ok(value.get(0)),
        }
    }

    fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(item) = self.item(name)? else { return Ok(None) };
        match item.atomize()? {
            Atomic::Text(text, _) => Ok(Some(text.into_owned())),
            _ => Err(refused(format!("{name} is a text"))),
        }
    }

    fn truth(&self, name: &str, default: bool) -> Result<bool, Error> {
        match self.item(name)?.map(|item| item.atomize()).transpose()? {
            None => Ok(default),
            Some(Atomic::Boolean(truth)) => Ok(truth),
            Some(Atomic::Text(text, T::Untyped)) if matches!(text.trim(), "true" | "1" | "false" | "0") => {
                Ok(matches!(text.trim(), "true" | "1"))
            }
            Some(_) => Err(refused(format!("{name} is true or false"))),
        }
    }

    fn name(&self, name: &str) -> Result<Option<ExpandedName>, Error> {
        match self.item(name)? {
            None => Ok(None),
            Some(Item::Atomic(Atomic::QName(name))) => Ok(Some(ExpandedName::new(name.namespace, name.local))),
            Some(_) => Err(refused(format!("{name} is a QName"))),
        }
    }

    fn node(&self, name: &str) -> Result<Option<NodeRef<'a>>, Error> {
        match self.item(name)? {
            None => Ok(None),
            Some(item) => item.node().map(Some).ok_or_else(|| refused(format!("{name} is a node"))),
        }
    }

    fn map(&self, name: &str) -> Result<Option<Map<'a>>, Error> {
        match self.item(name)? {
            None => Ok(None),
            Some(Item::Function(FunctionItem::Map(map))) => Ok(Some(map)),
            Some(_) => Err(refused(format!("{name} is a map"))),
        }
    }

    /// A map from names to values.
    fn named(&self, name: &str) -> Result<Named<'a>, Error> {
        let Some(map) = self.map(name)? else { return Ok(Vec::new()) };
        let entries = map.entries().map(|(key, value)| match key {
            Atomic::QName(key) => Ok((ExpandedName::new(key.namespace.as_str(), key.local.as_str()), value.clone())),
            _ => Err(refused(format!("the keys of {name} are QNames"))),
        });
        entries.collect()
    }

    fn read(&self, call: &Call<'_, 'a>) -> Result<Transformation<'a>, Error> {
        self.check_processor()?;
        let base = self.text("stylesheet-base-uri")?;
        let base = base.map_or_else(|| call.scope.base.clone(), |base| resolve(&base, &call.scope.base));
        let function = match (self.name("initial-function")?, self.item("function-params")?) {
            (None, _) => None,
            (Some(name), None) => Some((name, Vec::new())),
            (Some(name), Some(Item::Function(FunctionItem::Array(array)))) => {
                Some((name, array.members().cloned().collect()))
            }
            (Some(_), Some(_)) => return Err(refused("function-params is an array")),
        };
        let (mode, template) = (self.name("initial-mode")?, self.name("initial-template")?);
        let selection = self.value("initial-match-selection").cloned();
        if usize::from(template.is_some()) + usize::from(function.is_some()) + usize::from(mode.is_some()) > 1
            || (selection.is_some() && (template.is_some() || function.is_some()))
        {
            return Err(refused("a transformation begins with a mode, a template or a function"));
        }
        let source = self.node("source-node")?;
        if source.is_some() && selection.is_some() {
            return Err(refused("source-node and initial-match-selection are given, and one of them is enough"));
        }
        let delivery = match self.text("delivery-format")?.as_deref() {
            None | Some("document") => Delivery::Document,
            Some("serialized") => Delivery::Serialized,
            Some("raw") => Delivery::Raw,
            Some(other) => {
                return Err(refused(format!("delivery-format is document, serialized or raw, and not {other:?}")));
            }
        };
        let output_uri = self.text("base-output-uri")?;
        Ok(Transformation {
            sheet: self.sheet()?,
            static_parameters: self.static_parameters()?,
            parameters: self.named("stylesheet-params")?,
            source,
            selection,
            context_item: self.item("global-context-item")?,
            mode,
            template,
            function,
            template_parameters: self.named("template-params")?,
            tunnel_parameters: self.named("tunnel-params")?,
            delivery,
            serialization: self.map("serialization-params")?,
            output_uri: output_uri.map(|uri| resolve(&uri, &base)),
            messages: self.truth("enable-messages", true)?,
            base,
        })
    }

    /// The one stylesheet that is given.
    fn sheet(&self) -> Result<Sheet<'a>, Error> {
        if self.value("package-name").is_some() || self.value("package-location").is_some() {
            return Err(Error::value("FOXT0001", "transform(): packages are not offered"));
        }
        let location = self.text("stylesheet-location")?.map(Sheet::Location);
        let text = self.text("stylesheet-text")?.map(Sheet::Text);
        let node = self.node("stylesheet-node")?.map(Sheet::Node);
        let mut given = [location, text, node].into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(sheet), None) => Ok(sheet),
            _ => Err(refused("one of stylesheet-location, stylesheet-text and stylesheet-node is given")),
        }
    }

    /// Values that the compiler has to know, as expressions that stand for them.
    fn static_parameters(&self) -> Result<Vec<Parameter>, Error> {
        let named = self.named("static-params")?.into_iter();
        let parameter = |(name, value): (ExpandedName, Value<'a>)| {
            let mut text = String::new();
            write(&value, &mut text)?;
            Ok(Parameter { name: name.to_string(), value: ParameterValue::Expression(text) })
        };
        named.map(parameter).collect()
    }

    /// Refuses what this processor is not.
    fn check_processor(&self) -> Result<(), Error> {
        for (name, value) in self.named("requested-properties")? {
            let own = availability::property(&name.namespace, &name.local, Version::V3);
            let wanted = match value.get(0) {
                Some(Item::Atomic(Atomic::Boolean(truth))) => if truth { "yes" } else { "no" }.to_owned(),
                Some(item) => item.into_text(Version::V3).into_owned(),
                None => continue,
            };
            let number = |text: &str| text.parse::<f64>().ok();
            let same_number = number(own).is_some_and(|own| Some(own) == number(&wanted));
            if own != wanted && !same_number {
                let message = format!("transform(): the property {name} is {own:?} here, and not {wanted:?}");
                return Err(Error::value("FOXT0001", message));
            }
        }
        match self.item("xslt-version")?.map(|item| item.into_text(Version::V3).parse::<f64>()) {
            Some(Ok(version)) if version > 3.0 => {
                Err(Error::value("FOXT0001", format!("transform(): XSLT {version} is not offered")))
            }
            Some(Err(_)) => Err(refused("xslt-version is a number")),
            _ => Ok(()),
        }
    }
}

/// Writes an expression that gives a value; stylesheets are compiled with expressions for their static parameters.
///
/// Errors: `FOXT0002` for nodes and functions.
fn write(value: &Value<'_>, text: &mut String) -> Result<(), Error> {
    text.push('(');
    for (index, item) in value.items().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match item {
            Item::Atomic(atomic) => write_atomic(&atomic, text),
            Item::Function(FunctionItem::Map(map)) => {
                text.push_str("map{");
                for (index, (key, value)) in map.entries().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    write_atomic(key, text);
                    text.push(':');
                    write(value, text)?;
                }
                text.push('}');
            }
            Item::Function(FunctionItem::Array(array)) => {
                text.push('[');
                for (index, member) in array.members().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    write(member, text)?;
                }
                text.push(']');
            }
            _ => return Err(refused("static parameters are no nodes and no functions")),
        }
    }
    text.push(')');
    Ok(())
}

fn write_atomic(atomic: &Atomic<'_>, text: &mut String) {
    let quoted = |value: &str| format!("'{}'", value.replace('\'', "''"));
    let written = match atomic {
        Atomic::Boolean(truth) => format!("{truth}()"),
        Atomic::Text(value, T::String) => quoted(value),
        Atomic::QName(name) => {
            let prefix = if name.prefix.is_empty() { String::new() } else { format!("{}:", name.prefix) };
            format!("QName({},{})", quoted(&name.namespace), quoted(&format!("{prefix}{}", name.local)))
        }
        other => format!("{}({})", other.atomic_type(), quoted(&other.text(Version::V3))),
    };
    text.push_str(&written);
}
