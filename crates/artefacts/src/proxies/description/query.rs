//! What a query asks of a service about itself.

use std::borrow::Cow;

use myelin_java_text::percent::{Plus, decoded};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataQuery<'a> {
    /// `?wsdl`, or a description that it imports.
    Wsdl(Cow<'a, str>),
    /// `?wsdl2`
    Wsdl2,
    /// `?xsd`, or a schema that the description imports.
    Schema(Cow<'a, str>),
    /// `?policy`
    Policy,
    /// `?info`
    Info,
}

impl<'a> MetadataQuery<'a> {
    /// What a query asks, if it asks about the service and not of it; with the question mark or without.
    ///
    /// Source: Synapse's `DefaultHttpGetProcessor`. The words `policy` and `info` count only where nothing else stands in
    /// the query: a client may well mean something else by them.
    pub fn of(query: &'a str) -> Option<MetadataQuery<'a>> {
        let query = query.strip_prefix('?')?.split('#').next()?;
        let is = |word: &str, known: &str| word.eq_ignore_ascii_case(known);
        query.split('&').find_map(|pair| {
            let (word, value) = pair.split_once('=').unwrap_or((pair, ""));
            match word {
                _ if is(word, "wsdl") => Some(MetadataQuery::Wsdl(decoded(value, Plus::Blank))),
                _ if is(word, "wsdl2") => Some(MetadataQuery::Wsdl2),
                _ if is(word, "xsd") => Some(MetadataQuery::Schema(decoded(value, Plus::Blank))),
                _ if is(query, "policy") => Some(MetadataQuery::Policy),
                _ if is(query, "info") => Some(MetadataQuery::Info),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_words_ask_about_a_service() {
        let check = |query, expected| assert_eq!(MetadataQuery::of(query), expected, "{query}");
        check("?wsdl", Some(MetadataQuery::Wsdl("".into())));
        check("?x=1&WSDL=a%2Fb.wsdl", Some(MetadataQuery::Wsdl("a/b.wsdl".into())));
        check("?wsdl2", Some(MetadataQuery::Wsdl2));
        check("?xsd=xsd0#top", Some(MetadataQuery::Schema("xsd0".into())));
        check("?info", Some(MetadataQuery::Info));
        check("?policy", Some(MetadataQuery::Policy));
        check("?policy=17", None);
        check("?info&x=1", None);
        check("?wsdls", None);
        check("", None);
    }
}
