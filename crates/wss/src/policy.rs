//! WS-SecurityPolicy 1.1, 1.2 and 1.3, with the configuration of Apache Rampart.
//!
//! A policy is brought to its normal form first, then each alternative is read by itself. What is not known is wrong,
//! and what is known and not supported leaves its alternative out, so that no policy is ever read as a weaker one.

mod alternative;
mod applies;
mod binding;
mod model;
mod names;
mod normal;
mod parts;
mod rampart;
mod reader;
mod suite;
mod supporting;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod token;
mod wss;

use myelin_xml::{Document, Options};

use crate::Problem;
use names::{is_policy, problem};
use reader::{Notes, Reader};

pub use model::{
    AlgorithmSuite, Alternative, Binding, Common, Crypto, DerivedKeys, ElementPart, EncryptionUser, HeaderPart,
    Inclusion, KeyReference, Layout, Parts, Password, Policy, Rampart, SamlVersion, SupportingTokens, Token, TokenKind,
    Wss, X509Form,
};

impl Policy {
    /// Reads a policy from its XML.
    ///
    /// Shape: the root element is a `wsp:Policy`, in any of the versions.
    /// The second of the pair are warnings: what is read and has no effect.
    /// Errors: what is not well formed, not known, or cannot be honoured, each with its place: the author's.
    /// Source: WS-Policy 1.2 and 1.5, WS-SecurityPolicy 1.1 to 1.3, Rampart's `RampartConfigBuilder`.
    pub fn parse(source: &[u8]) -> Result<(Policy, Vec<Problem>), Vec<Problem>> {
        let options = Options { depth: 100, nodes: 100_000, total_bytes: 1 << 20, ..Options::default() };
        let document = Document::parse(source.to_vec(), &options).map_err(|error| {
            vec![Problem { line: error.line, column: error.column, message: error.kind.to_string() }]
        })?;
        let root = document.root_element().expect("a document that was read has an element");
        if !is_policy(&document, root, "Policy") {
            let name = document.qname(root);
            let message = format!("{{{}}}{} is no policy, expected Policy of WS-Policy", name.namespace, name.local);
            return Err(vec![problem(&document, root, message)]);
        }
        let combinations = normal::normalize(&document, root).map_err(|problem| vec![problem])?;
        let mut reader = Reader::new(&document);
        let (mut alternatives, mut left_out) = (Vec::new(), Notes::default());
        for combination in &combinations {
            let alternative = alternative::read(&mut reader, combination);
            if reader.unsupported.is_empty() {
                alternatives.push(alternative);
            }
            left_out.append(std::mem::take(&mut reader.unsupported));
        }
        let Reader { mut errors, mut warnings, .. } = reader;
        if combinations.is_empty() {
            errors.add(root, "the policy has no alternative: no message can fulfil it".to_owned());
        } else if alternatives.is_empty() {
            errors.append(left_out);
            left_out = Notes::default();
        } else if alternatives.iter().all(Alternative::asks_for_nothing) && errors.is_empty() {
            errors.add(root, "nothing in this policy is about security".to_owned());
        }
        if !errors.is_empty() {
            return Err(errors.located(&document));
        }
        if alternatives.iter().any(Alternative::asks_for_nothing) {
            warnings.add(root, "an alternative of this policy lets messages pass without security".to_owned());
        }
        let left_out = left_out.located(&document).into_iter().map(|problem| {
            let message = format!("{}, so that the alternative it stands in is left out", problem.message);
            Problem { message, ..problem }
        });
        let mut warnings = warnings.located(&document);
        warnings.extend(left_out);
        Ok((Policy { alternatives }, warnings))
    }
}

impl Policy {
    /// Where the first alternative names its keys: line and column.
    pub(crate) fn rampart_place(&self) -> (u64, u64) {
        self.alternatives.first().map(|first| first.rampart_place).unwrap_or_default()
    }
}

impl Alternative {
    /// What is wrong with it, with its place in the policy.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::general(message).at(self.place)
    }

    /// Whether any message fulfils it.
    fn asks_for_nothing(&self) -> bool {
        let parts = [&self.signed, &self.encrypted, &self.required];
        matches!(self.binding, Binding::None)
            && self.supporting.is_empty()
            && parts.iter().all(|parts| parts.is_empty())
    }
}

impl Parts {
    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        !self.body && !self.all_headers && self.headers.is_empty() && self.elements.is_empty()
    }
}
