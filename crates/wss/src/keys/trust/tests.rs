//! Paths that lead to an anchor, and all the ones that do not.

use std::slice;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateRevocationListParams, CrlDistributionPoint, CrlIssuingDistributionPoint,
    CustomExtension, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, KeyIdMethod, KeyUsagePurpose, NameConstraints,
    RevokedCertParams, SanType, SerialNumber,
};

use super::super::testing::{Authority, authority_parameters, identity, now, parameters};
use super::super::{Curve, KeyKind};
use super::*;

const P256: KeyKind = KeyKind::Ec(Curve::P256);

fn trust(anchors: &[&Authority]) -> Trust {
    let anchors = anchors.iter().map(|anchor| Arc::clone(&anchor.certificate)).collect();
    Trust::new(anchors, Vec::new(), TrustLimits::default())
}

fn check(trust: &Trust, chain: &[&Arc<Certificate>]) -> Result<(), Distrust> {
    let chain: Vec<_> = chain.iter().map(|&certificate| Arc::clone(certificate)).collect();
    // Twice, so that what is remembered is checked too.
    let once = trust.check(&chain, Purpose::Signature, now()).map_err(|error| error.reason);
    let again = trust.check(&chain, Purpose::Signature, now()).map_err(|error| error.reason);
    assert_eq!(once, again);
    once
}

#[test]
fn an_anchor_is_trusted_and_so_is_what_it_issued() {
    let root = Authority::root("Root");
    let middle = root.authority(authority_parameters("Middle"));
    let alice = middle.issue(&parameters("Alice"), P256);
    let trust = trust(&[&root]);
    assert_eq!(check(&trust, &[&root.certificate]), Err(Distrust::KeyUsage), "it may sign certificates only");
    assert_eq!(check(&trust, &[&alice, &middle.certificate]), Ok(()));
    assert_eq!(check(&trust, &[&alice, &root.certificate, &middle.certificate]), Ok(()), "the order does not matter");
    assert_eq!(check(&trust, &[&alice]), Err(Distrust::NoIssuer));
    assert_eq!(check(&trust, &[]), Err(Distrust::Missing));
    let trust = trust.with_known(vec![Arc::clone(&middle.certificate)]);
    assert_eq!(check(&trust, &[&alice]), Ok(()), "a known certificate leads to the anchor");
}

#[test]
fn an_authority_in_the_middle_can_be_the_anchor() {
    let middle = Authority::root("Root").authority(authority_parameters("Middle"));
    let alice = middle.issue(&parameters("Alice"), P256);
    assert_eq!(check(&trust(&[&middle]), &[&alice]), Ok(()));
}

#[test]
fn a_certificate_that_vouches_for_itself_is_trusted_only_as_an_anchor() {
    let alice = identity("Alice", KeyKind::Rsa);
    let own = Trust::new(alice.chain.clone(), Vec::new(), TrustLimits::default());
    assert_eq!(check(&own, &[alice.certificate()]), Ok(()));
    assert_eq!(check(&trust(&[]), &[alice.certificate()]), Err(Distrust::NoIssuer));
    // The same name and number, another key.
    let forged = identity("Alice", P256);
    assert_eq!(check(&own, &[forged.certificate()]), Err(Distrust::NotAnAuthority));
}

#[test]
fn known_certificates_are_not_trusted() {
    let (root, other) = (Authority::root("Root"), Authority::root("Other"));
    let alice = other.issue(&parameters("Alice"), P256);
    let trust = trust(&[&root]).with_known(vec![Arc::clone(&alice), Arc::clone(&other.certificate)]);
    assert_eq!(check(&trust, &[&alice]), Err(Distrust::NoIssuer));
}

#[test]
fn the_name_of_an_authority_without_its_key_is_not_enough() {
    let (root, forged) = (Authority::root("Root"), Authority::root("Root"));
    let alice = forged.issue(&parameters("Alice"), P256);
    assert_eq!(check(&trust(&[&root]), &[&alice, &forged.certificate]), Err(Distrust::Signature));
    let trust = trust(&[&root, &forged]);
    assert_eq!(check(&trust, &[&alice]), Ok(()), "of two anchors with one name, one has the key");
}

#[test]
fn only_authorities_issue_certificates() {
    let root = Authority::root("Root");
    let judge = |above| {
        let middle = root.authority(above);
        check(&trust(&[&root]), &[&middle.issue(&numbered(1), P256), &middle.certificate])
    };
    assert_eq!(judge(parameters("Middle")), Err(Distrust::NotAnAuthority));
    let mut unmarked = authority_parameters("Middle");
    unmarked.is_ca = IsCa::ExplicitNoCa;
    assert_eq!(judge(unmarked), Err(Distrust::NotAnAuthority));
    let mut usage = authority_parameters("Middle");
    usage.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    assert_eq!(judge(usage), Err(Distrust::NotAnAuthority));
    let mut unsaid = authority_parameters("Middle");
    unsaid.key_usages = Vec::new();
    assert_eq!(judge(unsaid), Ok(()));
}

#[test]
fn an_authority_limits_how_many_are_below_it() {
    let mut constrained = authority_parameters("Root");
    constrained.is_ca = IsCa::Ca(BasicConstraints::Constrained(1));
    let root = Authority::self_signed(constrained);
    let one = root.authority(authority_parameters("One"));
    let two = one.authority(authority_parameters("Two"));
    let trust = trust(&[&root]);
    assert_eq!(check(&trust, &[&one.issue(&parameters("Alice"), P256), &one.certificate]), Ok(()));
    let alice = two.issue(&parameters("Alice"), P256);
    assert_eq!(check(&trust, &[&alice, &two.certificate, &one.certificate]), Err(Distrust::PathLength));
}

#[test]
fn a_path_is_no_longer_than_the_limit_and_a_search_has_an_end() {
    let root = Authority::root("Root");
    let mut authorities = vec![root.authority(authority_parameters("0"))];
    for number in 1..10 {
        authorities.push(authorities[number - 1].authority(authority_parameters(&number.to_string())));
    }
    let trust = trust(&[&root]);
    let judge = |depth: usize| {
        let alice = authorities[depth - 1].issue(&parameters("Alice"), P256);
        let above = authorities[..depth].iter().map(|authority| &authority.certificate);
        check(&trust, &std::iter::once(&alice).chain(above).collect::<Vec<_>>())
    };
    assert_eq!(judge(6), Ok(()));
    assert_eq!(judge(7), Err(Distrust::PathTooLong));

    // Many that could have issued each other, and none that leads anywhere.
    let impostors: Vec<_> = (0..100).map(|_| Authority::root("Impostor")).collect();
    let alice = impostors[0].issue(&parameters("Alice"), P256);
    let all: Vec<_> = std::iter::once(&alice).chain(impostors.iter().map(|other| &other.certificate)).collect();
    assert_eq!(check(&trust, &all), Err(Distrust::PathTooLong));
}

#[test]
fn certificates_are_good_for_a_time() {
    let root = Authority::root("Root");
    let mut short = authority_parameters("Middle");
    short.not_before = rcgen::date_time_ymd(2025, 1, 1);
    short.not_after = rcgen::date_time_ymd(2026, 1, 1);
    let middle = root.authority(short);
    let chain = [middle.issue(&parameters("Alice"), P256), Arc::clone(&middle.certificate)];
    let trust = trust(&[&root]);
    let at = |now| trust.check(&chain, Purpose::Signature, now).map_err(|error| error.reason);
    assert_eq!(at(now()), Ok(()));
    // What is remembered holds no longer than the shortest of them.
    assert_eq!(at(middle.certificate.not_after()), Ok(()));
    assert_eq!(at(middle.certificate.not_after() + Duration::from_secs(1)), Err(Distrust::Expired));
    assert_eq!(at(middle.certificate.not_before() - Duration::from_secs(1)), Err(Distrust::NotYetValid));
    assert_eq!(at(root.certificate.not_after() + Duration::from_secs(1)), Err(Distrust::Expired));
}

#[test]
fn a_key_is_used_for_what_its_certificate_says() {
    let root = Authority::root("Root");
    let trust = trust(&[&root]);
    let judge = |usages: &[KeyUsagePurpose], purpose| {
        let mut parameters = parameters("Alice");
        parameters.key_usages = usages.to_vec();
        let alice = root.issue(&parameters, KeyKind::Rsa);
        trust.check(slice::from_ref(&alice), purpose, now()).map_err(|error| error.reason)
    };
    let (signs, encrypts) = (KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment);
    assert_eq!(judge(&[], Purpose::Signature), Ok(()));
    assert_eq!(judge(&[], Purpose::Encryption), Ok(()));
    assert_eq!(judge(slice::from_ref(&signs), Purpose::Signature), Ok(()));
    assert_eq!(judge(&[KeyUsagePurpose::ContentCommitment], Purpose::Signature), Ok(()));
    assert_eq!(judge(slice::from_ref(&signs), Purpose::Encryption), Err(Distrust::KeyUsage));
    assert_eq!(judge(slice::from_ref(&encrypts), Purpose::Encryption), Ok(()));
    assert_eq!(judge(slice::from_ref(&encrypts), Purpose::Signature), Err(Distrust::KeyUsage));
    assert_eq!(judge(&[signs, encrypts], Purpose::Signature), Ok(()));
}

#[test]
fn small_keys_are_refused_unless_a_limit_allows_them() {
    let root = Authority::root("Root");
    let alice = root.issue(&parameters("Alice"), KeyKind::Rsa);
    let judge = |rsa_bits_min| {
        let limits = TrustLimits { rsa_bits_min, ..TrustLimits::default() };
        check(&Trust::new(vec![Arc::clone(&root.certificate)], Vec::new(), limits), &[&alice])
    };
    assert_eq!(judge(2048), Ok(()));
    assert_eq!(judge(3072), Err(Distrust::KeyTooSmall));
}

#[test]
fn unknown_critical_extensions_are_refused() {
    let root = Authority::root("Root");
    let judge = |critical| {
        let mut parameters = parameters("Alice");
        let mut extension = CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
        extension.set_criticality(critical);
        parameters.custom_extensions = vec![extension];
        // Uses in TLS say nothing of messages.
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        check(&trust(&[&root]), &[&root.issue(&parameters, P256)])
    };
    assert_eq!(judge(false), Ok(()));
    assert_eq!(judge(true), Err(Distrust::UnknownExtension));
}

#[test]
fn an_authority_vouches_for_the_names_it_may() {
    let organization = |name: &str| {
        let mut subtree = rcgen::DistinguishedName::new();
        subtree.push(rcgen::DnType::OrganizationName, name);
        GeneralSubtree::DirectoryName(subtree)
    };
    let judge = |permitted: Vec<GeneralSubtree>, excluded: Vec<GeneralSubtree>, names: &[SanType]| {
        let mut constrained = authority_parameters("Root");
        constrained.name_constraints =
            Some(NameConstraints { permitted_subtrees: permitted, excluded_subtrees: excluded });
        let root = Authority::self_signed(constrained);
        let mut parameters = parameters("Alice");
        parameters.subject_alt_names = names.to_vec();
        check(&trust(&[&root]), &[&root.issue(&parameters, P256)])
    };
    let host = |name: &str| SanType::DnsName(name.try_into().expect("a name"));
    let mail = || SanType::Rfc822Name("a@b.example".try_into().expect("an address"));
    let subtree = |name: &str| GeneralSubtree::DnsName(name.to_owned());
    const REFUSED: Result<(), Distrust> = Err(Distrust::NameNotAllowed);
    assert_eq!(judge(vec![organization("Myelin")], vec![], &[]), Ok(()));
    assert_eq!(judge(vec![organization("Other")], vec![], &[]), REFUSED);
    assert_eq!(judge(vec![], vec![organization("Myelin")], &[]), REFUSED);
    assert_eq!(judge(vec![], vec![organization("Other")], &[]), Ok(()));
    assert_eq!(judge(vec![subtree("b.example")], vec![], &[host("b.example"), host("A.B.example")]), Ok(()));
    assert_eq!(judge(vec![subtree("b.example")], vec![], &[host("ab.example")]), REFUSED);
    assert_eq!(judge(vec![subtree("b.example")], vec![], &[]), Ok(()));
    assert_eq!(judge(vec![], vec![subtree("b.example")], &[host("a.b.example")]), REFUSED);
    // Addresses of mail are not looked into, so that a constraint on them allows none.
    let addresses = || GeneralSubtree::Rfc822Name("b.example".to_owned());
    assert_eq!(judge(vec![addresses()], vec![], &[mail()]), REFUSED);
    assert_eq!(judge(vec![addresses()], vec![], &[]), Ok(()));
}

/// A list of `authority`, good in November 2025, that names one certificate.
fn list(authority: &Authority, revoked: Option<&Certificate>, partial: bool) -> Vec<u8> {
    let revoked = revoked.map(|certificate| RevokedCertParams {
        serial_number: SerialNumber::from(number(certificate)),
        revocation_time: rcgen::date_time_ymd(2025, 11, 1),
        reason_code: Some(rcgen::RevocationReason::KeyCompromise),
        invalidity_date: None,
    });
    let part = CrlIssuingDistributionPoint {
        distribution_point: CrlDistributionPoint { uris: vec!["http://localhost/1".to_owned()] },
        scope: None,
    };
    let parameters = CertificateRevocationListParams {
        this_update: rcgen::date_time_ymd(2025, 11, 1),
        next_update: rcgen::date_time_ymd(2025, 12, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: partial.then_some(part),
        revoked_certs: revoked.into_iter().collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    parameters.signed_by(authority.issuer()).expect("a list").der().to_vec()
}

fn number(certificate: &Certificate) -> u64 {
    certificate.serial().parse().expect("a small number")
}

#[test]
fn revoked_certificates_are_refused_and_lists_out_of_date_trust_nobody() {
    let root = Authority::root("Root");
    let (alice, bob) = (root.issue(&numbered(300), P256), root.issue(&numbered(301), P256));
    let with = |lists: &[Vec<u8>]| {
        let lists = lists.iter().map(|list| Crl::from_der(list).expect("a list")).collect();
        Trust::new(vec![Arc::clone(&root.certificate)], lists, TrustLimits::default())
    };
    let trust = with(&[list(&root, Some(&alice), false)]);
    assert_eq!(check(&trust, &[&alice]), Err(Distrust::Revoked));
    assert_eq!(check(&trust, &[&bob]), Ok(()));
    let late = now() + Duration::from_secs(86_400 * 30);
    let judged = trust.check(slice::from_ref(&bob), Purpose::Signature, late);
    assert_eq!(judged.map_err(|error| error.reason), Err(Distrust::RevocationUnknown));

    let (other, forged) = (Authority::root("Other"), Authority::root("Root"));
    assert_eq!(check(&with(&[list(&other, None, false)]), &[&bob]), Err(Distrust::RevocationUnknown));
    assert_eq!(check(&with(&[list(&forged, None, false)]), &[&bob]), Err(Distrust::RevocationUnknown));
    assert_eq!(check(&with(&[list(&forged, Some(&bob), false), list(&root, None, false)]), &[&bob]), Ok(()));
    assert_eq!(
        check(&with(&[list(&root, None, false), list(&root, Some(&bob), false)]), &[&bob]),
        Err(Distrust::Revoked)
    );
}

#[test]
fn lists_about_some_certificates_are_not_read() {
    let root = Authority::root("Root");
    let whole = list(&root, Some(&root.issue(&numbered(5), P256)), false);
    assert!(Crl::from_der(&list(&root, None, true)).is_err());
    for length in 0..whole.len() {
        assert!(Crl::from_der(&whole[..length]).is_err());
    }
    let text = pem_text("X509 CRL", &whole);
    assert_eq!(Crl::read(format!("{text}{text}").as_bytes()).expect("lists").len(), 2);
    assert_eq!(Crl::read(&whole).expect("a list").len(), 1);
    assert!(Crl::read(pem_text("CERTIFICATE", &whole).as_bytes()).is_err());
}

fn numbered(number: u64) -> rcgen::CertificateParams {
    let mut parameters = parameters("Alice");
    parameters.serial_number = Some(SerialNumber::from(number));
    parameters
}

fn pem_text(label: &str, der: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

#[test]
fn certificates_are_found_by_what_messages_say_of_them() {
    let root = Authority::root("Root");
    let alice = root.issue(&numbered(77), P256);
    let trust = trust(&[&root]).with_known(vec![Arc::clone(&alice)]);
    let found = |certificate: Option<&Arc<Certificate>>| certificate.is_some_and(|found| *found == alice);
    assert!(found(trust.by_issuer_serial("CN=root, O=Myelin", "77")));
    assert!(!found(trust.by_issuer_serial("CN=root, O=Myelin", "78")));
    assert!(!found(trust.by_issuer_serial("CN=Root2, O=Myelin", "77")));
    assert!(found(trust.by_key_identifier(alice.key_identifier())));
    assert!(found(trust.by_thumbprint(alice.thumbprint())));
    assert!(found(trust.by_subject("CN=Alice,O=Myelin")));
    assert!(found(trust.by_public_key(alice.public_key())));
    assert!(!found(trust.by_key_identifier(b"")) && !found(trust.by_thumbprint(b"")) && !found(trust.by_subject("")));
}
