//! What functions of XPath take from key stores and vaults: all of it while the configuration is loaded.
//!
//! Compare Synapse `EncryptFunction`, `DecryptFunction`, `HMACGenerateFunction` and the Micro Integrator's
//! `SecureVaultLookup`.

use std::path::Path;

use myelin_wss::algorithm::{DigestMethod, KeyTransport};
use myelin_wss::keys::{KeyStore, Passwords};
use myelin_xpath::Argument;

use crate::compiler::Compiler;
use crate::functions::Function;

/// What `encrypt` and `decrypt` want behind the text.
pub(super) const STORE: &str = "takes a text and, as text literals, a key store, its password and an alias, and perhaps \
                                the key store's type and an algorithm such as 'RSA'";

/// What is said of HashiCorp's vault.
pub(super) const NO_HASHICORP: &str = "HashiCorp's vault is not asked: its agent or your platform puts secrets into files \
                                       and the environment, from where wso2:vault-lookup('NAME', 'ENV') reads them, or \
                                       'FILE' with a path";

/// Where container platforms put secrets.
const DOCKER_SECRETS: &str = "/run/secrets";

/// The keyed digest with the name that Java has for it.
pub(super) fn digest(argument: Argument<'_>) -> Result<DigestMethod, String> {
    let Argument::Text(name) = argument else { return Err("the algorithm must be a text literal".to_owned()) };
    match name.to_ascii_uppercase().as_str() {
        "HMACSHA1" => Ok(DigestMethod::Sha1),
        "HMACSHA256" => Ok(DigestMethod::Sha256),
        "HMACSHA384" => Ok(DigestMethod::Sha384),
        "HMACSHA512" => Ok(DigestMethod::Sha512),
        _ => Err(format!("algorithm {name:?} is not offered: HmacSHA1, HmacSHA256, HmacSHA384 and HmacSHA512 are")),
    }
}

/// `encrypt`, with the certificate that it encrypts for.
pub(super) fn encrypt(store: &[Argument<'_>], compiler: &Compiler) -> Result<Function, String> {
    let (store, alias, transport) = opened(store, compiler)?;
    let certificate = store.certificate(alias).ok_or_else(|| format!("the key store has no certificate {alias:?}"))?;
    Ok(Function::Encrypt(certificate.clone(), transport))
}

/// `decrypt`, with its private key.
pub(super) fn decrypt(store: &[Argument<'_>], compiler: &Compiler) -> Result<Function, String> {
    let (store, alias, transport) = opened(store, compiler)?;
    let identity = store.identity(alias).map_err(|error| error.to_string())?;
    Ok(Function::Decrypt(identity.clone(), transport))
}

fn opened<'e>(arguments: &[Argument<'e>], compiler: &Compiler) -> Result<(KeyStore, &'e str, KeyTransport), String> {
    let texts: Option<Vec<&str>> = arguments.iter().map(literal).collect();
    let (file, password, alias, kind, algorithm) = match texts.unwrap_or_default().as_slice() {
        [file, password, alias] => (*file, *password, *alias, None, "RSA"),
        [file, password, alias, kind] => (*file, *password, *alias, Some(*kind), "RSA"),
        [file, password, alias, kind, algorithm] => (*file, *password, *alias, Some(*kind), *algorithm),
        _ => return Err(STORE.to_owned()),
    };
    let passwords = Passwords { store: Some(compiler.secret_bytes(password)?), key: None };
    Ok((compiler.key_store(file, kind, &passwords)?, alias, transport(algorithm)?))
}

/// What Java's name of a transformation means.
fn transport(name: &str) -> Result<KeyTransport, String> {
    let (sha1, sha256) = (DigestMethod::Sha1, DigestMethod::Sha256);
    match name.to_ascii_uppercase().as_str() {
        "RSA" | "RSA/ECB/PKCS1PADDING" | "RSA/NONE/PKCS1PADDING" => Ok(KeyTransport::Rsa15),
        "RSA/ECB/OAEPWITHSHA1ANDMGF1PADDING" | "RSA/ECB/OAEPWITHSHA-1ANDMGF1PADDING" | "RSA/ECB/OAEPPADDING" => {
            Ok(KeyTransport::RsaOaep { digest: sha1, mask: sha1 })
        }
        // Java takes SHA-1 for the mask, whatever the digest.
        "RSA/ECB/OAEPWITHSHA256ANDMGF1PADDING" | "RSA/ECB/OAEPWITHSHA-256ANDMGF1PADDING" => {
            Ok(KeyTransport::RsaOaep { digest: sha256, mask: sha1 })
        }
        _ => Err(format!("algorithm {name:?} is not offered: RSA with PKCS1Padding or OAEP with SHA-1 or SHA-256 is")),
    }
}

fn literal<'e>(argument: &Argument<'e>) -> Option<&'e str> {
    match argument {
        Argument::Text(text) => Some(text),
        _ => None,
    }
}

/// The secret that `vault-lookup('alias', 'ENV'|'FILE'|'DOCKER', 'false')` means.
///
/// Errors: a sentence without the secret.
pub(super) fn vault(arguments: &[Argument<'_>], compiler: &Compiler) -> Result<String, String> {
    let texts: Option<Vec<&str>> = arguments.iter().map(literal).collect();
    let usage = "takes text literals: an alias, and perhaps where it is ('ENV', 'FILE' or 'DOCKER') and 'false'";
    let (alias, place, encrypted) = match texts.unwrap_or_default().as_slice() {
        [alias] => (*alias, "", "false"),
        [alias, place] => (*alias, *place, "false"),
        [alias, place, encrypted] => (*alias, *place, *encrypted),
        _ => return Err(usage.to_owned()),
    };
    if encrypted.eq_ignore_ascii_case("true") {
        return Err("secrets that WSO2's cipher tool encrypted are not offered: the platform protects them".to_owned());
    }
    secret(alias, place, compiler)
}

/// A secret by its name, and where it is: the environment, a file, a secret of the container, or the operator's settings.
///
/// Errors: as [`vault`].
pub(super) fn secret(alias: &str, place: &str, compiler: &Compiler) -> Result<String, String> {
    let reference = match place.to_ascii_uppercase().as_str() {
        "" => format!("$secret{{{alias}}}"),
        "ENV" => format!("$env{{{alias}}}"),
        "FILE" => format!("$file{{{}}}", alias.trim_start_matches("file:")),
        "DOCKER" => format!("$file{{{}}}", Path::new(DOCKER_SECRETS).join(alias).display()),
        other => return Err(format!("secrets are not looked up in {other:?}: ENV, FILE and DOCKER are known")),
    };
    compiler.secret(&reference)
}
