//! The keys that a policy's Rampart configuration names.
//!
//! Only what is needed is read: many a policy names key stores that its binding has no use for.

use std::rc::Rc;
use std::sync::Arc;

use super::needs::Needs;
use super::{KeyFiles, Keys, Settings};
use crate::Problem;
use crate::algorithm::DigestMethod;
use crate::crypto::Secret;
use crate::keys::{Certificate, Crl, Identity, KeyStore, Passwords, StoreKind, Trust, TrustLimits};
use crate::policy::{Crypto, EncryptionUser, Policy, Rampart};

/// Reads the keys; the second of the pair are warnings. What is wrong has the place of `RampartConfig`, which names them.
pub(super) fn keys(
    policy: &Policy,
    needs: &Needs,
    files: &dyn KeyFiles,
    settings: &Settings,
) -> Result<(Keys, Vec<Problem>), Vec<Problem>> {
    let located = |problems: Vec<Problem>| -> Vec<Problem> {
        problems.into_iter().map(|problem| problem.at(policy.rampart_place())).collect()
    };
    let read = read(policy, needs, files, settings);
    read.map(|(keys, warnings)| (keys, located(warnings))).map_err(located)
}

fn read(
    policy: &Policy,
    needs: &Needs,
    files: &dyn KeyFiles,
    settings: &Settings,
) -> Result<(Keys, Vec<Problem>), Vec<Problem>> {
    let rampart = policy.alternatives.first().map(|first| first.rampart.clone()).unwrap_or_default();
    if policy.alternatives.iter().any(|other| other.rampart != rampart) {
        let message = "the alternatives of the policy have different RampartConfigs; write one, outside of ExactlyOne";
        return Err(vec![Problem::general(message)]);
    }
    let mut suites = policy.alternatives.iter().filter_map(|alternative| alternative.binding.common());
    let limits = TrustLimits {
        rsa_bits_min: settings.rsa_bits_min,
        path_length_max: settings.limits.certificate_path,
        sha1: suites.any(|common| common.suite.digest == DigestMethod::Sha1),
    };
    let mut stores = Stores { files, rampart: &rampart, limits, read: Vec::new(), warnings: Vec::new() };
    let mut problems = Vec::new();
    let mut keep = |problem: Problem| problems.push(problem);
    let signature = needs.signature.then(|| stores.signature().map_err(&mut keep).ok()).flatten();
    let decryption = needs.decryption.then(|| stores.decryption().map_err(&mut keep).ok()).flatten();
    let encryption = needs.encryption.then(|| stores.encryption().map_err(&mut keep).ok()).flatten();
    let trust = if needs.trust { stores.trust().map_err(&mut keep).ok() } else { Some(stores.trust_nobody()) };
    match trust {
        Some(trust) if problems.is_empty() => {
            let keys = Keys {
                signature,
                decryption: decryption.unwrap_or_default(),
                encryption: encryption.flatten(),
                trust: Arc::new(trust),
                users: Arc::clone(&settings.users),
            };
            Ok((keys, stores.warnings))
        }
        _ => Err(problems),
    }
}

/// The key stores of a policy, each read once.
struct Stores<'a> {
    files: &'a dyn KeyFiles,
    rampart: &'a Rampart,
    limits: TrustLimits,
    read: Vec<(Crypto, Rc<KeyStore>)>,
    warnings: Vec<Problem>,
}

impl Stores<'_> {
    /// The private key that signs: of `userCertAlias`, otherwise of `user`, otherwise of the store's own alias.
    ///
    /// Source: Rampart's `BindingBuilder.getSignatureBuilder`.
    fn signature(&mut self) -> Result<Arc<Identity>, Problem> {
        let crypto = self.crypto(self.rampart.signature_crypto.as_ref(), "signatureCrypto")?;
        let store = self.store(&crypto)?;
        let Rampart { user_certificate_alias, user, .. } = self.rampart;
        // The user may be one of username tokens only, so that the key that is named after it is meant.
        let names = match user_certificate_alias {
            Some(alias) => vec![alias],
            None => user.iter().chain(&crypto.alias).collect(),
        };
        let found = names.iter().find_map(|alias| store.identity(alias).ok());
        match (found, names.as_slice(), store.identities.as_slice()) {
            (Some(identity), _, _) | (None, [], [identity]) => Ok(Arc::clone(identity)),
            (None, [], _) => {
                Err(Problem::general("nothing says which key signs: name it by userCertAlias in RampartConfig"))
            }
            (None, [first, ..], _) => {
                let error = store.identity(first).cloned();
                error.map_err(|error| Problem::general(format!("the key that signs: {error}")))
            }
        }
    }

    /// The private keys that decrypt: all of their store.
    fn decryption(&mut self) -> Result<Vec<Arc<Identity>>, Problem> {
        let rampart = self.rampart;
        let crypto = rampart.decryption_crypto.as_ref().or(rampart.signature_crypto.as_ref());
        let crypto =
            self.crypto(crypto.or(rampart.encryption_crypto.as_ref()), "decryptionCrypto or signatureCrypto")?;
        let store = self.store(&crypto)?;
        Ok(store.identities.clone())
    }

    /// The certificate of whom messages are encrypted for; none where it is the request's signer.
    fn encryption(&mut self) -> Result<Option<Arc<Certificate>>, Problem> {
        let alias = match &self.rampart.encryption_user {
            Some(EncryptionUser::RequestSigner) => return Ok(None),
            Some(EncryptionUser::Alias(alias)) => alias,
            None => {
                let message =
                    "nothing says for whom messages are encrypted: name it by encryptionUser in RampartConfig";
                return Err(Problem::general(message));
            }
        };
        let rampart = self.rampart;
        let crypto = rampart.encryption_crypto.as_ref().or(rampart.signature_crypto.as_ref());
        let crypto = self.crypto(crypto, "encryptionCrypto")?;
        let store = self.store(&crypto)?;
        let certificate = store.certificate(alias).cloned();
        let message = || format!("the key store has no certificate {alias:?} to encrypt for");
        certificate.map(Some).ok_or_else(|| Problem::general(message()))
    }

    /// Whom to trust: the trust store, or all certificates of the key store where it has none beside it.
    ///
    /// Source: WSS4J's Merlin trusts both together; here a trust store is all that is trusted.
    fn trust(&mut self) -> Result<Trust, Problem> {
        let crypto = self.crypto(self.rampart.signature_crypto.as_ref(), "signatureCrypto")?;
        let mut trust_stores = Vec::new();
        if let Some(file) = &crypto.trust_file {
            trust_stores.push(Crypto {
                file: Some(file.clone()),
                kind: crypto.trust_kind.clone(),
                password: crypto.trust_password.clone(),
                ..Crypto::default()
            });
        }
        for name in &crypto.server_trust {
            trust_stores.push(self.server_store(name)?);
        }
        let needs_own = trust_stores.is_empty() || crypto.file.is_some();
        let own = if needs_own { Some(self.store(&crypto)?) } else { None };
        let own: Vec<Arc<Certificate>> = own.iter().flat_map(|store| certificates(store)).collect();
        let anchors = match trust_stores.as_slice() {
            [] => own.clone(),
            stores => {
                let mut anchors = Vec::new();
                for crypto in stores {
                    anchors.extend(certificates(&*self.store(crypto)?));
                }
                anchors
            }
        };
        if anchors.is_empty() {
            return Err(Problem::general("no certificate is trusted: the trust store is empty"));
        }
        let crls = match &crypto.crl_file {
            None => Vec::new(),
            Some(path) => {
                let bytes = self.files.read(path).map_err(Problem::general)?;
                Crl::read(&bytes).map_err(|error| Problem::general(format!("{path}: {error}")))?
            }
        };
        Ok(Trust::new(anchors, crls, self.limits.clone()).with_known(own))
    }

    fn trust_nobody(&self) -> Trust {
        Trust::new(Vec::new(), Vec::new(), self.limits.clone())
    }

    /// A key store of the configuration, with what the server knows of one that only its name is said of.
    fn crypto(&self, crypto: Option<&Crypto>, expected: &str) -> Result<Crypto, Problem> {
        let Some(crypto) = crypto else {
            return Err(Problem::general(format!("RampartConfig names no key store: expected {expected}")));
        };
        let Some(name) = &crypto.server_store else { return Ok(crypto.clone()) };
        let known = self.server_store(name)?;
        let alias = crypto.alias.clone().or(known.alias);
        Ok(Crypto { alias, server_store: None, server_trust: crypto.server_trust.clone(), ..known })
    }

    fn server_store(&self, name: &str) -> Result<Crypto, Problem> {
        let known = self.files.server_store(name);
        known.ok_or_else(|| Problem::general(format!("the server has no key store {name:?} of its own")))
    }

    /// Reads a key store.
    fn store(&mut self, crypto: &Crypto) -> Result<Rc<KeyStore>, Problem> {
        if let Some((_, store)) = self.read.iter().find(|(known, _)| known == crypto) {
            return Ok(Rc::clone(store));
        }
        let Some(path) = &crypto.file else {
            return Err(Problem::general("a key store without a file: expected the property …merlin.file"));
        };
        let kind = crypto.kind.as_deref().map(|kind| {
            let message =
                || format!("{path}: no key stores of type {kind} are read, expected JKS, JCEKS, PKCS12 or PEM");
            StoreKind::from_name(kind).ok_or_else(|| Problem::general(message()))
        });
        let kind = kind.transpose()?;
        let bytes = self.files.read(path).map_err(Problem::general)?;
        let passwords = Passwords { store: self.secret(crypto.password.as_ref())?, key: self.key_password(crypto)? };
        let store = KeyStore::read(&bytes, kind, &passwords);
        let store = Rc::new(store.map_err(|error| Problem::general(format!("{path}: {error}")))?);
        for (alias, error) in &store.unreadable {
            self.warnings.push(Problem::general(format!("{path}: {alias:?} is not used: {error}")));
        }
        self.read.push((crypto.clone(), Rc::clone(&store)));
        Ok(store)
    }

    fn secret(&self, text: Option<&String>) -> Result<Option<Secret>, Problem> {
        text.map(|text| self.files.secret(text).map_err(Problem::general)).transpose()
    }

    /// The password of the private keys, where it is not the store's: what WSS4J asks the password callback for.
    fn key_password(&self, crypto: &Crypto) -> Result<Option<Secret>, Problem> {
        if crypto.key_password.is_some() {
            return self.secret(crypto.key_password.as_ref());
        }
        let names = [&self.rampart.user_certificate_alias, &self.rampart.user, &crypto.alias];
        Ok(names.into_iter().flatten().find_map(|alias| self.files.key_password(alias)))
    }
}

/// All certificates of a store, those of its private keys included.
fn certificates(store: &KeyStore) -> impl Iterator<Item = Arc<Certificate>> + '_ {
    let own = store.identities.iter().flat_map(|identity| identity.chain.iter().cloned());
    own.chain(store.certificates.iter().map(|(_, certificate)| Arc::clone(certificate)))
}
