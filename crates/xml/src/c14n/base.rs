//! Joining values of `xml:base` as Canonical XML 1.1 wants it.

/// What `reference` means with respect to `base`; two relative references give a relative one.
///
/// Source: Canonical XML 1.1 §2.4, which changes RFC 3986 §5.2: the base needs no scheme, fragments are dropped,
/// leading `..` segments stay, several slashes are one, and `..` at the end gets a slash.
pub(super) fn join(base: &str, reference: &str) -> String {
    let (base, reference) = (Parts::of(base), Parts::of(reference));
    let mut joined = Parts { scheme: base.scheme, authority: base.authority, path: "", query: reference.query };
    let merged;
    let path = if reference.scheme.is_some() {
        joined = Parts { path: "", ..reference };
        reference.path
    } else if reference.authority.is_some() {
        joined.authority = reference.authority;
        reference.path
    } else if reference.path.is_empty() {
        joined.query = reference.query.or(base.query);
        base.path
    } else if reference.path.starts_with('/') {
        reference.path
    } else {
        merged = merge(&base, reference.path);
        &merged
    };
    let mut text = String::new();
    if let Some(scheme) = joined.scheme {
        text.push_str(scheme);
        text.push(':');
    }
    if let Some(authority) = joined.authority {
        text.push_str("//");
        text.push_str(authority);
    }
    text.push_str(&remove_dot_segments(path));
    if let Some(query) = joined.query {
        text.push('?');
        text.push_str(query);
    }
    text
}

/// A reference without its fragment.
#[derive(Clone, Copy)]
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// Source: RFC 3986 appendix B.
    fn of(reference: &'a str) -> Parts<'a> {
        let reference = reference.split('#').next().unwrap_or_default();
        let (scheme, rest) = match reference.find([':', '/', '?']) {
            Some(at) if at > 0 && reference[at..].starts_with(':') => (Some(&reference[..at]), &reference[at + 1..]),
            _ => (None, reference),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        Parts { scheme, authority, path, query }
    }
}

/// The path of a relative reference put in the place of the last segment of the base's.
fn merge(base: &Parts<'_>, path: &str) -> String {
    if base.authority.is_some() && base.path.is_empty() {
        return format!("/{path}");
    }
    // `..` names a directory, as it does with a slash behind.
    let base =
        if base.path == ".." || base.path.ends_with("/..") { format!("{}/", base.path) } else { base.path.to_owned() };
    let directory = base.rfind('/').map_or("", |at| &base[..=at]);
    format!("{directory}{path}")
}

/// Source: Canonical XML 1.1 appendix A.
fn remove_dot_segments(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut directory = path.ends_with('/');
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        directory = path.ends_with('/');
        match segment {
            "." => directory = true,
            ".." => {
                directory = true;
                match kept.last() {
                    Some(&last) if last != ".." => {
                        kept.pop();
                    }
                    _ if absolute => {}
                    _ => kept.push(".."),
                }
            }
            segment => kept.push(segment),
        }
    }
    let mut clean = String::with_capacity(path.len() + 1);
    if absolute {
        clean.push('/');
    }
    clean.push_str(&kept.join("/"));
    if directory && !kept.is_empty() {
        clean.push('/');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_segments_go_as_in_the_table_of_appendix_a() {
        for (path, expected) in [
            ("no/.././/pseudo-netpath/seg/file.ext", "pseudo-netpath/seg/file.ext"),
            ("yes/no//..//.///pseudo-netpath/seg/file.ext", "yes/pseudo-netpath/seg/file.ext"),
            ("no/../yes", "yes"),
            ("no/../yes/no/..", "yes/"),
            ("../../no/../..", "../../../"),
            ("no/../..", "../"),
            ("no/..", ""),
            ("/a/b/c/./../../g", "/a/g"),
            ("mid/content=5/../6", "mid/6"),
            ("../../..", "../../../"),
            ("no/../../", "../"),
            ("..yes/..no/..no/..no/../../../..yes/", "..yes/..yes/"),
            (".", ""),
            ("./.", ""),
            ("//no/..", "/"),
            ("../../no/../", "../../"),
            ("yes/no/no/no/../../../yes/", "yes/yes/"),
            ("/yes/no/no/../..", "/yes/"),
            ("..yes/...no/..no/..no/../../..", "..yes/"),
            ("/", "/"),
            ("/./.", "/"),
            ("/../..", "/"),
            ("//..//..//..", "/"),
            ("/./.././.././..", "/"),
            ("..", "../"),
            ("a/.", "a/"),
        ] {
            assert_eq!(remove_dot_segments(path), expected, "{path}");
        }
    }

    #[test]
    fn references_are_joined() {
        for (base, reference, expected) in [
            ("abc/", "../", ""),
            ("../", "../", "../../"),
            ("..", "..", "../../"),
            ("..", "x", "../x"),
            ("bar/", "foo", "bar/foo"),
            ("something/else", "bar/", "something/bar/"),
            ("a/", "b#f", "a/b"),
            ("a/?q", "", "a/?q"),
            ("a/?q", "?r", "a/?r"),
            ("http://h", "x", "http://h/x"),
            ("http://h/a/b?q", "../c", "http://h/c"),
            ("http://h/a", "//i/b", "http://i/b"),
            ("http://h/a", "/b", "http://h/b"),
            ("a/b", "http://h/c/./d", "http://h/c/d"),
            ("a/b", "urn:x", "urn:x"),
        ] {
            assert_eq!(join(base, reference), expected, "{base} and {reference}");
        }
    }
}
