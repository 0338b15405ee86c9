//! JSON as XML: one element for each value, named for its type.

use std::collections::HashSet;

use myelin_json::{Event, Kind};
use myelin_xml::{Arena, NameId, TreeBuilder};
use myelin_xpath::{Error, Value};

use super::reading::{Duplicates, NAMESPACE, Options, events, meaning};
use crate::functions::Call;
use crate::functions::call::unmade;

pub(super) fn parse<'a>(call: &Call<'_, 'a>, text: &str, options: &Options<'a>) -> Result<Value<'a>, Error> {
    let mut building = Building {
        call,
        text,
        tree: TreeBuilder::new(Arena::default()),
        options,
        keys: Vec::new(),
        key: None,
        depth: 0,
        left_out: None,
    };
    events(call, text, |event| building.event(&event))?;
    let document = call.machine.keep(building.tree.finish())?;
    Ok(Value::node(document, document.document_node()))
}

struct Building<'o, 'c, 'a> {
    call: &'o Call<'c, 'a>,
    /// The JSON.
    text: &'o str,
    tree: TreeBuilder,
    options: &'o Options<'a>,
    /// The keys so far of each object that is open; of arrays none.
    keys: Vec<HashSet<String>>,
    /// The key of the value that comes next.
    key: Option<String>,
    depth: usize,
    /// The depth of the member that is left out, as its key was there before.
    left_out: Option<usize>,
}

impl<'o> Building<'o, '_, '_> {
    fn event(&mut self, event: &Event<'o>) -> Result<(), Error> {
        let ends = matches!(event.kind, Kind::ObjectEnd | Kind::ArrayEnd);
        let begins = matches!(event.kind, Kind::ObjectStart | Kind::ArrayStart);
        self.depth -= usize::from(ends);
        if self.left_out.is_none() {
            self.add(event)?;
        }
        // A member that is left out ends with its value.
        if self.left_out == Some(self.depth) && event.kind != Kind::Key && !begins {
            self.left_out = None;
        }
        self.depth += usize::from(begins);
        Ok(())
    }

    fn add(&mut self, event: &Event<'o>) -> Result<(), Error> {
        match event.kind {
            Kind::Key => return self.add_key(event),
            Kind::ObjectEnd | Kind::ArrayEnd => {
                self.keys.pop();
                self.tree.end();
                return Ok(());
            }
            _ => {}
        }
        let local = match event.kind {
            Kind::ObjectStart => "map",
            Kind::ArrayStart => "array",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::True | Kind::False => "boolean",
            _ => "null",
        };
        let name = self.name(local, NAMESPACE);
        self.tree.start(name).map_err(unmade)?;
        if self.depth == 0 {
            let (prefix, namespace) = (self.tree.names().atom(""), self.tree.names().atom(NAMESPACE));
            self.tree.declare(prefix, namespace).map_err(unmade)?;
        }
        if let Some(key) = self.key.take() {
            if self.options.escape && key.contains('\\') {
                self.attribute("escaped-key", "true")?;
            }
            self.attribute("key", &key)?;
        }
        match event.kind {
            Kind::ObjectStart | Kind::ArrayStart => {
                self.keys.push(HashSet::new());
                return Ok(());
            }
            Kind::String => {
                let text = meaning(self.call, self.text, event, self.options)?;
                if self.options.escape && text.contains('\\') {
                    self.attribute("escaped", "true")?;
                }
                self.tree.text(&text).map_err(unmade)?;
            }
            Kind::Number | Kind::True | Kind::False => self.tree.text(&event.text()).map_err(unmade)?,
            _ => {}
        }
        self.tree.end();
        Ok(())
    }

    fn add_key(&mut self, event: &Event<'o>) -> Result<(), Error> {
        let key = meaning(self.call, self.text, event, self.options)?.into_owned();
        let keys = self.keys.last_mut();
        if self.options.duplicates != Duplicates::Retain && keys.is_some_and(|keys| !keys.insert(key.clone())) {
            if self.options.duplicates == Duplicates::Reject {
                return Err(Error::value("FOJS0003", format!("the key {key:?} is there twice")));
            }
            self.left_out = Some(self.depth);
            return Ok(());
        }
        self.key = Some(key);
        Ok(())
    }

    fn name(&mut self, local: &str, namespace: &str) -> NameId {
        self.tree.names().intern("", local, namespace)
    }

    fn attribute(&mut self, local: &str, value: &str) -> Result<(), Error> {
        let name = self.name(local, "");
        self.tree.attribute(name, value).map_err(unmade)
    }
}
