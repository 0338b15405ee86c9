//! What is written is what was signed, whatever the envelope; and what cannot be secured is told.

use std::time::SystemTime;

use myelin_xml::{Document, NodeId, Options};
use proptest::prelude::*;

use super::*;
use crate::dsig::{Signature, Target, VerifyWith};
use crate::guard::{Keys, Settings, Users};
use crate::keys::testing::{identity, now};
use crate::keys::{Curve, KeyKind, Trust, TrustLimits};
use crate::policy::Policy;
use crate::side::{Side, Uses};
use crate::vocabulary::{DS, WSSE, WSU};
use crate::{Limits, crypto::Secret};

mod exchange;

struct Alice;

impl Users for Alice {
    fn password(&self, user: &str) -> Option<Secret> {
        (user == "alice").then(|| Secret::from("secret"))
    }

    fn has_role(&self, _: &str, _: &str) -> bool {
        false
    }
}

const SIGNED: &str = "<sp:SignedParts><sp:Body/><sp:Header Namespace=\"urn:t\"/></sp:SignedParts>";

/// An asymmetric binding with these properties, its suite with these besides its name.
fn policy(suite: &str, more: &str, parts: &str) -> String {
    let token = "<wsp:Policy><sp:X509Token><wsp:Policy><sp:WssX509V3Token10/></wsp:Policy></sp:X509Token></wsp:Policy>";
    format!(
        r#"<wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy" xmlns:ramp="http://ws.apache.org/rampart/policy"
            xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702"><sp:AsymmetricBinding><wsp:Policy>
            <sp:InitiatorToken>{token}</sp:InitiatorToken><sp:RecipientToken>{token}</sp:RecipientToken>
            <sp:AlgorithmSuite><wsp:Policy><sp:Basic128GCMSha256/>{suite}</wsp:Policy></sp:AlgorithmSuite>
            <sp:IncludeTimestamp/>{more}</wsp:Policy></sp:AsymmetricBinding>{parts}</wsp:Policy>"#
    )
}

/// The initiator's guard; it signs with a key on a curve, and encrypts for nobody unless the policy asks.
fn guard(policy: &str) -> Guard {
    let (policy, _) = Policy::parse(policy.as_bytes()).expect("a policy");
    let own = identity("alice", KeyKind::Ec(Curve::P256));
    let peer = identity("bob", KeyKind::Rsa);
    let trust = Trust::new(vec![Arc::clone(own.certificate())], Vec::new(), TrustLimits::default());
    let keys = Keys {
        signature: Some(own),
        decryption: vec![Arc::clone(&peer)],
        encryption: Some(Arc::clone(peer.certificate())),
        trust: Arc::new(trust),
        users: Arc::new(Alice),
    };
    let settings = Settings::new(Arc::new(Alice));
    let (guard, _) = Guard::new(policy, Side::Initiator, Uses::Both, keys, settings).expect("a guard");
    guard
}

fn read(text: &str) -> Document {
    Document::parse(text.as_bytes().to_vec(), &Options::default()).expect("well-formed")
}

fn secured(guard: &Guard, document: Document) -> Result<String, Error> {
    let secured = guard.secure(document, &Departure { now: now(), conversation: None })?;
    Ok(String::from_utf8(secured.bytes).expect("UTF-8"))
}

fn find(document: &Document, namespace: &str, local: &str) -> Vec<NodeId> {
    let all = document.descendants(document.document_node());
    all.filter(|&node| {
        let name = document.qname(node);
        document.kind(node) == myelin_xml::Kind::Element && (name.namespace, name.local) == (namespace, local)
    })
    .collect()
}

/// Checks every digest and the value of the only signature; the ids that it covers.
fn verify(guard: &Guard, text: &str) -> Vec<String> {
    let document = read(text);
    let limits = Limits::default();
    let ids = crate::ids::Ids::of(&document, &limits).expect("ids are unique");
    let [element] = find(&document, DS, "Signature")[..] else { panic!("one signature in {text}") };
    let signature = Signature::read(&document, element, &limits).expect("a signature");
    let key = guard.keys.signature.as_ref().expect("a key").key.public();
    signature.verify_value(&document, VerifyWith::PublicKey(key)).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    let mut covered = Vec::new();
    for reference in &signature.references {
        let Target::Id(id) = &reference.target else { panic!("a reference by id") };
        let target = ids.find(id).unwrap_or_else(|| panic!("{id} leads nowhere in {text}"));
        let verified = reference.verify(&document, target, element, &mut |_| panic!("nothing is dereferenced"));
        verified.unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
        covered.push(id.clone());
    }
    covered
}

const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

#[test]
fn an_envelope_has_one_body() {
    let guard = guard(&policy("", "", SIGNED));
    for text in [
        "<a/>",
        "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'/>",
        "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body/><Body/></Envelope>",
    ] {
        assert_eq!(secured(&guard, read(text)), Err(Error::NotAnEnvelope), "{text}");
    }
}

#[test]
fn our_header_is_replaced_and_that_of_another_actor_stays() {
    let guard = guard(&policy("", "", SIGNED));
    let text = format!(
        "<s:Envelope xmlns:s='{SOAP}'><s:Header><w:Security xmlns:w='{WSSE}' s:actor='urn:a'><w:Theirs/></w:Security>\
         <w:Security xmlns:w='{WSSE}'><w:Ours/></w:Security><w:Security xmlns:w='{WSSE}' s:actor=''/></s:Header>\
         <s:Body/></s:Envelope>"
    );
    let document = read(&secured(&guard, read(&text)).expect("it is secured"));
    assert_eq!(find(&document, WSSE, "Security").len(), 2);
    assert_eq!((find(&document, WSSE, "Theirs").len(), find(&document, WSSE, "Ours").len()), (1, 0));
}

#[test]
fn ids_that_are_there_are_used_and_have_to_be_unique() {
    let guard = guard(&policy("", "", SIGNED));
    let text = format!(
        "<s:Envelope xmlns:s='{SOAP}' xmlns:u='{WSU}'><s:Body u:Id='here'><a u:Id='there'/></s:Body></s:Envelope>"
    );
    let written = secured(&guard, read(&text)).expect("it is secured");
    assert!(verify(&guard, &written).contains(&"here".to_owned()), "{written}");
    let twice = text.replace("there", "here");
    assert!(matches!(secured(&guard, read(&twice)), Err(Error::Part(_))));
}

#[test]
fn what_programs_changed_is_signed_as_it_is_written() {
    let guard = guard(&policy("", "", SIGNED));
    let mut document = read(&format!("<Envelope xmlns='{SOAP}' xmlns:p='urn:1'><Body><p:a/></Body></Envelope>"));
    let [body] = find(&document, SOAP, "Body")[..] else { panic!("one body") };
    // Prefixes that mean something else here, names without a namespace below a default one, and none at all.
    let first = document.create_element("p", "b", "urn:2").expect("an element");
    let second = document.create_element("", "c", "").expect("an element");
    document.append(body, first).expect("it may stand there");
    document.append(first, second).expect("it may stand there");
    document.set_attribute(second, "wsu", "x", "urn:3", "1 < \"2\"\r\n").expect("an attribute");
    verify(&guard, &secured(&guard, document).expect("it is secured"));
}

#[test]
fn inclusive_forms_are_those_of_the_place() {
    let text = format!(
        "<s:Envelope xmlns:s='{SOAP}' xmlns:unused='urn:unused' xml:lang='de'><s:Header><t:h xmlns:t='urn:t'/></s:Header>\
         <s:Body xml:space='preserve'> <a/> </s:Body></s:Envelope>"
    );
    for method in ["<sp:InclusiveC14N/>", "<sp:InclusiveC14N11/>"] {
        let guard = guard(&policy(method, "", SIGNED));
        assert_eq!(verify(&guard, &secured(&guard, read(&text)).expect("it is secured")).len(), 3);
    }
}

#[test]
fn what_is_missing_is_told() {
    let with_user = |user: &str| {
        let inclusion = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/Always";
        policy(
            "",
            "",
            &format!(
                "<sp:SignedSupportingTokens><wsp:Policy><sp:UsernameToken sp:IncludeToken='{inclusion}'/></wsp:Policy>\
             </sp:SignedSupportingTokens><ramp:RampartConfig><ramp:user>{user}</ramp:user></ramp:RampartConfig>"
            ),
        )
    };
    let text = format!("<s:Envelope xmlns:s='{SOAP}'><s:Body/></s:Envelope>");
    let mut guard = guard(&with_user("alice"));
    assert!(secured(&guard, read(&text)).is_ok());
    guard.policy.alternatives[0].rampart.user = Some("bob".to_owned());
    assert!(matches!(secured(&guard, read(&text)), Err(Error::Missing(what)) if what.contains("bob")));
    guard.keys.signature = None;
    guard.policy.alternatives[0].supporting.clear();
    assert!(matches!(secured(&guard, read(&text)), Err(Error::Missing(what)) if what.contains("private key")));
}

#[test]
fn expressions_find_whole_elements_beside_the_header_of_security() {
    let text = format!("<s:Envelope xmlns:s='{SOAP}'><s:Header/><s:Body><a b='c'>t</a></s:Body></s:Envelope>");
    for (expression, found) in [
        ("//a", true),
        ("//*[local-name()='Timestamp']", true),
        ("//nothing", true),
        ("//a/@b", false),
        ("//a/text()", false),
        ("count(//a)", false),
        ("//*[local-name()='Created']", false),
        ("//*[local-name()='Header']", false),
        ("/*", false),
    ] {
        let elements = format!("<sp:SignedElements><sp:XPath>{expression}</sp:XPath></sp:SignedElements>");
        let guard = guard(&policy("", "", &elements));
        let secured = secured(&guard, read(&text));
        match secured {
            Ok(text) if found => {
                let covered = verify(&guard, &text).len();
                assert_eq!(covered, if expression == "//a" { 2 } else { 1 }, "{expression}: and the timestamp");
            }
            Err(Error::Part(_)) if !found => {}
            other => panic!("{expression}: {other:?}"),
        }
    }
}

#[test]
fn ids_differ_from_message_to_message() {
    let (mut one, mut other) = (Ids::new().expect("random numbers"), Ids::new().expect("random numbers"));
    assert_ne!(one.next("a"), other.next("a"));
    assert_ne!(one.next("a"), one.next("a"));
}

/// Elements and texts that canonical forms have rules for.
fn content() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("text &amp; &lt;more&gt; &#13;\n\t \u{e9}\u{1f600}".to_owned()),
        Just("<![CDATA[<&>]]>".to_owned()),
        Just("<!-- gone --><?kept  data ?>".to_owned()),
        Just("<e/>".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let tags = prop::sample::select(vec![
            ("<p:a xmlns:p='urn:p'>", "</p:a>"),
            ("<p:a xmlns:p='urn:q' p:y='&#9;1' z=\"'\" xmlns:q='urn:q' q:a=\"\">", "</p:a>"),
            ("<a xmlns=''>", "</a>"),
            ("<wsu:a xmlns:wsu='urn:other' wsu:Id='x'>", "</wsu:a>"),
            ("<ds:b xmlns:ds='urn:ds' xmlns='urn:d' xml:lang='de'>", "</ds:b>"),
        ]);
        (tags, prop::collection::vec(inner, 0..4))
            .prop_map(|((open, close), inner)| format!("{open}{}{close}", inner.concat()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_what_was_signed(
        body in prop::collection::vec(content(), 0..4),
        header in content(),
        default in prop::bool::ANY,
        form in 0..4usize,
    ) {
        let (suite, more, encrypted) = [
            ("", "", ""),
            ("<sp:InclusiveC14N/>", "<sp:ProtectTokens/>", ""),
            ("", "<sp:EncryptBeforeSigning/>", "<sp:EncryptedParts><sp:Body/><sp:Header Namespace=\"urn:t\"/></sp:EncryptedParts>"),
            ("", "<sp:ProtectTokens/>", ""),
        ][form];
        let guard = guard(&policy(suite, more, &format!("{SIGNED}{encrypted}")));
        let (prefix, declared) = if default { ("", "xmlns") } else { ("s:", "xmlns:s") };
        let text = format!(
            "<{prefix}Envelope {declared}='{SOAP}'><{prefix}Header><t:h xmlns:t='urn:t'>{header}</t:h></{prefix}Header>\
             <{prefix}Body>{}</{prefix}Body></{prefix}Envelope>",
            body.concat()
        );
        let covered = verify(&guard, &secured(&guard, read(&text)).expect("it is secured"));
        prop_assert!(covered.len() >= 3);
    }
}

#[test]
fn the_clock_is_the_one_that_is_given() {
    let guard = guard(&policy("", "", SIGNED));
    let text = format!("<s:Envelope xmlns:s='{SOAP}'><s:Body/></s:Envelope>");
    let departure = Departure { now: SystemTime::UNIX_EPOCH, conversation: None };
    let written = guard.secure(read(&text), &departure).expect("it is secured").bytes;
    let written = String::from_utf8(written).expect("UTF-8");
    assert!(
        written.contains("<wsu:Created>1970-01-01T00:00:00Z</wsu:Created><wsu:Expires>1970-01-01T00:05:00Z<"),
        "{written}"
    );
}
