//! One alternative of a policy, from its assertions.

use super::normal::{Assertion, Combination};
use super::parts::{Meaning, read_elements, read_parts};
use super::reader::Reader;
use super::{Alternative, Binding, Parts, binding, rampart, supporting, wss};

/// Assertions of others that policies carry, by namespace, and who sees to them.
const ELSEWHERE: [(&str, &str); 9] = [
    ("http://www.wso2.org/products/wso2commons/throttle", "throttling: the throttle mediator applies it"),
    ("http://www.wso2.org/products/wso2commons/caching", "caching: the cache mediator applies it"),
    ("http://www.w3.org/2006/05/addressing/wsdl", ADDRESSING),
    ("http://www.w3.org/2007/02/addressing/metadata", ADDRESSING),
    ("http://www.w3.org/2007/05/addressing/metadata", ADDRESSING),
    ("http://schemas.xmlsoap.org/ws/2005/02/rm/policy", RELIABLE),
    ("http://docs.oasis-open.org/ws-rx/wsrmp/200702", RELIABLE),
    ("http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization", MTOM),
    ("http://www.w3.org/2007/08/soap12-mtom-policy", MTOM),
];
const ADDRESSING: &str = "addressing: enableAddressing applies it";
const RELIABLE: &str = "reliable messaging, which is not supported";
const MTOM: &str = "MTOM, which a message's content type decides";

const BINDINGS: [&str; 3] = ["TransportBinding", "AsymmetricBinding", "SymmetricBinding"];

/// Reads an alternative; what is wrong or unsupported in it is the reader's then.
pub(super) fn read(reader: &mut Reader<'_>, combination: &Combination) -> Alternative {
    let place = |node| reader.document.location(node).unwrap_or_default();
    let bound = combination.iter().find(|assertion| BINDINGS.contains(&reader.security(assertion)));
    let first = bound.or(combination.first()).map(|assertion| place(assertion.node)).unwrap_or_default();
    let rampart = combination.iter().find(|assertion| reader.name(assertion.node).local == "RampartConfig");
    let mut alternative = Alternative {
        binding: Binding::None,
        supporting: Vec::new(),
        signed: Parts::default(),
        encrypted: Parts::default(),
        required: Parts::default(),
        wss: Default::default(),
        rampart: Default::default(),
        place: first,
        rampart_place: rampart.map_or(first, |assertion| place(assertion.node)),
    };
    // The binding comes first: supporting tokens are read in its light.
    let (bindings, others): (Vec<_>, Vec<_>) =
        combination.iter().partition(|assertion| BINDINGS.contains(&reader.security(assertion)));
    if let Some(first) = bindings.first() {
        alternative.binding = binding::read(reader, first).unwrap_or(Binding::None);
    }
    if let Some(second) = bindings.get(1) {
        reader.wrong(second.node, "a second binding in one alternative, expected one");
    }
    for assertion in others {
        read_assertion(reader, assertion, &mut alternative);
    }
    alternative
}

fn read_assertion(reader: &mut Reader<'_>, assertion: &Assertion, alternative: &mut Alternative) {
    let name = reader.name(assertion.node);
    match name.namespace {
        rampart::RAMPART if name.local == "RampartConfig" => {
            return rampart::read(reader, assertion.node, &mut alternative.rampart);
        }
        rampart::CARBON if name.local == "CarbonSecConfig" => {
            return rampart::read_carbon(reader, assertion.node, &mut alternative.rampart);
        }
        _ => {}
    }
    if let Some((_, what)) = ELSEWHERE.iter().find(|(namespace, _)| *namespace == name.namespace) {
        return reader.warn(assertion.node, format!("{} says nothing of security: {what}", name.local));
    }
    match reader.security(assertion) {
        "SignedParts" => read_parts(reader, assertion, Meaning::Signed, &mut alternative.signed),
        "EncryptedParts" => read_parts(reader, assertion, Meaning::Encrypted, &mut alternative.encrypted),
        "RequiredParts" => read_parts(reader, assertion, Meaning::Required, &mut alternative.required),
        "SignedElements" => read_elements(reader, assertion, false, &mut alternative.signed),
        "EncryptedElements" => read_elements(reader, assertion, false, &mut alternative.encrypted),
        "ContentEncryptedElements" => read_elements(reader, assertion, true, &mut alternative.encrypted),
        "RequiredElements" => read_elements(reader, assertion, false, &mut alternative.required),
        "Wss10" | "Wss11" => wss::read(reader, assertion, &mut alternative.wss),
        other @ ("Trust10" | "Trust13") => {
            reader.warn(assertion.node, format!("{other} has no effect: no tokens are asked of a token service"));
        }
        other => match supporting::usage(other) {
            Some(usage) => {
                let suite = alternative.binding.common().map(|common| common.suite.name.as_str());
                let tokens = supporting::read(reader, assertion, usage, suite);
                alternative.supporting.push(tokens);
            }
            None => reader.unknown(assertion),
        },
    }
}
