//! The kinds of artefacts that a configuration may hold.

mod api;
mod datasource;
mod endpoint;
mod import;
mod inbound;
mod local_entry;
mod proxy;
mod registry;
mod sequence;
mod task;
mod template;

use crate::load::kind::Kind;

/// All of them, in alphabetical order.
const KINDS: &[Kind] = &[
    api::KIND,
    datasource::KIND,
    endpoint::KIND,
    import::KIND,
    inbound::KIND,
    local_entry::KIND,
    proxy::KIND,
    registry::KIND,
    sequence::KIND,
    task::KIND,
    template::KIND,
];

/// The names of the elements of all kinds.
pub(super) fn elements() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.element).collect()
}

/// The kind whose element has that name.
pub(super) fn find(element: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.element == element)
}
