//! Replays: the same message again, at once, after a restart, and with something changed that nobody signs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use myelin_wss::{Limits, Replays, Rule, binary};

use crate::ENVELOPE;
use crate::peers::{PEOPLE, Peers, between, changed, now};
use crate::policies;

#[test]
fn the_same_message_is_accepted_once() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    assert!(peers.accept(message.as_str()).is_ok());
    assert_eq!(peers.refused(message.as_str()).0, Rule::Replay);
    // What nobody signed makes no new message.
    assert_eq!(peers.refused(message.replace("hello", "again")).0, Rule::Replay);
    assert_eq!(peers.refused(message.replace("<soapenv:Header>", "<soapenv:Header> \n")).0, Rule::Replay);
    assert!(peers.accept(peers.request(ENVELOPE)).is_ok(), "the same content in a message of its own");
}

#[test]
fn of_many_at_once_one_is_accepted() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    let accepted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                if peers.accept(message.as_str()).is_ok() {
                    accepted.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(accepted.load(Ordering::Relaxed), 1);
}

#[test]
fn what_was_accepted_before_a_restart_is_refused_after_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Replays::open(folder.path(), 1_000, now() - Duration::from_secs(1)).expect("the journal");
    let mut peers = Peers::new(&policies::modern());
    peers.replays = open();
    let message = peers.request(ENVELOPE);
    let waiting = peers.request(ENVELOPE);
    assert!(peers.accept(message.as_str()).is_ok());
    peers.replays = Replays::in_memory(1, now());
    peers.replays = open();
    assert_eq!(peers.refused(message.as_str()).0, Rule::Replay);
    assert!(peers.accept(waiting).is_ok(), "what was sent before the restart and not accepted");
    // Without a journal, nobody knows what was accepted before.
    peers.replays = Replays::in_memory(1_000, now() + Duration::from_secs(1));
    assert_eq!(peers.refused(message).0, Rule::Replay);
}

#[test]
fn a_user_is_not_believed_twice() {
    let peers = Peers::new(&policies::user());
    let message = peers.request(ENVELOPE);
    assert!(peers.accept(message.as_str()).is_ok());
    assert_eq!(peers.refused(message).0, Rule::Replay);
}

#[test]
fn a_full_memory_refuses_everything() {
    let mut peers = Peers::new(&policies::modern());
    peers.replays = Replays::in_memory(0, now());
    assert_eq!(peers.refused(peers.request(ENVELOPE)).0, Rule::ReplayCacheFull);
}

/// The order of P-256's group.
const ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

#[test]
fn the_twin_of_a_signature_is_the_same_message() {
    let peers = Peers::with(&policies::signed(), &PEOPLE.alice_ec, &Limits::default());
    let message = peers.request(ENVELOPE);
    let value = between(&message, "<ds:SignatureValue>", "</ds:SignatureValue>");
    let mut twin = binary::decode_text(value, 64).expect("base64");
    let order: Vec<u8> =
        (0..32).map(|at| u8::from_str_radix(&ORDER[2 * at..2 * at + 2], 16).expect("digits")).collect();
    let mut borrow = 0;
    for at in (0..32).rev() {
        let difference = i32::from(order[at]) - i32::from(twin[32 + at]) - borrow;
        borrow = i32::from(difference < 0);
        twin[32 + at] = u8::try_from(difference.rem_euclid(256)).expect("a byte");
    }
    let mut text = Vec::new();
    binary::encode(&twin, &mut text);
    let twin = changed(&message, value, std::str::from_utf8(&text).expect("base64"));
    assert!(peers.accept(twin).is_ok(), "it is a signature as good as the other");
    assert_eq!(peers.refused(message).0, Rule::Replay);
}
