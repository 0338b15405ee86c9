//! JSON as data: objects are hashes, arrays sequences, and null is nothing.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use myelin_json::{NodeId, Options, Type};

use crate::decimal::Decimal;
use crate::value::{Hash, Members, Object, Text, Value};

/// An object or array of a JSON value.
pub struct Json<'m> {
    document: Rc<Document<'m>>,
    node: NodeId,
}

/// The value with what was looked up in it: an element of a long array is not counted up to each time.
struct Document<'m> {
    value: &'m myelin_json::Value,
    children: RefCell<HashMap<NodeId, Rc<[NodeId]>>>,
    keys: RefCell<HashMap<NodeId, Rc<HashMap<String, NodeId>>>>,
}

/// So few members are found by looking at each.
const FEW: usize = 16;

impl<'m> Json<'m> {
    /// A whole value; `None` where it is null.
    ///
    /// A number of more than 38 digits becomes a text, so that it can be printed as it is.
    pub fn of(value: &'m myelin_json::Value) -> Option<Value<'m>> {
        let document = Document { value, children: RefCell::default(), keys: RefCell::default() };
        shown(&Rc::new(document), value.root())
    }

    fn children(&self) -> Rc<[NodeId]> {
        let mut known = self.document.children.borrow_mut();
        Rc::clone(known.entry(self.node).or_insert_with(|| self.document.value.children(self.node).collect()))
    }

    fn kind(&self) -> Type {
        self.document.value.kind(self.node)
    }
}

fn shown<'m>(document: &Rc<Document<'m>>, node: NodeId) -> Option<Value<'m>> {
    let value = document.value;
    let text = || value.scalar(node).unwrap_or(Cow::Borrowed(""));
    Some(match value.kind(node) {
        Type::Null => return None,
        Type::True => Value::Boolean(true),
        Type::False => Value::Boolean(false),
        Type::String => Value::Text(text().into()),
        Type::Number => number(text()),
        Type::Object | Type::Array => Value::Object(Rc::new(Json { document: Rc::clone(document), node })),
    })
}

fn number(text: Cow<'_, str>) -> Value<'_> {
    Decimal::parse(&text).map_or_else(|| Value::Text(text.into()), Value::Number)
}

impl<'m> Object<'m> for Json<'m> {
    fn name(&self) -> String {
        if self.kind() == Type::Array { "a sequence".to_owned() } else { "a hash".to_owned() }
    }

    fn length(&self) -> Option<usize> {
        (self.kind() == Type::Array).then(|| self.children().len())
    }

    fn item(&self, index: usize) -> Option<Value<'m>> {
        self.children().get(index).and_then(|&child| shown(&self.document, child))
    }

    fn is_hash(&self) -> bool {
        self.kind() == Type::Object
    }

    fn member(&self, name: &str) -> Result<Option<Value<'m>>, String> {
        let children = self.children();
        let value = self.document.value;
        // Of several with the same name the last counts, as wherever JSON becomes a map.
        let found = if children.len() <= FEW {
            children.iter().rfind(|&&child| value.has_key(child, name)).copied()
        } else {
            let mut known = self.document.keys.borrow_mut();
            let keys = known.entry(self.node).or_insert_with(|| {
                let named = children.iter().map(|&child| (value.key(child).unwrap_or_default().into_owned(), child));
                Rc::new(named.collect())
            });
            keys.get(name).copied()
        };
        Ok(found.and_then(|child| shown(&self.document, child)))
    }

    fn members(&self) -> Option<Members<'m>> {
        let value = self.document.value;
        let member = |&child: &NodeId| {
            let key = value.key(child).unwrap_or_default();
            (Text::from(key), shown(&self.document, child))
        };
        (self.kind() == Type::Object).then(|| self.children().iter().map(member).collect())
    }
}

/// JSON in a text, as values of the template's own.
///
/// Errors: a sentence.
pub(crate) fn owned<'m>(text: &str) -> Result<Option<Value<'m>>, String> {
    let value = myelin_json::Value::parse(text.into(), &Options::default()).map_err(|error| error.to_string())?;
    // Arrays and objects are put together from the innermost out: the nodes stand in the order of the text.
    let mut open: Vec<(NodeId, Members<'m>)> = Vec::new();
    let mut next = Some(value.root());
    loop {
        let Some(node) = next else {
            let Some((node, members)) = open.pop() else { return Ok(None) };
            let made = match value.kind(node) {
                Type::Array => Value::list(members.into_iter().map(|(_, item)| item).collect()),
                _ => Value::Hash(Rc::new(members.into_iter().collect::<Hash<'m>>())),
            };
            let Some((_, around)) = open.last_mut() else { return Ok(Some(made)) };
            around.push((key(&value, node), Some(made)));
            next = value.next_sibling(node);
            continue;
        };
        let scalar = match value.kind(node) {
            Type::Object | Type::Array => {
                open.push((node, Vec::new()));
                next = value.first_child(node);
                continue;
            }
            Type::Null => None,
            Type::True => Some(Value::Boolean(true)),
            Type::False => Some(Value::Boolean(false)),
            Type::String => Some(value.scalar(node).unwrap_or_default().into_owned().into()),
            Type::Number => {
                let text = value.scalar(node).unwrap_or_default();
                Some(Decimal::parse(&text).map_or_else(|| text.into_owned().into(), Value::Number))
            }
        };
        let Some((_, around)) = open.last_mut() else { return Ok(scalar) };
        around.push((key(&value, node), scalar));
        next = value.next_sibling(node);
    }
}

fn key<'m>(value: &myelin_json::Value, node: NodeId) -> Text<'m> {
    Text::Shared(value.key(node).unwrap_or_default().into())
}
