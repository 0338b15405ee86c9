//! The parameters by which an inbound endpoint speaks TLS.
//!
//! Source: WSO2's `InboundHttpListener` and `ServerConnFactoryBuilder`.

use std::sync::Arc;

use myelin_wss::crypto::Secret;
use myelin_wss::keys::{Identity, KeyKind, KeyStore, Passwords};

use crate::inbound::{ClientCertificates, PortTls};
use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;

/// Where the alias stands of a password that WSO2's secure vault keeps.
const SECRET_ALIAS: &str = "{http://org.wso2.securevault/configuration}secretAlias";

/// The least RSA key that the library signs with.
const RSA_BITS_MIN: usize = 2048;

/// What is said of TLS, while the parameters are read.
#[derive(Default)]
pub(super) struct Parameters<'e> {
    key_store: Option<&'e Element>,
    trust_store: Option<&'e Element>,
    clients: Option<Text<'e>>,
    versions: Option<Text<'e>>,
}

impl<'e> Parameters<'e> {
    /// Takes a parameter of this name; `false` where it is none of TLS.
    ///
    /// Errors: a [`Problem`] at one that asks for what is not offered.
    pub(super) fn take(&mut self, name: &str, parameter: &'e Element, loader: &mut Loader) -> Result<bool, Problem> {
        match name {
            "keystore" => self.key_store = Some(parameter),
            "truststore" => self.trust_store = Some(parameter),
            "SSLVerifyClient" => self.clients = Some(parameter.text()),
            "HttpsProtocols" => self.versions = Some(parameter.text()),
            "SSLProtocol" => {
                if !["", "TLS"].contains(&parameter.text().value) {
                    let message = "SSLProtocol has no effect: HttpsProtocols says which versions of TLS are spoken";
                    loader.warning(parameter.problem(message));
                }
            }
            "PreferredCiphers" => {
                parameter.forgive();
                let message = "PreferredCiphers has no effect: only suites with forward secrecy and AES-GCM or \
                               ChaCha20-Poly1305 are spoken";
                loader.warning(parameter.problem(message));
            }
            "CertificateRevocationVerifier" => {
                let is_on = |element: &Element| element.attribute("enable").is_some_and(|on| on.value.trim() == "true");
                parameter.forgive();
                if is_on(parameter) || parameter.children.iter().any(is_on) {
                    let message = "it is not asked whether certificates of clients are revoked (CRL, OCSP): switch \
                                   CertificateRevocationVerifier off, and issue certificates that do not last long";
                    return Err(parameter.problem(message));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What the port shows and asks for; `endpoint` is the element of the inbound endpoint.
    ///
    /// Errors: a [`Problem`] at what is missing or cannot be read.
    pub(super) fn build(self, endpoint: &Element, loader: &mut Loader) -> Result<PortTls, Problem> {
        let missing = || endpoint.problem("<inboundEndpoint>: the parameter keystore is missing, which https needs");
        let element = store_in(self.key_store.ok_or_else(missing)?)?;
        let clients = self.clients(endpoint, loader)?;
        let identity = identity(element, loader)?;
        let key = identity.key.to_der();
        let key = key.map_err(|error| element.problem(format!("the key of {:?}: {error}", identity.alias)))?;
        let chain = identity.chain.iter().map(|certificate| certificate.der().to_vec()).collect();
        let (has_1_2, has_1_3) = versions(self.versions, loader)?;
        let key = key.as_ref().to_vec().into();
        Ok(PortTls { chain, key, clients, has_1_2, has_1_3 })
    }

    fn clients(&self, endpoint: &Element, loader: &mut Loader) -> Result<ClientCertificates, Problem> {
        match self.clients.map(|said| (said.value.to_ascii_lowercase(), said)) {
            None => {}
            Some((word, said)) => match word.as_str() {
                "" | "none" => {}
                "require" => return roots(self.trust_store, endpoint, loader).map(ClientCertificates::Required),
                "optional" => return roots(self.trust_store, endpoint, loader).map(ClientCertificates::Optional),
                // WSO2 lets everybody in then, and a slip of the pen would open the port.
                _ => {
                    let message = format!("SSLVerifyClient {:?} is neither require nor optional", said.value);
                    return Err(said.problem(message));
                }
            },
        }
        if let Some(unused) = self.trust_store {
            unused.forgive();
            let message = "the truststore has no effect: no SSLVerifyClient asks clients for a certificate";
            loader.warning(unused.problem(message));
        }
        Ok(ClientCertificates::NotAsked)
    }
}

/// The one element in a parameter, which says where the store is.
fn store_in(parameter: &Element) -> Result<&Element, Problem> {
    parameter.attribute("name");
    let message = "the parameter holds no element with the Location, Type and Password of a key store";
    parameter.children.first().ok_or_else(|| parameter.problem(message))
}

/// The private key of a store, by the alias that it says, or its first one.
fn identity(store: &Element, loader: &mut Loader) -> Result<Arc<Identity>, Problem> {
    let passwords =
        Passwords { store: password(store, "Password", loader)?, key: password(store, "KeyPassword", loader)? };
    let held = open(store, &passwords, loader)?;
    let alias = child(store, "ServerCertificateAlias").map(Element::text).filter(|alias| !alias.value.is_empty());
    let found = match alias {
        Some(alias) => held.identity(alias.value).map_err(|error| alias.problem(error.to_string()))?,
        None => held.identities.first().ok_or_else(|| match held.unreadable.first() {
            Some((alias, error)) => store.problem(format!("the key of {alias:?}: {error}")),
            None => store.problem("the key store holds no private key"),
        })?,
    };
    if alias.is_none() && held.identities.len() > 1 {
        let message = format!(
            "the key store holds {} private keys, of which {:?} is taken: <ServerCertificateAlias> says which",
            held.identities.len(),
            found.alias
        );
        loader.warning(store.problem(message));
    }
    let public = found.key.public();
    if public.kind() == KeyKind::Rsa && public.bits() < RSA_BITS_MIN {
        let message =
            format!("the RSA key of {:?} has {} bits: {RSA_BITS_MIN} are the least", found.alias, public.bits());
        return Err(store.problem(message));
    }
    let invalid = loader.security.now.and_then(|now| found.certificate().invalid_at(now));
    if let Some(message) = invalid {
        loader.warning(store.problem(message));
    }
    Ok(Arc::clone(found))
}

/// The certificates of those who vouch for clients: of the parameter, or of the server's own trust store.
fn roots(said: Option<&Element>, endpoint: &Element, loader: &Loader) -> Result<Vec<Vec<u8>>, Problem> {
    let (place, held) = match said {
        Some(parameter) => {
            let store = store_in(parameter)?;
            let passwords = Passwords { store: password(store, "Password", loader)?, key: None };
            (store, open(store, &passwords, loader)?)
        }
        None => {
            let own = loader.security.server_store.clone();
            let Some((file, own)) = own.and_then(|own| Some((own.trust_file.clone()?, own))) else {
                let message = "SSLVerifyClient needs to know whom to trust: the parameter truststore is missing, and \
                               deployment.toml has no [truststore]";
                return Err(endpoint.problem(message));
            };
            let at = |message: String| endpoint.problem(message);
            let said = own.trust_password.map(|said| loader.secret_bytes(&said)).transpose().map_err(at)?;
            let passwords = Passwords { store: said, key: None };
            (endpoint, loader.key_store(&file, own.trust_kind.as_deref(), &passwords).map_err(at)?)
        }
    };
    // Java trusts whatever certificate is in the store, be it with a key or alone.
    let with_keys = held.identities.iter().map(|identity| identity.certificate());
    let roots: Vec<Vec<u8>> = held
        .certificates
        .iter()
        .map(|(_, certificate)| certificate)
        .chain(with_keys)
        .map(|certificate| certificate.der().to_vec())
        .collect();
    if roots.is_empty() {
        return Err(place.problem("the trust store holds no certificate, so that no client could be let in"));
    }
    Ok(roots)
}

fn open(store: &Element, passwords: &Passwords, loader: &Loader) -> Result<KeyStore, Problem> {
    let location = child(store, "Location").map(Element::text).filter(|location| !location.value.is_empty());
    let location = location.ok_or_else(|| store.problem("<Location> of the key store is missing"))?;
    let kind = child(store, "Type").map(|kind| kind.text().value).filter(|kind| !kind.is_empty());
    loader.key_store(location.value, kind, passwords).map_err(|message| location.problem(message))
}

/// A password as it stands there, or the secret that it refers to.
fn password(store: &Element, name: &str, loader: &Loader) -> Result<Option<Secret>, Problem> {
    let Some(element) = child(store, name) else { return Ok(None) };
    let alias = element.attribute(SECRET_ALIAS).map(|alias| format!("$secret{{{}}}", alias.value.trim()));
    let text = alias.as_deref().unwrap_or(element.text().value);
    loader.secret_bytes(text).map(Some).map_err(|message| element.problem(message))
}

/// A child by its local name: these elements are in no namespace, in Synapse's or in none that matters.
fn child<'e>(store: &'e Element, name: &str) -> Option<&'e Element> {
    store.children.iter().find(|child| child.name == name)
}

/// Whether TLS 1.2 and 1.3 are spoken.
fn versions(said: Option<Text<'_>>, loader: &mut Loader) -> Result<(bool, bool), Problem> {
    let Some(said) = said.filter(|said| !said.value.is_empty()) else { return Ok((true, true)) };
    let (mut has_1_2, mut has_1_3) = (false, false);
    for name in said.value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name {
            "TLSv1.2" => has_1_2 = true,
            "TLSv1.3" => has_1_3 = true,
            "TLSv1" | "TLSv1.1" | "SSLv2Hello" | "SSLv3" => {
                loader.warning(said.problem(format!("{name} is not spoken: it can be broken, as RFC 8996 says")));
            }
            _ => return Err(said.problem(format!("{name:?} is no version of TLS: TLSv1.2 and TLSv1.3 are offered"))),
        }
    }
    match (has_1_2, has_1_3) {
        (false, false) => Err(said.problem("no version is left: TLSv1.2 and TLSv1.3 are offered")),
        either => Ok(either),
    }
}
