//! What the tests share: an environment with a few prefixes, and one way to show a value.

use std::time::Duration;

use myelin_xml::{Document, Options};
use myelin_xpath::{
    Argument, Context, Declared, Environment, Error, Expression, Host, Item, Moment, NodeRef, Value, Version,
};
use rustix::time::{ClockId, clock_gettime};

/// Knows the prefix `p`, the variables `$one`, `$text` and `$nodes`, and the function `twice()`.
pub(crate) struct Bindings(pub(crate) Version);

impl Environment for Bindings {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "p").then(|| "urn:p".to_owned())
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        let known = ["one", "text", "nodes"];
        let slot = known.iter().position(|name| *name == local).ok_or_else(|| format!("${local} is not known"))?;
        Ok(slot as u32)
    }

    fn function(&mut self, name: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok((name == "twice").then_some(Declared::Function(0)))
    }

    fn version(&self) -> Version {
        self.0
    }
}

/// Gives what [`Bindings`] promises.
pub(crate) struct Values<'a>(pub(crate) &'a Document);

impl<'a> Host<'a> for Values<'_> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        Ok(match slot {
            0 => Value::from(1.0),
            1 => Value::from("text"),
            _ => {
                let children = self.0.root_element().map(|root| self.0.children(root).map(Into::into).collect());
                Value::nodes(self.0, children.unwrap_or_default())
            }
        })
    }

    fn call(&'a self, _: u32, arguments: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        let text = arguments.first().cloned().map_or(String::new(), |value| value.string().into_owned());
        Ok(Value::from(format!("{text}{text}")))
    }
}

pub(crate) fn document(text: &str) -> Document {
    Document::parse(text.as_bytes().to_vec(), &Options::default()).expect(text)
}

/// The items of a value with ` | ` between them: nodes as `name=text`, others as their text.
pub(crate) fn show(value: &Value<'_>, version: Version) -> String {
    let item = |item: Item<'_>| match &item {
        Item::Node(node) => match node.namespace() {
            Some((prefix, uri)) => format!("xmlns:{prefix}={uri}"),
            None => {
                let name = node.node.tree().map_or("", |tree| node.document.qname(tree).local);
                format!("{name}={}", node.string_value())
            }
        },
        other => other.text(version).into_owned(),
    };
    value.items().map(item).collect::<Vec<_>>().join(" | ")
}

/// What an expression gives at the document node.
pub(crate) fn run(document: &Document, expression: &str, version: Version) -> String {
    let compiled = match Expression::compile(expression, &mut Bindings(version)) {
        Ok(compiled) => compiled,
        Err(error) => return format!("{} at {}: {error}", error.code, error.offset),
    };
    let host = Values(document);
    let mut context = Context::new(&host).at(NodeRef::new(document, document.document_node()));
    context.now = Some(Moment::at(1_000_000_000_000_000_000, Some(120)));
    let shown = match compiled.evaluate(&context) {
        Ok(value) => show(&value, version),
        Err(error) => format!("{}: {error}", error.code().unwrap_or("-")),
    };
    // The short ways to a condition and to a text give what the value gives.
    if let (Ok(value), Version::V1) = (compiled.evaluate(&context), version) {
        assert_eq!(compiled.condition(&context), Ok(value.boolean()), "{expression}");
        assert_eq!(compiled.text(&context).expect(expression), value.string(), "{expression}");
    }
    shown
}

/// The time that this thread was on a processor so far: other work of the machine does not lengthen it.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
