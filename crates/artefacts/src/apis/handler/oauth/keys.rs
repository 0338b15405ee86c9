//! The keys of an issuer, fetched when they are first needed and kept for a while.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Uri;
use myelin_message::{Body, Head, StatusCode};
use myelin_wss::keys::{Curve, PublicKey};
use serde_json::Value;

use crate::apis::handler::oauth::token::{Algorithm, Token};
use myelin_content::coding;
use myelin_flow::transport::{Address, Manner, Method, Outgoing, Transport, ask, within};

/// How long fetched keys are good for.
const FRESH: Duration = Duration::from_secs(300);

/// Keys that are younger than this are not fetched anew because a token names one that is not among them:
/// anybody can make up names.
const REST: Duration = Duration::from_secs(30);

/// How long nobody asks again for keys that could not be had.
const RETRY: Duration = Duration::from_secs(2);

/// The largest set of keys, in bytes and in keys.
const LIMIT_BYTES: u64 = 256 * 1024;
const LIMIT_KEYS: usize = 100;

/// Keys below this are broken (NIST SP 800-131A).
const RSA_BITS_MIN: usize = 2048;

/// Why keys could not be had, for the log.
#[derive(Clone, Debug)]
pub(super) struct KeysError(pub(super) String);

/// The keys of an issuer (RFC 7517 §5), shared by all threads.
pub(super) struct KeySet {
    uri: Uri,
    timeout: Duration,
    fetched: Mutex<Option<Fetched>>,
}

/// What came of the last attempt.
#[derive(Clone)]
struct Fetched {
    keys: Result<Arc<Vec<Key>>, KeysError>,
    at: SystemTime,
}

struct Key {
    id: Option<String>,
    /// The only algorithm it is for, where it names one.
    algorithm: Option<String>,
    key: PublicKey,
}

impl KeySet {
    pub(super) fn new(uri: Uri, timeout: Duration) -> KeySet {
        KeySet { uri, timeout, fetched: Mutex::new(None) }
    }

    /// Whether a token is signed with one of the keys, which are fetched where that takes newer ones.
    ///
    /// Errors: [`KeysError`], the issuer's; old keys are used where new ones cannot be had.
    pub(super) async fn find(
        &self,
        token: &Token<'_>,
        algorithm: Algorithm,
        transport: &dyn Transport,
    ) -> Result<bool, KeysError> {
        let known = self.fetched.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let now = transport.now();
        let good_for = |keys: &Result<Arc<Vec<Key>>, KeysError>| match keys {
            Ok(keys) if keys.iter().any(|key| key.may_be(token, algorithm)) => FRESH,
            Ok(_) => REST,
            Err(_) => RETRY,
        };
        // A clock that was set back makes nothing good for longer.
        let is_good = |known: &Fetched| now.duration_since(known.at).is_ok_and(|age| age < good_for(&known.keys));
        let keys = match known {
            Some(known) if is_good(&known) => known.keys,
            known => {
                let old = known.and_then(|known| known.keys.ok());
                let keys = self.fetch(transport).await.map(Arc::new).or_else(|error| {
                    let old = old.ok_or_else(|| error.clone())?;
                    tracing::warn!(target: "myelin::oauth", "{}; those from before are used", error.0);
                    Ok(old)
                });
                let fetched = Fetched { keys: keys.clone(), at: now };
                *self.fetched.lock().unwrap_or_else(PoisonError::into_inner) = Some(fetched);
                keys
            }
        };
        Ok(keys?.iter().any(|key| key.signed(token, algorithm)))
    }

    async fn fetch(&self, transport: &dyn Transport) -> Result<Vec<Key>, KeysError> {
        let mut head = Head::default();
        head.set("Accept", b"application/json").expect("a media type is a valid header value");
        let request = Outgoing {
            method: Method::Named("GET".to_owned()),
            address: Address::Uri(self.uri.clone()),
            head,
            body: Body::Empty,
            timeout: Some(self.timeout),
            host: None,
            manner: Manner::default(),
        };
        let fetching = async {
            let mut response = ask(transport, request).await.map_err(|error| error.to_string())?;
            if response.status != StatusCode::OK {
                return Err(format!("the answer is {}", response.status));
            }
            coding::decode_message(&mut response.head, &mut response.body, LIMIT_BYTES);
            parse(response.body.bytes(LIMIT_BYTES).await.map_err(|error| error.to_string())?)
        };
        let late = || Err(format!("there was no answer within {:?}", self.timeout));
        let keys = within(transport, self.timeout, fetching).await.unwrap_or_else(late);
        keys.map_err(|message| KeysError(format!("the keys at {} could not be had: {message}", self.uri)))
    }
}

/// Reads a set of keys; such that cannot be used are passed over, as RFC 7517 §5 wants it.
fn parse(bytes: &[u8]) -> Result<Vec<Key>, String> {
    let set: Value = serde_json::from_slice(bytes).map_err(|error| format!("they are no JSON: {error}"))?;
    let keys = set["keys"].as_array().ok_or("they are no set of keys")?;
    Ok(keys.iter().take(LIMIT_KEYS).filter_map(Key::parse).collect())
}

impl Key {
    fn parse(jwk: &Value) -> Option<Key> {
        let text = |member: &str| jwk[member].as_str();
        let bytes = |member: &str| URL_SAFE_NO_PAD.decode(text(member)?.trim_end_matches('=')).ok();
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let key = match text("kty")? {
            "RSA" => PublicKey::from_rsa(&bytes("n")?, &bytes("e")?).ok().filter(|key| key.bits() >= RSA_BITS_MIN)?,
            "EC" => {
                let curve = match text("crv")? {
                    "P-256" => Curve::P256,
                    "P-384" => Curve::P384,
                    "P-521" => Curve::P521,
                    _ => return None,
                };
                // An uncompressed point (SEC 1 §2.3.3).
                let point = [&[4][..], &bytes("x")?, &bytes("y")?].concat();
                PublicKey::from_ec(curve, &point).ok()?
            }
            _ => return None,
        };
        Some(Key { id: text("kid").map(str::to_owned), algorithm: text("alg").map(str::to_owned), key })
    }

    /// Whether it may have signed a token, as far as names tell.
    fn may_be(&self, token: &Token<'_>, algorithm: Algorithm) -> bool {
        let is_named = token.key_id().is_none_or(|id| self.id.as_deref() == Some(id));
        is_named && self.algorithm.as_ref().is_none_or(|own| own == algorithm.name)
    }

    fn signed(&self, token: &Token<'_>, algorithm: Algorithm) -> bool {
        self.may_be(token, algorithm) && self.key.verify(algorithm.method, token.signed, &token.signature).is_ok()
    }
}
