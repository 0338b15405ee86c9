//! The way from a certificate to an anchor.
//!
//! Source: RFC 5280 §6.1.

use std::sync::Arc;
use std::time::SystemTime;

use super::super::certificate::{GeneralName, Signed};
use super::super::{Certificate, KeyKind};
use super::{Distrust, Purpose, Trust, TrustError, Window};
use crate::algorithm::DigestMethod;
use crate::crypto::Hasher;

/// How many signatures are checked for one certificate at most, whatever the others in a chain lead to.
const SIGNATURES_MAX: usize = 32;

impl Trust {
    /// Checks that the first certificate of `chain` is trusted; the others may help to find a path, in any order.
    ///
    /// Remembers whom it accepted, and until when.
    /// Errors: [`TrustError`] for the best path there is.
    pub fn check(&self, chain: &[Arc<Certificate>], purpose: Purpose, now: SystemTime) -> Result<(), TrustError> {
        let Some((first, others)) = chain.split_first() else {
            return Err(TrustError { subject: String::new(), reason: Distrust::Missing });
        };
        let mut hasher = Hasher::new(DigestMethod::Sha256);
        chain.iter().for_each(|certificate| hasher.update(certificate.fingerprint().as_ref()));
        let key = (hasher.finish(), purpose);
        if self.accepted.find(&key).is_some_and(|window| window.holds(now)) {
            return Ok(());
        }
        let window = Search::run(self, first, others, purpose, now)?;
        self.accepted.put(key, window);
        Ok(())
    }
}

/// A search for a path.
struct Search<'a> {
    trust: &'a Trust,
    others: &'a [Arc<Certificate>],
    purpose: Purpose,
    now: SystemTime,
    signatures: usize,
    /// From the certificate that is checked to where the search is.
    path: Vec<&'a Arc<Certificate>>,
}

fn error(certificate: &Certificate, reason: Distrust) -> TrustError {
    TrustError { subject: certificate.subject().text().to_owned(), reason }
}

impl<'a> Search<'a> {
    /// Finds a path from `first` that fulfils everything, and when it does.
    fn run(
        trust: &'a Trust,
        first: &'a Arc<Certificate>,
        others: &'a [Arc<Certificate>],
        purpose: Purpose,
        now: SystemTime,
    ) -> Result<Window, TrustError> {
        let mut search = Search { trust, others, purpose, now, signatures: 0, path: vec![first] };
        search.check_usage(first)?;
        search.extend(first)
    }

    /// Goes on from the last certificate of the path: it is an anchor, or one of its issuers leads to one.
    fn extend(&mut self, last: &'a Arc<Certificate>) -> Result<Window, TrustError> {
        self.check_alone(last)?;
        if self.trust.is_anchor(last) {
            return self.check_path();
        }
        if last.extensions.unknown_critical {
            return Err(error(last, Distrust::UnknownExtension));
        }
        let mut failure = error(last, Distrust::NoIssuer);
        let (trust, others) = (self.trust, self.others);
        let offered = others.iter().filter(|other| other.subject() == last.issuer() && !trust.is_anchor(other));
        for issuer in trust.of_subject(last.issuer()).chain(offered) {
            if self.path.contains(&issuer) || !identifies(last, issuer) {
                continue;
            }
            if self.path.len() >= trust.limits.path_length_max || self.signatures >= SIGNATURES_MAX {
                return Err(error(last, Distrust::PathTooLong));
            }
            self.signatures += 1;
            let went = self.check_issuer(last, issuer).and_then(|()| {
                self.path.push(issuer);
                let went = self.extend(issuer);
                self.path.pop();
                went
            });
            match went {
                Ok(window) => return Ok(window),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// What a certificate has to fulfil wherever it stands.
    fn check_alone(&self, certificate: &Certificate) -> Result<(), TrustError> {
        if self.now < certificate.not_before() {
            return Err(error(certificate, Distrust::NotYetValid));
        }
        if self.now > certificate.not_after() {
            return Err(error(certificate, Distrust::Expired));
        }
        let key = certificate.public_key();
        if key.kind() == KeyKind::Rsa && key.bits() < self.trust.limits.rsa_bits_min {
            return Err(error(certificate, Distrust::KeyTooSmall));
        }
        Ok(())
    }

    fn check_usage(&self, first: &Certificate) -> Result<(), TrustError> {
        let allowed = first.key_usage().is_none_or(|usage| match self.purpose {
            Purpose::Signature => usage.allows_signature(),
            Purpose::Encryption => usage.allows_encryption(),
        });
        if allowed { Ok(()) } else { Err(error(first, Distrust::KeyUsage)) }
    }

    /// Checks that `issuer` may issue certificates and issued this one.
    ///
    /// An anchor has to be marked as an authority too: else each partner whose own certificate is an anchor could
    /// vouch for others. Certificates of version 1 cannot be marked, so they vouch for themselves only.
    fn check_issuer(&self, certificate: &Certificate, issuer: &Certificate) -> Result<(), TrustError> {
        if !issuer.is_ca() || !issuer.key_usage().is_none_or(|usage| usage.allows_certificates()) {
            return Err(error(issuer, Distrust::NotAnAuthority));
        }
        if !self.is_allowed(&certificate.signed) {
            return Err(error(certificate, Distrust::Algorithm));
        }
        let verified = certificate.signed.verify(certificate.der(), issuer.public_key());
        verified.map_err(|_| error(certificate, Distrust::Signature))
    }

    fn is_allowed(&self, signed: &Signed) -> bool {
        signed.method().is_some_and(|method| self.trust.limits.sha1 || method.digest() != DigestMethod::Sha1)
    }

    /// Checks what depends on all of a path that has come to an anchor.
    fn check_path(&self) -> Result<Window, TrustError> {
        let mut window = Window { from: self.path[0].not_before(), until: self.path[0].not_after() };
        let mut authorities_below = 0;
        for (at, &authority) in self.path.iter().enumerate().skip(1) {
            window.narrow(authority.not_before(), authority.not_after());
            let below = &self.path[..at];
            if authority.extensions.path_length.is_some_and(|most| authorities_below > most) {
                return Err(error(authority, Distrust::PathLength));
            }
            authorities_below += u32::from(!is_self_issued(authority));
            check_names(authority, below)?;
            self.check_revocation(below[at - 1], authority, &mut window)?;
        }
        Ok(window)
    }

    /// Looks for the certificate in the lists of its issuer.
    fn check_revocation(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
        window: &mut Window,
    ) -> Result<(), TrustError> {
        if self.trust.crls.is_empty() {
            return Ok(());
        }
        let mut covered = false;
        for list in self.trust.crls.iter().filter(|list| list.issuer() == certificate.issuer()) {
            let current = (list.this_update()..=list.next_update()).contains(&self.now);
            let may_sign = issuer.key_usage().is_none_or(|usage| usage.allows_revocation());
            if !current || !may_sign || !self.is_allowed(list.signed()) || list.verify(issuer).is_err() {
                continue;
            }
            if list.names(certificate) {
                return Err(error(certificate, Distrust::Revoked));
            }
            window.narrow(list.this_update(), list.next_update());
            covered = true;
        }
        if covered { Ok(()) } else { Err(error(certificate, Distrust::RevocationUnknown)) }
    }
}

/// Whether a certificate can be the issuer, by the identifiers of the keys, where both say one.
fn identifies(certificate: &Certificate, issuer: &Certificate) -> bool {
    match (&certificate.extensions.authority_key_identifier, &issuer.extensions.key_identifier) {
        (Some(wanted), Some(identifier)) => wanted == identifier,
        _ => true,
    }
}

fn is_self_issued(certificate: &Certificate) -> bool {
    certificate.subject() == certificate.issuer()
}

/// Checks that an authority may vouch for the names below it.
fn check_names(authority: &Certificate, below: &[&Arc<Certificate>]) -> Result<(), TrustError> {
    let Some(constraints) = &authority.extensions.name_constraints else { return Ok(()) };
    for (at, certificate) in below.iter().enumerate() {
        if at > 0 && is_self_issued(certificate) {
            continue;
        }
        let subject = certificate.subject();
        let directory = (!subject.is_empty()).then(|| GeneralName::Directory(subject.clone()));
        let mail = subject.has_mail().then_some(GeneralName::MAIL);
        let mut names = certificate.extensions.alternative_names.iter().chain(&directory).chain(&mail);
        if !names.all(|name| constraints.allow(name)) {
            return Err(error(certificate, Distrust::NameNotAllowed));
        }
    }
    Ok(())
}
