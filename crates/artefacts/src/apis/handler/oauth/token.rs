//! A signed token: its parts, and what it has to say of itself before its signature is looked at.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use myelin_wss::algorithm::{DigestMethod, SignatureMethod};
use serde_json::Value;

/// How far the clocks of issuer and bus may be apart.
const LEEWAY: Duration = Duration::from_secs(5);

/// Why a request does not pass.
#[derive(Debug, PartialEq)]
pub(super) enum Refusal {
    /// There is no token.
    NoToken,
    /// It is not to be trusted; the reason is for the log.
    Token(&'static str),
    /// It is meant for somebody else.
    Audience,
    /// The keys could not be had; the reason is for the log.
    Keys(String),
}

/// A token in its three parts (RFC 7515 §3.1).
#[derive(Debug)]
pub(super) struct Token<'a> {
    header: Value,
    claims: Value,
    /// What is signed: header and claims as they came.
    pub(super) signed: &'a [u8],
    pub(super) signature: Vec<u8>,
}

/// The requirements that a token has to meet.
#[derive(Debug)]
pub struct Rules {
    /// The issuers that are trusted; any where it is empty.
    pub issuers: Vec<String>,
    /// One of these is meant by each token; empty where nobody asks.
    pub audience: Vec<String>,
    /// The algorithms that a token may be signed with.
    pub algorithms: Vec<Algorithm>,
    /// How long ago it may have been issued.
    pub age_max: Option<Duration>,
    /// Whether a token that is bound to a client's certificate is as good as any other.
    pub ignores_binding: bool,
}

/// A way to sign tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// RFC 7518 §3.1.
    pub name: &'static str,
    /// How the signature is made.
    pub method: SignatureMethod,
}

/// Those that are known: keyed hashes are not among them, as whoever verifies those could sign, too.
pub(super) const ALGORITHMS: [Algorithm; 9] = [
    Algorithm { name: "RS256", method: SignatureMethod::Rsa(DigestMethod::Sha256) },
    Algorithm { name: "RS384", method: SignatureMethod::Rsa(DigestMethod::Sha384) },
    Algorithm { name: "RS512", method: SignatureMethod::Rsa(DigestMethod::Sha512) },
    Algorithm { name: "PS256", method: SignatureMethod::RsaPss(DigestMethod::Sha256) },
    Algorithm { name: "PS384", method: SignatureMethod::RsaPss(DigestMethod::Sha384) },
    Algorithm { name: "PS512", method: SignatureMethod::RsaPss(DigestMethod::Sha512) },
    Algorithm { name: "ES256", method: SignatureMethod::Ecdsa(DigestMethod::Sha256) },
    Algorithm { name: "ES384", method: SignatureMethod::Ecdsa(DigestMethod::Sha384) },
    Algorithm { name: "ES512", method: SignatureMethod::Ecdsa(DigestMethod::Sha512) },
];

impl Algorithm {
    /// The algorithm of that name.
    pub fn of(name: &str) -> Option<Algorithm> {
        ALGORITHMS.into_iter().find(|algorithm| algorithm.name == name)
    }

    /// Those that Micro Integrator takes where nothing else is said: all with RSA.
    pub fn usual() -> Vec<Algorithm> {
        ALGORITHMS.into_iter().filter(|algorithm| !matches!(algorithm.method, SignatureMethod::Ecdsa(_))).collect()
    }
}

impl<'a> Token<'a> {
    /// Takes a token apart.
    ///
    /// Errors: [`Refusal::Token`].
    pub(super) fn parse(text: &'a str) -> Result<Token<'a>, Refusal> {
        let parts: Vec<&str> = text.split('.').collect();
        let &[header, claims, signature] = parts.as_slice() else {
            return Err(Refusal::Token("it has not three parts"));
        };
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| Refusal::Token("it is not base64url"));
        let object = |part: &str| {
            let value: Value = serde_json::from_slice(&decode(part)?).map_err(|_| Refusal::Token("it is no JSON"))?;
            if value.is_object() { Ok(value) } else { Err(Refusal::Token("it is no JSON object")) }
        };
        Ok(Token {
            header: object(header)?,
            claims: object(claims)?,
            signed: &text.as_bytes()[..header.len() + 1 + claims.len()],
            signature: decode(signature)?,
        })
    }

    /// Which of the issuer's keys signed it, where it says so.
    pub(super) fn key_id(&self) -> Option<&str> {
        self.header["kid"].as_str()
    }

    fn time(&self, claim: &str) -> Option<SystemTime> {
        let seconds = self.claims[claim].as_f64().filter(|seconds| (0.0..1e12).contains(seconds))?;
        Some(UNIX_EPOCH + Duration::from_secs_f64(seconds))
    }

    fn text(&self, claim: &str) -> Option<&str> {
        self.claims[claim].as_str().filter(|text| !text.is_empty())
    }

    /// Whether it is meant for one of these.
    fn is_for(&self, audience: &[String]) -> bool {
        let is_meant = |value: &Value| value.as_str().is_some_and(|name| audience.iter().any(|own| own == name));
        match &self.claims["aud"] {
            Value::Array(values) => values.iter().any(is_meant),
            value => is_meant(value),
        }
    }
}

impl Rules {
    /// Checks everything but the signature; gives how it is signed.
    ///
    /// Errors: [`Refusal::Token`] and [`Refusal::Audience`], the client's.
    pub(super) fn check(&self, token: &Token<'_>, now: SystemTime) -> Result<Algorithm, Refusal> {
        let refuse = |reason| Err(Refusal::Token(reason));
        let kind = token.header["typ"].as_str().unwrap_or_default();
        // RFC 9068 §4: anything else could be a token that was made for another purpose.
        if !["at+jwt", "application/at+jwt"].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
            return refuse("it is no access token: its type is not at+jwt");
        }
        if !token.header["crit"].is_null() {
            return refuse("it demands extensions");
        }
        let named = token.header["alg"].as_str().unwrap_or_default();
        let Some(&algorithm) = self.algorithms.iter().find(|algorithm| algorithm.name == named) else {
            return refuse("its algorithm is not allowed");
        };
        if !token.text("iss").is_some_and(|issuer| self.issuers.iter().any(|trusted| trusted == issuer)) {
            return refuse("its issuer is not trusted");
        }
        let (Some(expires), Some(issued)) = (token.time("exp"), token.time("iat")) else {
            return refuse("it does not say when it was issued and when it expires");
        };
        if token.text("sub").is_none() || token.text("jti").is_none() || token.claims["aud"].is_null() {
            return refuse("it lacks one of the claims sub, jti and aud");
        }
        if now > expires + LEEWAY {
            return refuse("it has expired");
        }
        let starts = token.time("nbf").unwrap_or(issued).max(issued);
        if now + LEEWAY < starts {
            return refuse("it is not valid yet");
        }
        if self.age_max.is_some_and(|age| now > issued + age + LEEWAY) {
            return refuse("it was issued too long ago");
        }
        if !self.ignores_binding && !token.claims["cnf"].is_null() {
            return refuse("it is bound to a client's certificate, which is not checked here");
        }
        if !self.audience.is_empty() && !token.is_for(&self.audience) {
            return Err(Refusal::Audience);
        }
        Ok(algorithm)
    }
}
