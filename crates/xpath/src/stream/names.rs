//! Conditions on names alone, asked once for each distinct name of a document.

use myelin_xml::Name;

/// Which names are taken: a name test with the predicates behind it that ask for nothing but the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NameFilter {
    Any,
    Local(String),
    /// An empty one: names without a namespace.
    Namespace(String),
    /// The name as it is written, with its prefix.
    Written(String),
    Not(Box<NameFilter>),
    And(Vec<NameFilter>),
    Or(Vec<NameFilter>),
}

impl NameFilter {
    pub(super) fn accepts(&self, name: Name<'_>) -> bool {
        match self {
            NameFilter::Any => true,
            NameFilter::Local(local) => name.local == local,
            NameFilter::Namespace(namespace) => name.namespace == namespace,
            NameFilter::Written(written) if name.prefix.is_empty() => name.local == written,
            NameFilter::Written(written) => {
                let local = written.strip_prefix(name.prefix).and_then(|rest| rest.strip_prefix(':'));
                local == Some(name.local)
            }
            NameFilter::Not(filter) => !filter.accepts(name),
            NameFilter::And(filters) => filters.iter().all(|filter| filter.accepts(name)),
            NameFilter::Or(filters) => filters.iter().any(|filter| filter.accepts(name)),
        }
    }

    /// Both conditions.
    pub(super) fn and(self, other: NameFilter) -> NameFilter {
        match (self, other) {
            (NameFilter::Any, filter) | (filter, NameFilter::Any) => filter,
            (NameFilter::And(mut filters), filter) => {
                filters.push(filter);
                NameFilter::And(filters)
            }
            (first, second) => NameFilter::And(vec![first, second]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_by_each_of_their_parts() {
        let name = Name { prefix: "m", local: "order", namespace: "urn:x" };
        let local = || NameFilter::Local("order".to_owned());
        let other = || NameFilter::Namespace("urn:y".to_owned());
        for (filter, expected) in [
            (NameFilter::Any, true),
            (local(), true),
            (other(), false),
            (NameFilter::Written("m:order".to_owned()), true),
            (NameFilter::Written("order".to_owned()), false),
            (NameFilter::Written("mm:order".to_owned()), false),
            (local().and(other()), false),
            (NameFilter::Any.and(local()), true),
            (NameFilter::Or(vec![local(), other()]), true),
            (local().and(NameFilter::Not(Box::new(other()))), true),
        ] {
            assert_eq!(filter.accepts(name), expected, "{filter:?}");
        }
    }
}
