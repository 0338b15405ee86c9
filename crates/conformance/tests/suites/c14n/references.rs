//! A reference of a signature: from what it names through its transforms to the digest.

use std::path::Path;

use aws_lc_rs::digest::{self, Algorithm};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use myelin_conformance::Suite;
use myelin_xml::c14n::{Canonical, NodeRef, Subset, canonicalize, canonicalize_nodes};
use myelin_xml::{Document, Kind, NodeId};

use crate::c14n::filters::{self, Filter, View};
use crate::c14n::{DSIG, is, read};

const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
const XPATH: &str = "http://www.w3.org/TR/1999/REC-xpath-19991116";
const EXCLUSIVE: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";
const INCLUSIVE: &str = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";

/// Checks the digest of a reference.
pub(crate) fn judge(
    suite: &mut Suite,
    set: &str,
    file: &Path,
    document: &Document,
    (number, reference): (usize, NodeId),
) {
    let child = |local: &str| document.children(reference).find(|&child| is(document, child, DSIG, local));
    let name = child("DigestMethod").and_then(|method| document.attribute(method, "", "Algorithm")).unwrap_or_default();
    let Some(algorithm) = algorithm(&name) else {
        return suite.skip(set, &format!("digests that are not offered: {name}"));
    };
    let (bytes, both) = match bytes(document, reference, file) {
        Ok(bytes) => bytes,
        Err(reason) => return suite.skip(set, &reason),
    };
    let expected = child("DigestValue").map(|value| document.string_value(value).into_owned()).unwrap_or_default();
    let expected = STANDARD.decode(expected.split_whitespace().collect::<String>()).unwrap_or_default();
    let same = digest::digest(algorithm, &bytes).as_ref() == expected;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let result = match (same != stem.contains("bad-digest"), both) {
        (_, false) => Err("the ways for subtrees and for sets differ".to_owned()),
        (true, true) => Ok(()),
        (false, true) => Err(format!("the digest of these bytes is another: {}", String::from_utf8_lossy(&bytes))),
    };
    suite.judge(set, &format!("{stem}#{number}"), result);
}

/// The canonical form that a reference comes to, and whether both ways gave it.
///
/// Errors: why this suite does not follow it.
pub(crate) fn bytes(document: &Document, reference: NodeId, file: &Path) -> Result<(Vec<u8>, bool), String> {
    let uri = document.attribute(reference, "", "URI").ok_or("references without a URI")?;
    let transforms: Vec<NodeId> =
        document.descendants(reference).filter(|&node| is(document, node, DSIG, "Transform")).collect();
    if uri.is_empty() || uri.starts_with('#') {
        let (apex, comments) = target(document, &uri)?;
        let start = Start { document, apex, comments };
        return start.transform(document, reference, &transforms);
    }
    let outer = file.with_file_name(&*uri);
    if transforms.is_empty() || !outer.is_file() {
        return Err("references to what is elsewhere or has no canonical form".to_owned());
    }
    let outer = read(&outer).map_err(|_| "references to files that are not XML")?;
    let start = Start { document: &outer, apex: outer.document_node(), comments: true };
    start.transform(document, reference, &transforms)
}

/// What a same-document reference names, and whether its comments count.
///
/// Source: XML Signature 1.1 §4.4.3.3.
fn target(document: &Document, uri: &str) -> Result<(NodeId, bool), String> {
    let pointer = uri.strip_prefix("#xpointer(").and_then(|rest| rest.strip_suffix(')'));
    let id = match (uri, pointer) {
        ("", _) => return Ok((document.document_node(), false)),
        (_, Some("/")) => return Ok((document.document_node(), true)),
        (_, Some(pointer)) => pointer.strip_prefix("id('").and_then(|rest| rest.strip_suffix("')")),
        (uri, None) => uri.strip_prefix('#'),
    };
    let id = id.ok_or("pointers that are not ids")?;
    let has_id = |node: NodeId| {
        document.attributes(node).any(|attribute| {
            document.qname(attribute).local.eq_ignore_ascii_case("id") && document.value(attribute) == id
        })
    };
    let mut found = document
        .descendants(document.document_node())
        .filter(|&node| document.kind(node) == Kind::Element && has_id(node));
    let apex = found.next().ok_or("ids that only a document type tells")?;
    Ok((apex, pointer.is_some()))
}

/// What transforms start from.
struct Start<'a> {
    document: &'a Document,
    apex: NodeId,
    comments: bool,
}

impl Start<'_> {
    /// Follows the transforms that `reference`, of the document `signed`, lists.
    fn transform(
        &self,
        signed: &Document,
        reference: NodeId,
        transforms: &[NodeId],
    ) -> Result<(Vec<u8>, bool), String> {
        let mut excluded = Vec::new();
        let mut kept: Vec<(Filter, NodeId)> = Vec::new();
        let mut how = Canonical::from_uri(INCLUSIVE);
        for (at, &transform) in transforms.iter().enumerate() {
            let algorithm = signed.attribute(transform, "", "Algorithm").unwrap_or_default();
            match (&*algorithm, Canonical::from_uri(&algorithm)) {
                (ENVELOPED, _) => {
                    let mut above = std::iter::successors(Some(reference), |&node| signed.parent(node));
                    excluded.extend(above.find(|&node| is(signed, node, DSIG, "Signature")));
                }
                (XPATH, _) => {
                    let expression = signed.string_value(transform);
                    let filter = filters::find(&expression).ok_or("XPath expressions that are not done by hand")?;
                    kept.push((filter, transform));
                }
                (_, Some(canonical)) if at + 1 == transforms.len() => {
                    how = Some(Canonical { inclusive_prefixes: prefixes(signed, transform), ..canonical });
                }
                (_, Some(_)) => return Err("transforms behind a canonical form".to_owned()),
                (other, None) => return Err(format!("transforms that are not canonical forms: {other}")),
            }
        }
        let mut how = how.ok_or("no canonical form")?;
        how.comments &= self.comments;
        self.both_ways(&excluded, &kept, &how)
    }

    fn both_ways(
        &self,
        excluded: &[NodeId],
        kept: &[(Filter, NodeId)],
        how: &Canonical,
    ) -> Result<(Vec<u8>, bool), String> {
        let document = self.document;
        let include = |node: NodeRef<'_>| {
            let place = match node {
                NodeRef::Node(node) => node,
                NodeRef::Namespace { element, .. } => element,
            };
            let line: Vec<NodeId> = std::iter::successors(Some(place), |&node| document.parent(node)).collect();
            line.contains(&self.apex)
                && !line.iter().any(|node| excluded.contains(node))
                && kept.iter().all(|(filter, here)| filter(&View { document, node }, *here))
        };
        let mut set = Vec::new();
        canonicalize_nodes(document, self.apex, &include, how, &mut set).map_err(|error| error.to_string())?;
        let mut subtree = Vec::new();
        let subset = Subset { apex: self.apex, excluded };
        canonicalize(document, subset, how, &mut subtree).map_err(|error| error.to_string())?;
        let same = !kept.is_empty() || subtree == set;
        Ok((set, same))
    }
}

/// The prefixes that an exclusive transform treats as the inclusive ones do.
fn prefixes(document: &Document, transform: NodeId) -> Vec<String> {
    let parameter = document.children(transform).find(|&node| is(document, node, EXCLUSIVE, "InclusiveNamespaces"));
    let list = parameter.and_then(|node| document.attribute(node, "", "PrefixList")).unwrap_or_default();
    list.split_whitespace().map(|prefix| if prefix == "#default" { String::new() } else { prefix.to_owned() }).collect()
}

fn algorithm(uri: &str) -> Option<&'static Algorithm> {
    Some(match uri {
        "http://www.w3.org/2000/09/xmldsig#sha1" => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        "http://www.w3.org/2001/04/xmldsig-more#sha224" => &digest::SHA224,
        "http://www.w3.org/2001/04/xmlenc#sha256" => &digest::SHA256,
        "http://www.w3.org/2001/04/xmldsig-more#sha384" => &digest::SHA384,
        "http://www.w3.org/2001/04/xmlenc#sha512" => &digest::SHA512,
        "http://www.w3.org/2007/05/xmldsig-more#sha3-256" => &digest::SHA3_256,
        "http://www.w3.org/2007/05/xmldsig-more#sha3-384" => &digest::SHA3_384,
        "http://www.w3.org/2007/05/xmldsig-more#sha3-512" => &digest::SHA3_512,
        _ => return None,
    })
}
