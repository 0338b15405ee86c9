//! What a document or a stylesheet on the command line may read: files below some folders, and what catalogs name.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use myelin_java_text::percent::{Plus, decoded_bytes};
use myelin_xml::doctype::{ExternalEntity, Externals};
use myelin_xslt::{Resolver, Resource, Wanted};

use crate::catalog::{Catalogs, Kind};
use crate::reading::{Complaint, is_standard_input, open};

/// A file that is larger is refused.
const MOST_BYTES: u64 = 1 << 30;

/// Reads files below its folders.
pub(crate) struct Files {
    /// Canonical, so that no link leads out of them; those of files that a catalog names come to it.
    folders: RefCell<Vec<PathBuf>>,
    catalogs: Catalogs,
}

impl Files {
    /// The folders of some files, those that are allowed beside, and what catalogs say.
    ///
    /// Errors: a folder or a catalog that is not there.
    pub(crate) fn new<'p>(
        beside: impl IntoIterator<Item = &'p PathBuf>,
        allow: &[PathBuf],
        catalogs: &[PathBuf],
    ) -> Result<Files, Complaint> {
        let mut folders = Vec::new();
        for path in beside {
            // A file that is not there is complained about where it is read.
            folders.extend(folder(path).canonicalize());
        }
        for path in allow {
            folders.push(path.canonicalize().map_err(|error| Complaint::about(path, error))?);
        }
        Ok(Files { folders: RefCell::new(folders), catalogs: Catalogs::read(catalogs)? })
    }

    /// The file that a catalog has for what somebody named; the same where there is none.
    pub(crate) fn named(&self, path: &Path) -> PathBuf {
        let mapped = path.to_str().and_then(|uri| self.catalogs.find(Kind::Uri, None, uri));
        let found = mapped.and_then(|uri| located(&uri, "").ok());
        if let Some(folder) = found.as_deref().and_then(|path| folder(path).canonicalize().ok()) {
            self.folders.borrow_mut().push(folder);
        }
        found.unwrap_or_else(|| path.to_owned())
    }

    /// `open`: whether it may stand in any folder, which is allowed then.
    fn read(&self, mapped: Option<&str>, (href, base): (&str, &str), open: bool) -> Result<Resource, String> {
        let path = match mapped {
            Some(uri) => located(uri, "")?,
            None => located(href, base)?,
        };
        let refused = |error: std::io::Error| format!("{}: {error}", path.display());
        let real = path.canonicalize().map_err(refused)?;
        // Whoever names a catalog means its files, and those are made of others beside them.
        if mapped.is_some() || open {
            self.folders.borrow_mut().push(folder(&real).to_owned());
        }
        if !self.folders.borrow().iter().any(|folder| real.starts_with(folder)) {
            return Err(format!(
                "{} is not below the folders of what is read; --allow FOLDER lets it be read",
                path.display()
            ));
        }
        let bytes = read(&real).map_err(|complaint| complaint.to_string())?;
        // Who is read by its URI reads others by theirs.
        let uri = if base.starts_with("file:") { uri(&path) } else { path.to_string_lossy().into_owned() };
        Ok(Resource { uri, bytes })
    }
}

impl Resolver for Files {
    /// Stylesheets come in several folders, such as `html` and `common`; whoever names one means its modules, which are
    /// read only where they are stylesheets themselves.
    fn resolve(&self, href: &str, base: &str, wanted: Wanted) -> Result<Resource, String> {
        self.read(self.catalogs.find(Kind::Uri, None, href).as_deref(), (href, base), wanted == Wanted::Stylesheet)
    }

    fn external(&self, public: Option<&str>, system: &str, base: &str) -> Result<Resource, String> {
        self.read(self.catalogs.find(Kind::Entity, public, system).as_deref(), (system, base), false)
    }
}

impl Externals for Files {
    fn find(&self, public: Option<&str>, system: &str, base: &str) -> Result<ExternalEntity, String> {
        let Resource { uri, bytes } = self.external(public, system, base)?;
        Ok(ExternalEntity { uri, bytes })
    }
}

/// Reads a file or standard input whole.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Complaint> {
    let mut bytes = Vec::new();
    let refused = |error| Complaint::about(path, error);
    open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Complaint::about(path, format!("more than {MOST_BYTES} bytes")));
    }
    Ok(bytes)
}

/// Where a file stands; standard input stands in the working folder, and a path that ends in a slash is a folder.
fn folder(path: &Path) -> &Path {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return path;
    }
    match path.parent() {
        Some(parent) if !is_standard_input(path) && parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The URI of a file.
pub(crate) fn uri(path: &Path) -> String {
    let path = std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| tidy(&path));
    format!("file://{}", escaped(&path.to_string_lossy()))
}

/// A text with file names in place of URIs of files: below the working folder, and absolute elsewhere.
pub(crate) fn shown(text: &str) -> String {
    let here = format!("{}/", uri(Path::new(".")).trim_end_matches('/'));
    unescaped(&text.replace(&here, "").replace("file:///", "/")).into_owned()
}

/// A path as a URI has it.
fn escaped(path: &str) -> String {
    path.split('/').map(percent_encoded).collect::<Vec<_>>().join("/")
}

/// A text as a part of a path or a query of a URI has it (RFC 3986 §2.1).
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(char::from(byte)),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

/// The file that a reference names, seen from the file that holds it, which may be a URI.
pub(crate) fn located(href: &str, base: &str) -> Result<PathBuf, String> {
    let path = match href.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => local(scheme, rest)
            .ok_or_else(|| format!("{href:?} cannot be read: only files are, and nothing from the network"))?,
        _ => href,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let base = base.strip_prefix("file://").map_or(Cow::Borrowed(base), unescaped);
    let base = Path::new(&*base);
    if path.is_empty() {
        return Ok(base.to_owned());
    }
    // An absolute path takes the place of the base.
    Ok(tidy(&folder(base).join(&*unescaped(path))))
}

/// A path without `.` and `..` as far as can be, so that one file has one name (RFC 3986 §5.2.4).
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match (part, tidy.components().next_back()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(tidy.pop()),
            _ => tidy.push(part),
        }
    }
    tidy
}

/// The path of a URI with this scheme; none where it does not name a file of this machine.
fn local<'u>(scheme: &str, rest: &'u str) -> Option<&'u str> {
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let Some(rest) = rest.strip_prefix("//") else { return Some(rest) };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/').then_some(path)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A path without `%20` and its like; left as it is where they make no text.
fn unescaped(path: &str) -> Cow<'_, str> {
    match decoded_bytes(path, Plus::Itself) {
        Cow::Borrowed(_) => Cow::Borrowed(path),
        Cow::Owned(bytes) => String::from_utf8(bytes).map_or(Cow::Borrowed(path), Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_of_files_are_absolute_and_shown_as_file_names() {
        let below = uri(Path::new("a b/../c d.xsl"));
        assert!(below.starts_with("file:///") && below.ends_with("/c%20d.xsl"), "{below}");
        assert_eq!(shown(&format!("in template x at {below}:1:2")), "in template x at c d.xsl:1:2");
        assert_eq!(shown(&uri(Path::new("/c/d.xsl"))), "/c/d.xsl");
    }

    #[test]
    fn references_name_files_beside_the_one_that_holds_them() {
        let check = |href: &str, base: &str, expected: Result<&str, &str>| match (located(href, base), expected) {
            (Ok(path), Ok(expected)) => assert_eq!(path, Path::new(expected), "{href} from {base}"),
            (Err(sentence), Err(expected)) => assert!(sentence.contains(expected), "{sentence}"),
            (found, expected) => panic!("{href} from {base}: {found:?} instead of {expected:?}"),
        };
        check("b.xsl", "sheets/a.xsl", Ok("sheets/b.xsl"));
        check("../b.xsl", "sheets/a.xsl", Ok("b.xsl"));
        check("../../b.xsl", "sheets/a.xsl", Ok("../b.xsl"));
        check("b.xsl", "-", Ok("b.xsl"));
        check("", "sheets/a.xsl", Ok("sheets/a.xsl"));
        check("#part", "sheets/a.xsl", Ok("sheets/a.xsl"));
        check("a%20b.xml", "a.xsl", Ok("a b.xml"));
        check("b.xsl", "file:///d%20e/a.xsl", Ok("/d e/b.xsl"));
        check("", "file:///d%20e/a.xsl", Ok("/d e/a.xsl"));
        check("100%.xml", "/d/a.xsl", Ok("/d/100%.xml"));
        check("/etc/x", "sheets/a.xsl", Ok("/etc/x"));
        check("file:///etc/x", "sheets/a.xsl", Ok("/etc/x"));
        check("file://localhost/etc/x", "sheets/a.xsl", Ok("/etc/x"));
        check("file:/etc/x", "sheets/a.xsl", Ok("/etc/x"));
        check("file://elsewhere/x", "a.xsl", Err("network"));
        check("http://127.0.0.1/x", "a.xsl", Err("network"));
        check("HTTP:x", "a.xsl", Err("network"));
        check("data:text/xml,<a/>", "a.xsl", Err("only files"));
    }
}
