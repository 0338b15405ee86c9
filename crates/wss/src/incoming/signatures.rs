//! `ds:Signature`: whose it is, whether it is right, and which nodes it covers.

use std::sync::Arc;

use myelin_xml::NodeId;

use super::found::{At, Cover, Signed};
use super::inspection::Inspection;
use super::key_info::Encoding;
use super::keys::VerifyingKey;
use super::uses::Use;
use crate::dsig::{Reference, Signature, Target, Transform, VerifyWith};
use crate::{Refusal, Rule};

/// How many times all of a message may be signed: by its own signature and by those that endorse it.
const COVERED_TIMES: usize = 4;

impl Inspection<'_> {
    /// Verifies a signature of the header.
    ///
    /// What costs nothing comes first: shape, bounds, algorithms, trust; then the value, by which all that is in
    /// `SignedInfo` is the signer's; then the references.
    pub(super) fn signature(&mut self, node: NodeId) -> Result<(), Refusal> {
        let limits = self.limits();
        if self.found.signatures.len() >= limits.signatures {
            return Err(Refusal::new(Rule::Limit, format!("more than {} signatures", limits.signatures)));
        }
        let signature = Signature::read(&self.document, node, limits)?;
        if !signature.objects.is_empty() {
            return Err(Refusal::new(Rule::UnknownElement, "an object in a signature of a message"));
        }
        self.will_use(Use::Signature(signature.method))?;
        self.will_canonicalize(&signature.canonical)?;
        for reference in &signature.references {
            self.check_reference(reference)?;
        }
        let name = self.key_name(signature.key_info)?;
        let (signer, key) = self.signer(name, node)?;
        let with = match &key {
            VerifyingKey::Public(key) => {
                self.public_operations += 1;
                VerifyWith::PublicKey(key)
            }
            VerifyingKey::Shared(secret) => VerifyWith::Secret((**secret).as_ref()),
        };
        signature.verify_value(&self.document, with)?;
        self.check_covered(&signature.references)?;
        let mut covers = Vec::with_capacity(signature.references.len());
        for reference in &signature.references {
            covers.push(self.cover(reference, node)?);
        }
        let Signature { method, value, .. } = signature;
        let what = Signed { method, value, signer, covers, round: self.round };
        self.found.signatures.push(At { node: Some(node), what });
        Ok(())
    }

    /// Checks what can be said of a reference without looking at what it leads to.
    fn check_reference(&mut self, reference: &Reference) -> Result<(), Refusal> {
        self.will_use(Use::Digest(reference.digest))?;
        let mut canonical = None;
        for transform in &reference.transforms {
            match transform {
                Transform::Canonical(method) | Transform::StrTransform(method) => canonical = Some(method),
                // A message's signature stands in its header, so that it never has to leave itself out.
                Transform::Enveloped => {
                    return Err(Refusal::new(Rule::UnknownTransform, "an enveloped signature in a message"));
                }
            }
        }
        match canonical {
            Some(canonical) => self.will_canonicalize(canonical),
            None => self.will_use(Use::Canonical(myelin_xml::c14n::Method::Inclusive)),
        }
    }

    /// Counts what the references lead to, before any of it is hashed: the same large element again and again would
    /// take as long as a message many times as long.
    fn check_covered(&mut self, references: &[Reference]) -> Result<(), Refusal> {
        for reference in references {
            let Target::Id(id) = &reference.target else { continue };
            let range = self.ids.find(id).and_then(|target| self.document.range(target));
            self.covered_bytes += range.map_or(0, |range| range.len());
        }
        let bound = self.limits().header_bytes + COVERED_TIMES * self.document.source().len();
        if self.covered_bytes > bound {
            return Err(Refusal::new(Rule::Limit, format!("{} signed bytes, at most {bound}", self.covered_bytes)));
        }
        Ok(())
    }

    /// Checks a reference, and says what it covers.
    fn cover(&self, reference: &Reference, signature: NodeId) -> Result<Cover, Refusal> {
        let Target::Id(id) = &reference.target else {
            return Err(Refusal::new(Rule::UnresolvedReference, "a message's parts are signed by their ids"));
        };
        let target = self.ids.require(id)?;
        let mut outcome = self.cover_dereferenced(reference, target, signature, Encoding::Understood);
        if let Err(refusal) = &outcome
            && refusal.rule == Rule::SignatureInvalid
            && matches!(reference.transforms.last(), Some(Transform::StrTransform(_)))
        {
            outcome = self.cover_dereferenced(reference, target, signature, Encoding::Said);
        }
        outcome
    }

    fn cover_dereferenced(
        &self,
        reference: &Reference,
        target: NodeId,
        signature: NodeId,
        encoding: Encoding,
    ) -> Result<Cover, Refusal> {
        let mut token = None;
        reference.verify(&self.document, target, signature, &mut |reference| {
            let (found, cover) = self.dereference(reference, encoding)?;
            token = Some(cover);
            Ok(found)
        })?;
        Ok(token.unwrap_or(Cover::Node(target)))
    }

    /// Whether a signature covers a node: by itself, or with all of an element around it.
    pub(super) fn covers(&self, signature: &Signed, node: NodeId) -> bool {
        signature.covers.iter().any(|cover| matches!(cover, Cover::Node(outer) if self.is_within(node, *outer)))
    }

    /// Takes about as long as the signature would have taken that could not be decrypted.
    ///
    /// A message whose ciphertext is broken is refused when as many public keys were used as for one that is not, so
    /// that the time does not tell which it was.
    pub(super) fn even_out(&mut self) {
        if self.public_operations > 0 {
            return;
        }
        let Some(identity) = self.guard.keys.decryption.first() else { return };
        let key = identity.key.public();
        let asymmetric = self.guard.policy.alternatives.iter().filter_map(|alternative| alternative.binding.common());
        let method = asymmetric.flat_map(|common| common.suite.asymmetric_signatures.first()).next();
        if let Some(method) = method {
            // Less than any modulus, as it begins with a zero.
            let value = vec![0; key.bits().div_ceil(8)];
            // That it is wrong is known.
            let _ = key.verify(*method, b"", &value);
        }
    }

    /// A signature's value as only its maker could have made it: of ECDSA's pair the second can be negated by anybody.
    pub(super) fn fixed_value(signature: &Signed) -> &[u8] {
        match signature.method {
            crate::algorithm::SignatureMethod::Ecdsa(_) => &signature.value[..signature.value.len() / 2],
            _ => &signature.value,
        }
    }
}

impl Cover {
    /// Whether it is this certificate, as a token outside of the message.
    pub(super) fn is_certificate(&self, certificate: &Arc<crate::keys::Certificate>) -> bool {
        matches!(self, Cover::Certificate(covered) if covered.der() == certificate.der())
    }
}
