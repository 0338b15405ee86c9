//! What is no attack: messages as they are made, and as gateways, editors and other stacks rewrite them.

use crate::ENVELOPE;
use crate::peers::{PEOPLE, Peers, value};
use crate::policies;
use myelin_wss::Limits;

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
