//! The functions of the library, each declared in the file that holds it.

mod aggregates;
mod arrays;
mod call;
mod dates;
mod equality;
mod higher;
mod json;
mod maps;
mod math;
mod nodes;
mod numbers;
mod patterns;
mod qnames;
mod sequences;
mod strings;
mod uris;

use crate::error::Error;
use crate::value::Value;
pub(crate) use call::Call;
pub use patterns::{Pattern, Segment, Segments};
pub(crate) use patterns::{PatternCache, pattern_arguments};

/// A function that expressions can call.
#[derive(Debug)]
pub struct Function {
    /// Its local name.
    pub name: &'static str,
    /// The namespace it is in.
    pub library: Library,
    /// The fewest arguments it takes.
    pub least: u8,
    /// The most arguments it takes; 255: any number.
    pub most: u8,
    /// Whether the context item stands for an argument left out at the end; the syntax tree has it written out then.
    pub defaults_to_context: bool,
    /// What it gives.
    pub returns: Returns,
    pub(crate) run: Body,
}

/// A function asks its call for the arguments, in the form it needs them.
pub(crate) type Body = for<'c, 'r, 'a> fn(&'c Call<'r, 'a>) -> Result<Value<'a>, Error>;

impl Function {
    const fn new(name: &'static str, least: u8, most: u8, returns: Returns, run: Body) -> Function {
        Function { name, library: Library::Core, least, most, defaults_to_context: false, returns, run }
    }

    /// The same, with the context item for an argument left out.
    const fn or_context(self) -> Function {
        Function { defaults_to_context: true, ..self }
    }
}

/// The namespaces of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `http://www.w3.org/2005/xpath-functions`, and every name without a prefix.
    Core,
    /// `http://www.w3.org/2005/xpath-functions/math`
    Math,
    /// `http://www.w3.org/2005/xpath-functions/map`
    Map,
    /// `http://www.w3.org/2005/xpath-functions/array`
    Array,
}

impl Library {
    const ALL: [(Library, &str, &str); 4] = [
        (Library::Core, "fn", "http://www.w3.org/2005/xpath-functions"),
        (Library::Math, "math", "http://www.w3.org/2005/xpath-functions/math"),
        (Library::Map, "map", "http://www.w3.org/2005/xpath-functions/map"),
        (Library::Array, "array", "http://www.w3.org/2005/xpath-functions/array"),
    ];

    /// Its namespace.
    pub fn namespace(self) -> &'static str {
        Library::ALL[self as usize].2
    }

    /// Its usual prefix, which expressions can use without declaring it.
    pub fn prefix(self) -> &'static str {
        Library::ALL[self as usize].1
    }

    /// The library whose usual prefix this is.
    pub(crate) fn of_prefix(prefix: &str) -> Option<Library> {
        Library::ALL.into_iter().find(|(_, usual, _)| *usual == prefix).map(|(library, ..)| library)
    }

    /// The library with that namespace.
    ///
    /// Drafts of the functions' specification had a year and a month in it; configurations still use them.
    pub(crate) fn of_namespace(namespace: &str) -> Option<Library> {
        let draft = namespace.starts_with("http://www.w3.org/") && namespace.ends_with("/xpath-functions");
        let known = Library::ALL.into_iter().find(|(.., known)| *known == namespace).map(|(library, ..)| library);
        known.or(draft.then_some(Library::Core))
    }
}

/// The most arguments with which a function can be a value.
pub(crate) const MOST_ARGUMENTS: usize = 16;

/// What a function gives, as far as analysis wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says it")]
pub enum Returns {
    Boolean,
    Text,
    Number,
    Nodes,
    Any,
}

/// Strings joined; also what `||` does.
pub(crate) const CONCAT: &Function = &strings::FUNCTIONS[0];

/// A name from a namespace and a lexical form; also what `xs:QName('p:local')` does.
pub(crate) const QNAME: &Function = &qnames::FUNCTIONS[0];

const FAMILIES: [&[Function]; 14] = [
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
    let names = all().filter(|function| function.library == library).map(|function| function.name);
    names.map(|known| (distance(name, known), known)).min().filter(|(far, _)| *far <= 2).map(|(_, known)| known)
}

/// How many letters have to be added, left out or changed to make one name from the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().take(40).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, wanted) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
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
