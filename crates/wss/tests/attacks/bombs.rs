//! Bombs and references: what would cost much, or lead out of the message.

use myelin_wss::vocabulary::{DS, WSSE, XENC};
use myelin_wss::{Limits, Rule};

use crate::ENVELOPE;
use crate::peers::{Peers, changed, piece};
use crate::policies;

#[test]
fn more_than_the_bounds_allow_is_refused() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    let reference = piece(&message, "<ds:Reference ", "</ds:Reference>");
    let transform = piece(&message, "<ds:Transform ", "</ds:Transform>");
    let signature = piece(&message, "<ds:Signature ", "</ds:Signature>");
    let key = piece(&message, "<xenc:EncryptedKey", "</xenc:EncryptedKey>");
    let token = piece(&message, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>");
    let data = piece(&message, "<xenc:DataReference", "</xenc:DataReference>");
    let unnamed = |element: &str| {
        let mut element = element.to_owned();
        while let Some(at) = element.find("Id=\"") {
            let id = piece(&element[at..], "Id=\"", "\"").to_owned();
            element = element.replace(&format!(" wsu:{id}"), "").replace(&format!(" {id}"), "");
        }
        element
    };
    for (element, copy, times) in [
        (reference, reference.to_owned(), 100),
        (signature, unnamed(signature), 10),
        (key, unnamed(key), 10),
        (token, unnamed(token), 20),
        (data, data.to_owned(), 100),
        (token, "<wsse:SecurityTokenReference/>".to_owned(), 100),
        (token, format!("<wsse:SecurityTokenReference>{}</wsse:SecurityTokenReference>", "x".repeat(600_000)), 1),
    ] {
        let attacked = changed(&message, element, &format!("{element}{}", copy.repeat(times)));
        assert_eq!(peers.refused(attacked).0, Rule::Limit, "{copy:.40}");
    }
    let many = changed(&message, transform, &transform.repeat(10));
    assert_eq!(peers.refused(many).0, Rule::UnknownTransform);
    let same = changed(&message, data, &data.repeat(2));
    assert_eq!(peers.refused(same).0, Rule::Malformed, "the same piece is not decrypted twice");
    assert!(peers.accept(message).is_ok());
}

/// A key that is wrapped with the one that has this id.
fn wrapped(id: &str, with: &str) -> String {
    format!(
        "<xenc:EncryptedKey xmlns:xenc='{XENC}' xmlns:ds='{DS}' Id='{id}'>\
         <xenc:EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#kw-aes128'/><ds:KeyInfo>\
         <wsse:SecurityTokenReference><wsse:Reference URI='#{with}'/></wsse:SecurityTokenReference></ds:KeyInfo>\
         <xenc:CipherData><xenc:CipherValue>AAAA</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey>"
    )
}

#[test]
fn keys_in_a_circle_are_refused() {
    let peers = Peers::new(&policies::symmetric(""));
    let message = peers.request(ENVELOPE);
    let key = piece(&message, "<xenc:EncryptedKey", "</xenc:EncryptedKey>");
    let id = piece(key, " Id=\"", "\"").split('"').nth(1).expect("an id");
    let derived = format!(
        "<c:DerivedKeyToken xmlns:c='http://schemas.xmlsoap.org/ws/2005/02/sc' xmlns:u='http://docs.oasis-open.org/\
         wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd' u:Id='d'><wsse:SecurityTokenReference>\
         <wsse:Reference URI='#{id}'/></wsse:SecurityTokenReference><c:Nonce>AAAA</c:Nonce></c:DerivedKeyToken>"
    );
    for (circle, rule) in [
        (wrapped(id, id), Rule::Limit),
        (format!("{}{}", wrapped(id, "other"), wrapped("other", id)), Rule::Limit),
        (format!("{}{derived}", wrapped(id, "d")), Rule::Limit),
        (wrapped(id, "nothing"), Rule::UnresolvedReference),
    ] {
        assert_eq!(peers.refused(changed(&message, key, &circle)).0, rule, "{circle}");
    }
}

#[test]
fn ids_and_prefixes_are_bounded() {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(ENVELOPE);
    let wsu = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
    let many: String = (0..20_000).map(|number| format!("<h:i u:Id='i{number}'/>")).collect();
    let attacked = changed(&message, "hello", &format!("<h:many xmlns:u='{wsu}'>{many}</h:many>"));
    assert_eq!(peers.refused(attacked).0, Rule::Limit);
    let prefixes = format!(
        "<ec:InclusiveNamespaces xmlns:ec=\"http://www.w3.org/2001/10/xml-exc-c14n#\" PrefixList=\"{}\"/>",
        "a ".repeat(1_000)
    );
    let attacked = changed(&message, "</ds:Transform>", &format!("{prefixes}</ds:Transform>"));
    assert_eq!(peers.refused(attacked).0, Rule::Limit);
}

#[test]
fn bounds_can_be_tightened() {
    let limits = Limits { references: 2, ..Limits::default() };
    let peers = Peers::with(&policies::signed(), &crate::peers::PEOPLE.alice, &limits);
    assert_eq!(peers.refused(peers.request(ENVELOPE)).0, Rule::Limit);
}

#[test]
fn no_reference_leads_out_of_the_message() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    let uris = ["http://127.0.0.1:1/secret", "file:///etc/passwd", "//127.0.0.1/x", "x.xml#id", "#xpointer(/)"];
    for uri in uris {
        for element in ["<ds:Reference URI=\"", "<wsse:Reference URI=\"", "<xenc:DataReference URI=\""] {
            let from = piece(&message, element, "\"");
            let attacked = message.replacen(from, &format!("{element}{uri}\""), 1);
            let rule = peers.refused(attacked).0;
            let refused = matches!(rule, Rule::ExternalReference | Rule::UnresolvedReference);
            assert!(refused, "{element}{uri}: {rule:?}");
        }
    }
    let value = piece(&message, "<xenc:CipherValue>", "</xenc:CipherValue>");
    let by_reference = "<xenc:CipherReference URI=\"http://127.0.0.1:1/secret\"/>";
    assert_eq!(peers.refused(changed(&message, value, by_reference)).0, Rule::ExternalReference);
    let key_info = piece(&message, "<ds:KeyInfo>", "</ds:KeyInfo>");
    let retrieval = "<ds:KeyInfo><ds:RetrievalMethod URI=\"http://127.0.0.1:1/secret\"/></ds:KeyInfo>";
    assert_eq!(peers.refused(changed(&message, key_info, retrieval)).0, Rule::UnknownElement);
}

#[test]
fn what_is_not_understood_is_refused_where_it_has_to_be_understood() {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(ENVELOPE);
    let unknown = changed(&message, "</wsse:Security>", "<w:New xmlns:w='urn:w'/></wsse:Security>");
    assert_eq!(peers.refused(unknown.as_str()).0, Rule::UnknownElement);
    assert!(peers.accept(unknown.replace("soap:mustUnderstand=\"1\"", "")).is_ok());
    let second = piece(&message, "<wsse:Security", "</wsse:Security>");
    let empty = format!("{second}<s:Security xmlns:s='{WSSE}'/>");
    let twice = changed(&message, second, &empty);
    assert_eq!(peers.refused(twice).0, Rule::SecurityTwice);
}
