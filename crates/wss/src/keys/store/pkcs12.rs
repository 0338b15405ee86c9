//! PKCS#12.
//!
//! Source: RFC 7292; RFC 9579 for integrity by PBKDF2.

use std::sync::Arc;

use super::super::certificate::{digest_method, text};
use super::super::der::{self, Damaged, Reader};
use super::super::{Certificate, PrivateKey};
use super::content::{KeyStore, Passwords};
use super::error::KeyStoreError;
use super::kind::StoreKind;
use super::parts::{Part, Parts};
use super::sealed::{self, Budget, Failure, Purpose};
use crate::crypto::Secret;

/// `1.2.840.113549.1.7.1`: data as it is.
const DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
/// `1.2.840.113549.1.7.6`: encrypted data.
const ENCRYPTED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x06];
/// `1.2.840.113549.1.5.14`: a keyed digest whose key is derived by PBKDF2.
const PBMAC1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0e];
/// `1.2.840.113549.1.12.10.1`, before the number of a kind of entry.
const BAG: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01];
const KEY: u8 = 1;
const SEALED_KEY: u8 = 2;
const CERTIFICATE: u8 = 3;
const NESTED: u8 = 6;
/// `1.2.840.113549.1.9`, before the number of an attribute.
const ATTRIBUTE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09];
const FRIENDLY_NAME: u8 = 20;
/// `1.2.840.113549.1.9.22.1`: a certificate of X.509.
const X509: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x16, 0x01];
/// `2.16.840.1.113894.746875.1.1`: Java's mark for a certificate that is trusted by itself.
const JAVA_TRUSTED: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x86, 0xf9, 0x66, 0xad, 0xca, 0x7b, 0x01, 0x01];

/// How deep entries may lie in entries.
const NESTING_MAX: usize = 4;

pub(super) fn read(bytes: &[u8], passwords: &Passwords) -> Result<KeyStore, KeyStoreError> {
    let mut reading = Reading { passwords, budget: Budget::default(), parts: Parts::default() };
    match reading.file(bytes) {
        Ok(()) => Ok(reading.parts.assemble()),
        Err(Failure::Wrong) => Err(KeyStoreError::WrongPassword(StoreKind::Pkcs12)),
        Err(Failure::NoPassword) => Err(KeyStoreError::PasswordMissing(StoreKind::Pkcs12)),
        Err(Failure::Unsupported(what)) => Err(KeyStoreError::UnsupportedAlgorithm(what)),
        Err(Failure::Damaged(Damaged(what))) => Err(KeyStoreError::Malformed(StoreKind::Pkcs12, what)),
    }
}

struct Reading<'a> {
    passwords: &'a Passwords,
    budget: Budget,
    parts: Parts,
}

impl Reading<'_> {
    /// Source: RFC 7292 §4.
    fn file(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut outside = Reader::new(bytes);
        let mut file = outside.sequence()?;
        outside.finish()?;
        if file.small()? != 3 {
            return Err(Damaged("its version is not 3").into());
        }
        let (DATA, content) = content(file.any()?.content)? else {
            return Err(Failure::Unsupported("of a signature over the file".to_owned()));
        };
        let content = Reader::new(content).expect(der::OCTET_STRING)?;
        if let (false, Some(password)) = (file.is_empty(), &self.passwords.store) {
            self.check_integrity(file.sequence()?, password, content)?;
        }
        let mut safes = Reader::new(content).sequence()?;
        while !safes.is_empty() {
            match self::content(safes.any()?.content)? {
                (DATA, content) => self.entries(Reader::new(content).expect(der::OCTET_STRING)?, NESTING_MAX)?,
                (ENCRYPTED_DATA, content) => {
                    let decrypted = self.encrypted(Reader::new(content).sequence()?)?;
                    self.entries(decrypted.as_ref(), NESTING_MAX)?;
                }
                _ => return Err(Failure::Unsupported("of a part for the owner of a key pair".to_owned())),
            }
        }
        Ok(())
    }

    /// Source: RFC 7292 §4, §5.1 step 4; RFC 9579 §4.
    fn check_integrity(&mut self, mut data: Reader<'_>, password: &Secret, content: &[u8]) -> Result<(), Failure> {
        let mut info = data.sequence()?;
        let (algorithm, mut parameters) = info.algorithm()?;
        let expected = info.expect(der::OCTET_STRING)?;
        if algorithm == PBMAC1 {
            let mut parameters = parameters.sequence()?;
            let (derivation, derivation_parameters) = parameters.algorithm()?;
            let (keyed, _) = parameters.algorithm()?;
            let method = sealed::keyed_digest(keyed).ok_or_else(|| sealed::unsupported(keyed))?;
            let key = sealed::derive(derivation, derivation_parameters, password, method.bytes(), &mut self.budget)?;
            return sealed::check(method, &key, content, expected);
        }
        let method = digest_method(algorithm).ok_or_else(|| sealed::unsupported(algorithm))?;
        let salt = data.expect(der::OCTET_STRING)?;
        let rounds = if data.is_empty() { 1 } else { data.small()? };
        let purpose = Purpose::Integrity;
        let key = sealed::derive_pkcs12(method, purpose, password, salt, rounds, method.bytes(), &mut self.budget)?;
        sealed::check(method, &key, content, expected)
    }

    /// Source: RFC 5652 §8.
    fn encrypted(&mut self, mut data: Reader<'_>) -> Result<Secret, Failure> {
        data.small()?;
        let mut info = data.sequence()?;
        info.expect(der::OBJECT_IDENTIFIER)?;
        let (algorithm, parameters) = info.algorithm()?;
        let sealed = info.expect(der::context_primitive(0))?;
        let password = self.passwords.store.as_ref().ok_or(Failure::NoPassword)?;
        sealed::open(algorithm, parameters, sealed, password, &mut self.budget)
    }

    /// Source: RFC 7292 §4.2.
    fn entries(&mut self, content: &[u8], nesting: usize) -> Result<(), Failure> {
        let mut entries = Reader::new(content).sequence()?;
        while !entries.is_empty() {
            let mut entry = entries.sequence()?;
            let kind = entry.expect(der::OBJECT_IDENTIFIER)?;
            let value = entry.expect(der::context(0))?;
            let attributes = attributes(entry.optional(der::SET)?.unwrap_or_default())?;
            match kind.strip_prefix(BAG) {
                Some([KEY]) => {
                    let key = PrivateKey::from_der(value).map_err(|_| KeyStoreError::Key);
                    self.key(attributes.alias, key);
                }
                Some([SEALED_KEY]) => {
                    let key = match self.passwords.of_keys() {
                        Some(password) => sealed::open_key(value, password, &mut self.budget),
                        None => Err(KeyStoreError::KeyPasswordMissing),
                    };
                    self.key(attributes.alias, key);
                }
                Some([CERTIFICATE]) => self.certificate(attributes, Reader::new(value).sequence()?)?,
                Some([NESTED]) if nesting > 0 => self.entries(value, nesting - 1)?,
                Some([NESTED]) => return Err(Damaged("entries lie too deep in others").into()),
                // Lists of revoked certificates and secrets of other kinds are of no use here.
                _ => {}
            }
        }
        Ok(())
    }

    fn key(&mut self, alias: Option<String>, key: Result<PrivateKey, KeyStoreError>) {
        match key {
            Ok(key) => self.parts.keys.push((alias, key)),
            Err(error) => self.parts.unreadable(alias, error),
        }
    }

    fn certificate(&mut self, attributes: Attributes, mut entry: Reader<'_>) -> Result<(), Failure> {
        if entry.expect(der::OBJECT_IDENTIFIER)? != X509 {
            return Ok(());
        }
        let der = Reader::new(entry.expect(der::context(0))?).expect(der::OCTET_STRING)?;
        let Attributes { alias, trusted } = attributes;
        match Certificate::from_der(der) {
            Ok(certificate) => {
                self.parts.certificates.push(Part { alias, own: trusted, certificate: Arc::new(certificate) });
            }
            Err(error) => self.parts.unreadable(alias, error.into()),
        }
        Ok(())
    }
}

/// What a `ContentInfo` says its content is, and the content.
fn content(info: &[u8]) -> Result<(&[u8], &[u8]), Damaged> {
    let mut info = Reader::new(info);
    Ok((info.expect(der::OBJECT_IDENTIFIER)?, info.expect(der::context(0))?))
}

struct Attributes {
    alias: Option<String>,
    trusted: bool,
}

fn attributes(content: &[u8]) -> Result<Attributes, Damaged> {
    let mut reader = Reader::new(content);
    let mut attributes = Attributes { alias: None, trusted: false };
    while !reader.is_empty() {
        let mut attribute = reader.sequence()?;
        let kind = attribute.expect(der::OBJECT_IDENTIFIER)?;
        let mut values = Reader::new(attribute.expect(der::SET)?);
        if kind.strip_prefix(ATTRIBUTE) == Some(&[FRIENDLY_NAME]) && !values.is_empty() {
            attributes.alias = text(values.any()?);
        }
        attributes.trusted |= kind == JAVA_TRUSTED;
    }
    Ok(attributes)
}
