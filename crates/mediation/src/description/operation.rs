//! Which operation of its service a request means.

use std::sync::Arc;

use myelin_message::Body;

use super::{Interface, ProxyDescription};
use crate::content::bring_built;
use crate::exchange::{Exchange, Format, Scene};
use crate::fault::{Fault, Outcome};

/// An operation of a description.
#[derive(Clone)]
pub(crate) struct Chosen {
    interface: Arc<Interface>,
    index: usize,
}

impl Chosen {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.interface.described.operations[self.index].name
    }

    /// The namespace of its description.
    pub(crate) fn namespace(&self) -> &str {
        &self.interface.described.namespace
    }
}

/// Finds out which operation a request means: by its action, by the path behind the service, or by what its body begins
/// with; the body is read only where neither of the others says it.
///
/// Errors: the client's, where a SOAP request means no operation of a description that is heeded strictly.
/// Source: Axis2's dispatchers, in their order. Requests without SOAP pass where Axis2 refuses them.
pub(crate) async fn choose(description: &ProxyDescription, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
    let Some(interface) = description.interface() else { return Ok(()) };
    let operations = &interface.described.operations;
    let by_head = {
        let action = exchange.action().unwrap_or_default();
        let postfix = exchange.postfix().unwrap_or_default();
        let path = postfix.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
        let found = interface.described.operation(&action, None);
        found.or_else(|| operations.iter().find(|operation| !path.is_empty() && operation.name == path))
    };
    let found = match by_head {
        Some(operation) => Some(operation),
        None => {
            if matches!(exchange.content.format, Format::Soap11 | Format::Soap12 | Format::Pox) {
                bring_built(exchange, scene).await?;
            }
            let element = first_element(exchange);
            element.and_then(|(namespace, local)| interface.described.operation("", Some((&namespace, &local))))
        }
    };
    let index = found.and_then(|found| operations.iter().position(|operation| std::ptr::eq(operation, found)));
    match index {
        Some(index) => {
            exchange.operation = Some(Chosen { interface: Arc::clone(interface), index });
            Ok(())
        }
        None if description.is_strict && matches!(exchange.format, Format::Soap11 | Format::Soap12) => {
            Err(Fault::no_operation(&exchange.action().unwrap_or_default()))
        }
        None => Ok(()),
    }
}

/// The name of the element that a body begins with: namespace and local name.
fn first_element(exchange: &Exchange) -> Option<(String, String)> {
    if !matches!(exchange.message.body, Body::Built(_)) {
        return None;
    }
    let tree = exchange.tree().ok()?;
    let document = tree.document();
    let name = document.qname(tree.envelope().payload(document)?);
    Some((name.namespace.to_owned(), name.local.to_owned()))
}
