//! `myelin wss`.

use std::fs;
use std::path::Path;

use myelin_bench::security::make_stores;

use super::{Ended, run};

const GATEWAY: &str = include_str!("../../../../../examples/secure-gateway/gateway-policy.xml");
const CLIENT: &str = include_str!("../../../../../examples/secure-client/client-policy.xml");
const ORDER: &str = include_str!("../../../../../examples/secure-gateway/request.xml");

/// A folder with keys, policies and an order.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    make_stores(folder.path()).unwrap();
    for (name, text) in [("gateway-policy.xml", GATEWAY), ("client-policy.xml", CLIENT), ("order.xml", ORDER)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Runs a command on files of the folder; whatever ends in `.xml` or `.pem` is one, and what is said names them alone.
fn wss(folder: &Path, words: &str) -> Ended {
    let place = |word: &str| match word.ends_with(".xml") || word.ends_with(".pem") {
        true => folder.join(word).display().to_string(),
        false => word.to_owned(),
    };
    let words: Vec<String> = words.split(' ').map(place).collect();
    let words: Vec<&str> = std::iter::once("wss").chain(words.iter().map(String::as_str)).collect();
    let ended = run(&words, "");
    let prefix = format!("{}/", folder.display());
    Ended { code: ended.code, out: ended.out.replace(&prefix, ""), err: ended.err.replace(&prefix, "") }
}

/// Secures the order into `secured.xml`.
fn secured(options: &str) -> tempfile::TempDir {
    let folder = folder();
    let ended = wss(folder.path(), &format!("secure --policy {options} order.xml"));
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(!ended.out.contains(">IBM<") && ended.out.contains("CipherValue"), "{}", ended.out);
    fs::write(folder.path().join("secured.xml"), ended.out).unwrap();
    folder
}

#[test]
fn what_a_client_secures_the_gateway_accepts_and_says_by_whom_and_how() {
    let folder = secured("client-policy.xml");
    let verified = wss(folder.path(), "verify --policy gateway-policy.xml secured.xml");
    assert_eq!((verified.code, verified.err.as_str()), (0, ""));
    assert!(verified.out.starts_with("secured.xml: accepted, signed by CN=client"), "{}", verified.out);
    let explained = wss(folder.path(), "verify --policy gateway-policy.xml --explain secured.xml");
    for part in ["signed", "encrypted", "signer", "CN=client", "created", "aes128-gcm"] {
        assert!(explained.out.contains(part), "{part} is not in {}", explained.out);
    }
    let printed = wss(folder.path(), "verify --policy gateway-policy.xml --print secured.xml");
    assert!(printed.out.contains("<symbol>IBM</symbol>") && !printed.out.contains("Security"), "{}", printed.out);
}

#[test]
fn a_key_store_that_is_named_takes_the_place_of_the_policys() {
    let folder = secured("gateway-policy.xml --keystore client.pem --storetype pem --encrypt-for gateway");
    let verified = wss(folder.path(), "verify --policy client-policy.xml --keystore gateway.pem secured.xml");
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
    let stranger = self::folder();
    fs::copy(folder.path().join("secured.xml"), stranger.path().join("secured.xml")).unwrap();
    let refused = wss(stranger.path(), "verify --policy gateway-policy.xml secured.xml");
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.out.starts_with("secured.xml: refused: "), "{}", refused.out);
}

#[test]
fn a_message_that_comes_twice_late_or_in_clear_is_refused_with_the_rule() {
    let folder = secured("client-policy.xml");
    let verify = |rest: &str| wss(folder.path(), &format!("verify --policy gateway-policy.xml {rest}"));
    let twice = verify("secured.xml secured.xml");
    assert_eq!(twice.code, 1);
    assert!(twice.out.contains("was here before"), "{}", twice.out);
    let late = verify("--now 2099-01-01T00:00:00Z secured.xml");
    assert!(late.code == 1 && late.out.contains("refused"), "{}", late.out);
    let early = verify("--now 1970-01-02T00:00:00Z secured.xml");
    assert!(early.code == 1 && early.out.contains("in the future"), "{}", early.out);
    assert!(early.err.contains("is valid from") && early.err.contains("(a warning)"), "{}", early.err);
    let clear = verify("order.xml");
    assert!(clear.code == 1 && clear.out.contains("no Security header"), "{}", clear.out);
}

#[test]
fn what_is_wrong_with_policy_keys_or_files_is_told_with_its_place() {
    let folder = folder();
    fs::write(folder.path().join("odd.xml"), "<a>\n<b/></a>").unwrap();
    let odd = wss(folder.path(), "verify --policy odd.xml order.xml");
    assert_eq!((odd.code, odd.out.as_str()), (2, ""));
    assert!(odd.err.starts_with("odd.xml:1:"), "{}", odd.err);
    let missing = wss(folder.path(), "secure --policy gateway-policy.xml --keystore missing.pem order.xml");
    assert!(missing.code == 2 && missing.err.contains("missing.pem"), "{}", missing.err);
    let unread = wss(folder.path(), "secure --policy client-policy.xml nowhere.xml");
    assert!(unread.code == 1 && unread.err.contains("nowhere.xml"), "{}", unread.err);
    assert_eq!(wss(folder.path(), "verify order.xml").code, 2);
}
