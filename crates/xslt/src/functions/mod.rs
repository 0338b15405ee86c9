//! The functions that expressions of a stylesheet call beside those of XPath: XSLT's own and EXSLT's.
//!
//! A function is declared in the file that holds it, in a family of its namespace.

mod analyze_string;
mod availability;
mod call;
mod documents;
mod exslt;
mod format_date;
mod format_integer;
mod format_number;
mod grouping;
mod ietf_date;
mod json;
mod nodes;
mod serialize;
mod services;
#[cfg(test)]
mod testing;
mod uris;

pub(crate) use availability::{is_available, property};
pub(crate) use call::Call;
pub(crate) use exslt::dynamic;
pub(crate) use services::Services;
pub(crate) use uris::resolve;

use myelin_xpath::{Error, Value};

/// A function of the library.
#[derive(Debug)]
pub(crate) struct Function {
    /// Empty: XSLT's own, which are called without a prefix.
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    /// The fewest arguments it takes.
    pub(crate) least: u8,
    /// The most arguments it takes; 255: any number.
    pub(crate) most: u8,
    pub(crate) run: Body,
}

/// What a function does.
pub(crate) type Body = for<'c, 'a> fn(&Call<'c, 'a>) -> Result<Value<'a>, Error>;

impl Function {
    /// A function that is called without a prefix.
    const fn own(name: &'static str, least: u8, most: u8, run: Body) -> Function {
        Function { namespace: "", name, least, most, run }
    }

    /// Whether it takes so many arguments.
    pub(crate) fn takes(&self, count: usize) -> bool {
        count >= usize::from(self.least) && (self.most == u8::MAX || count <= usize::from(self.most))
    }
}

const FAMILIES: [&[Function]; 21] = [
    analyze_string::FUNCTIONS,
    availability::FUNCTIONS,
    documents::FUNCTIONS,
    format_date::FUNCTIONS,
    format_integer::FUNCTIONS,
    format_number::FUNCTIONS,
    grouping::FUNCTIONS,
    ietf_date::FUNCTIONS,
    json::FUNCTIONS,
    nodes::FUNCTIONS,
    serialize::FUNCTIONS,
    uris::FUNCTIONS,
    exslt::common::FUNCTIONS,
    exslt::dates::FUNCTIONS,
    exslt::dates::SPANS,
    exslt::dates::PATTERNS,
    dynamic::FUNCTIONS,
    exslt::math::FUNCTIONS,
    exslt::saxon::FUNCTIONS,
    exslt::sets::FUNCTIONS,
    exslt::strings::FUNCTIONS,
];

/// Old names: functions that other processors have in namespaces of their own, and what is meant.
const ALIASES: [(&str, &str, &str, &str); 11] = [
    ("http://xml.apache.org/xalan", "nodeset", exslt::COMMON, "node-set"),
    ("http://xml.apache.org/xalan", "evaluate", exslt::DYNAMIC, "evaluate"),
    ("http://xml.apache.org/xalan", "tokenize", exslt::STRINGS, "tokenize"),
    ("http://xml.apache.org/xalan", "distinct", exslt::SETS, "distinct"),
    ("http://xml.apache.org/xalan", "difference", exslt::SETS, "difference"),
    ("http://xml.apache.org/xalan", "intersection", exslt::SETS, "intersection"),
    ("http://xml.apache.org/xalan", "hasSameNodes", exslt::SETS, "has-same-node"),
    ("urn:schemas-microsoft-com:xslt", "node-set", exslt::COMMON, "node-set"),
    ("http://xmlsoft.org/XSLT/namespace", "node-set", exslt::COMMON, "node-set"),
    ("http://www.jclark.com/xt", "node-set", exslt::COMMON, "node-set"),
    ("http://icl.com/saxon", "node-set", exslt::COMMON, "node-set"),
];

/// The function of that name; XSLT's own are also in the namespace of XPath's functions.
pub(crate) fn find(namespace: &str, name: &str) -> Option<&'static Function> {
    let standard = namespace.starts_with("http://www.w3.org/") && namespace.ends_with("/xpath-functions");
    let namespace = if standard { "" } else { namespace };
    let alias = ALIASES.iter().find(|(from, local, ..)| *from == namespace && *local == name);
    let (namespace, name) = alias.map_or((namespace, name), |(.., to, local)| (*to, *local));
    FAMILIES.into_iter().flatten().find(|function| function.name == name && function.namespace == namespace)
}

/// Why functions of a namespace are not offered, where there is a reason that the author of a stylesheet should know.
pub(crate) fn refusal(namespace: &str) -> Option<&'static str> {
    let java = ["java", "xalan://", "http://xml.apache.org/xalan/java", "http://xml.apache.org/xslt/java"];
    if java.iter().any(|start| namespace.starts_with(start)) || namespace.starts_with("http://saxon.sf.net/java") {
        return Some("Java classes cannot be called");
    }
    match namespace {
        "http://exslt.org/crypto" => Some("EXSLT's cryptographic functions are not offered"),
        "http://exslt.org/regular-expressions" => Some("matches(), replace() and tokenize() work in every version"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_in_the_tables_once() {
        let mut names: Vec<_> =
            FAMILIES.into_iter().flatten().map(|function| (function.namespace, function.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn old_names_mean_functions_that_there_are() {
        for (namespace, name, ..) in ALIASES {
            assert!(find(namespace, name).is_some(), "{namespace} {name}");
        }
    }

    #[test]
    fn java_is_refused_with_a_reason() {
        assert_eq!(refusal("xalan://java.util.UUID"), Some("Java classes cannot be called"));
        assert_eq!(refusal("java:java.lang.Math"), Some("Java classes cannot be called"));
        assert_eq!(refusal("http://exslt.org/math"), None);
    }
}
