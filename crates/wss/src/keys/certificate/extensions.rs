//! What certificates say beside the name and the key.
//!
//! Source: RFC 5280 §4.2.

use super::super::der::{self, Damaged, Element, Reader};
use super::Name;

/// What the extensions of a certificate say, as far as we look at them.
#[derive(Debug, Default)]
pub(in crate::keys) struct Extensions {
    pub(in crate::keys) key_identifier: Option<Vec<u8>>,
    pub(in crate::keys) authority_key_identifier: Option<Vec<u8>>,
    pub(in crate::keys) key_usage: Option<KeyUsage>,
    pub(in crate::keys) is_ca: bool,
    /// How many certificates of authorities may lie between this one and the last of a path.
    pub(in crate::keys) path_length: Option<u32>,
    pub(in crate::keys) alternative_names: Vec<GeneralName>,
    pub(in crate::keys) name_constraints: Option<NameConstraints>,
    /// Whether there is one that must be understood and is not.
    pub(in crate::keys) unknown_critical: bool,
}

/// What a key may be used for, as its certificate says.
///
/// Source: RFC 5280 §4.2.1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUsage(u8);

impl KeyUsage {
    /// `digitalSignature` or `nonRepudiation`: it may sign messages.
    pub fn allows_signature(self) -> bool {
        self.0 & 0b1100_0000 != 0
    }

    /// `keyEncipherment` or `dataEncipherment`: keys may be encrypted for it.
    pub fn allows_encryption(self) -> bool {
        self.0 & 0b0011_0000 != 0
    }

    /// `keyCertSign`: it may sign certificates.
    pub fn allows_certificates(self) -> bool {
        self.0 & 0b0000_0100 != 0
    }

    /// `cRLSign`: it may sign lists of revoked certificates.
    pub fn allows_revocation(self) -> bool {
        self.0 & 0b0000_0010 != 0
    }
}

/// A name as extensions write it; only the forms that constraints are checked for are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::keys) enum GeneralName {
    /// The name of a host, in small letters.
    Host(String),
    /// The name of a subject.
    Directory(Name),
    /// Any other form, by its tag.
    Other(u8),
}

impl GeneralName {
    /// An address of mail, which can be a part of a subject too.
    pub(in crate::keys) const MAIL: GeneralName = GeneralName::Other(der::context_primitive(1));
}

/// Which names certificates below may have.
#[derive(Debug, Default)]
pub(in crate::keys) struct NameConstraints {
    pub(in crate::keys) permitted: Vec<GeneralName>,
    pub(in crate::keys) excluded: Vec<GeneralName>,
}

/// More names in one certificate are none that we look through.
const NAMES_MAX: usize = 1000;

/// The prefix of the extensions of X.509: `2.5.29`.
const PREFIX: &[u8] = &[0x55, 0x1d];

impl Extensions {
    /// Reads the content of the element with number 3.
    pub(super) fn read(content: &[u8]) -> Result<Extensions, Damaged> {
        let mut read = Extensions::default();
        each_extension(content, |identifier, critical, value| read.take(identifier, critical, value))?;
        Ok(read)
    }

    fn take(&mut self, identifier: &[u8], critical: bool, value: &[u8]) -> Result<(), Damaged> {
        let mut reader = Reader::new(value);
        match identifier.strip_prefix(PREFIX) {
            Some([14]) => self.key_identifier = Some(reader.expect(der::OCTET_STRING)?.to_vec()),
            Some([15]) => self.key_usage = Some(key_usage(reader.expect(der::BIT_STRING)?)?),
            Some([17]) => self.alternative_names = general_names(reader.expect(der::SEQUENCE)?, NAMES_MAX)?,
            Some([19]) => {
                let mut constraints = reader.sequence()?;
                self.is_ca = constraints.optional(der::BOOLEAN)?.is_some_and(|value| value != [0]);
                self.path_length = if constraints.is_empty() { None } else { Some(constraints.small()?) };
            }
            Some([30]) => self.name_constraints = Some(NameConstraints::read(reader.sequence()?)?),
            Some([35]) => {
                let mut identifier = reader.sequence()?;
                self.authority_key_identifier = identifier.optional(der::context_primitive(0))?.map(<[u8]>::to_vec);
            }
            // Other names of the issuer, policies that nobody here asks for, and uses in other protocols such as TLS.
            Some([18 | 32 | 37]) => {}
            _ => self.unknown_critical |= critical,
        }
        Ok(())
    }
}

/// Calls `take` with identifier, criticality and value of each extension in the content of such a list's wrapper.
///
/// Errors: the list is malformed, or an extension stands there twice.
pub(in crate::keys) fn each_extension<'a>(
    content: &'a [u8],
    mut take: impl FnMut(&'a [u8], bool, &'a [u8]) -> Result<(), Damaged>,
) -> Result<(), Damaged> {
    const EXTENSIONS_MAX: usize = 64;
    let mut outside = Reader::new(content);
    let mut list = outside.sequence()?;
    outside.finish()?;
    let mut seen: Vec<&[u8]> = Vec::new();
    while !list.is_empty() {
        let mut extension = list.sequence()?;
        let identifier = extension.expect(der::OBJECT_IDENTIFIER)?;
        let critical = extension.optional(der::BOOLEAN)?.is_some_and(|value| value != [0]);
        let value = extension.expect(der::OCTET_STRING)?;
        extension.finish()?;
        if seen.len() == EXTENSIONS_MAX || seen.contains(&identifier) {
            return Err(Damaged("an extension stands there twice, or there are too many of them"));
        }
        seen.push(identifier);
        take(identifier, critical, value)?;
    }
    Ok(())
}

fn key_usage(bits: &[u8]) -> Result<KeyUsage, Damaged> {
    match bits {
        [0..=7, first, ..] => Ok(KeyUsage(*first)),
        // No bit is set: the key is good for nothing.
        [0] => Ok(KeyUsage(0)),
        _ => Err(Damaged("the usage of the key is no string of bits")),
    }
}

/// Reads names one behind the other.
fn general_names(content: &[u8], limit: usize) -> Result<Vec<GeneralName>, Damaged> {
    let mut reader = Reader::new(content);
    let mut names = Vec::new();
    while !reader.is_empty() {
        if names.len() == limit {
            return Err(Damaged("there are too many names"));
        }
        names.push(GeneralName::read(reader.any()?)?);
    }
    Ok(names)
}

const HOST: u8 = der::context_primitive(2);
const DIRECTORY: u8 = der::context(4);

impl GeneralName {
    fn read(element: Element<'_>) -> Result<GeneralName, Damaged> {
        Ok(match element.tag {
            HOST => GeneralName::Host(String::from_utf8_lossy(element.content).to_ascii_lowercase()),
            DIRECTORY => GeneralName::Directory(Name::read(element.content)?),
            tag => GeneralName::Other(tag),
        })
    }

    /// Whether a name lies in the subtree that this one stands for; `None` where they are of different forms.
    ///
    /// Of forms that we do not read, each name lies in each excluded subtree and in no permitted one (`excluded`).
    fn contains(&self, name: &GeneralName, excluded: bool) -> Option<bool> {
        match (self, name) {
            (GeneralName::Host(subtree), GeneralName::Host(name)) => {
                let before = name.strip_suffix(subtree.as_str());
                Some(before.is_some_and(|before| {
                    before.is_empty() || before.ends_with('.') || subtree.starts_with('.') || subtree.is_empty()
                }))
            }
            (GeneralName::Directory(subtree), GeneralName::Directory(name)) => Some(name.lies_in(subtree)),
            (GeneralName::Other(form), GeneralName::Other(other)) if form == other => Some(excluded),
            _ => None,
        }
    }
}

impl NameConstraints {
    fn read(mut constraints: Reader<'_>) -> Result<NameConstraints, Damaged> {
        let mut read = NameConstraints::default();
        for (number, names) in [(0, &mut read.permitted), (1, &mut read.excluded)] {
            let mut subtrees = Reader::new(constraints.optional(der::context(number))?.unwrap_or_default());
            while !subtrees.is_empty() {
                if names.len() == NAMES_MAX {
                    return Err(Damaged("there are too many constraints on names"));
                }
                let mut subtree = subtrees.sequence()?;
                names.push(GeneralName::read(subtree.any()?)?);
                // Depths other than the default are forbidden (RFC 5280 §4.2.1.10).
                subtree.finish()?;
            }
        }
        constraints.finish()?;
        Ok(read)
    }

    /// Whether a certificate may have this name.
    pub(in crate::keys) fn allow(&self, name: &GeneralName) -> bool {
        let mut permitted = self.permitted.iter().filter_map(|subtree| subtree.contains(name, false)).peekable();
        let is_permitted = permitted.peek().is_none() || permitted.any(|contains| contains);
        is_permitted && !self.excluded.iter().any(|subtree| subtree.contains(name, true) == Some(true))
    }
}
