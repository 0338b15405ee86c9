//! What `transform()` asks for: another stylesheet, what it begins with, and how its results are handed over.

use myelin_xpath::{Item, Map, NodeRef, Value};

use crate::name::ExpandedName;
use crate::options::Parameter;

/// How results are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// As trees, for whoever called `transform()`.
    Document,
    /// As bytes.
    Serialized,
    /// As the values that they are.
    Raw,
}

/// Values by names.
pub(crate) type Named<'a> = Vec<(ExpandedName, Value<'a>)>;

/// Where a stylesheet is.
pub(crate) enum Sheet<'a> {
    /// At a URI.
    Location(String),
    Text(String),
    Node(NodeRef<'a>),
}

/// What `transform()` is asked for.
pub(crate) struct Transformation<'a> {
    pub(crate) sheet: Sheet<'a>,
    /// What the stylesheet's URI is relative to, and the base of one that has none.
    pub(crate) base: String,
    pub(crate) static_parameters: Vec<Parameter>,
    pub(crate) parameters: Named<'a>,
    pub(crate) source: Option<NodeRef<'a>>,
    /// The items that templates are applied to, instead of the source.
    pub(crate) selection: Option<Value<'a>>,
    /// The context item of global variables, instead of the source (`global-context-item`).
    pub(crate) context_item: Option<Item<'a>>,
    pub(crate) mode: Option<ExpandedName>,
    pub(crate) template: Option<ExpandedName>,
    pub(crate) function: Option<(ExpandedName, Vec<Value<'a>>)>,
    pub(crate) template_parameters: Named<'a>,
    pub(crate) tunnel_parameters: Named<'a>,
    pub(crate) delivery: Delivery,
    pub(crate) serialization: Option<Map<'a>>,
    /// What the URIs of results are relative to.
    pub(crate) output_uri: Option<String>,
    /// Whether messages are told.
    pub(crate) messages: bool,
}
