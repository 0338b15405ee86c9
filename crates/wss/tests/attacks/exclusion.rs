//! Exclusion: something of a message's security is left out.

use myelin_wss::Rule;

use crate::ENVELOPE;
use crate::peers::{Peers, changed, now, piece};
use crate::policies;
use std::time::Duration;

fn without(message: &str, begin: &str, end: &str) -> String {
    changed(message, piece(message, begin, end), "")
}

#[test]
fn nothing_that_the_policy_asks_for_may_be_left_out() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    assert_eq!(peers.refused(without(&message, "<wsse:Security", "</wsse:Security>")).0, Rule::SecurityMissing);
    assert_eq!(peers.refused(without(&message, "<soapenv:Header>", "</soapenv:Header>")).0, Rule::SecurityMissing);
    assert_eq!(peers.refused(without(&message, "<wsu:Timestamp", "</wsu:Timestamp>")).0, Rule::UnresolvedReference);
    assert_eq!(peers.refused(without(&message, "<ds:Signature ", "</ds:Signature>")).0, Rule::NotSigned);
    assert_eq!(
        peers.refused(without(&message, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>")).0,
        Rule::UnresolvedReference
    );
    assert_eq!(peers.refused(ENVELOPE).0, Rule::SecurityMissing);
    assert!(peers.accept(message).is_ok());
}

#[test]
fn a_reference_may_not_be_left_out() {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(ENVELOPE);
    assert_eq!(peers.refused(without(&message, "<ds:Reference ", "</ds:Reference>")).0, Rule::SignatureInvalid);
}

#[test]
fn a_message_that_is_only_signed_is_refused_where_it_has_to_be_encrypted_too() {
    let (signs, both) = (Peers::new(&policies::signed()), Peers::new(&policies::modern()));
    assert_eq!(both.refused(signs.request(ENVELOPE)).0, Rule::NotEncrypted);
}

#[test]
fn a_block_that_nobody_signed_is_refused() {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(&ENVELOPE.replace("<h:Order xmlns:h=\"urn:h\">4711</h:Order>", ""));
    let added = changed(&message, "<h:Note", "<h:Order xmlns:h=\"urn:h\">4711</h:Order><h:Note");
    assert_eq!(peers.refused(added).0, Rule::NotSigned);
    assert!(peers.accept(message).is_ok(), "a block that is not there need not be signed");
}

#[test]
fn what_is_too_old_or_not_made_yet_is_refused() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    let rule = |now| peers.accept_at(message.as_str(), now).map(drop).map_err(|refusal| refusal.rule);
    assert_eq!(rule(now() + Duration::from_secs(601)), Err(Rule::Expired));
    assert_eq!(rule(now() - Duration::from_secs(301)), Err(Rule::CreatedInFuture));
    assert_eq!(rule(now() + Duration::from_secs(599)), Ok(()));
}

#[test]
fn a_response_without_confirmation_is_refused() {
    let confirmed = "<sp:Wss11><p><sp:RequireSignatureConfirmation/></p></sp:Wss11>";
    let confirms = Peers::new(&policies::asymmetric("Basic128GCMSha256", "", confirmed));
    let (request, conversation) = confirms.request_with(ENVELOPE);
    let verified = confirms.accept(request.as_str()).expect("it is right");
    let silent = Peers::new(&policies::modern()).response(ENVELOPE, &verified.conversation);
    let refusal = confirms.accept_response(&silent, &conversation).map(drop).expect_err("nothing is confirmed");
    assert_eq!(refusal.rule, Rule::ConfirmationWrong);
    let (_, other) = confirms.request_with(ENVELOPE);
    let response = confirms.response(ENVELOPE, &verified.conversation);
    let refusal = confirms.accept_response(&response, &other).map(drop).expect_err("another request is confirmed");
    assert_eq!(refusal.rule, Rule::ConfirmationWrong);
    assert!(confirms.accept_response(&response, &conversation).is_ok());
}
