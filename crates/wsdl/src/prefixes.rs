//! Prefixes for a document that is made.

use crate::page::escaped;

/// Which prefix stands for which namespace: those that the source had first, others as they are needed.
pub(crate) struct Prefixes {
    /// What the source declares: not to be used for anything else, as pieces of the source may be put in.
    known: Vec<(String, String)>,
    used: Vec<(String, String)>,
}

impl Prefixes {
    pub(crate) fn new<'a>(known: impl IntoIterator<Item = (&'a str, &'a str)>) -> Prefixes {
        let known = known.into_iter().filter(|(prefix, _)| !prefix.is_empty() && *prefix != "xml");
        Prefixes {
            known: known.map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned())).collect(),
            used: Vec::new(),
        }
    }

    /// The prefix of a namespace; `wish` is taken if the source says nothing and it is free.
    pub(crate) fn of(&mut self, namespace: &str, wish: &str) -> String {
        let find =
            |list: &[(String, String)]| list.iter().find(|(_, it)| it == namespace).map(|(prefix, _)| prefix.clone());
        if let Some(prefix) = find(&self.used) {
            return prefix;
        }
        let prefix = find(&self.known).unwrap_or_else(|| {
            let is_free = |prefix: &str| !self.known.iter().chain(&self.used).any(|(taken, _)| taken == prefix);
            let numbered = (0..).map(|number| format!("{wish}{number}"));
            std::iter::once(wish.to_owned()).chain(numbered).find(|prefix| is_free(prefix)).expect("numbers do not end")
        });
        self.used.push((prefix.clone(), namespace.to_owned()));
        prefix
    }

    /// What stands before a local name: the prefix with its colon, or nothing where there is no namespace.
    pub(crate) fn before(&mut self, namespace: &str, wish: &str) -> String {
        if namespace.is_empty() { String::new() } else { format!("{}:", self.of(namespace, wish)) }
    }

    /// A qualified name as it is written, escaped for an attribute.
    pub(crate) fn name(&mut self, namespace: &str, local: &str) -> String {
        format!("{}{}", self.before(namespace, "ns"), escaped(local))
    }

    /// What has to be declared: prefix and namespace.
    pub(crate) fn used(&self) -> &[(String, String)] {
        &self.used
    }
}
