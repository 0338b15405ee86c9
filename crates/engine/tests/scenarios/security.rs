//! Loading what is to be secured: a policy that cannot be honoured is a problem, never a weaker check.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{Scenario, fails_when_reached, load_text, post, refused, report};

#[test]
fn security_without_a_policy_or_a_policy_without_security_is_a_problem() {
    let proxy = |inside: &str, part: &str| refused(&format!("<proxy name='p'><target/>{inside}</proxy>"), part);
    proxy("<enableSec/>", "nothing says how messages have to be secured");
    proxy("<policy key='k'/>", "add <enableSec/>");
    proxy("<enableSec/><policy/>", "\"key\" is missing");
    proxy("<enableSec/><policy key='k'/>", "no local entry \"k\"");
    let each_kind = |security: &str, assert: fn(&str, &str), part: &str| {
        for target in ["address uri='http://h/'", "http uri-template='http://h/'", "default"] {
            let kind = target.split(' ').next().unwrap();
            assert(&format!("<endpoint name='e'><{target}>{security}</{kind}></endpoint>"), part);
        }
    };
    each_kind("<enableSec/>", refused, "nothing says how messages have to be secured");
    each_kind("<enableSec policy='k'/>", fails_when_reached, "no local entry \"k\"");
    each_kind("<enableSec inboundPolicy='k'/>", fails_when_reached, "no local entry \"k\"");
    each_kind("<enableSec policy='k' outboundPolicy='k'/>", refused, "policy stands for both ways");
}

#[test]
fn what_is_no_policy_keeps_its_proxy_from_being_offered_with_the_policys_own_place() {
    let artefacts = "<localEntry key='k'>\n<nothing/></localEntry>\
                     <proxy name='p'><target/><enableSec/><policy key='k'/></proxy>";
    let report = report(artefacts);
    let proxy = report.artefacts.iter().find(|artefact| artefact.name == "p").unwrap();
    let [problem] = proxy.problems.as_slice() else { panic!("what is wrong with the policy is told once: {proxy:?}") };
    assert!(problem.message().contains("nothing is no policy"), "{problem}");
    assert_eq!(problem.line(), 2, "{problem}");
}

#[test]
fn what_is_wrong_with_a_policy_is_told_once_for_each_artefact_and_where_the_policy_says_it() {
    let policy = |inside: &str| {
        format!(
            "<localEntry key='k'>\n<p:Policy xmlns:p='http://schemas.xmlsoap.org/ws/2004/09/policy' \
             xmlns:sp='http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'>\n{inside}</p:Policy></localEntry>"
        )
    };
    let proxy = |name: &str| {
        let policies = "<policy key='k' type='in'/><policy key='k' type='out'/>";
        format!("<proxy name='{name}'><target/><enableSec/>{policies}</proxy>")
    };
    let asymmetric = "<sp:AsymmetricBinding><p:Policy>\
        <sp:InitiatorToken><p:Policy><sp:X509Token/></p:Policy></sp:InitiatorToken>\
        <sp:RecipientToken><p:Policy><sp:X509Token/></p:Policy></sp:RecipientToken>\
        <sp:AlgorithmSuite><p:Policy><sp:Basic256Sha256/></p:Policy></sp:AlgorithmSuite>\
        </p:Policy></sp:AsymmetricBinding><sp:SignedParts><sp:Body/></sp:SignedParts>";
    let rampart = "\n<RampartConfig xmlns='http://ws.apache.org/rampart/policy'><user>us</user></RampartConfig>";
    for (inside, message, line) in [
        ("<sp:Nonsense/>".to_owned(), "Nonsense is not known", 3),
        ("<sp:SignedParts><sp:Body/></sp:SignedParts>".to_owned(), "no binding says with which keys", 3),
        (asymmetric.to_owned(), "RampartConfig names no key store", 3),
        (format!("{asymmetric}{rampart}"), "RampartConfig names no key store", 4),
    ] {
        let report = report(&format!("{}{}{}", policy(&inside), proxy("p"), proxy("q")));
        for name in ["p", "q"] {
            let proxy = report.artefacts.iter().find(|artefact| artefact.name == name).unwrap();
            let [problem] = proxy.problems.as_slice() else { panic!("{inside}: {proxy:?}") };
            assert!(problem.message().contains(message), "{problem}");
            assert_eq!(problem.line(), line, "{problem}");
            assert!(proxy.warnings.is_empty(), "{proxy:?}");
        }
    }
}

#[test]
fn a_proxy_that_cannot_be_secured_is_offered_by_nobody() {
    let loaded = load_text(
        "<sequence name='main'><respond/></sequence>\
         <proxy name='p'><target><inSequence><respond/></inSequence></target><enableSec/></proxy>",
    );
    let scenario = Scenario::of(loaded, |_, _| unreachable!("nothing is sent"));
    assert_eq!(scenario.serve(post("/services/p", &[], "<a/>")).status, 503);
}
