//! What is no attack: messages as they are made, and as gateways, editors and other stacks rewrite them.

use crate::ENVELOPE;
use crate::peers::{PEOPLE, Peers, between, changed, piece, value};
use crate::policies;
use myelin_wss::Limits;
use myelin_wss::vocabulary::WSSE;

fn check(policy: &str) {
    let peers = Peers::new(policy);
    let (request, conversation) = peers.request_with(ENVELOPE);
    let verified = peers.accept(request.as_str()).unwrap_or_else(|refusal| panic!("{refusal}\n{policy}\n{request}"));
    assert_eq!(value(&verified, "symbol"), "IBM");
    let response = peers.response(ENVELOPE, &verified.conversation);
    let answered = peers.accept_response(&response, &conversation);
    let answered = answered.unwrap_or_else(|refusal| panic!("{refusal}\n{policy}\n{response}"));
    assert_eq!(value(&answered, "price"), "12.50");
}

#[test]
fn what_we_make_we_accept() {
    for policy in [
        policies::modern(),
        policies::chained(),
        policies::signed(),
        policies::user(),
        policies::symmetric(""),
        policies::asymmetric("Basic256", "", ""),
        policies::asymmetric("Basic192Sha256Rsa15", "", ""),
        policies::asymmetric("TripleDes", "", ""),
        policies::asymmetric("Basic128GCMSha256", "<sp:EncryptSignature/>", ""),
        policies::asymmetric("Basic128GCMSha256", "<sp:ProtectTokens/>", ""),
        policies::asymmetric("Basic128GCMSha256", "<sp:EncryptBeforeSigning/>", ""),
        policies::asymmetric("Basic128GCMSha256", "<sp:EncryptBeforeSigning/><sp:EncryptSignature/>", ""),
        policies::asymmetric("Basic128GCMSha256", "<sp:Layout><p><sp:Strict/></p></sp:Layout>", ""),
        policies::asymmetric("Basic128GCMSha256", "<sp:Layout><p><sp:LaxTsFirst/></p></sp:Layout>", ""),
        policies::asymmetric("Basic128GCMSha256", "<sp:Layout><p><sp:LaxTsLast/></p></sp:Layout>", ""),
        policies::asymmetric("Basic128GCMSha256", "", "<sp:Wss11><p><sp:RequireSignatureConfirmation/></p></sp:Wss11>"),
    ] {
        check(&policy);
    }
}

#[test]
fn keys_on_curves_sign_too() {
    let peers = Peers::with(&policies::signed(), &PEOPLE.alice_ec, &Limits::default());
    let verified = peers.accept(peers.request(ENVELOPE)).expect("it is right");
    assert_eq!(value(&verified, "symbol"), "IBM");
}

/// Rewrites a message in a way that changes nothing of what it says.
fn rewritten(policy: &str, rewrite: impl Fn(&str) -> Vec<u8>) {
    let peers = Peers::new(policy);
    let message = peers.request(ENVELOPE);
    let rewritten = rewrite(&message);
    assert_ne!(rewritten, message.as_bytes(), "something is rewritten");
    let shown = String::from_utf8_lossy(&rewritten).into_owned();
    let verified = peers.accept(rewritten).unwrap_or_else(|refusal| panic!("{refusal}\n{shown}"));
    assert_eq!(value(&verified, "symbol"), "IBM");
    assert_eq!(value(&verified, "price"), "12.50");
    assert_eq!(value(&verified, "Order"), "4711");
}

#[test]
fn white_space_may_stand_between_headers() {
    for policy in [policies::signed(), policies::modern(), policies::symmetric("")] {
        rewritten(&policy, |message| {
            let spaced = message
                .replace("<soapenv:Header>", "\n\t<soapenv:Header>\r\n  ")
                .replace("</wsse:Security>", "\n</wsse:Security>\n");
            changed(&spaced, "<ds:Signature ", "\n  <ds:Signature ").into_bytes()
        });
    }
}

#[test]
fn comments_may_stand_anywhere() {
    rewritten(&policies::signed(), |message| {
        let message = changed(message, "12.50", "12.<!-- a -->50");
        let message = changed(&message, "<wsu:Created>20", "<wsu:Created><!-- b -->20");
        let message = changed(&message, ">4711<", ">47<!---->11<");
        changed(&message, "<soapenv:Header>", "<!-- c --><soapenv:Header><!-- d -->").into_bytes()
    });
}

#[test]
fn texts_may_be_written_otherwise() {
    rewritten(&policies::signed(), |message| {
        let message = changed(message, ">IBM<", "><![CDATA[I]]>&#66;<![CDATA[M]]><");
        let message = changed(&message, ">12.50<", ">&#x31;2.5&#48;<");
        changed(&message, "T16:00:00Z", "T16&#58;00:0<![CDATA[0Z]]>").into_bytes()
    });
    rewritten(&policies::modern(), |message| {
        let value = between(piece(message, "<xenc:EncryptedKey", "</xenc:EncryptedKey>"), "<xenc:CipherValue>", "<");
        let lines: Vec<&str> =
            value.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).expect("ASCII")).collect();
        changed(message, value, &format!("\n{}\n<!-- -->", lines.join("\r\n"))).into_bytes()
    });
}

#[test]
fn tags_may_be_written_otherwise() {
    rewritten(&policies::signed(), |message| {
        let message = message.replace("></ds:Transform>", " />").replace(" EncodingType=", "\n   EncodingType =\t");
        let message = changed(&message, "<symbol>IBM</symbol>", "<symbol\n>IBM</symbol >");
        let uri = piece(&message, "<ds:Reference URI=\"", "\"").to_owned();
        changed(&message, &uri, &uri.replace('"', "'")).into_bytes()
    });
}

#[test]
fn prefixes_that_nobody_signed_may_be_others() {
    rewritten(&policies::modern(), |message| {
        let start = piece(message, "<wsse:Security ", ">");
        let other = start.replace("<wsse:Security ", "<s:Security ").replace("xmlns:wsse=", "xmlns:s=");
        let message = changed(message, start, &other);
        changed(&message, "</wsse:Security>", "</s:Security>").into_bytes()
    });
}

#[test]
fn messages_may_be_in_utf_16() {
    for policy in [policies::signed(), policies::modern()] {
        rewritten(&policy, |message| {
            let units = std::iter::once(0xfeff).chain(message.encode_utf16());
            units.flat_map(u16::to_be_bytes).collect()
        });
    }
}

#[test]
fn what_others_add_for_others_is_theirs() {
    rewritten(&policies::modern(), |message| {
        let other = format!(
            "<o:Trace xmlns:o='urn:o2'>1</o:Trace>\
             <x:Security xmlns:x='{WSSE}' soapenv:actor='urn:other' soapenv:mustUnderstand='1'>\
             <o:What xmlns:o='urn:o2'/></x:Security>"
        );
        changed(message, "<soapenv:Header>", &format!("<soapenv:Header>{other}")).into_bytes()
    });
}

#[test]
fn our_header_is_taken_out_and_others_stay() {
    let peers = Peers::new(&policies::modern());
    let verified = peers.accept(peers.request(ENVELOPE)).expect("it is right");
    let mut written = Vec::new();
    let document = &verified.document;
    myelin_xml::write(document, document.document_node(), &myelin_xml::WriteOptions::default(), &mut written);
    let written = String::from_utf8(written).expect("it is UTF-8");
    assert!(!written.contains("Security") && written.contains("hello"), "{written}");
    assert!(written.contains("<symbol>IBM</symbol>"), "{written}");
}
