//! Policies as people write them, and as nobody should.

use proptest::prelude::*;

use super::testing::{SP, WSP, X509, asymmetric, binding_with, symmetric, transport, written};
use super::*;
use crate::algorithm::{BlockCipher, DigestMethod, KeyBits, KeyTransport, SignatureMethod};
use crate::side::Direction;
use crate::vocabulary::{WSC_13, WSC_2005};

fn parse(content: &str) -> Result<(Policy, Vec<Problem>), Vec<Problem>> {
    Policy::parse(written(WSP[0], SP[1], content).as_bytes())
}

/// The only alternative of a policy in which nothing is wrong.
fn read(content: &str) -> Alternative {
    let (policy, warnings) = parse(content).expect("a policy that can be honoured");
    assert_eq!(warnings, [], "nothing to warn of");
    let [alternative] = <[Alternative; 1]>::try_from(policy.alternatives).expect("one alternative");
    alternative
}

/// What is said of a policy that is refused.
fn refused(content: &str) -> String {
    let problems = parse(content).expect_err("a policy that cannot be honoured");
    assert!(problems.iter().all(|problem| problem.line > 0), "each has its place: {problems:?}");
    problems.iter().map(|problem| format!("{}\n", problem.message)).collect()
}

fn warned(content: &str) -> String {
    let (_, warnings) = parse(content).expect("a policy that can be honoured");
    warnings.iter().map(|problem| format!("{}\n", problem.message)).collect()
}

fn suite(alternative: &Alternative) -> &AlgorithmSuite {
    &alternative.binding.common().expect("a binding").suite
}

#[test]
fn every_version_is_read_the_same() {
    let content = asymmetric("<sp:IncludeTimestamp/>") + "<sp:SignedParts><sp:Body/></sp:SignedParts>";
    for (wsp, sp) in WSP.iter().flat_map(|wsp| SP.map(|sp| (wsp, sp))) {
        let (policy, warnings) = Policy::parse(written(wsp, sp, &content).as_bytes()).expect("a policy");
        assert_eq!(warnings, []);
        let [alternative] = policy.alternatives.as_slice() else { panic!("one alternative") };
        assert!(alternative.signed.body && !alternative.signed.all_headers);
        assert!(alternative.binding.common().is_some_and(|common| common.timestamp));
    }
}

#[test]
fn all_properties_of_a_binding_are_read() {
    let plain = read(&asymmetric(""));
    let common = plain.binding.common().expect("a binding");
    assert_eq!(common.layout, Layout::Lax);
    assert!(!common.timestamp && !common.encrypt_before_signing && !common.encrypt_signature);
    assert!(!common.protect_tokens && !common.only_entire_headers_and_body);
    let full = read(&asymmetric(
        "<sp:Layout><p><sp:Strict/></p></sp:Layout><sp:IncludeTimestamp/><sp:EncryptBeforeSigning/>
         <sp:EncryptSignature/><sp:ProtectTokens/><sp:OnlySignEntireHeadersAndBody/>",
    ));
    let common = full.binding.common().expect("a binding");
    assert_eq!(common.layout, Layout::Strict);
    assert!(common.timestamp && common.encrypt_before_signing && common.encrypt_signature);
    assert!(common.protect_tokens && common.only_entire_headers_and_body);
}

#[test]
fn layouts_have_the_names_of_both_versions() {
    for (name, layout) in [
        ("Lax", Layout::Lax),
        ("LaxTsFirst", Layout::LaxTimestampFirst),
        ("LaxTimestampFirst", Layout::LaxTimestampFirst),
        ("LaxTsLast", Layout::LaxTimestampLast),
    ] {
        let layout_of = format!("<sp:Layout><p><sp:{name}/></p></sp:Layout><sp:IncludeTimestamp/>");
        let alternative = read(&asymmetric(&layout_of));
        assert_eq!(alternative.binding.common().expect("a binding").layout, layout);
    }
    assert!(refused(&asymmetric("<sp:Layout><p><sp:LaxTsFirst/></p></sp:Layout>")).contains("add IncludeTimestamp"));
    assert!(refused(&asymmetric("<sp:Layout><p><sp:Loose/></p></sp:Layout>")).contains("Loose is not known"));
}

#[test]
fn suites_are_what_the_standard_says_of_their_names() {
    let oaep = KeyTransport::RsaOaep { digest: DigestMethod::Sha1, mask: DigestMethod::Sha1 };
    for (name, digest, cipher, transport, signature_bytes) in [
        ("Basic256", DigestMethod::Sha1, BlockCipher::AesCbc(KeyBits::Bits256), oaep, 24),
        ("Basic192Rsa15", DigestMethod::Sha1, BlockCipher::AesCbc(KeyBits::Bits192), KeyTransport::Rsa15, 24),
        ("Basic128Sha256", DigestMethod::Sha256, BlockCipher::AesCbc(KeyBits::Bits128), oaep, 16),
        ("TripleDesSha256Rsa15", DigestMethod::Sha256, BlockCipher::TripleDesCbc, KeyTransport::Rsa15, 24),
        ("Basic128GCMSha256", DigestMethod::Sha256, BlockCipher::AesGcm(KeyBits::Bits128), oaep, 16),
        ("Basic256GCM", DigestMethod::Sha1, BlockCipher::AesGcm(KeyBits::Bits256), oaep, 24),
    ] {
        let alternative = read(&binding_with(name, ""));
        let suite = suite(&alternative);
        assert_eq!((suite.name.as_str(), suite.digest, suite.cipher), (name, digest, cipher));
        assert_eq!(suite.key_transports[0], transport, "{name}");
        assert_eq!(suite.asymmetric_signatures[0], SignatureMethod::Rsa(digest), "{name}");
        assert_eq!(suite.symmetric_signature, SignatureMethod::Hmac(digest), "{name}");
        assert_eq!(suite.signature_derivation_bytes, signature_bytes, "{name}");
    }
    assert!(refused(&binding_with("Basic512", "")).contains("Basic512 is not known"));
    assert!(refused(&binding_with("Basic256Md5", "")).contains("not known"));
}

#[test]
fn a_suite_of_sha256_neither_makes_nor_accepts_sha1() {
    let alternative = read(&binding_with("Basic256Sha256", ""));
    let suite = suite(&alternative);
    assert!(!suite.accepts_digest(DigestMethod::Sha1) && suite.accepts_digest(DigestMethod::Sha512));
    for kind in [SignatureMethod::Rsa, SignatureMethod::RsaPss, SignatureMethod::Ecdsa, SignatureMethod::Hmac] {
        assert!(!suite.accepts_signature(kind(DigestMethod::Sha1)));
        assert!(suite.accepts_signature(kind(DigestMethod::Sha384)));
    }
    assert!(!suite.accepts_transport(KeyTransport::Rsa15));
    assert!(!suite.accepts_cipher(BlockCipher::AesCbc(KeyBits::Bits128)));
}

#[test]
fn canonical_forms_beside_the_exclusive_one_are_asked_for() {
    use myelin_xml::c14n::Method;
    let exclusive = read(&asymmetric(""));
    assert!(!suite(&exclusive).accepts_canonical(Method::Inclusive) && !suite(&exclusive).str_transform);
    let inclusive =
        read(&asymmetric("").replace("/></p></sp:Alg", "/><sp:InclusiveC14N/><sp:STRTransform10/></p></sp:Alg"));
    assert!(suite(&inclusive).accepts_canonical(Method::Inclusive) && suite(&inclusive).str_transform);
    let normalized = asymmetric("").replace("/></p></sp:Alg", "/><sp:SOAPNormalization10/></p></sp:Alg");
    assert!(refused(&normalized).contains("SOAPNormalization10 is not supported"));
}

#[test]
fn tokens_may_be_named_for_each_use() {
    let alternative = read(&format!(
        "<sp:AsymmetricBinding><p>
            <sp:InitiatorSignatureToken><p>{X509}</p></sp:InitiatorSignatureToken>
            <sp:InitiatorEncryptionToken><p>{X509}</p></sp:InitiatorEncryptionToken>
            <sp:RecipientSignatureToken><p>{X509}</p></sp:RecipientSignatureToken>
            <sp:RecipientEncryptionToken><p><sp:X509Token sp:IncludeToken='{}/IncludeToken/Never'><p>
                <sp:RequireThumbprintReference/><sp:WssX509PkiPathV1Token11/></p></sp:X509Token></p></sp:RecipientEncryptionToken>
            <sp:AlgorithmSuite><p><sp:Basic128/></p></sp:AlgorithmSuite>
        </p></sp:AsymmetricBinding>",
        SP[1]
    ));
    let encryption = alternative.binding.encryption_token(Direction::Request).expect("a token");
    assert_eq!(encryption.inclusion, Inclusion::Never);
    let TokenKind::X509 { form: X509Form::PkiPath, references } = &encryption.kind else { panic!("{encryption:?}") };
    assert_eq!(references, &[KeyReference::Thumbprint]);
    let signature = alternative.binding.signature_token(Direction::Request).expect("a token");
    assert_eq!(signature.inclusion, Inclusion::Always, "the default");
}

#[test]
fn a_token_without_which_a_binding_is_none_is_missed() {
    let missing = asymmetric("").replace("RecipientToken", "RecipientSignatureToken");
    assert!(refused(&missing).contains("neither RecipientEncryptionToken nor RecipientToken"));
    assert!(refused("<sp:SymmetricBinding/>").contains("neither SignatureToken nor ProtectionToken"));
    assert!(refused("<sp:SymmetricBinding/>").contains("no AlgorithmSuite"));
    assert!(refused("<sp:TransportBinding/>").contains("without a TransportToken"));
    assert!(refused(&asymmetric("").replace(X509, "")).contains("0 tokens in InitiatorToken"));
}

#[test]
fn derived_keys_are_in_the_namespace_that_goes_with_the_version() {
    let token = "<sp:X509Token><p><sp:RequireDerivedKeys/><sp:WssX509V3Token10/></p></sp:X509Token>";
    for (sp, namespace) in SP.into_iter().zip([WSC_2005, WSC_13]) {
        let source = written(WSP[0], sp, &symmetric(token));
        let (policy, _) = Policy::parse(source.as_bytes()).expect("a policy");
        let token = policy.alternatives[0].binding.signature_token(Direction::Response).expect("a token");
        assert_eq!(token.derived_keys, DerivedKeys::Required(namespace));
    }
    let implicit = token.replace("RequireDerivedKeys", "RequireImplicitDerivedKeys");
    assert!(refused(&symmetric(&implicit)).contains("implicitly derived keys are not supported"));
}

#[test]
fn the_transport_may_ask_for_a_certificate_in_three_ways() {
    for (token, expected) in [
        ("<sp:HttpsToken/>", false),
        ("<sp:HttpsToken RequireClientCertificate='false'/>", false),
        ("<sp:HttpsToken RequireClientCertificate='true'/>", true),
        ("<sp:HttpsToken sp:RequireClientCertificate='1'/>", true),
        ("<sp:HttpsToken><p><sp:RequireClientCertificate/></p></sp:HttpsToken>", true),
    ] {
        let Binding::Transport { client_certificate, common } = read(&transport(token)).binding else {
            panic!("{token}")
        };
        assert_eq!((client_certificate, common.timestamp), (expected, true), "{token}");
    }
    let basic = "<sp:HttpsToken><p><sp:HttpBasicAuthentication/></p></sp:HttpsToken>";
    assert!(refused(&transport(basic)).contains("HttpBasicAuthentication is not supported"));
    assert!(refused(&transport(X509)).contains("expected HttpsToken"));
}

#[test]
fn passwords_are_shown_as_the_policy_says() {
    for (inner, expected) in [
        ("", (Password::Text, false, false)),
        ("<sp:WssUsernameToken10/>", (Password::Text, false, false)),
        ("<sp:HashPassword/><sp:WssUsernameToken11/>", (Password::Digest, true, true)),
        ("<sp:NoPassword/>", (Password::None, false, false)),
        ("<sp13:Nonce/><sp13:Created/>", (Password::Text, true, true)),
    ] {
        let token = format!(
            "<sp:SupportingTokens><p><sp:UsernameToken><p>{inner}</p></sp:UsernameToken></p></sp:SupportingTokens>"
        );
        let alternative = read(&token);
        let TokenKind::Username { password, nonce, created } = alternative.supporting[0].tokens[0].kind else {
            panic!()
        };
        assert_eq!((password, nonce, created), expected, "{inner}");
    }
}

#[test]
fn supporting_tokens_are_used_as_they_are_called() {
    for (name, signed, endorsing, encrypted) in [
        ("SupportingTokens", false, false, false),
        ("SignedSupportingTokens", true, false, false),
        ("EndorsingSupportingTokens", false, true, false),
        ("SignedEndorsingSupportingTokens", true, true, false),
        ("EncryptedSupportingTokens", false, false, true),
        ("SignedEncryptedSupportingTokens", true, false, true),
        ("EndorsingEncryptedSupportingTokens", false, true, true),
        ("SignedEndorsingEncryptedSupportingTokens", true, true, true),
    ] {
        let alternative = read(
            &(asymmetric("")
                + &format!(
                    "<sp:{name}><p>{X509}<sp:SignedParts><sp:Header Namespace='urn:a'/></sp:SignedParts></p></sp:{name}>"
                )),
        );
        let [tokens] = alternative.supporting_in(Direction::Request) else { panic!("{name}") };
        assert_eq!((tokens.signed, tokens.endorsing, tokens.encrypted), (signed, endorsing, encrypted), "{name}");
        assert_eq!(tokens.signed_parts.headers, [HeaderPart { local: None, namespace: "urn:a".into() }]);
        assert!(alternative.supporting_in(Direction::Response).is_empty());
    }
    let endorsing =
        asymmetric("") + "<sp:EndorsingSupportingTokens><p><sp:UsernameToken/></p></sp:EndorsingSupportingTokens>";
    assert!(refused(&endorsing).contains("no key to endorse"));
    assert!(refused("<sp:SupportingTokens/>").contains("without a token"));
}

#[test]
fn assertions_of_saml_have_a_version() {
    for (name, version) in [
        ("WssSamlV11Token10", SamlVersion::V11),
        ("WssSamlV11Token11", SamlVersion::V11),
        ("WssSamlV20Token11", SamlVersion::V20),
    ] {
        let token = format!(
            "<sp:SupportingTokens><p><sp:SamlToken><p><sp:{name}/></p></sp:SamlToken></p></sp:SupportingTokens>"
        );
        assert!(
            matches!(&read(&token).supporting[0].tokens[0].kind, TokenKind::Saml { version: found } if *found == version)
        );
    }
    assert!(warned("<sp:SupportingTokens><p><sp:SamlToken/></p></sp:SupportingTokens>").contains("taken to be 2.0"));
}

#[test]
fn tokens_that_are_not_supported_are_told_by_name() {
    for name in [
        "IssuedToken",
        "KerberosToken",
        "SpnegoContextToken",
        "SecurityContextToken",
        "SecureConversationToken",
        "RelToken",
    ] {
        assert!(refused(&symmetric(&format!("<sp:{name}/>"))).contains(&format!("{name} is not supported")));
    }
    let issuer = "<sp:X509Token><sp:Issuer/><p><sp:WssX509V3Token10/></p></sp:X509Token>";
    assert!(refused(&symmetric(issuer)).contains("Issuer in X509Token is not supported"));
    let pkcs7 = "<sp:X509Token><p><sp:WssX509Pkcs7Token10/></p></sp:X509Token>";
    assert!(refused(&symmetric(pkcs7)).contains("WssX509Pkcs7Token10 is not supported"));
}

#[test]
fn parts_without_a_name_are_all_that_there_are() {
    let alternative = read(&(asymmetric("") + "<sp:SignedParts/><sp:EncryptedParts/>"));
    assert!(alternative.signed.body && alternative.signed.all_headers);
    assert!(alternative.encrypted.body && !alternative.encrypted.all_headers);
}

#[test]
fn headers_and_elements_are_named() {
    let alternative = read(
        &(asymmetric("")
            + "
        <sp:SignedParts><sp:Header Name='To' Namespace='urn:wsa'/></sp:SignedParts>
        <sp:RequiredParts><sp:Header Name='Action' Namespace='urn:wsa'/></sp:RequiredParts>
        <sp:SignedElements><sp:XPath>//t:order</sp:XPath></sp:SignedElements>
        <sp:EncryptedElements><sp:XPath>//t:card</sp:XPath></sp:EncryptedElements>
        <sp:ContentEncryptedElements><sp:XPath>//t:name</sp:XPath></sp:ContentEncryptedElements>
        <sp:RequiredElements><sp:XPath>//t:id</sp:XPath></sp:RequiredElements>"),
    );
    assert_eq!(alternative.signed.headers, [HeaderPart { local: Some("To".into()), namespace: "urn:wsa".into() }]);
    assert!(!alternative.signed.body);
    assert_eq!(alternative.required.headers.len(), 1);
    assert_eq!(alternative.signed.elements[0].text, "//t:order");
    let encrypted: Vec<(&str, bool)> =
        alternative.encrypted.elements.iter().map(|part| (part.text.as_str(), part.content)).collect();
    assert_eq!(encrypted, [("//t:card", false), ("//t:name", true)]);
    assert_eq!(alternative.required.elements.len(), 1);
}

#[test]
fn parts_that_mean_nothing_are_refused() {
    let with = |part: &str| refused(&(asymmetric("") + part));
    assert!(with("<sp:SignedParts><sp:Header Name='To'/></sp:SignedParts>").contains("without Namespace"));
    assert!(with("<sp:SignedParts><sp:Attachments/></sp:SignedParts>").contains("attachments"));
    assert!(with("<sp:SignedParts><sp:Envelope/></sp:SignedParts>").contains("Envelope is no part"));
    assert!(with("<sp:RequiredParts><sp:Body/></sp:RequiredParts>").contains("Body is no part"));
    assert!(with("<sp:SignedElements/>").contains("without an XPath"));
    assert!(with("<sp:SignedElements><sp:XPath>//u:x</sp:XPath></sp:SignedElements>").contains("not valid"));
    assert!(with("<sp:SignedElements><sp:XPath>//x[</sp:XPath></sp:SignedElements>").contains("not valid"));
    assert!(with("<sp:SignedElements><sp:XPath>$x</sp:XPath></sp:SignedElements>").contains("no variables"));
    let other = "<sp:SignedElements XPathVersion='urn:2'><sp:XPath>//x</sp:XPath></sp:SignedElements>";
    assert!(with(other).contains("urn:2 are not supported"));
}

#[test]
fn references_and_confirmation_are_asked_for_by_name() {
    let alternative = read(
        &(asymmetric("")
            + "
        <sp:Wss11><p><sp:MustSupportRefKeyIdentifier/><sp:MustSupportRefIssuerSerial/><sp:MustSupportRefThumbprint/>
        <sp:MustSupportRefEncryptedKey/><sp:RequireSignatureConfirmation/></p></sp:Wss11>"),
    );
    assert!(alternative.wss.version_11 && alternative.wss.signature_confirmation);
    assert_eq!(alternative.wss.must_support.len(), 4);
    let external = asymmetric("") + "<sp:Wss10><p><sp:MustSupportRefExternalURI/></p></sp:Wss10>";
    assert!(warned(&external).contains("never followed"));
    assert!(
        warned(&(asymmetric("") + "<sp:Trust13><p><sp:MustSupportIssuedTokens/></p></sp:Trust13>"))
            .contains("no effect")
    );
}

#[test]
fn what_is_not_known_is_wrong_unless_it_says_that_it_may_be_ignored() {
    let source = asymmetric("") + "\n<t:Strange/>";
    let problems = parse(&source).expect_err("an unknown assertion");
    assert_eq!(problems[0].message, "the assertion {urn:t}Strange is not known here");
    assert_eq!(problems[0].column, 1, "the place is the assertion's own");
    assert!(refused(&asymmetric("<sp:Unheard/>")).contains("Unheard is not known"));
    assert!(refused(&asymmetric("<sp:IncludeTimestamp><p><t:Local/></p></sp:IncludeTimestamp>")).contains("Local"));
    assert!(warned(&(asymmetric("") + "<t:Strange wsp:Ignorable='true'/>")).contains("ignored as it says"));
    assert!(refused("<wsp:Any/>").contains("no operator"));
    assert!(Policy::parse(b"<Policy/>").is_err());
    assert!(Policy::parse(b"<Policy").is_err_and(|problems| problems[0].line == 1));
}

#[test]
fn alternatives_are_multiplied_out() {
    let content = asymmetric("")
        + "<wsp:ExactlyOne><wsp:All><sp:SignedParts><sp:Body/></sp:SignedParts></wsp:All>
        <wsp:All><sp:EncryptedParts><sp:Body/></sp:EncryptedParts></wsp:All></wsp:ExactlyOne>
        <sp:Wss10 wsp:Optional='true'/>";
    let (policy, _) = parse(&content).expect("a policy");
    let found: Vec<(bool, bool)> =
        policy.alternatives.iter().map(|one| (one.signed.body, one.encrypted.body)).collect();
    assert_eq!(found, [(true, false), (true, false), (false, true), (false, true)]);
    let nested =
        binding_with("X", "").replace("<sp:X/>", "<wsp:ExactlyOne><sp:Basic256/><sp:Basic128/></wsp:ExactlyOne>");
    let (policy, _) = parse(&nested).expect("a policy");
    let names: Vec<&str> = policy.alternatives.iter().map(|one| suite(one).name.as_str()).collect();
    assert_eq!(names, ["Basic256", "Basic128"]);
}

#[test]
fn an_alternative_that_cannot_be_honoured_is_left_out_and_told() {
    let content = format!(
        "<wsp:ExactlyOne><wsp:All>{}</wsp:All><wsp:All>{}</wsp:All></wsp:ExactlyOne>",
        symmetric("<sp:KerberosToken/>"),
        asymmetric("")
    );
    let (policy, warnings) = parse(&content).expect("one of them can be honoured");
    assert!(matches!(policy.alternatives.as_slice(), [Alternative { binding: Binding::Asymmetric { .. }, .. }]));
    assert!(warnings[0].message.contains("KerberosToken is not supported, so that the alternative"));
}

#[test]
fn references_lead_to_policies_of_the_same_document() {
    let content = "<wsp:ExactlyOne><wsp:All><wsp:PolicyReference URI='#parts'/></wsp:All>
        <wsp:Policy wsu:Id='parts'><sp:SignedParts><sp:Body/></sp:SignedParts></wsp:Policy></wsp:ExactlyOne>";
    let (policy, _) = parse(&(asymmetric("") + content)).expect("a policy");
    assert!(policy.alternatives.iter().all(|alternative| alternative.signed.body));
    assert!(refused("<wsp:PolicyReference URI='#nowhere'/>").contains("not in this document"));
    assert!(refused("<wsp:PolicyReference URI='http://example.com/p'/>").contains("do not lead out of it"));
    assert!(
        refused("<wsp:Policy wsu:Id='me'><wsp:PolicyReference URI='#me'/></wsp:Policy>").contains("refers to itself")
    );
}

#[test]
fn a_policy_that_no_message_or_every_message_fulfils_is_none() {
    assert!(refused("<wsp:ExactlyOne/>").contains("no message can fulfil it"));
    assert!(refused("").contains("nothing in this policy is about security"));
    let optional = "<sp:SupportingTokens wsp:Optional='true'><p><sp:UsernameToken/></p></sp:SupportingTokens>";
    assert!(warned(optional).contains("without security"));
}

#[test]
fn bombs_of_alternatives_are_told_as_such() {
    let choice = "<wsp:ExactlyOne><t:a wsp:Ignorable='true'/><t:b wsp:Ignorable='true'/></wsp:ExactlyOne>";
    assert!(refused(&choice.repeat(30)).contains("more than 64 alternatives"));
    let deep = format!("{}{}{}", "<wsp:All>".repeat(60), choice, "</wsp:All>".repeat(60));
    assert!(refused(&deep).contains("more than 32 deep"));
    let mut doubling = String::from("<wsp:Policy wsu:Id='p0'><t:a/></wsp:Policy>");
    for level in 1..30 {
        let below = level - 1;
        let twice = format!("<wsp:PolicyReference URI='#p{below}'/>").repeat(2);
        doubling += &format!("<wsp:Policy wsu:Id='p{level}'>{twice}</wsp:Policy>");
    }
    assert!(refused(&doubling).contains("too many assertions"));
}

#[test]
fn of_thousands_of_mistakes_the_first_are_told() {
    let mistakes = "<t:odd/>".repeat(40_000);
    let problems = parse(&mistakes).expect_err("unknown assertions");
    assert!(problems.len() <= 50);
    let parts = format!("<sp:SignedElements>{}</sp:SignedElements>", "<sp:XPath>//t:x</sp:XPath>".repeat(257));
    assert!(refused(&(asymmetric("") + &parts)).contains("more than 256 parts"));
}

#[test]
fn rampart_says_whose_keys_and_how_long() {
    let crypto = |prefix: &str| {
        format!(
            "<ramp:crypto provider='org.apache.ws.security.components.crypto.Merlin'>
            <ramp:property name='{prefix}.keystore.type'>JKS</ramp:property>
            <ramp:property name='{prefix}.file'>keys/store.jks</ramp:property>
            <ramp:property name='{prefix}.keystore.password'>$secret{{store}}</ramp:property>
            <ramp:property name='{prefix}.truststore.file'>keys/trust.jks</ramp:property>
            <ramp:property name='{prefix}.x509crl.file'>keys/revoked.crl</ramp:property>
        </ramp:crypto>"
        )
    };
    let (old, new) = (crypto("org.apache.ws.security.crypto.merlin"), crypto("org.apache.wss4j.crypto.merlin"));
    let alternative = read(
        &(asymmetric("")
            + &format!(
                "<ramp:RampartConfig><ramp:user>alice</ramp:user><ramp:userCertAlias>alias</ramp:userCertAlias>
            <ramp:encryptionUser>useReqSigCert</ramp:encryptionUser><ramp:timestampTTL>60</ramp:timestampTTL>
            <ramp:timestampMaxSkew>5</ramp:timestampMaxSkew><ramp:timestampStrict>true</ramp:timestampStrict>
            <ramp:timestampPrecisionInMilliseconds>false</ramp:timestampPrecisionInMilliseconds>
            <ramp:nonceLifeTime>90</ramp:nonceLifeTime><ramp:actor>urn:me</ramp:actor>
            <ramp:signatureCrypto>{old}</ramp:signatureCrypto><ramp:encryptionCypto>{new}</ramp:encryptionCypto>
        </ramp:RampartConfig>"
            )),
    );
    let rampart = alternative.rampart;
    assert_eq!(rampart.user.as_deref(), Some("alice"));
    assert_eq!(rampart.user_certificate_alias.as_deref(), Some("alias"));
    assert_eq!(rampart.encryption_user, Some(EncryptionUser::RequestSigner));
    assert_eq!(rampart.actor.as_deref(), Some("urn:me"));
    let times = [rampart.timestamp_ttl, rampart.timestamp_max_skew, rampart.nonce_life].map(|time| time.as_secs());
    assert_eq!(times, [60, 5, 90]);
    assert!(rampart.timestamp_strict && !rampart.timestamp_precision_millis);
    assert_eq!(rampart.signature_crypto, rampart.encryption_crypto, "both spellings and both prefixes are read");
    let crypto = rampart.signature_crypto.expect("a key store");
    assert_eq!((crypto.file.as_deref(), crypto.kind.as_deref()), (Some("keys/store.jks"), Some("JKS")));
    assert_eq!(crypto.password.as_deref(), Some("$secret{store}"));
    assert_eq!(crypto.crl_file.as_deref(), Some("keys/revoked.crl"));
}

#[test]
fn what_rampart_asks_java_classes_for_is_told() {
    let config = |inner: &str| asymmetric("") + &format!("<ramp:RampartConfig>{inner}</ramp:RampartConfig>");
    assert!(warned(&config("<ramp:passwordCallbackClass>a.B</ramp:passwordCallbackClass>")).contains("no Java class"));
    assert!(warned(&config("<ramp:tokenStoreClass>a.B</ramp:tokenStoreClass>")).contains("no effect"));
    assert!(refused(&config("<ramp:policyValidatorCbClass>a.B</ramp:policyValidatorCbClass>")).contains("decides"));
    assert!(refused(&config("<ramp:timestampTTL>soon</ramp:timestampTTL>")).contains("no number of seconds"));
    assert!(
        refused(&config("<ramp:timestampStrict>perhaps</ramp:timestampStrict>")).contains("neither true nor false")
    );
    assert!(refused(&config("<ramp:speed>9</ramp:speed>")).contains("speed is not known"));
    let other = "<ramp:signatureCrypto><ramp:crypto provider='a.Pkcs11'/></ramp:signatureCrypto>";
    assert!(refused(&config(other)).contains("a.Pkcs11 is not supported"));
}

#[test]
fn wso2s_own_key_stores_and_roles_are_read() {
    let alternative = read(
        &(asymmetric("")
            + "
        <ramp:RampartConfig><ramp:signatureCrypto>
            <ramp:crypto provider='org.wso2.carbon.security.util.ServerCrypto' cacheRefreshInterval='15000'>
                <ramp:property name='org.wso2.carbon.security.crypto.alias'>wso2carbon</ramp:property>
                <ramp:property name='org.wso2.carbon.security.crypto.privatestore'>wso2carbon.jks</ramp:property>
                <ramp:property name='org.wso2.carbon.security.crypto.truststores'>a.jks, b.jks</ramp:property>
                <ramp:property name='rampart.config.user'>wso2carbon</ramp:property>
            </ramp:crypto></ramp:signatureCrypto></ramp:RampartConfig>
        <sec:CarbonSecConfig xmlns:sec='http://www.wso2.org/products/carbon/security'><sec:Authorization>
            <sec:property name='org.wso2.carbon.security.allowedroles'>admin, clerk</sec:property>
        </sec:Authorization></sec:CarbonSecConfig>"),
    );
    let crypto = alternative.rampart.signature_crypto.expect("a key store");
    assert_eq!(crypto.server_store.as_deref(), Some("wso2carbon.jks"));
    assert_eq!(crypto.server_trust, ["a.jks", "b.jks"]);
    assert_eq!(crypto.alias.as_deref(), Some("wso2carbon"));
    assert_eq!(alternative.rampart.user.as_deref(), Some("wso2carbon"));
    assert_eq!(alternative.rampart.allowed_roles, ["admin", "clerk"]);
}

/// The policies of Apache Synapse's samples, where the checkout of acceptance files lies beside the project.
#[test]
fn the_policies_of_synapses_samples_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/acceptance/apache-synapse/resources/policy");
    let folder = std::path::Path::new(folder);
    if !folder.exists() {
        eprintln!("skipped: no acceptance files beside the project");
        return;
    }
    let load = |name: &str| Policy::parse(&std::fs::read(folder.join(name)).expect("a file of the samples"));
    for name in ["policy_3.xml", "client_policy_3.xml"] {
        let (policy, warnings) = load(name).expect("a policy that can be honoured");
        let [alternative] = policy.alternatives.as_slice() else { panic!("{name}: one alternative") };
        assert!(alternative.signed.body && alternative.encrypted.body);
        assert!(matches!(alternative.binding, Binding::Asymmetric { .. }));
        assert_eq!(suite(alternative).name, "Basic256");
        assert_eq!(alternative.rampart.user.as_deref(), Some("alice"));
        assert_eq!(alternative.rampart.encryption_user, Some(EncryptionUser::Alias("bob".into())));
        assert!(alternative.rampart.encryption_crypto.is_some(), "by the misspelt name");
        assert_eq!(warnings.len(), 1, "the password callback: {warnings:?}");
    }
    let (policy, _) = load("policy_1.xml").expect("a policy that can be honoured");
    assert!(matches!(policy.alternatives[0].binding, Binding::Transport { client_certificate: false, .. }));
    assert!(policy.alternatives[0].supporting[0].signed);
    let (policy, _) = load("sample_policy_1.xml").expect("parts without a binding, which another policy has");
    assert!(policy.alternatives[0].signed.body && matches!(policy.alternatives[0].binding, Binding::None));
    let problems = load("throttle_policy.xml").expect_err("a policy without security");
    assert!(problems[0].message.contains("nothing in this policy is about security"));
}

proptest! {
    #[test]
    fn no_policy_makes_reading_panic(content in "(<(wsp:(All|ExactlyOne|Policy|PolicyReference)|sp:(X509Token|SignedParts|SupportingTokens|AsymmetricBinding|AlgorithmSuite|Body|XPath|Wss10)|ramp:(RampartConfig|user|signatureCrypto))( (wsp:Optional|URI|Name|Namespace)='(true|#a|x)')?/?>|</(wsp:(All|ExactlyOne|Policy)|sp:(X509Token|SupportingTokens))>|//t:x){0,12}") {
        let _ = parse(&content);
        let _ = Policy::parse(content.as_bytes());
    }

    #[test]
    fn random_trees_of_operators_are_read_or_refused(tree in operators()) {
        if let Ok((policy, _)) = parse(&tree) {
            prop_assert!(!policy.alternatives.is_empty() && policy.alternatives.len() <= 64);
        }
    }
}

/// Operators inside of each other, with assertions at their ends.
fn operators() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("<sp:SignedParts><sp:Body/></sp:SignedParts>".to_owned()),
        Just("<sp:Wss11 wsp:Optional='true'/>".to_owned()),
        Just(asymmetric("<sp:IncludeTimestamp/>")),
        Just("<sp:SupportingTokens><p><sp:UsernameToken/></p></sp:SupportingTokens>".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let operator = prop_oneof![Just("wsp:All"), Just("wsp:ExactlyOne"), Just("wsp:Policy")];
        (operator, prop::collection::vec(inner, 0..4))
            .prop_map(|(operator, children)| format!("<{operator}>{}</{operator}>", children.concat()))
    })
}
