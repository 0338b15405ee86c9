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
mod function;
mod grouping;
mod ietf_date;
mod json;
mod nodes;
pub(crate) mod serialize;
mod services;
#[cfg(test)]
mod testing;
mod transform;
mod uris;

pub(crate) use availability::property;
pub(crate) use call::Call;
pub(crate) use function::Function;
pub(crate) use nodes::composite_key;
pub(crate) use services::Services;
pub(crate) use uris::resolve;

use myelin_xpath::{Argument, Declared, Environment, Expression, Version};

use crate::name::{ExpandedName, FUNCTIONS_OF_XPATH};

/// The functions that XSLT itself defines: they mean nothing without a stylesheet, and an expression of `xsl:evaluate`
/// sees none of them (XSLT 3.0 §10.4.1, G.1).
pub(crate) const OF_XSLT: [&str; 21] = [
    "accumulator-after",
    "accumulator-before",
    "available-system-properties",
    "copy-of",
    "current",
    "current-group",
    "current-grouping-key",
    "current-merge-group",
    "current-merge-key",
    "current-output-uri",
    "document",
    "element-available",
    "function-available",
    "key",
    "regex-group",
    "snapshot",
    "stream-available",
    "system-property",
    "type-available",
    "unparsed-entity-public-id",
    "unparsed-entity-uri",
];

const FAMILIES: [&[Function]; 22] = [
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
    transform::FUNCTIONS,
    uris::FUNCTIONS,
    exslt::common::FUNCTIONS,
    exslt::dates::FUNCTIONS,
    exslt::dates::SPANS,
    exslt::dates::PATTERNS,
    exslt::dynamic::FUNCTIONS,
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
    (exslt::SAXON, "node-set", exslt::COMMON, "node-set"),
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

/// Whether all functions of a namespace are known: those of the standards and of EXSLT.
pub(crate) fn is_reserved(namespace: &str) -> bool {
    namespace.starts_with("http://www.w3.org/")
        || FAMILIES.into_iter().flatten().any(|function| function.namespace == namespace)
}

/// Whether there is a function of that name, for so many arguments if that is said, beside those of the stylesheet.
pub(crate) fn is_available(name: &ExpandedName, count: Option<f64>) -> bool {
    // Drafts of the functions' specification had other namespaces: they can be called, but are not promised.
    if name.namespace.ends_with("/xpath-functions") && name.namespace != FUNCTIONS_OF_XPATH {
        return false;
    }
    if let Some(function) = find(&name.namespace, &name.local) {
        return count.is_none_or(|count| count >= 0.0 && function.takes(count as usize));
    }
    if name.namespace.is_empty() && name.local == "current" {
        return count.is_none_or(|count| count == 0.0);
    }
    is_of_xpath(name, count)
}

/// Whether XPath itself has the function: asked of its compiler, so that both always agree.
fn is_of_xpath(name: &ExpandedName, count: Option<f64>) -> bool {
    let counts = match count {
        Some(count) if (0.0..=20.0).contains(&count) => count as usize..=count as usize,
        Some(_) => return false,
        None => 0..=8,
    };
    let prefix = if name.namespace.is_empty() { "" } else { "p:" };
    counts.into_iter().any(|count| {
        let text = format!("{prefix}{}({})", name.local, vec!["()"; count].join(","));
        Expression::compile(&text, &mut Only { namespace: &name.namespace }).is_ok()
    })
}

/// Knows one prefix and nothing else.
struct Only<'n> {
    namespace: &'n str,
}

impl Environment for Only<'_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "p").then(|| self.namespace.to_owned())
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Err(format!("${local} is unknown here"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }

    fn version(&self) -> Version {
        Version::V3
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
