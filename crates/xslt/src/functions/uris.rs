//! Relative references and what they mean (RFC 3986 §5).

use myelin_xpath::{Error, Value};

use super::{Call, Function};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("resolve-uri", 1, 2, resolve_uri),
    Function::own("static-base-uri", 0, 0, |call| match call.scope.base.as_str() {
        "" => Ok(Value::EMPTY),
        base => Ok(Value::from(base)),
    }),
];

fn resolve_uri<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(relative) = call.optional_text(0)? else { return Ok(Value::EMPTY) };
    let base = if call.count() == 2 { call.text(1)? } else { call.scope.base.as_str().into() };
    if !is_reference(&relative) {
        return Err(Error::value("FORG0002", format!("resolve-uri(): {relative:?} is no URI reference")));
    }
    if Parts::of(&relative).scheme.is_some() {
        return call.built(relative);
    }
    let parts = Parts::of(&base);
    if call.count() == 2 && (parts.scheme.is_none() || parts.fragment.is_some() || !is_reference(&base)) {
        return Err(Error::value("FORG0002", format!("resolve-uri(): the base {base:?} is no absolute URI")));
    }
    call.built(resolve(&relative, &base))
}

/// Whether a text can be a reference to something (RFC 3986 §4.1); characters beyond ASCII may stand in it.
pub(crate) fn is_reference(text: &str) -> bool {
    let escapes = text
        .split('%')
        .skip(1)
        .all(|behind| behind.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)));
    let strange = text.contains([' ', '<', '>', '"', '{', '}', '|', '\\', '^', '`']);
    escapes && !strange && !text.starts_with(':') && text.matches('#').count() <= 1
}

/// The components of a URI reference, each without what sets it off from the others.
#[derive(Debug)]
struct Parts<'u> {
    scheme: Option<&'u str>,
    authority: Option<&'u str>,
    path: &'u str,
    query: Option<&'u str>,
    fragment: Option<&'u str>,
}

impl<'u> Parts<'u> {
    fn of(reference: &'u str) -> Parts<'u> {
        let cut = |text: &'u str, at: char| text.split_once(at).map_or((text, None), |(text, rest)| (text, Some(rest)));
        let (rest, fragment) = cut(reference, '#');
        let (rest, query) = cut(rest, '?');
        let scheme = rest.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| is_scheme(scheme));
        let rest = scheme.map_or(rest, |scheme| &rest[scheme.len() + 1..]);
        let (authority, path) = match rest.strip_prefix("//") {
            Some(behind) => {
                let end = behind.find('/').unwrap_or(behind.len());
                (Some(&behind[..end]), &behind[end..])
            }
            None => (None, rest),
        };
        Parts { scheme, authority, path, query, fragment }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// What a reference means, seen from a base (RFC 3986 §5.2.2).
pub(crate) fn resolve(reference: &str, base: &str) -> String {
    let (own, base) = (Parts::of(reference), Parts::of(base));
    let mut target = Parts { fragment: own.fragment, scheme: own.scheme.or(base.scheme), ..Parts::of("") };
    let path;
    if own.scheme.is_some() || own.authority.is_some() {
        (target.authority, target.query) = (own.authority, own.query);
        path = without_dots(own.path);
    } else {
        target.authority = base.authority;
        target.query = if own.path.is_empty() { own.query.or(base.query) } else { own.query };
        path = match own.path {
            "" => base.path.to_owned(),
            rooted if rooted.starts_with('/') => without_dots(rooted),
            relative if base.path.is_empty() && base.authority.is_some() => without_dots(&format!("/{relative}")),
            relative => {
                without_dots(&format!("{}{relative}", &base.path[..base.path.rfind('/').map_or(0, |at| at + 1)]))
            }
        };
    }
    let mut uri = String::with_capacity(reference.len() + path.len() + 32);
    let mut part = |before: &str, part: Option<&str>, behind: &str| {
        if let Some(part) = part {
            uri.extend([before, part, behind]);
        }
    };
    part("", target.scheme, ":");
    part("//", target.authority, "");
    part("", Some(&path), "");
    part("?", target.query, "");
    part("#", target.fragment, "");
    uri
}

/// A path without `.` and `..` (RFC 3986 §5.2.4); `..` above the top of a rooted path is dropped.
fn without_dots(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                let above = kept.last().is_some_and(|segment| *segment != "..");
                match segment {
                    ".." if above => drop(kept.pop()),
                    ".." if !rooted => kept.push(".."),
                    _ => {}
                }
                if last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    let joined = kept.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_the_rfc_shows() {
        // The examples of RFC 3986 §5.4.
        let check = |reference: &str, expected: &str| {
            assert_eq!(resolve(reference, "http://a/b/c/d;p?q"), expected, "{reference}");
        };
        check("g:h", "g:h");
        check("g", "http://a/b/c/g");
        check("./g", "http://a/b/c/g");
        check("g/", "http://a/b/c/g/");
        check("/g", "http://a/g");
        check("//g", "http://g");
        check("?y", "http://a/b/c/d;p?y");
        check("g?y#s", "http://a/b/c/g?y#s");
        check("#s", "http://a/b/c/d;p?q#s");
        check("", "http://a/b/c/d;p?q");
        check(".", "http://a/b/c/");
        check("..", "http://a/b/");
        check("../../g", "http://a/g");
        check("../../../g", "http://a/g");
        check("/./g", "http://a/g");
        check("./g/.", "http://a/b/c/g/");
        check("g/../h", "http://a/b/c/h");
        check("http:g", "http:g");
    }

    #[test]
    fn bases_without_a_scheme_work_too() {
        let check = |reference: &str, base: &str, expected: &str| assert_eq!(resolve(reference, base), expected);
        check("b.xsl", "sheets/a.xsl", "sheets/b.xsl");
        check("../b.xsl", "sheets/a.xsl", "b.xsl");
        check("../../b.xsl", "sheets/a.xsl", "../b.xsl");
        check("b", "", "b");
        check("b", "http://a", "http://a/b");
        check("x.xml", "file:///d/a.xsl", "file:///d/x.xml");
    }
}
