//! Guards of the two sides, with the keys that WSS4J's side made.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use myelin_wss::Limits;
use myelin_wss::guard::{Guard, Keys, NoUsers, Settings, Side, Uses};
use myelin_wss::keys::{Identity, KeyStore, Passwords, StoreKind, Trust, TrustLimits};
use myelin_wss::policy::Policy;

use super::Profile;

/// A timestamp, and the body signed; the body encrypted unless the keys are on curves, which encrypt nothing.
fn policy(profile: Profile) -> String {
    let suite = match profile {
        Profile::Modern | Profile::Ecdsa => "Basic128GCMSha256",
        Profile::Legacy => "Basic128Rsa15",
    };
    let encrypted = if profile == Profile::Ecdsa { "" } else { "<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>" };
    let token = |inclusion: &str| {
        let uri = format!("http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/{inclusion}");
        format!(
            r#"<wsp:Policy><sp:X509Token sp:IncludeToken="{uri}"><wsp:Policy><sp:RequireThumbprintReference/>
                <sp:WssX509V3Token10/></wsp:Policy></sp:X509Token></wsp:Policy>"#
        )
    };
    let (signs, encrypts) = (token("Always").replace("<sp:RequireThumbprintReference/>", ""), token("Never"));
    format!(
        r#"<wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"
            xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702"><sp:AsymmetricBinding><wsp:Policy>
            <sp:InitiatorSignatureToken>{signs}</sp:InitiatorSignatureToken>
            <sp:InitiatorEncryptionToken>{encrypts}</sp:InitiatorEncryptionToken>
            <sp:RecipientSignatureToken>{signs}</sp:RecipientSignatureToken>
            <sp:RecipientEncryptionToken>{encrypts}</sp:RecipientEncryptionToken>
            <sp:AlgorithmSuite><wsp:Policy><sp:{suite}/></wsp:Policy></sp:AlgorithmSuite><sp:IncludeTimestamp/>
            </wsp:Policy></sp:AsymmetricBinding><sp:SignedParts><sp:Body/></sp:SignedParts>{encrypted}</wsp:Policy>"#
    )
}

/// The private key and certificates of somebody.
pub(super) fn identity(keys: &Path, name: &str) -> anyhow::Result<Arc<Identity>> {
    let mut pem = std::fs::read(keys.join(format!("{name}.key.pem"))).with_context(|| name.to_owned())?;
    pem.extend(std::fs::read(keys.join(format!("{name}.pem")))?);
    let store = KeyStore::read(&pem, Some(StoreKind::Pem), &Passwords::default())?;
    store.identities.into_iter().next().with_context(|| format!("no private key of {name}"))
}

/// The guards of the client and of the gateway.
pub(super) fn guards(keys: &Path, profile: Profile) -> anyhow::Result<(Guard, Guard)> {
    let problems = |problems: Vec<myelin_wss::Problem>| anyhow!("{problems:?}");
    let root = KeyStore::read(&std::fs::read(keys.join("ca.pem"))?, Some(StoreKind::Pem), &Passwords::default())?;
    let anchors: Vec<_> = root.certificates.into_iter().map(|(_, certificate)| certificate).collect();
    let guard = |side: Side, own: &str, peer: &str| {
        let [own, peer] = [own, peer].map(|name| identity(keys, &format!("{name}{}", profile.people())));
        let own = own?;
        let limits = TrustLimits { rsa_bits_min: 1024, ..TrustLimits::default() };
        let encryption = if profile == Profile::Ecdsa { None } else { Some(Arc::clone(peer?.certificate())) };
        let keys = Keys {
            signature: Some(Arc::clone(&own)),
            decryption: vec![own],
            encryption,
            trust: Arc::new(Trust::new(anchors.clone(), Vec::new(), limits)),
            users: Arc::new(NoUsers),
        };
        let (limits, users) = (Limits::default(), Arc::new(NoUsers));
        let settings = Settings { limits, rsa_bits_min: 1024, ..Settings::new(users) };
        let (policy, _) = Policy::parse(policy(profile).as_bytes()).map_err(problems)?;
        let (guard, _) = Guard::new(policy, side, Uses::Both, keys, settings).map_err(problems)?;
        anyhow::Ok(guard)
    };
    Ok((guard(Side::Initiator, "alice", "bob")?, guard(Side::Recipient, "bob", "alice")?))
}
