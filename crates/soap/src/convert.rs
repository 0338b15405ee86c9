//! From one SOAP to the other: names, the attributes of header blocks, and faults.
//!
//! Nothing of a payload that is no fault is touched: what stands in it is the application's.

use myelin_xml::{Document, Kind, NodeId, Refusal};

use crate::{Envelope, Version};

/// What SOAP 1.1 calls whoever comes next on the way (§4.2.2), and SOAP 1.2 (part 1 §2.2).
const NEXT: [&str; 2] =
    ["http://schemas.xmlsoap.org/soap/actor/next", "http://www.w3.org/2003/05/soap-envelope/role/next"];

/// SOAP 1.2's name for whom SOAP 1.1 names by no actor at all.
const ULTIMATE: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

const XML: &str = "http://www.w3.org/XML/1998/namespace";

impl Envelope {
    /// Makes it an envelope of another version; one that is of that version already stays as it is.
    ///
    /// Shape: prefixes stay; `actor` and `role`, the two ways to write `mustUnderstand`, and codes of faults become
    /// the other's; SOAP 1.1 has no `relay` and no `Node`. A code of one's own is a subcode in SOAP 1.2.
    /// Errors: [`Refusal::Full`], where the document is as large as it can be.
    /// Source: SOAP 1.1 §4.2, §4.4; SOAP 1.2 part 1 §5.2, §5.4.
    pub fn convert(&mut self, document: &mut Document, to: Version) -> Result<(), Refusal> {
        let from = std::mem::replace(&mut self.version, to);
        if from == to {
            return Ok(());
        }
        let prefix = match document.qname(self.element).prefix {
            "" => "soapenv".to_owned(),
            prefix => prefix.to_owned(),
        };
        if let Some(header) = self.header {
            let blocks: Vec<NodeId> = elements(document, header).collect();
            blocks.into_iter().try_for_each(|block| attributes(document, block, &prefix, from, to))?;
        }
        let fault = self.body.and_then(|body| elements(document, body).next());
        let fault = fault.filter(|&fault| is(document, fault, "Fault", from.namespace()));
        // What the prefixes of codes stand for changes with the envelope.
        let codes = fault.map(|fault| Codes::read(document, fault, from)).unwrap_or_default();
        for part in [Some(self.element), self.header, self.body, fault].into_iter().flatten() {
            rename(document, part, from, to)?;
        }
        match (fault, to) {
            (Some(fault), Version::Soap12) => to_soap12(document, fault, codes, &prefix),
            (Some(fault), Version::Soap11) => to_soap11(document, fault, codes, &prefix),
            (None, _) => Ok(()),
        }
    }

    /// The sentence of the fault that it holds; `None` where it holds none.
    pub fn fault_reason(&self, document: &Document) -> Option<String> {
        let namespace = self.version.namespace();
        let fault = self.payload(document).filter(|&payload| is(document, payload, "Fault", namespace))?;
        let reason = match self.version {
            Version::Soap11 => child(document, fault, "faultstring", "")?,
            Version::Soap12 => child(document, child(document, fault, "Reason", namespace)?, "Text", namespace)?,
        };
        Some(document.string_value(reason).into_owned())
    }
}

fn elements(document: &Document, parent: NodeId) -> impl Iterator<Item = NodeId> {
    document.children(parent).filter(|&child| document.kind(child) == Kind::Element)
}

fn is(document: &Document, node: NodeId, local: &str, namespace: &str) -> bool {
    let name = document.qname(node);
    name.local == local && name.namespace == namespace
}

/// A part of a fault; many write those of SOAP 1.1 with a namespace that they must not have.
fn child(document: &Document, parent: NodeId, local: &str, namespace: &str) -> Option<NodeId> {
    let found = elements(document, parent).find(|&child| is(document, child, local, namespace));
    found.or_else(|| elements(document, parent).find(|&child| document.qname(child).local == local))
}

/// Gives an element of the envelope the other namespace, under the prefix it has.
fn rename(document: &mut Document, node: NodeId, from: Version, to: Version) -> Result<(), Refusal> {
    let name = document.qname(node);
    let (prefix, local) = (name.prefix.to_owned(), name.local.to_owned());
    let declared: Vec<String> = document
        .declarations(node)
        .filter(|(_, namespace)| *namespace == from.namespace())
        .map(|(prefix, _)| prefix.to_owned())
        .collect();
    for prefix in declared {
        document.declare(node, &prefix, to.namespace())?;
    }
    document.remove_attribute(node, from.namespace(), "encodingStyle");
    document.rename(node, &prefix, &local, to.namespace())
}

/// Says in the other version what a header block says of who is to understand it.
fn attributes(document: &mut Document, block: NodeId, prefix: &str, from: Version, to: Version) -> Result<(), Refusal> {
    let take = |document: &mut Document, local: &str| {
        let value = document.attribute(block, from.namespace(), local).map(|value| value.trim().to_owned());
        document.remove_attribute(block, from.namespace(), local);
        value
    };
    let (old_role, new_role) = if to == Version::Soap12 { ("actor", "role") } else { ("role", "actor") };
    let role = take(document, old_role);
    let must = take(document, "mustUnderstand");
    take(document, "relay");
    let [next_before, next_now] = if to == Version::Soap12 { NEXT } else { [NEXT[1], NEXT[0]] };
    if let Some(role) = role.filter(|role| !role.is_empty() && role != ULTIMATE) {
        let role = if role == next_before { next_now } else { &role };
        document.set_attribute(block, prefix, new_role, to.namespace(), role)?;
    }
    if let Some(must) = must {
        let is_must = matches!(must.as_str(), "1" | "true");
        let value = match to {
            Version::Soap11 => ["0", "1"],
            Version::Soap12 => ["false", "true"],
        }[usize::from(is_must)];
        document.set_attribute(block, prefix, "mustUnderstand", to.namespace(), value)?;
    }
    Ok(())
}

/// A code as it stands in a fault, resolved.
struct Code {
    prefix: String,
    local: String,
    namespace: String,
}

/// The codes of a fault, the more precise one of SOAP 1.2 included.
#[derive(Default)]
struct Codes {
    code: Option<Code>,
    subcode: Option<Code>,
}

impl Codes {
    fn read(document: &Document, fault: NodeId, version: Version) -> Codes {
        if version == Version::Soap11 {
            let code = child(document, fault, "faultcode", "").map(|node| Code::read(document, node));
            return Codes { code, subcode: None };
        }
        let part = |parent: NodeId, local| child(document, parent, local, version.namespace());
        let value = |parent| part(parent, "Value").map(|node| Code::read(document, node));
        let code = part(fault, "Code");
        let subcode = code.and_then(|code| part(code, "Subcode")).and_then(value);
        Codes { code: code.and_then(value), subcode: subcode.filter(|code| !code.local.is_empty()) }
    }
}

impl Code {
    fn read(document: &Document, node: NodeId) -> Code {
        let text = document.string_value(node);
        let (prefix, local) = text.trim().split_once(':').unwrap_or(("", text.trim()));
        let namespace = document.lookup_namespace(node, prefix).unwrap_or_default();
        Code { prefix: prefix.to_owned(), local: local.to_owned(), namespace: namespace.to_owned() }
    }

    /// Puts it into an element, with what its prefix stands for.
    fn write(&self, document: &mut Document, element: NodeId) -> Result<(), Refusal> {
        let colon = if self.prefix.is_empty() { "" } else { ":" };
        if !self.prefix.is_empty() || !self.namespace.is_empty() {
            document.declare(element, &self.prefix, &self.namespace)?;
        }
        document.set_value(element, &format!("{}{colon}{}", self.prefix, self.local))
    }
}

/// What a code of one version is in the other.
fn standard(code: &Code, prefix: &str, from: Version, to: Version) -> Option<Code> {
    if code.namespace != from.namespace() {
        return None;
    }
    // SOAP 1.1 §4.4.1 lets more precise words follow behind a dot.
    let local = match (from, code.local.split('.').next().unwrap_or_default()) {
        (Version::Soap11, "Client") => "Sender",
        (Version::Soap11, "Server") => "Receiver",
        (Version::Soap12, "Sender" | "DataEncodingUnknown") => "Client",
        (Version::Soap12, "Receiver") => "Server",
        (_, same @ ("VersionMismatch" | "MustUnderstand")) => same,
        _ => return None,
    };
    Some(Code { prefix: prefix.to_owned(), local: local.to_owned(), namespace: to.namespace().to_owned() })
}

fn to_soap12(document: &mut Document, fault: NodeId, codes: Codes, prefix: &str) -> Result<(), Refusal> {
    let (from, to) = (Version::Soap11, Version::Soap12);
    let part = |document: &Document, local| child(document, fault, local, "");
    let string = part(document, "faultstring");
    let text = string.map(|node| document.string_value(node).into_owned()).unwrap_or_default();
    let language = string.and_then(|node| document.attribute(node, XML, "lang")).map_or("en".to_owned(), Into::into);
    let actor = part(document, "faultactor").map(|node| document.string_value(node).into_owned());
    let detail = part(document, "detail");
    empty(document, fault);

    let code = new(document, fault, prefix, "Code")?;
    let value = new(document, code, prefix, "Value")?;
    let came = codes.code;
    let mapped = came.as_ref().and_then(|came| standard(came, prefix, from, to));
    let is_own = mapped.is_none();
    let server = || Code { prefix: prefix.to_owned(), local: "Receiver".to_owned(), namespace: to.namespace().into() };
    mapped.unwrap_or_else(server).write(document, value)?;
    if let Some(own) = came.filter(|came| is_own && !came.local.is_empty()) {
        let subcode = new(document, code, prefix, "Subcode")?;
        let value = new(document, subcode, prefix, "Value")?;
        own.write(document, value)?;
    }
    let reason = new(document, fault, prefix, "Reason")?;
    let sentence = new(document, reason, prefix, "Text")?;
    document.set_attribute(sentence, "xml", "lang", XML, &language)?;
    document.set_value(sentence, &text)?;
    if let Some(actor) = actor {
        let role = new(document, fault, prefix, "Role")?;
        document.set_value(role, &actor)?;
    }
    if let Some(detail) = detail {
        document.rename(detail, prefix, "Detail", to.namespace())?;
        document.append(fault, detail)?;
    }
    Ok(())
}

fn to_soap11(document: &mut Document, fault: NodeId, codes: Codes, prefix: &str) -> Result<(), Refusal> {
    let (from, to) = (Version::Soap12, Version::Soap11);
    let part = |document: &Document, parent: NodeId, local| child(document, parent, local, from.namespace());
    let reason = part(document, fault, "Reason").and_then(|reason| part(document, reason, "Text"));
    let reason = reason.map(|text| document.string_value(text).into_owned()).unwrap_or_default();
    let role = part(document, fault, "Role").map(|role| document.string_value(role).into_owned());
    let detail = part(document, fault, "Detail");
    empty(document, fault);

    let faultcode = document.create_element("", "faultcode", "")?;
    document.append(fault, faultcode)?;
    let server = || Code { prefix: prefix.to_owned(), local: "Server".to_owned(), namespace: to.namespace().into() };
    let standing = codes.code.and_then(|code| standard(&code, prefix, from, to));
    // SOAP 1.1 has one place only, and the more precise code says more.
    codes.subcode.or(standing).unwrap_or_else(server).write(document, faultcode)?;
    for (local, text) in [("faultstring", Some(reason)), ("faultactor", role)] {
        let Some(text) = text else { continue };
        let element = document.create_element("", local, "")?;
        document.set_value(element, &text)?;
        document.append(fault, element)?;
    }
    if let Some(detail) = detail {
        document.rename(detail, "", "detail", "")?;
        document.append(fault, detail)?;
    }
    Ok(())
}

fn empty(document: &mut Document, element: NodeId) {
    let children: Vec<NodeId> = document.children(element).collect();
    children.into_iter().for_each(|child| document.detach(child));
}

/// A part of a fault of SOAP 1.2.
fn new(document: &mut Document, parent: NodeId, prefix: &str, local: &str) -> Result<NodeId, Refusal> {
    let element = document.create_element(prefix, local, Version::Soap12.namespace())?;
    document.append(parent, element)?;
    Ok(element)
}

#[cfg(test)]
mod tests;
