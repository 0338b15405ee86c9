//! The XPath expressions that the suites filter nodes by, done by hand.

use myelin_xml::c14n::NodeRef;
use myelin_xml::{Document, Kind, NodeId};

use crate::c14n::{DSIG, is};

/// Whether a node is in the set that an expression makes; `here` is the element that holds the expression.
pub(crate) type Filter = fn(&View<'_>, here: NodeId) -> bool;

const BAR: &str = "http://example.org/bar";
const FOO: &str = "http://example.org/foo";
const BAZ: &str = "http://example.org/baz";
const IETF: &str = "http://www.ietf.org";

const FILTERS: [(&str, Filter); 18] = [
    ("1", |_, _| true),
    ("self::text()", |node, _| node.is_text()),
    ("@*", |node, _| node.has_attributes()),
    ("not(ancestor-or-self::dsig:Signature)", |node, _| !node.within(DSIG, "Signature")),
    ("ancestor-or-self::dsig:X509Data", |node, _| node.within(DSIG, "X509Data")),
    ("ancestor-or-self::ds:KeyName", |node, _| node.within(DSIG, "KeyName")),
    ("ancestor-or-self::ietf:e21", |node, _| node.within(IETF, "e21")),
    ("ancestor-or-self::ietf:c14n11XmlBaseDoc1 and not(ancestor-or-self::ietf:e2)", |node, _| {
        node.within(IETF, "c14n11XmlBaseDoc1") && !node.within(IETF, "e2")
    }),
    (
        "count(ancestor-or-self::dsig:Signature | here()/ancestor::dsig:Signature[1]) > count(ancestor-or-self::dsig:Signature)",
        |node, here| {
            let own =
                node.ancestors_of(here).into_iter().find(|&node_id| is(node.document, node_id, DSIG, "Signature"));
            own.is_none_or(|own| !node.ancestors_or_self().contains(&own))
        },
    ),
    ("ancestor-or-self::bar:Something", |node, _| node.within(BAR, "Something")),
    (
        "ancestor-or-self::bar:Something and ((name() != \"bar\") or parent::bar:Something) and \
         ((name() != \"foo\") or parent::foo:Something) and ((name() != \"baz\") or parent::baz:Something) and \
         ((name() != \"\") or self::text())",
        |node, _| {
            node.within(BAR, "Something")
                && (node.name() != "bar" || node.parent_is(BAR, "Something"))
                && (node.name() != "foo" || node.parent_is(FOO, "Something"))
                && (node.name() != "baz" || node.parent_is(BAZ, "Something"))
                && (!node.name().is_empty() || node.is_text())
        },
    ),
    (
        "ancestor-or-self::bar:Something and (self::text() or (namespace-uri() != \"\") or \
         (string(self::node()) = namespace-uri(parent::node())))",
        |node, _| {
            node.within(BAR, "Something")
                && (node.is_text() || !node.namespace().is_empty() || node.string() == node.parent_namespace())
        },
    ),
    (
        "ancestor-or-self::bar:Something and not (self::foo:Something) and (self::text() or \
         (namespace-uri() != \"\") or (string(self::node()) = namespace-uri(parent::node())))",
        |node, _| {
            node.within(BAR, "Something")
                && !node.node().is_some_and(|id| is(node.document, id, FOO, "Something"))
                && (node.is_text() || !node.namespace().is_empty() || node.string() == node.parent_namespace())
        },
    ),
    (
        "ancestor-or-self::bar:Something and (count(parent::node()/namespace::*) != \
         count(parent::node()/namespace::* | self::node()))",
        |node, _| node.within(BAR, "Something") && node.node().is_some(),
    ),
    ("ancestor-or-self::bar:Something and (self::text() or (namespace-uri() != \"\"))", |node, _| {
        node.within(BAR, "Something") && (node.is_text() || !node.namespace().is_empty())
    }),
    (
        "ancestor-or-self::bar:Something and (count(parent::node()/namespace::*) = \
         count(parent::node()/namespace::* | self::node()))",
        |node, _| node.within(BAR, "Something") && node.node().is_none(),
    ),
    ("ancestor-or-self::bar:Something and (string(self::node()) = namespace-uri(parent::node()))", |node, _| {
        node.within(BAR, "Something") && node.string() == node.parent_namespace()
    }),
    (
        "ancestor-or-self::bar:Something and (self::text() or (namespace-uri() != \"\") or ((name() = \"\") and \
         ((count(ancestor-or-self::node()) mod 2) = 1)))",
        |node, _| {
            node.within(BAR, "Something")
                && (node.is_text() || !node.namespace().is_empty() || (node.name().is_empty() && node.depth() % 2 == 1))
        },
    ),
];

/// What an expression keeps; `None` for one that nobody has done yet. White space in it does not count.
pub(crate) fn find(expression: &str) -> Option<Filter> {
    let words = expression.split_whitespace().collect::<Vec<_>>().join(" ");
    FILTERS.iter().find(|(known, _)| *known == words).map(|&(_, filter)| filter)
}

/// A node as XPath sees it.
pub(crate) struct View<'a> {
    pub(crate) document: &'a Document,
    pub(crate) node: NodeRef<'a>,
}

impl View<'_> {
    /// The node, unless it is a namespace node.
    fn node(&self) -> Option<NodeId> {
        match self.node {
            NodeRef::Node(node) => Some(node),
            NodeRef::Namespace { .. } => None,
        }
    }

    fn parent(&self) -> Option<NodeId> {
        match self.node {
            NodeRef::Node(node) => self.document.parent(node),
            NodeRef::Namespace { element, .. } => Some(element),
        }
    }

    fn ancestors_of(&self, node: NodeId) -> Vec<NodeId> {
        std::iter::successors(Some(node), |&node| self.document.parent(node)).collect()
    }

    /// Without a namespace node itself.
    fn ancestors_or_self(&self) -> Vec<NodeId> {
        self.node().or(self.parent()).map_or_else(Vec::new, |node| self.ancestors_of(node))
    }

    fn within(&self, namespace: &str, local: &str) -> bool {
        self.ancestors_or_self().into_iter().any(|node| is(self.document, node, namespace, local))
    }

    fn parent_is(&self, namespace: &str, local: &str) -> bool {
        self.parent().is_some_and(|parent| is(self.document, parent, namespace, local))
    }

    fn is_text(&self) -> bool {
        self.node().is_some_and(|node| self.document.kind(node) == Kind::Text)
    }

    fn has_attributes(&self) -> bool {
        self.node().is_some_and(|node| {
            self.document.kind(node) == Kind::Element && self.document.attributes(node).next().is_some()
        })
    }

    fn name(&self) -> String {
        match self.node {
            NodeRef::Namespace { prefix, .. } => prefix.to_owned(),
            NodeRef::Node(node) => {
                let name = self.document.qname(node);
                let colon = if name.prefix.is_empty() { "" } else { ":" };
                format!("{}{colon}{}", name.prefix, name.local)
            }
        }
    }

    fn namespace(&self) -> &str {
        self.node().map_or("", |node| self.document.qname(node).namespace)
    }

    fn parent_namespace(&self) -> &str {
        self.parent().map_or("", |node| self.document.qname(node).namespace)
    }

    fn string(&self) -> String {
        match self.node {
            NodeRef::Node(node) => self.document.string_value(node).into_owned(),
            NodeRef::Namespace { element, prefix } => {
                self.document.lookup_namespace(element, prefix).unwrap_or_default().to_owned()
            }
        }
    }

    /// How many nodes `ancestor-or-self::node()` has.
    fn depth(&self) -> usize {
        self.ancestors_or_self().len() + usize::from(self.node().is_none())
    }
}
