//! Signatures with keys that both sides know: those of key pairs are tested where the keys are, and against others.

use myelin_xml::c14n::Method;
use myelin_xml::{Document, Options, XML_NAMESPACE};
use proptest::prelude::*;

use super::*;
use crate::crypto::hmac;
use crate::ids::Ids;
use crate::vocabulary::{DS, WSSE, WSU};
use crate::{Limits, Refusal, Rule};

const SECRET: &[u8] = b"a key that both sides know";
const METHOD: SignatureMethod = SignatureMethod::Hmac(DigestMethod::Sha256);

fn read(text: &str) -> Document {
    Document::parse(text.into(), &Options::default()).expect("it is well-formed")
}

fn exclusive() -> Canonical {
    Canonical::new(Method::Exclusive)
}

/// The document with a signature of its elements with these ids as the last child of its root.
fn signed(text: &str, ids: &[&str], canonical: &Canonical) -> String {
    let document = read(text);
    let known = Ids::of(&document, &Limits::default()).expect("each stands once");
    let transforms = [Transform::Canonical(canonical.clone())];
    let targets: Vec<Target> = ids.iter().map(|id| Target::Id((*id).to_owned())).collect();
    let digests: Vec<_> = ids
        .iter()
        .map(|id| digest(&document, known.find(id).expect("it is there"), canonical, DigestMethod::Sha256))
        .collect::<Result<_, _>>()
        .expect("it has a canonical form");
    let references: Vec<_> = std::iter::zip(&targets, &digests)
        .map(|(target, digest)| NewReference {
            target,
            transforms: &transforms,
            digest: DigestMethod::Sha256,
            value: digest.as_ref(),
        })
        .collect();
    with_signature(text, &SignedInfo::new(&exclusive(), METHOD, &references))
}

/// The document with the signature's text before its last end tag.
fn with_signature(text: &str, info: &SignedInfo) -> String {
    let mut signature = Vec::new();
    info.signature("S", hmac(DigestMethod::Sha256, SECRET, info.bytes()).as_ref(), b"", &mut signature);
    let signature = String::from_utf8(signature).expect("it is text");
    let at = text.rfind("</").expect("there is an end tag");
    format!("{}{signature}{}", &text[..at], &text[at..])
}

/// Whether the one signature of a document is right, and all that it says is signed is as it was.
fn verify(text: &str) -> Result<Signature, Refusal> {
    let Ok(document) = Document::parse(text.into(), &Options::default()) else {
        return Err(Refusal::new(Rule::Malformed, "not well-formed"));
    };
    let mut all = document.descendants(document.document_node());
    let element = all.find(|&node| document.qname(node).local == "Signature").expect("there is a signature");
    let ids = Ids::of(&document, &Limits::default())?;
    let signature = Signature::read(&document, element, &Limits::default())?;
    signature.verify_value(&document, VerifyWith::Secret(SECRET))?;
    for reference in &signature.references {
        let target = match &reference.target {
            Target::Whole => document.document_node(),
            Target::Id(id) => ids.require(id)?,
        };
        let mut token = |_| ids.require("token").map(Dereferenced::Node);
        reference.verify(&document, target, signature.element, &mut token)?;
    }
    Ok(signature)
}

fn rule(text: &str) -> Rule {
    verify(text).expect_err("it has to be refused").rule
}

fn message() -> String {
    format!("<e xmlns='urn:d' xmlns:u='{WSU}'><a u:Id='x' b='1'>text &amp; <!-- c --><c/></a><u:t u:Id='y'/></e>")
}

#[test]
fn what_was_signed_verifies_and_what_is_written_is_canonical() {
    for method in [Method::Exclusive, Method::Inclusive, Method::Inclusive11] {
        let text = signed(&message(), &["x", "y"], &Canonical::new(method));
        let signature = verify(&text).expect("nothing was changed");
        assert_eq!((signature.method, signature.references.len()), (METHOD, 2));
        let document = read(&text);
        let mut form = Vec::new();
        reference::canonicalize(&document, signature.element, &[], &exclusive(), &mut form).expect("it has one");
        assert_eq!(document.as_read(signature.element).map(str::as_bytes), Some(&form[..]));
    }
}

#[test]
fn harmless_rewrites_verify() {
    let text = signed(&message(), &["x", "y"], &exclusive());
    for (from, to) in [
        ("text &amp; <!-- c -->", "te<!-- d --><![CDATA[xt &]]>&#x20;"),
        ("<c/>", "<c  ></c >"),
        ("u:Id='x' b='1'", "b = \"1\"\n u:Id='&#120;'"),
        ("<ds:Reference ", "<ds:Reference\t"),
    ] {
        assert!(text.contains(from));
        verify(&text.replacen(from, to, 1)).unwrap_or_else(|refusal| panic!("{to}: {refusal}"));
    }
}

#[test]
fn what_is_not_on_the_list_is_refused_by_its_rule() {
    let text = signed(&message(), &["x"], &exclusive());
    let exclusive = "\"http://www.w3.org/2001/10/xml-exc-c14n#\"";
    let hmac = format!("<ds:SignatureMethod Algorithm=\"{}\">", METHOD.uri());
    let digest = format!("Algorithm=\"{}\"", DigestMethod::Sha256.uri());
    let transform = format!("<ds:Transform Algorithm={exclusive}></ds:Transform>");
    for (from, to, expected) in [
        ("URI=\"#x\"", "URI=\"#z\"", Rule::SignatureInvalid),
        ("URI=\"#x\"", "URI=\"http://localhost/\"", Rule::ExternalReference),
        ("URI=\"#x\"", "URI=\"file:///etc/passwd\"", Rule::ExternalReference),
        ("URI=\"#x\"", "URI=\"other.xml#x\"", Rule::ExternalReference),
        ("URI=\"#x\"", "URI=\"#xpointer(id('x'))\"", Rule::ExternalReference),
        ("URI=\"#x\"", "URI=\"#\"", Rule::ExternalReference),
        (" URI=\"#x\"", "", Rule::ExternalReference),
        (exclusive, "\"http://www.w3.org/TR/1999/REC-xslt-19991116\"", Rule::UnknownAlgorithm),
        (&hmac, &format!("{hmac}<ds:HMACOutputLength>8</ds:HMACOutputLength>"), Rule::TruncatedHmac),
        (&hmac, &format!("{hmac}<ds:HMACOutputLength>0</ds:HMACOutputLength>"), Rule::TruncatedHmac),
        (METHOD.uri(), "http://www.w3.org/2001/04/xmldsig-more#hmac-md5", Rule::UnknownAlgorithm),
        (METHOD.uri(), SignatureMethod::Rsa(DigestMethod::Sha256).uri(), Rule::SignatureInvalid),
        (&digest, "Algorithm=\"http://www.w3.org/2001/04/xmldsig-more#md5\"", Rule::UnknownAlgorithm),
        (&digest, "Algorithm=\"http://www.w3.org/2000/09/xmldsig#sha1\"", Rule::Limit),
        (&digest, "Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha512\"", Rule::Malformed),
        (&transform, &transform.repeat(2), Rule::UnknownTransform),
        (&transform, "", Rule::Malformed),
        ("<ds:DigestValue>", "<ds:DigestValue>AAAA", Rule::Limit),
        ("<ds:SignatureValue>", "<ds:SignatureValue>AAAA", Rule::SignatureInvalid),
        ("<ds:SignatureValue>", "<ds:SignatureValue>!", Rule::Malformed),
        ("</ds:SignedInfo>", "<ds:Manifest/></ds:SignedInfo>", Rule::UnknownElement),
        ("<ds:SignatureValue>", "<x/><ds:SignatureValue>", Rule::Malformed),
        ("</ds:Signature>", "text</ds:Signature>", Rule::Malformed),
    ] {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        assert_eq!(rule(&changed), expected, "{to}");
    }
    for uri in ["http://www.w3.org/TR/1999/REC-xpath-19991116", "http://www.w3.org/2000/09/xmldsig#base64", "x"] {
        let other = transform.replace("http://www.w3.org/2001/10/xml-exc-c14n#", uri);
        assert_eq!(rule(&text.replace(&transform, &other)), Rule::UnknownTransform, "{uri}");
    }
}

#[test]
fn references_transforms_and_prefixes_are_counted_before_anything_is_hashed() {
    let text = signed(&message(), &["x"], &exclusive());
    let (start, end) = (text.find("<ds:Reference").unwrap_or(0), text.find("</ds:SignedInfo>").unwrap_or(0));
    let many = text[start..end].repeat(1_000);
    assert_eq!(rule(&format!("{}{many}{}", &text[..start], &text[end..])), Rule::Limit);
    let list =
        format!("<InclusiveNamespaces xmlns='{}' PrefixList='{}'/>", crate::vocabulary::EXC_C14N, "p ".repeat(1_000));
    assert_eq!(rule(&text.replacen("</ds:Transform>", &format!("{list}</ds:Transform>"), 1)), Rule::Limit);
    let enveloped = format!("<ds:Transform Algorithm=\"{DS}enveloped-signature\"/>");
    let other = text.replacen("<ds:Transforms>", &format!("<ds:Transforms>{}", enveloped.repeat(5)), 1);
    assert_eq!(rule(&other), Rule::UnknownTransform);
}

#[test]
fn an_enveloped_signature_covers_all_but_itself() {
    let text = message();
    let document = read(&text);
    let value = digest(&document, document.document_node(), &exclusive(), DigestMethod::Sha256).expect("it has one");
    let transforms = [Transform::Enveloped, Transform::Canonical(exclusive())];
    let reference = NewReference {
        target: &Target::Whole,
        transforms: &transforms,
        digest: DigestMethod::Sha256,
        value: value.as_ref(),
    };
    let text = with_signature(&text, &SignedInfo::new(&exclusive(), METHOD, &[reference]));
    verify(&text).expect("nothing was changed");
    assert_eq!(rule(&text.replacen("text", "test", 1)), Rule::SignatureInvalid);
}

#[test]
fn a_token_is_hashed_in_the_place_of_its_reference() {
    let token = |surroundings: &str| {
        format!(
            "<e xmlns:s='{WSSE}' xmlns:u='{WSU}'><w {surroundings}><s:B u:Id='token'>AAAA</s:B></w>\
             <s:SecurityTokenReference u:Id='r'/></e>"
        )
    };
    let form =
        |default: &str| format!("<s:B xmlns{default} xmlns:s=\"{WSSE}\" xmlns:u=\"{WSU}\" u:Id=\"token\">AAAA</s:B>");
    for (surroundings, default) in [("", "=\"\""), ("xmlns='urn:d'", "=\"urn:d\"")] {
        let value = crate::crypto::digest(DigestMethod::Sha256, form(default).as_bytes());
        let reference = NewReference {
            target: &Target::Id("r".to_owned()),
            transforms: &[Transform::StrTransform(exclusive())],
            digest: DigestMethod::Sha256,
            value: value.as_ref(),
        };
        let info = SignedInfo::new(&exclusive(), METHOD, &[reference]);
        verify(&with_signature(&token(surroundings), &info)).expect("the token is as it was");
        assert_eq!(rule(&with_signature(&token(surroundings).replace("AAAA", "AAAB"), &info)), Rule::SignatureInvalid);
        let elsewhere = token(surroundings).replace("s:SecurityTokenReference", "s:Other");
        assert_eq!(rule(&with_signature(&elsewhere, &info)), Rule::Malformed);
    }
}

#[test]
fn xml_attributes_of_ancestors_are_signed_by_inclusive_methods_only() {
    assert_eq!(XML_NAMESPACE, "http://www.w3.org/XML/1998/namespace");
    let text = message().replacen("<e ", "<e xml:lang='en' ", 1);
    let other = |canonical: &Canonical| signed(&text, &["x"], canonical).replacen("'en'", "'de'", 1);
    assert!(verify(&other(&exclusive())).is_ok());
    assert_eq!(rule(&other(&Canonical::new(Method::Inclusive))), Rule::SignatureInvalid);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_is_signed_verifies_and_with_a_change_does_not(
        content in crate::samples::content(),
        other in crate::samples::content(),
        method in prop::sample::select(vec![Method::Exclusive, Method::Inclusive, Method::Inclusive11]),
    ) {
        let document = |content: &str| {
            format!("<e xmlns='urn:d' xmlns:p='urn:p' xmlns:u='{WSU}'><a u:Id='x'>{content}</a></e>")
        };
        let canonical = Canonical::new(method);
        let text = signed(&document(&content), &["x"], &canonical);
        prop_assert!(verify(&text).is_ok());
        // Other content is accepted where it says the same, and nowhere else.
        let form = |text: &str| {
            let (document, mut form) = (read(text), Vec::new());
            let ids = Ids::of(&document, &Limits::default()).expect("each stands once");
            let apex = ids.find("x").expect("it is there");
            reference::canonicalize(&document, apex, &[], &canonical, &mut form).expect("it has one");
            String::from_utf8(form).expect("it is text")
        };
        let signature = text.find("<ds:Signature").expect("it is signed");
        let changed = format!("{}{}", document(&other).strip_suffix("</e>").unwrap_or(""), &text[signature..]);
        prop_assert_eq!(verify(&changed).is_ok(), form(&changed) == form(&text));
    }

    #[test]
    fn any_change_of_a_byte_that_is_signed_is_refused(at: prop::sample::Index, byte in 0x20..0x7f_u8) {
        let text = signed(&message(), &["x", "y"], &exclusive());
        let mut changed = text.clone().into_bytes();
        let at = at.index(changed.len());
        changed[at] = byte;
        let changed = String::from_utf8(changed).expect("it is ASCII");
        if verify(&changed).is_ok() {
            // What is accepted says the same, in all that is signed, as what was signed.
            let (one, other) = (read(&text), read(&changed));
            for id in ["x", "y"] {
                let form = |document: &Document| {
                    let node = Ids::of(document, &Limits::default()).ok().and_then(|ids| ids.find(id));
                    node.and_then(|node| digest(document, node, &exclusive(), DigestMethod::Sha256).ok())
                        .map(|digest| digest.as_ref().to_vec())
                };
                prop_assert_eq!(form(&one), form(&other));
            }
        }
    }
}
