//! The functions of the library, each declared in the file that holds it.

mod aggregates;
mod arrays;
mod call;
mod dates;
mod equality;
mod higher;
mod json;
mod lists;
mod maps;
mod math;
mod nodes;
mod numbers;
mod patterns;
mod qnames;
mod random;
mod sequences;
mod strings;
mod uris;

use crate::function::{Function, Library};
pub(crate) use lists::list_constructor;
pub(crate) use patterns::pattern_arguments;

/// Strings joined; also what `||` does.
pub(crate) const CONCAT: &Function = &strings::FUNCTIONS[0];

/// A name from a namespace and a lexical form; also what `xs:QName('p:local')` does.
pub(crate) const QNAME: &Function = &qnames::FUNCTIONS[0];

const FAMILIES: [&[Function]; 15] = [
    strings::FUNCTIONS,
    sequences::FUNCTIONS,
    nodes::FUNCTIONS,
    numbers::FUNCTIONS,
    aggregates::FUNCTIONS,
    patterns::FUNCTIONS,
    dates::FUNCTIONS,
    uris::FUNCTIONS,
    qnames::FUNCTIONS,
    math::FUNCTIONS,
    higher::FUNCTIONS,
    maps::FUNCTIONS,
    arrays::FUNCTIONS,
    json::FUNCTIONS,
    random::FUNCTIONS,
];

fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.into_iter().flatten()
}

/// The function with that name.
pub(crate) fn find(library: Library, name: &str) -> Option<&'static Function> {
    all().find(|function| function.name == name && function.library == library)
}

/// The function whose name is nearest to one that does not exist.
pub(crate) fn nearest(library: Library, name: &str) -> Option<&'static str> {
    myelin_spelling::nearest(name, all().filter(|function| function.library == library).map(|function| function.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_in_the_tables_once() {
        let mut names: Vec<_> = all().map(|function| (function.library as u8, function.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn the_nearest_name_is_offered() {
        let check = |name: &str, expected: Option<&str>| assert_eq!(nearest(Library::Core, name), expected, "{name}");
        check("uppercase", Some("upper-case"));
        check("frobnicate", None);
        check("uper-case", Some("upper-case"));
        check("contain", Some("contains"));
        check("normalise-space", Some("normalize-space"));
    }
}
