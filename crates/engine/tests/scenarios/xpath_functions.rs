//! Synapse's own functions and variables in XPath, and those of later XPath that configurations use.

use crate::common::{Scenario, load_with, post, report, response};
use myelin_engine::{ProcessEnvironment, Settings};

const ORDER: &str = "<o id='7'><a>pen, ink</a><b>2</b></o>";

/// What each expression gives as text.
fn check(rows: &[(&str, &str)]) {
    let proxies = rows.iter().enumerate().map(|(row, (expression, _))| {
        let escaped = expression.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        format!(
            "<proxy name='P{row}' xmlns:fn='http://www.w3.org/2005/xpath-functions'><target><inSequence>\
             <variable name='v' value='of a variable'/><property name='d' value='of the context'/>\
             <property name='x' scope='axis2' value='of axis2'/><property name='o' scope='operation' value='of the operation'/>\
             <property name='c' scope='axis2-client' value='of the client'/>\
             <property name='r' expression=\"{escaped}\"/>\
             <header name='R' scope='transport' expression=\"concat('[', get-property('r'), ']')\"/><respond/>\
             </inSequence></target></proxy>"
        )
    });
    let environment = ProcessEnvironment::of([("STAGE", "of the environment")]);
    let settings = Settings { environment, ..Settings::default() };
    let loaded = load_with(&proxies.collect::<String>(), &settings);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
    let mut wrong = Vec::new();
    for (row, (expression, expected)) in rows.iter().enumerate() {
        let reply = scenario.serve(post(&format!("/services/P{row}?q=a%20b"), &[("X-Name", "of a header")], ORDER));
        if reply.header("R") != Some(&*format!("[{expected}]")) {
            wrong.push(format!("{expression}: {:?} instead of {expected:?}", reply.header("R").unwrap_or(&reply.body)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_encode_digest_and_look_up() {
    check(&[
        ("base64Encode('abc')", "YWJj"),
        ("base64Encode('é', 'ISO-8859-1')", "6Q=="),
        ("base64Encode(//b)", "Mg=="),
        ("base64Decode(' YWJj ')", "abc"),
        ("base64Decode('6Q==', 'ISO-8859-1')", "é"),
        ("base64Decode('***')", ""),
        ("url-encode('a b/é?')", "a%20b/%C3%A9?"),
        ("url-encode('é', 'ISO-8859-1')", "%E9"),
        // RFC 2202, test 2, and RFC 4231, test 2.
        ("hmac-generate('what do ya want for nothing?', 'Jefe')", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            "hmac-generate('what do ya want for nothing?', 'Jefe', 'HmacSHA256')",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        ("get-property('d')", "of the context"),
        ("get-property('default', 'd')", "of the context"),
        ("get-property('synapse', 'd')", "of the context"),
        ("get-property('axis2', 'x')", "of axis2"),
        ("get-property('operation', 'o')", "of the operation"),
        ("get-property('axis2-client', 'c')", "of the client"),
        ("get-property('transport', 'X-Name')", "of a header"),
        ("get-property(concat('transp', 'ort-less'))", ""),
        ("get-property('axis2', concat('', 'x'))", "of axis2"),
        ("get-property('d', 'no scope')", "of the context"),
        ("get-property('no scope', 'd')", ""),
        ("string-length(get-property('SYSTEM_TIME', 'HH:mm'))", "13.0"),
        ("get-property('MESSAGE_FORMAT')", "soap11"),
        ("string-length(get-property('SYSTEM_DATE', 'yyyy'))", "4.0"),
        ("$ctx:d", "of the context"),
        ("$axis2:x", "of axis2"),
        ("$operation:o", "of the operation"),
        ("$trp:X-Name", "of a header"),
        ("$url:q", "a b"),
        ("$var:v", "of a variable"),
        ("$sys:STAGE", "of the environment"),
        ("get-property('system', concat('ST', 'AGE'))", "of the environment"),
        ("name($env)", "soapenv:Envelope"),
        ("$body/o/@id", "7"),
    ]);
}

#[test]
fn functions_of_later_xpath_are_there() {
    check(&[
        ("tokenize(//a, ', ')[2]", "ink"),
        ("fn:tokenize(//a, ',\\s*')[1]", "pen"),
        ("upper-case(//a)", "PEN, INK"),
        ("lower-case('ABC')", "abc"),
        ("replace(//a, '[aeiou]', '-')", "p-n, -nk"),
        ("matches(//a, '^p.n')", "true"),
        ("ends-with(//a, 'ink')", "true"),
        ("string-join(('a', 'b'), '-')", "a-b"),
        ("if (//b = 2) then 'two' else 'other'", "two"),
        ("round(2.5)", "3.0"),
        ("concat(//a, '!')", "pen, ink!"),
    ]);
}

#[test]
fn what_cannot_be_done_is_said_while_loading() {
    let check = |expression: &str, part: &str| {
        let text = report(&format!("<sequence name='s'><property name='r' expression=\"{expression}\"/></sequence>"))
            .to_text();
        assert!(text.contains(part), "{expression}: {text}");
    };
    check("base64Encode('a', 'KOI8-R')", "character set");
    check("base64Encode('a', $ctx:c)", "text literal");
    check("hmac-generate('a')", "takes a text");
    check("hmac-generate('a', 'b', 'HmacMD5')", "not offered");
    check("encrypt('a')", "a key store");
    check("encrypt('a', 'none.jks', 'p', 'x')", "no such file");
    check("encrypt('a', 'none.jks', 'p', 'x', 'BCFKS')", "not offered");
    check("encrypt('a', 'none.jks', 'p', 'x', 'JKS', 'DSA')", "none.jks");
}

#[test]
fn a_text_is_encrypted_for_a_key_of_a_store_and_decrypted_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "one");
    let certificate = parameters.self_signed(&key).unwrap();
    let store = folder.path().join("store.pem");
    std::fs::write(&store, format!("{}{}", key.serialize_pem(), certificate.pem())).unwrap();
    let check_by = |algorithm: &str| {
        let arguments = format!("'{}', 'unused', 'one', 'PEM', '{algorithm}'", store.display());
        let round = format!("decrypt(encrypt(concat('of ', //b), {arguments}), {arguments})");
        check(&[(&round, "of 2")]);
    };
    check_by("RSA");
    check_by("RSA/ECB/OAEPWithSHA-256AndMGF1Padding");
}
