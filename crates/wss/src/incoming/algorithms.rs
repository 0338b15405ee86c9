//! The algorithms that a message uses: each is held against the policy before anything is done with it.

use myelin_xml::c14n::Canonical;

use super::inspection::Inspection;
use super::uses::Use;
use crate::algorithm::SignatureMethod;
use crate::guard::Settings;
use crate::keys::{KeyKind, PublicKey};
use crate::policy::{Alternative, Binding};
use crate::{Refusal, Rule};

impl Inspection<'_> {
    /// Notes that something is about to be used.
    ///
    /// Errors: `AlgorithmNotAllowed`, `KeyTooSmall` where no alternative of the policy has it.
    pub(super) fn will_use(&mut self, what: Use) -> Result<(), Refusal> {
        if self.uses.contains(&what) {
            return Ok(());
        }
        let accepted =
            self.guard.policy.alternatives.iter().any(|alternative| accepts(alternative, &self.guard.settings, what));
        if !accepted {
            return Err(not_accepted(what));
        }
        self.uses.push(what);
        Ok(())
    }

    /// As [`Inspection::will_use`], of a canonical method; comments are no part of what any suite has.
    pub(super) fn will_canonicalize(&mut self, canonical: &Canonical) -> Result<(), Refusal> {
        if canonical.comments {
            return Err(Refusal::new(Rule::AlgorithmNotAllowed, "a canonical form with comments"));
        }
        self.will_use(Use::Canonical(canonical.method))
    }

    /// As [`Inspection::will_use`], of a public key.
    pub(super) fn will_use_key(&mut self, key: &PublicKey) -> Result<(), Refusal> {
        match key.kind() {
            KeyKind::Rsa if key.bits() < self.guard.settings.rsa_bits_min => {
                Err(Refusal::new(Rule::KeyTooSmall, format!("a key of RSA with {} bits", key.bits())))
            }
            KeyKind::Rsa => self.will_use(Use::RsaBits(key.bits())),
            KeyKind::Ec(_) => Ok(()),
        }
    }

    /// Whether everything that was used is what one alternative has.
    pub(super) fn check_uses(&self, alternative: &Alternative) -> Result<(), Refusal> {
        match self.uses.iter().find(|&&what| !accepts(alternative, &self.guard.settings, what)) {
            Some(&what) => Err(not_accepted(what)),
            None => Ok(()),
        }
    }

    /// The identifiers of all that was used.
    pub(super) fn used_uris(&self) -> Vec<&'static str> {
        let mut uris: Vec<&'static str> = self.uses.iter().filter_map(|what| what.uri()).collect();
        uris.dedup();
        uris
    }
}

/// Without a binding there is no suite, and so nothing to sign or encrypt with; keyed hashes are signatures of a
/// symmetric binding only, as anybody who knows our certificate can make the key of one.
fn accepts(alternative: &Alternative, settings: &Settings, what: Use) -> bool {
    let is_keyed_hash = matches!(what, Use::Signature(SignatureMethod::Hmac(_)));
    if is_keyed_hash && !matches!(alternative.binding, Binding::Symmetric { .. }) {
        return false;
    }
    alternative.binding.common().is_some_and(|common| what.is_accepted(&common.suite, settings))
}

fn not_accepted(what: Use) -> Refusal {
    match what {
        Use::RsaBits(bits) => Refusal::new(Rule::KeyTooSmall, format!("a key of RSA with {bits} bits")),
        _ => Refusal::new(Rule::AlgorithmNotAllowed, what.uri().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::algorithm::DigestMethod;
    use crate::guard::NoUsers;
    use crate::policy::Policy;

    const POLICY: &str = r#"<wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"
        xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702"><sp:TransportBinding><wsp:Policy>
        <sp:TransportToken><wsp:Policy><sp:HttpsToken><wsp:Policy/></sp:HttpsToken></wsp:Policy></sp:TransportToken>
        <sp:AlgorithmSuite><wsp:Policy><sp:Basic256Sha256/></wsp:Policy></sp:AlgorithmSuite>
        </wsp:Policy></sp:TransportBinding></wsp:Policy>"#;

    #[test]
    fn suites_named_for_sha_256_take_signatures_over_sha_1_only_where_the_operator_says_so() {
        let (policy, _) = Policy::parse(POLICY.as_bytes()).expect("a policy");
        let alternative = &policy.alternatives[0];
        let strict = Settings::new(Arc::new(NoUsers));
        let lenient = Settings { sha1_signatures: true, ..strict.clone() };
        let signature = Use::Signature(SignatureMethod::Rsa(DigestMethod::Sha1));
        assert!(!accepts(alternative, &strict, signature));
        assert!(accepts(alternative, &lenient, signature));
        assert!(!accepts(alternative, &lenient, Use::Signature(SignatureMethod::Ecdsa(DigestMethod::Sha1))));
        assert!(!accepts(alternative, &lenient, Use::Digest(DigestMethod::Sha1)));
    }
}
