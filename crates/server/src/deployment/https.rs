//! HTTPS of the server itself, by the names of WSO2: where it is served, which key it shows, and whom it asks for one.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use myelin_channel::{ClientCertificates, PortTls};
use myelin_engine::{ProcessEnvironment, SecuritySettings};
use myelin_wss::crypto::Secret;
use myelin_wss::keys::{KeyStore, Passwords, StoreKind};

use super::wso2::{File, wrong};

/// Synapse's port for HTTPS, before any offset.
const HTTPS_PORT: u16 = 8243;

/// Where WSO2 keeps key stores whose path says nothing else.
const WSO2_STORES: &str = "repository/resources/security";

/// Where a key store may be described; the first that names a file counts.
const KEY_STORES: [&str; 3] = ["transport.https.listener.keystore", "keystore.tls", "keystore.primary"];

/// The same for those whom clients are trusted by.
const TRUST_STORES: [&str; 2] = ["transport.https.listener.truststore", "truststore"];

/// What the file says of HTTPS.
#[derive(Debug, PartialEq)]
pub(super) struct Https {
    pub(super) address: SocketAddr,
    store: Store,
    trust: Option<Store>,
    clients: Asked,
    has_1_2: bool,
    has_1_3: bool,
}

/// A key store as the file describes it.
#[derive(PartialEq)]
pub(super) struct Store {
    pub(super) file: String,
    pub(super) kind: Option<String>,
    pub(super) password: Option<String>,
    pub(super) alias: Option<String>,
    pub(super) key_password: Option<String>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)
    }
}

/// Whether clients are asked for a certificate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    No,
    Optional,
    Required,
}

impl Https {
    /// What a file says of it; `None` where it has no HTTPS.
    ///
    /// The file has it where it names a port for it or switches it on: what every file of WSO2's has, a key store, is no
    /// reason to open a port.
    /// Errors: a port, an address, a version or a word that is none; no key store.
    pub(super) fn read(file: &File, offset: i64) -> anyhow::Result<Option<Https>> {
        let ports = [
            "transport.https.listener.port",
            "transport.http.listener.secured_port",
            "transport.passthru.https.listener.port",
        ];
        let named = first(&ports, |path| file.integer(path))?;
        let switches = ["transport.https.listener.enable", "transport.http.listener.secured_enable"];
        let switch = first(&switches, |path| file.flag(path))?;
        if !switch.unwrap_or(named.is_some()) {
            return Ok(None);
        }
        let port = file.port(&ports, i64::from(HTTPS_PORT), offset, "the HTTPS port")?;
        let hosts = [
            "transport.https.listener.bind_address",
            "transport.http.listener.secured_bind_address",
            "transport.http.listener.bind_address",
        ];
        let host = file.host(&hosts)?.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let store = first(&KEY_STORES, |path| Store::read(file, path))?;
        let store = store.context(
            "HTTPS is switched on, but no key store is named; [keystore.tls] or [keystore.primary] has its file_name, \
             password, alias and key_password",
        )?;
        let (has_1_2, has_1_3) = versions(file)?;
        Ok(Some(Https {
            address: SocketAddr::new(host, port),
            store,
            trust: first(&TRUST_STORES, |path| Store::read(file, path))?,
            clients: clients(file)?,
            has_1_2,
            has_1_3,
        }))
    }

    /// The same with real passwords, and with its files where they are; `folder` is that of the `deployment.toml`.
    ///
    /// Errors: a password refers to what is not there; a file is not there.
    pub(super) fn resolved(
        &self,
        folder: &Path,
        security: &SecuritySettings,
        environment: &ProcessEnvironment,
    ) -> anyhow::Result<KeyStoreTls> {
        let resolved = |store: &Store| store.resolved(folder, security, environment);
        let trust = match (self.clients, &self.trust) {
            (Asked::No, _) => None,
            (_, Some(trust)) => Some(resolved(trust)?),
            (_, None) => bail!("verify_client needs to know whom to trust: [truststore] names no file"),
        };
        let &Https { clients, has_1_2, has_1_3, .. } = self;
        Ok(KeyStoreTls { store: resolved(&self.store)?, trust, clients, has_1_2, has_1_3 })
    }
}

impl Store {
    /// What a listener shows that has this key store and asks no client for a certificate; `folder` is that of the
    /// `deployment.toml`.
    ///
    /// Errors: a password refers to what is not there; the file is not there, or of a type that is not offered.
    pub(super) fn tls(
        &self,
        folder: &Path,
        security: &SecuritySettings,
        environment: &ProcessEnvironment,
    ) -> anyhow::Result<KeyStoreTls> {
        let store = self.resolved(folder, security, environment)?;
        Ok(KeyStoreTls { store, trust: None, clients: Asked::No, has_1_2: true, has_1_3: true })
    }

    fn resolved(
        &self,
        folder: &Path,
        security: &SecuritySettings,
        environment: &ProcessEnvironment,
    ) -> anyhow::Result<ResolvedStore> {
        let secret = |text: &Option<String>| -> anyhow::Result<Option<Secret>> {
            let read = text.as_ref().map(|text| security.secret(text, environment)).transpose();
            read.map_err(|reason| anyhow!("the password of {}: {reason}", self.file))
        };
        let kind = match &self.kind {
            Some(name) => Some(
                StoreKind::from_name(name)
                    .ok_or_else(|| anyhow!("{}: key stores of type {name:?} are not offered", self.file))?,
            ),
            None => None,
        };
        let passwords = Passwords { store: secret(&self.password)?, key: secret(&self.key_password)? };
        Ok(ResolvedStore { path: found(&self.file, folder)?, kind, passwords, alias: self.alias.clone() })
    }

    fn read(file: &File, path: &str) -> anyhow::Result<Option<Store>> {
        let Some(name) = file.text(&format!("{path}.file_name"))? else { return Ok(None) };
        Ok(Some(Store {
            file: name,
            kind: file.text(&format!("{path}.type"))?,
            password: file.secret(&format!("{path}.password"))?,
            alias: file.text(&format!("{path}.alias"))?.filter(|alias| !alias.is_empty()),
            key_password: file.secret(&format!("{path}.key_password"))?,
        }))
    }
}

/// What the first of some paths holds that is there.
fn first<T>(paths: &[&str], read: impl Fn(&str) -> anyhow::Result<Option<T>>) -> anyhow::Result<Option<T>> {
    paths.iter().find_map(|path| read(path).transpose()).transpose()
}

/// Whether TLS 1.2 and 1.3 are spoken; older versions that a file names as well are not.
fn versions(file: &File) -> anyhow::Result<(bool, bool)> {
    let paths = ["transport.https.listener.protocols", "transport.http.listener.secured_protocols"];
    let Some(text) = first(&paths, |path| file.text(path))?.filter(|text| !text.trim().is_empty()) else {
        return Ok((true, true));
    };
    let has = |version: &str| text.split(',').any(|word| word.trim() == version);
    match (has("TLSv1.2"), has("TLSv1.3")) {
        (false, false) => {
            let message = format!("the protocols {text:?} leave none that is offered: TLSv1.2 and TLSv1.3 are");
            Err(wrong(file.named(&paths).unwrap_or_default(), message))
        }
        either => Ok(either),
    }
}

fn clients(file: &File) -> anyhow::Result<Asked> {
    let paths = ["transport.https.listener.verify_client", "transport.http.listener.verify_client"];
    let text = first(&paths, |path| file.text(path))?.unwrap_or_default();
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "none" => Ok(Asked::No),
        "optional" => Ok(Asked::Optional),
        "require" => Ok(Asked::Required),
        // A slip of the pen would open the port to everybody.
        _ => {
            let message = format!("verify_client = {text:?}: require, optional or none is needed");
            Err(wrong(file.named(&paths).unwrap_or_default(), message))
        }
    }
}

/// Where a key store is: beside the `deployment.toml`, or in a folder above it, as in WSO2's homes.
fn found(file: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let folders = folder.ancestors().take(3);
    let mut all = folders.flat_map(|folder| [folder.join(file), folder.join(WSO2_STORES).join(file)]);
    all.find(|path| path.is_file())
        .ok_or_else(|| anyhow!("{file}: no such file in {}, above it, or in {WSO2_STORES} there", folder.display()))
}

/// A key store that can be read at any time.
#[derive(Debug)]
struct ResolvedStore {
    path: PathBuf,
    kind: Option<StoreKind>,
    passwords: Passwords,
    alias: Option<String>,
}

impl ResolvedStore {
    fn read(&self) -> anyhow::Result<KeyStore> {
        let name = || self.path.display().to_string();
        let bytes = std::fs::read(&self.path).with_context(name)?;
        KeyStore::read(&bytes, self.kind, &self.passwords).with_context(name)
    }
}

/// What an HTTPS listener of a `deployment.toml` shows and asks for, read from its key stores whenever it is needed.
#[derive(Debug)]
pub struct KeyStoreTls {
    store: ResolvedStore,
    trust: Option<ResolvedStore>,
    clients: Asked,
    has_1_2: bool,
    has_1_3: bool,
}

impl KeyStoreTls {
    /// Reads the key stores.
    ///
    /// Errors: a file that is no key store, or has other passwords; no private key of that alias; nobody to trust.
    pub(crate) fn read(&self) -> anyhow::Result<PortTls> {
        let (held, name) = (self.store.read()?, self.name());
        let identity = match &self.store.alias {
            Some(alias) => held.identity(alias).with_context(|| name.clone())?,
            None => held.identities.first().ok_or_else(|| match held.unreadable.first() {
                Some((alias, error)) => anyhow!("{name}: the key of {alias:?}: {error}"),
                None => anyhow!("{name}: the key store holds no private key"),
            })?,
        };
        let key = identity.key.to_der().map_err(|error| anyhow!("{name}: the key of {:?}: {error}", identity.alias))?;
        let roots = match &self.trust {
            None => Vec::new(),
            Some(trust) => {
                let held = trust.read()?;
                let with_keys = held.identities.iter().map(|identity| identity.certificate());
                let alone = held.certificates.iter().map(|(_, certificate)| certificate);
                let roots: Vec<Vec<u8>> = alone.chain(with_keys).map(|it| it.der().to_vec()).collect();
                if roots.is_empty() {
                    bail!(
                        "{}: the trust store holds no certificate, so that no client could be let in",
                        trust.path.display()
                    );
                }
                roots
            }
        };
        Ok(PortTls {
            chain: identity.chain.iter().map(|certificate| certificate.der().to_vec()).collect(),
            key: key.as_ref().to_vec().into(),
            clients: match self.clients {
                Asked::No => ClientCertificates::NotAsked,
                Asked::Optional => ClientCertificates::Optional(roots),
                Asked::Required => ClientCertificates::Required(roots),
            },
            has_1_2: self.has_1_2,
            has_1_3: self.has_1_3,
        })
    }

    /// The file of its key.
    pub(crate) fn name(&self) -> String {
        self.store.path.display().to_string()
    }

    /// All its files.
    pub(crate) fn files(&self) -> Vec<&Path> {
        [Some(&self.store), self.trust.as_ref()].into_iter().flatten().map(|store| store.path.as_path()).collect()
    }
}
