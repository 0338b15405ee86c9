//! The names of WS-Policy and WS-SecurityPolicy, and problems with their places.

use myelin_xml::{Document, NodeId};

use crate::Problem;

/// WS-Policy 1.2 of September 2004, and 1.5.
const POLICY: [&str; 2] = ["http://schemas.xmlsoap.org/ws/2004/09/policy", "http://www.w3.org/ns/ws-policy"];

/// WS-SecurityPolicy 1.1.
pub(super) const SP_11: &str = "http://schemas.xmlsoap.org/ws/2005/07/securitypolicy";
/// WS-SecurityPolicy 1.2, and what 1.3 has of it.
pub(super) const SP_12: &str = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702";
/// What is new in WS-SecurityPolicy 1.3.
pub(super) const SP_13: &str = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200802";
/// Apache CXF's, where its suites with GCM are.
pub(super) const CXF: &str = "http://cxf.apache.org/custom/security-policy";

/// Whether a namespace is one of WS-SecurityPolicy's, so that policies nest in its assertions.
pub(super) fn is_security(namespace: &str) -> bool {
    [SP_11, SP_12, SP_13, CXF].contains(&namespace)
}

/// Whether a node is this element or attribute of WS-Policy.
pub(super) fn is_policy(document: &Document, node: NodeId, local: &str) -> bool {
    let name = document.qname(node);
    name.local == local && POLICY.contains(&name.namespace)
}

/// A problem at the place of a node.
pub(super) fn problem(document: &Document, node: NodeId, message: impl Into<String>) -> Problem {
    let (line, column) = document.location(node).unwrap_or_default();
    Problem { line, column, message: message.into() }
}
