//! Descriptions of a service that are made of what was read.

mod actions;
mod wsdl11;
mod wsdl20;

pub(crate) use wsdl11::wsdl11;
pub(crate) use wsdl20::wsdl20;

use std::collections::HashMap;

use crate::described::{Description, Message};
use crate::documents::Documents;
use crate::fragment::fragment;
use crate::options::Options;
use crate::page::{Page, Piece, Scheme, escaped};
use crate::piece::links;
use crate::prefixes::Prefixes;

/// What both versions are made of.
pub(crate) struct Making<'a> {
    pub(crate) documents: Option<&'a Documents>,
    pub(crate) description: &'a Description,
    pub(crate) options: &'a Options<'a>,
}

/// The ways a service is spoken with: the name in bindings, and in endpoints.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Soap11,
    Soap12,
    Http,
}

impl Way {
    fn binding(self) -> &'static str {
        match self {
            Way::Soap11 => "Soap11",
            Way::Soap12 => "Soap12",
            Way::Http => "Http",
        }
    }

    fn endpoint(self) -> &'static str {
        match self {
            Way::Http => "",
            way => way.binding(),
        }
    }
}

impl<'a> Making<'a> {
    fn ways(&self) -> impl Iterator<Item = Way> + '_ {
        let Options { soap11, soap12, http, .. } = *self.options;
        [(Way::Soap11, soap11), (Way::Soap12, soap12), (Way::Http, http)]
            .into_iter()
            .filter_map(|(way, it)| it.then_some(way))
    }

    /// The name of the service, escaped.
    fn name(&self) -> String {
        escaped(self.options.service)
    }

    /// The document up to its types: the start tag of the root with all that was used, and what is said of the service.
    fn opening(&self, w: &str, root: &str, prefixes: &Prefixes) -> Page {
        let mut page = Page::default();
        page.push(&format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{w}:{root}"));
        for (prefix, namespace) in prefixes.used() {
            page.push(&format!(" xmlns:{prefix}=\"{}\"", escaped(namespace)));
        }
        let namespace = &self.description.namespace;
        if !namespace.is_empty() {
            page.push(&format!(" targetNamespace=\"{}\"", escaped(namespace)));
        }
        page.push(">\n");
        if let Some(text) = self.options.documentation.or(self.description.documentation.as_deref()) {
            page.push(&format!("<{w}:documentation>{}</{w}:documentation>\n", escaped(text)));
        }
        page.push(&format!("<{w}:types>\n"));
        page.append(self.schemas());
        page.push(&format!("</{w}:types>\n"));
        page
    }

    /// The schemas with links to the service's own pages.
    fn schemas(&self) -> Page {
        let mut page = Page::default();
        for &(index, element) in &self.description.schemas {
            let Some(documents) = self.documents else { continue };
            let member = &documents.list[index];
            page.append(fragment(&member.tree, element, links(documents, member, self.options)));
            page.push("\n");
        }
        for schema in &self.description.made_schemas {
            page.push(schema);
            page.push("\n");
        }
        page
    }

    /// The prefixes that the source declares at its root.
    fn known_prefixes(&self) -> Vec<(&'a str, &'a str)> {
        let root = self.documents.map(Documents::root);
        root.map(|root| root.tree.declarations(root.element).collect()).unwrap_or_default()
    }

    /// An endpoint on each way it is offered: `write` gets a page, and the name of the endpoint.
    fn endpoints(&self, page: &mut Page, write: &mut dyn FnMut(&mut Page, Way, &str, Scheme)) {
        for way in self.ways() {
            for (scheme, offered) in [(Scheme::Http, self.options.plain), (Scheme::Https, self.options.secure)] {
                if offered {
                    let scheme_name = if scheme == Scheme::Http { "Http" } else { "Https" };
                    let name = format!("{}{scheme_name}{}Endpoint", self.options.service, way.endpoint());
                    let mut only = Page::default();
                    write(&mut only, way, &name, scheme);
                    page.pieces.push(Piece::Only(scheme, only.pieces));
                }
            }
        }
    }

    /// Writes the address of an endpoint, as the value of an attribute.
    fn address(&self, page: &mut Page, endpoint: &str, scheme: Scheme) {
        page.push_base(Some(scheme));
        page.push_value(&format!("{}.{endpoint}", self.options.service));
    }
}

/// Messages that have been written, in order, by the name they have there: two of one name that differ get two names.
#[derive(Default)]
struct Messages {
    list: Vec<(String, Message)>,
    /// Which of them have that name in their source.
    by_name: HashMap<String, Vec<usize>>,
}

impl Messages {
    fn name(&mut self, message: &Message) -> String {
        let same = self.by_name.entry(message.name.clone()).or_default();
        if let Some(&known) = same.iter().find(|&&index| self.list[index].1 == *message) {
            return self.list[known].0.clone();
        }
        // Nobody calls a message by a name with a dot and a number at its end.
        let name = if same.is_empty() { message.name.clone() } else { format!("{}.{}", message.name, same.len() + 1) };
        same.push(self.list.len());
        self.list.push((name.clone(), message.clone()));
        name
    }
}
