//! From a base and a reference to a URI (RFC 3986 §5), as far as hrefs of stylesheets and `xml:base` go.

/// What `reference` names, seen from `base`.
pub(super) fn join(base: &str, reference: &str) -> String {
    if has_scheme(reference) || base.is_empty() {
        return reference.to_owned();
    }
    let base = base.split(['#', '?']).next().unwrap_or_default();
    if reference.is_empty() {
        return base.to_owned();
    }
    // Where the path begins: behind the scheme and the authority.
    let path = match base.find("://") {
        Some(scheme) => base[scheme + 3..].find('/').map_or(base.len(), |slash| scheme + 3 + slash),
        None if has_scheme(base) => base.find(':').map_or(0, |colon| colon + 1),
        None => 0,
    };
    if let Some(rest) = reference.strip_prefix("//") {
        let scheme = base.find(':').map_or(0, |colon| colon + 1);
        return format!("{}//{rest}", &base[..scheme]);
    }
    if reference.starts_with('/') {
        return format!("{}{}", &base[..path], without_dots(reference));
    }
    let folder = base[path..].rfind('/').map_or(path, |slash| path + slash + 1);
    format!("{}{}", &base[..path], without_dots(&format!("{}{reference}", &base[path..folder])))
}

/// Whether a URI is absolute.
fn has_scheme(uri: &str) -> bool {
    let scheme = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    uri.split_once(':').is_some_and(|(before, _)| scheme(before))
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let end = path.split('/').count() - 1;
    for (index, part) in path.split('/').enumerate() {
        let is_up = part == ".." && kept.last().is_some_and(|last| *last != ".." && !last.is_empty());
        if is_up {
            kept.pop();
        } else if part != "." {
            kept.push(part);
        }
        // What ends in a dot names a folder.
        if index == end && (is_up || part == ".") {
            kept.push("");
        }
    }
    kept.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_seen_from_their_base() {
        let check = |base: &str, reference: &str, expected: &str| {
            assert_eq!(join(base, reference), expected, "{reference} from {base}");
        };
        check("file:///a/b.xsl", "c.xsl", "file:///a/c.xsl");
        check("file:///a/b.xsl", "../c.xsl", "file:///c.xsl");
        check("http://h/a/b?q#f", "./c/d", "http://h/a/c/d");
        check("http://h", "/c", "http://h/c");
        check("http://h/a/b", "//i/c", "http://i/c");
        check("a/b.xsl", "c.xsl", "a/c.xsl");
        check("b.xsl", "../c.xsl", "../c.xsl");
        check("conf:/a/b", "c", "conf:/a/c");
        check("a/b", "urn:x", "urn:x");
        check("a/b#c", "", "a/b");
    }
}
