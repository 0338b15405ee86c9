//! URL mappings of resources, as servlets have them: `/order`, `/order/*`, `*.jsp`.
//!
//! Of the mappings that match, an exact one wins, then the one that names most segments, then an extension.

/// A mapping.
#[derive(Debug)]
pub enum Mapping {
    /// The path without its trailing slashes.
    Exact(String),
    /// The first segments of the path; none for `/*`.
    Prefix(Vec<String>),
    /// The end of the path, its dot included.
    Extension(String),
}

/// How well a mapping fits; the larger, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    Extension,
    /// With that many segments; `/*` counts as one.
    Prefix(usize),
    Exact,
}

impl Mapping {
    /// Reads a mapping, which can be any text.
    pub fn parse(text: &str) -> Mapping {
        if let Some(inside) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix("/*")) {
            return Mapping::Prefix(inside.split('/').map(str::to_owned).collect());
        }
        if text == "/*" {
            return Mapping::Prefix(Vec::new());
        }
        match text.strip_prefix('*').filter(|extension| extension.starts_with('.')) {
            Some(extension) => Mapping::Extension(extension.to_owned()),
            None if text.len() > 1 => Mapping::Exact(text.strip_suffix('/').unwrap_or(text).to_owned()),
            None => Mapping::Exact(text.to_owned()),
        }
    }

    /// How well it fits a path with its query; `None` where it does not.
    ///
    /// Source: compare `URLMappingHelper` of Synapse.
    pub fn fits(&self, path: &str) -> Option<Fit> {
        match self {
            Mapping::Exact(exact) => {
                // Slashes at the very end do not count, be there a query or not.
                let path = if path == "/" { path } else { path.trim_end_matches('/') };
                let path = if path.starts_with('?') { "/" } else { without_query(path) };
                (path == exact).then_some(Fit::Exact)
            }
            Mapping::Prefix(segments) if segments.is_empty() => Some(Fit::Prefix(1)),
            Mapping::Prefix(segments) => {
                let path = without_query(path);
                let mut has = path.strip_prefix('/').unwrap_or(path).split('/');
                let fits = segments.iter().all(|segment| has.next() == Some(segment));
                fits.then_some(Fit::Prefix(segments.len()))
            }
            Mapping::Extension(extension) => without_query(path).ends_with(extension).then_some(Fit::Extension),
        }
    }
}

fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_fit_as_those_of_servlets() {
        let check = |mapping: &str, path: &str, expected: Option<Fit>| {
            assert_eq!(Mapping::parse(mapping).fits(path), expected, "{mapping} on {path}");
        };
        check("/order", "/order", Some(Fit::Exact));
        check("/order/", "/order", Some(Fit::Exact));
        check("/order", "/order/", Some(Fit::Exact));
        check("/order", "/order?x=/", Some(Fit::Exact));
        check("/order", "/order/?x=1", None);
        check("/order", "/order/1", None);
        check("/", "/", Some(Fit::Exact));
        check("/", "?x=1", Some(Fit::Exact));
        check("/*", "/", Some(Fit::Prefix(1)));
        check("/*", "?x=1", Some(Fit::Prefix(1)));
        check("/order/*", "/order", Some(Fit::Prefix(1)));
        check("/order/*", "/order/1?x", Some(Fit::Prefix(1)));
        check("/order/*", "/orders", None);
        check("/order/new/*", "/order/new/1", Some(Fit::Prefix(2)));
        check("/order/new/*", "/order", None);
        check("*.jsp", "/a/b.jsp?x", Some(Fit::Extension));
        check("*.jsp", "/a/bjsp", None);
        assert!(Fit::Exact > Fit::Prefix(9) && Fit::Prefix(2) > Fit::Prefix(1) && Fit::Prefix(1) > Fit::Extension);
    }
}
