//! WS-Security as a client or a command needs it: a policy with its keys, from files.

mod made;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, anyhow, bail};
use myelin_wss::crypto::Secret;
use myelin_wss::guard::{KeyFiles, Keys, Settings, Side, Users, Uses};
use myelin_wss::keys::{Certificate, Identity, KeyStore, Passwords, StoreKind, Trust, TrustLimits};
use myelin_wss::policy::{Crypto, EncryptionUser, Policy};
use myelin_wss::{Guard, Problem};

pub use made::make_stores;

/// The arguments that name keys; without a key store the policy's own `RampartConfig` names them.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct KeyArguments {
    /// The key store, instead of those that the policy's RampartConfig names
    #[arg(long, value_name = "FILE")]
    pub keystore: Option<PathBuf>,
    /// JKS, JCEKS, PKCS12 or PEM; found by its content where nothing is said
    #[arg(long, value_name = "TYPE", requires = "keystore")]
    pub storetype: Option<String>,
    /// The environment variable with the key store's password
    #[arg(long, value_name = "NAME", requires = "keystore")]
    pub password_env: Option<String>,
    /// The alias of the key that signs; where the store has one key, it is that
    #[arg(long, value_name = "ALIAS", requires = "keystore")]
    pub alias: Option<String>,
    /// The alias of the certificate to encrypt for; where the stores have one besides our own, it is that
    #[arg(long, value_name = "ALIAS", requires = "keystore")]
    pub encrypt_for: Option<String>,
    /// The store of those who are trusted; without one, the certificates of the key store
    #[arg(long, value_name = "FILE", requires = "keystore")]
    pub truststore: Option<PathBuf>,
    /// The environment variable with the trust store's password, where it is another
    #[arg(long, value_name = "NAME", requires = "truststore")]
    pub truststore_password_env: Option<String>,
    /// The user of username tokens
    #[arg(long, value_name = "NAME", requires = "user_password_env")]
    pub user: Option<String>,
    /// The environment variable with the user's password
    #[arg(long, value_name = "NAME", requires = "user")]
    pub user_password_env: Option<String>,
    /// The least size of RSA keys
    #[arg(long, value_name = "BITS", default_value_t = 2048)]
    pub rsa_bits: usize,
}

/// A guard, and what is doubtful about its policy and keys, a line each.
pub type Loaded = (Guard, Vec<String>);

impl KeyArguments {
    /// The guard of a policy in a file.
    ///
    /// Errors: all that is wrong with the policy or the keys, a line each.
    pub fn guard(&self, policy: &Path, side: Side, uses: Uses) -> anyhow::Result<Loaded> {
        let source = fs::read(policy).with_context(|| policy.display().to_string())?;
        let lines = |problems: Vec<Problem>| problems.iter().map(|problem| at(policy, problem)).collect::<Vec<_>>();
        let wrong = |problems| anyhow!(lines(problems).join("\n"));
        let (mut parsed, mut warnings) = Policy::parse(&source).map_err(wrong)?;
        if self.user.is_some() {
            parsed.alternatives.iter_mut().for_each(|alternative| alternative.rampart.user.clone_from(&self.user));
        }
        let user = match (&self.user, &self.user_password_env) {
            (Some(name), Some(variable)) => Some((name.clone(), variable_secret(variable)?)),
            _ => None,
        };
        let users: Arc<dyn Users> = Arc::new(OneUser(user));
        let settings = Settings { rsa_bits_min: self.rsa_bits, ..Settings::new(Arc::clone(&users)) };
        if self.keystore.is_some() && (side == Side::Initiator || self.encrypt_for.is_some()) {
            // What the policy says of whose keys these are is said of others.
            let receiver = EncryptionUser::Alias(self.encrypt_for.clone().unwrap_or_default());
            let alternatives = parsed.alternatives.iter_mut();
            alternatives.for_each(|alternative| alternative.rampart.encryption_user = Some(receiver.clone()));
        }
        let (guard, more) = match &self.keystore {
            Some(store) => Guard::new(parsed, side, uses, self.keys(store, users)?, settings).map_err(wrong)?,
            None => {
                let files = Beside(policy.parent().unwrap_or(Path::new("")).to_owned());
                Guard::load(parsed, side, uses, &files, &settings).map_err(wrong)?
            }
        };
        warnings.extend(more);
        Ok((guard, lines(warnings)))
    }

    /// The keys of the stores that were named.
    fn keys(&self, store: &Path, users: Arc<dyn Users>) -> anyhow::Result<Keys> {
        let password = self.password_env.as_deref().map(variable_secret).transpose()?;
        let kind = match &self.storetype {
            Some(name) => {
                Some(StoreKind::from_name(name).with_context(|| format!("{name:?} is no type of key store"))?)
            }
            None => None,
        };
        let own = read_store(store, kind, password.clone())?;
        let trusted = match &self.truststore {
            Some(path) => {
                let another = self.truststore_password_env.as_deref().map(variable_secret).transpose()?;
                read_store(path, None, another.or(password))?
            }
            None => KeyStore::default(),
        };
        let signature = match (&self.alias, &own.identities[..]) {
            (Some(alias), _) => Some(Arc::clone(own.identity(alias).map_err(|error| anyhow!("{alias}: {error}"))?)),
            (None, [only]) => Some(Arc::clone(only)),
            (None, []) => None,
            (None, _) => bail!("{} has several keys: --alias says which one signs", store.display()),
        };
        let mut anchors: Vec<Arc<Certificate>> = Vec::new();
        let trust_store = if self.truststore.is_some() { &trusted } else { &own };
        anchors.extend(trust_store.certificates.iter().map(|(_, certificate)| Arc::clone(certificate)));
        let encryption = match &self.encrypt_for {
            Some(alias) => {
                let found = own.certificate(alias).or_else(|| trusted.certificate(alias)).cloned();
                Some(found.with_context(|| format!("no store has a certificate {alias:?}"))?)
            }
            None => <[_; 1]>::try_from(anchors.clone()).ok().map(|[only]| only),
        };
        let limits = TrustLimits { rsa_bits_min: self.rsa_bits, ..TrustLimits::default() };
        let decryption: Vec<Arc<Identity>> = own.identities.clone();
        Ok(Keys { signature, decryption, encryption, trust: Arc::new(Trust::new(anchors, Vec::new(), limits)), users })
    }
}

fn read_store(path: &Path, kind: Option<StoreKind>, store: Option<Secret>) -> anyhow::Result<KeyStore> {
    let about = || path.display().to_string();
    let bytes = fs::read(path).with_context(about)?;
    let store = KeyStore::read(&bytes, kind, &Passwords { store, key: None }).with_context(about)?;
    match store.unreadable.first() {
        Some((alias, error)) => Err(anyhow!("{}: {alias}: {error}", about())),
        None => Ok(store),
    }
}

fn variable_secret(name: &str) -> anyhow::Result<Secret> {
    let value = std::env::var(name).map_err(|_| anyhow!("the environment has no variable {name}"))?;
    Ok(Secret::from(value.into_bytes()))
}

/// As compilers say it, so that editors find the place.
fn at(policy: &Path, problem: &Problem) -> String {
    let (line, column) = (problem.line.max(1), problem.column.max(1));
    format!("{}:{line}:{column}: {}", policy.display(), problem.message)
}

/// The one user that was named.
struct OneUser(Option<(String, Secret)>);

impl Users for OneUser {
    fn password(&self, user: &str) -> Option<Secret> {
        self.0.as_ref().filter(|(name, _)| name == user).map(|(_, password)| password.clone())
    }

    fn has_role(&self, _: &str, _: &str) -> bool {
        false
    }
}

/// Key stores by paths from the folder of the policy.
struct Beside(PathBuf);

impl KeyFiles for Beside {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let path = self.0.join(path);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn secret(&self, text: &str) -> Result<Secret, String> {
        let inside = |kind: &str| text.strip_prefix(kind)?.strip_suffix('}');
        if let Some(name) = inside("$env{") {
            return variable_secret(name).map_err(|error| error.to_string());
        }
        if let Some(path) = inside("$file{") {
            let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
            return Ok(Secret::from(text.trim_end_matches(['\r', '\n'])));
        }
        if text.starts_with("$secret{") {
            return Err(format!("{text}: only a bus has such secrets; name the key store with --keystore"));
        }
        Ok(Secret::from(text))
    }

    fn key_password(&self, _: &str) -> Option<Secret> {
        None
    }

    fn server_store(&self, _: &str) -> Option<Crypto> {
        None
    }
}

/// The time that a command is to take for now: `2026-11-21T13:00:00Z`, or less of it.
///
/// Errors: a sentence, where it is no time.
pub fn time(text: &str) -> Result<SystemTime, String> {
    humantime::parse_rfc3339_weak(text).map_err(|error| format!("{text:?} is no time: {error}"))
}
