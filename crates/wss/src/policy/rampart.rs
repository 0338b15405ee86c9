//! Apache Rampart's `RampartConfig`, and what WSO2 adds to it.

use std::time::Duration;

use myelin_xml::NodeId;

use super::reader::Reader;
use super::{Crypto, EncryptionUser, Rampart};

/// The namespace of `RampartConfig`.
pub(super) const RAMPART: &str = "http://ws.apache.org/rampart/policy";
/// The namespace of `CarbonSecConfig`.
pub(super) const CARBON: &str = "http://www.wso2.org/products/carbon/security";

/// Times longer than this are a mistake: the cache that tells replays holds what came in such a time.
const SECONDS_MAX: u64 = 86_400;

/// Reads a `RampartConfig`.
pub(super) fn read(reader: &mut Reader<'_>, config: NodeId, rampart: &mut Rampart) {
    for node in reader.elements(config).collect::<Vec<_>>() {
        let name = reader.name(node);
        let text = || reader.text(node);
        match name.local {
            "user" => rampart.user = Some(text()),
            "userCertAlias" => rampart.user_certificate_alias = Some(text()),
            "encryptionUser" => {
                rampart.encryption_user = Some(match text() {
                    user if user == "useReqSigCert" => EncryptionUser::RequestSigner,
                    user => EncryptionUser::Alias(user),
                });
            }
            "actor" => rampart.actor = Some(text()).filter(|actor| !actor.is_empty()),
            "mustUnderstand" => rampart.must_understand = boolean(reader, node).unwrap_or(true),
            "timestampTTL" => seconds(reader, node, &mut rampart.timestamp_ttl),
            "timestampMaxSkew" => seconds(reader, node, &mut rampart.timestamp_max_skew),
            "nonceLifeTime" => seconds(reader, node, &mut rampart.nonce_life),
            "timestampStrict" => rampart.timestamp_strict = boolean(reader, node).unwrap_or(false),
            "timestampPrecisionInMilliseconds" => {
                rampart.timestamp_precision_millis = boolean(reader, node).unwrap_or(true);
            }
            "signatureCrypto" => rampart.signature_crypto = crypto(reader, node, rampart),
            // Rampart's own samples have the second spelling, and it reads both.
            "encryptionCrypto" | "encryptionCypto" => rampart.encryption_crypto = crypto(reader, node, rampart),
            "decryptionCrypto" => rampart.decryption_crypto = crypto(reader, node, rampart),
            "passwordCallbackClass" => reader.warn(
                node,
                "no Java class is asked for passwords: those of users and keys are in the server's configuration",
            ),
            other @ ("stsAlias"
            | "stsCrypto"
            | "tokenStoreClass"
            | "tokenIssuerPolicy"
            | "kerberosConfig"
            | "sslConfig"
            | "optimizeParts"
            | "optimizeMessageProcessingForTransportBinding") => {
                reader.warn(node, format!("{other} has no effect here"));
            }
            other @ ("policyValidatorCbClass" | "rampartConfigCallbackClass") => {
                reader.unsupported(node, format!("{other} names a Java class that decides about messages"));
            }
            other => reader.wrong(node, format!("{other} is not known in RampartConfig")),
        }
    }
}

/// Reads a `CarbonSecConfig`: which roles may; all else in it is for tokens that are not supported.
pub(super) fn read_carbon(reader: &mut Reader<'_>, config: NodeId, rampart: &mut Rampart) {
    for node in reader.elements(config).collect::<Vec<_>>() {
        match reader.name(node).local {
            "Authorization" => {
                for property in reader.elements(node).collect::<Vec<_>>() {
                    match reader.attribute(property, "name").as_deref() {
                        Some("org.wso2.carbon.security.allowedroles") => {
                            let roles = reader.text(property);
                            let roles = roles.split(',').map(str::trim).filter(|role| !role.is_empty());
                            rampart.allowed_roles.extend(roles.map(str::to_owned));
                        }
                        _ => reader.wrong(property, "this property is not known in Authorization"),
                    }
                }
            }
            other @ ("Kerberos" | "Trust" | "Tomcat") => reader.warn(node, format!("{other} has no effect here")),
            other => reader.wrong(node, format!("{other} is not known in CarbonSecConfig")),
        }
    }
}

/// Reads the `crypto` in one of the elements that name key stores.
fn crypto(reader: &mut Reader<'_>, wrapper: NodeId, rampart: &mut Rampart) -> Option<Crypto> {
    let children: Vec<NodeId> = reader.elements(wrapper).collect();
    let [node] = children.as_slice() else {
        reader.wrong(wrapper, "expected one crypto in it");
        return None;
    };
    let provider = reader.attribute(*node, "provider").unwrap_or_default();
    let is_server = provider.trim().ends_with(".ServerCrypto");
    if !is_server && !provider.contains(".Merlin") {
        reader.unsupported(*node, format!("the provider {provider} is not supported, expected Merlin or ServerCrypto"));
    }
    let mut crypto = Crypto::default();
    for property in reader.elements(*node).collect::<Vec<_>>() {
        let key = reader.attribute(property, "name").unwrap_or_default();
        let value = reader.text(property);
        let known = if is_server {
            server_property(&mut crypto, rampart, key.trim(), value)
        } else {
            merlin_property(&mut crypto, key.trim(), value)
        };
        match known {
            Known::Yes => {}
            Known::NoEffect => reader.warn(property, format!("{key} has no effect here")),
            Known::No => reader.wrong(property, format!("the property {key} is not known")),
        }
    }
    Some(crypto)
}

/// What a property of a key store is to us.
enum Known {
    Yes,
    NoEffect,
    No,
}

/// Takes a property of WSS4J's Merlin.
fn merlin_property(crypto: &mut Crypto, key: &str, value: String) -> Known {
    const PREFIXES: [&str; 2] = ["org.apache.ws.security.crypto.merlin.", "org.apache.wss4j.crypto.merlin."];
    let Some(short) = PREFIXES.iter().find_map(|prefix| key.strip_prefix(prefix)) else {
        let selects_class =
            matches!(key, "org.apache.ws.security.crypto.provider" | "org.apache.wss4j.crypto.provider");
        return if selects_class { Known::Yes } else { Known::No };
    };
    let place = match short {
        "file" | "keystore.file" => &mut crypto.file,
        "keystore.type" => &mut crypto.kind,
        "keystore.password" => &mut crypto.password,
        "keystore.alias" => &mut crypto.alias,
        "keystore.private.password" => &mut crypto.key_password,
        "truststore.file" => &mut crypto.trust_file,
        "truststore.type" => &mut crypto.trust_kind,
        "truststore.password" => &mut crypto.trust_password,
        "x509crl.file" => &mut crypto.crl_file,
        "keystore.provider"
        | "truststore.provider"
        | "cert.provider"
        | "cert.provider.name"
        | "keystore.private.caching"
        | "load.cacerts" => return Known::NoEffect,
        _ => return Known::No,
    };
    *place = Some(value).filter(|value| !value.is_empty());
    Known::Yes
}

/// Takes a property of WSO2's ServerCrypto, which names key stores that the server knows.
fn server_property(crypto: &mut Crypto, rampart: &mut Rampart, key: &str, value: String) -> Known {
    match key {
        "org.wso2.carbon.security.crypto.privatestore" => crypto.server_store = Some(value),
        "org.wso2.carbon.security.crypto.truststores" => {
            let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
            crypto.server_trust.extend(names.map(str::to_owned));
        }
        "org.wso2.carbon.security.crypto.alias" => crypto.alias = Some(value),
        "rampart.config.user" => rampart.user = rampart.user.take().or(Some(value)),
        "org.wso2.stratos.tenant.id" | "org.wso2.carbon.security.crypto.cert.alias" => return Known::NoEffect,
        _ => return Known::No,
    }
    Known::Yes
}

fn boolean(reader: &mut Reader<'_>, node: NodeId) -> Option<bool> {
    match reader.text(node).to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        other => {
            reader.wrong(node, format!("{other:?} is neither true nor false"));
            None
        }
    }
}

fn seconds(reader: &mut Reader<'_>, node: NodeId, place: &mut Duration) {
    let text = reader.text(node);
    match text.parse::<u64>() {
        Ok(seconds) if seconds <= SECONDS_MAX => *place = Duration::from_secs(seconds),
        _ => reader.wrong(node, format!("{text:?} is no number of seconds up to {SECONDS_MAX}")),
    }
}
