//! Where files are: addresses such as `vfs:file:///var/orders?transport.vfs.Append=true`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use myelin_java_text::percent::{Plus, decoded, decoded_bytes};

/// Schemes of Commons VFS that may come one day.
const LATER: &[&str] = &["sftp", "ftp", "ftps", "smb", "smb2", "webdav", "webdavs"];

/// A folder or a file of this machine, as an address names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// Absolute, without `.` and `..`, and without a slash at the end.
    pub(crate) path: PathBuf,
    /// Whether a slash at the end says that it is a folder.
    pub(crate) is_folder: bool,
    /// Whether the folders below are meant, too: `/*` at the end.
    pub(crate) with_sub_folders: bool,
    query: Vec<(String, String)>,
}

impl Location {
    /// The root of all folders.
    pub(crate) fn root() -> Location {
        Location { path: "/".into(), is_folder: true, with_sub_folders: false, query: Vec::new() }
    }

    /// Reads an address.
    ///
    /// Shape: `vfs:file:///path`, `file:///path` or `/path`, with parameters behind a question mark.
    /// Errors: a sentence that says what is wrong and what would be right; the configuration's.
    pub(crate) fn parse(address: &str) -> Result<Location, String> {
        let address = address.trim();
        let text = address.strip_prefix("vfs:").unwrap_or(address);
        let text = match text.split_once(':') {
            Some((scheme, path)) if is_scheme(scheme) => local(scheme, path)?,
            _ => text,
        };
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        if !path.starts_with('/') {
            return Err(format!("{address:?} has no absolute path: vfs:file:///folder/file.xml has one"));
        }
        let (path, with_sub_folders) = match path.strip_suffix("/*").or_else(|| path.strip_suffix("\\*")) {
            Some(folder) => (folder, true),
            None => (path, false),
        };
        if let Some(wrong) = broken_escape(path) {
            return Err(format!("{address:?}: {wrong:?} is no escape; a percent sign is written %25"));
        }
        let bytes = decoded_bytes(path, Plus::Itself).into_owned();
        if bytes.contains(&0) {
            return Err(format!("{address:?}: a path holds no NUL"));
        }
        let is_folder = with_sub_folders || bytes.ends_with(b"/");
        let query = query.split('&').filter_map(|pair| pair.split_once('='));
        let query = query.map(|(name, value)| (name.to_owned(), decoded(value, Plus::Itself).into_owned())).collect();
        Ok(Location { path: normal(Path::new(&OsString::from_vec(bytes))), is_folder, with_sub_folders, query })
    }

    /// The value of a parameter; `None` where it is not given, or empty.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().rev().find(|(known, _)| known == name)?;
        Some(found.1.trim()).filter(|value| !value.is_empty())
    }

    /// The same with a date behind its path, as Synapse puts it there: without a slash between the two.
    pub(crate) fn with_date(&self, date: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        if self.is_folder && self.path != Path::new("/") {
            path.push("/");
        }
        path.push(date);
        path.into()
    }
}

/// Whether that stands before a colon as a scheme does (RFC 3986 §3.1).
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
}

/// What follows the scheme, where it is that of local files.
fn local<'a>(scheme: &str, path: &'a str) -> Result<&'a str, String> {
    let scheme = scheme.to_ascii_lowercase();
    match &scheme[..] {
        "file" => Ok(path),
        _ if LATER.contains(&&scheme[..]) => {
            Err(format!("{scheme} addresses come with a later release; vfs:file:// is offered"))
        }
        _ => Err(format!("{scheme} addresses are not offered for files; vfs:file:// is")),
    }
}

fn broken_escape(path: &str) -> Option<&str> {
    let starts = path.match_indices('%').map(|(start, _)| start);
    starts.into_iter().find_map(|start| {
        let escape = path.get(start..start + 3).unwrap_or(&path[start..]);
        let is_right = escape.len() == 3 && escape[1..].bytes().all(|digit| digit.is_ascii_hexdigit());
        (!is_right).then_some(escape)
    })
}

/// An absolute path without empty steps, `.` and `..`; what leads above the root stays there, as in Commons VFS.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for step in path.components() {
        match step {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    normal
}

/// A path below a folder, from a name that somebody else may have chosen: it never leads out of the folder.
///
/// Errors: a sentence with the name.
pub(crate) fn below(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let steps = Path::new(name).components().all(|step| matches!(step, Component::Normal(_)));
    if name.is_empty() || !steps || name.contains('\0') || name.ends_with('/') {
        return Err(format!(
            "{name:?} is no name of a file in {}: `..` and absolute paths are refused",
            folder.display()
        ));
    }
    let path = folder.join(name);
    if crate::names::is_reserved(path.file_name().unwrap_or_default()) {
        return Err(format!("{name:?} is no name of a file: names in .lock and .fail are those of locks"));
    }
    if path.as_os_str().as_bytes().len() > 4096 {
        return Err(format!("the name of a file in {} is longer than a path may be", folder.display()));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_commons_vfs_does() {
        let check = |address: &str, path: &str| assert_eq!(Location::parse(address).unwrap().path, Path::new(path));
        check("vfs:file:///var/orders", "/var/orders");
        check("file:///var/orders/", "/var/orders");
        check("vfs:file:/var/orders", "/var/orders");
        check("file://var/orders", "/var/orders");
        check("/var/orders", "/var/orders");
        check("vfs:file:///var/./a//../orders", "/var/orders");
        check("vfs:file:///", "/");
        check("vfs:file:///a%20b/%c3%a4 c+d", "/a b/ä c+d");
        check("vfs:file:///in?transport.vfs.Append=true", "/in");
        check("vfs:file:///in/*", "/in");
        check("vfs:file:///in/*?x=y", "/in");
    }

    #[test]
    fn a_slash_a_star_and_parameters_are_seen() {
        let location = Location::parse("vfs:file:///in/?transport.vfs.Append=true&a=&transport.vfs.X=%2F").unwrap();
        assert!(location.is_folder && !location.with_sub_folders);
        assert_eq!(location.parameter("transport.vfs.Append"), Some("true"));
        assert_eq!(location.parameter("transport.vfs.X"), Some("/"));
        assert_eq!(location.parameter("a"), None);
        assert!(Location::parse("file:///in/*").unwrap().with_sub_folders);
        assert!(!Location::parse("file:///in").unwrap().is_folder);
    }

    #[test]
    fn dates_stand_where_synapse_puts_them() {
        let check = |address: &str, expected: &str| {
            assert_eq!(Location::parse(address).unwrap().with_date("2026"), Path::new(expected));
        };
        check("file:///done/", "/done/2026");
        check("file:///done", "/done2026");
        check("file:///", "/2026");
    }

    #[test]
    fn other_addresses_are_refused_by_name() {
        let check = |address: &str, part: &str| {
            let error = Location::parse(address).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("vfs:sftp://user:word@host/in", "sftp addresses come with a later release; vfs:file:// is offered");
        check("vfs:FTP://host/in", "ftp addresses come with a later release");
        check("smb2://host/in", "smb2 addresses come");
        check("vfs:zip:file:///a.zip", "zip addresses are not offered");
        check("vfs:in/orders", "has no absolute path");
        check("vfs:file:in/orders", "has no absolute path");
        check("file:///a%2", "\"%2\" is no escape");
        check("file:///a%zzb", "\"%zz\" is no escape");
        check("file:///a%00b", "NUL");
    }

    #[test]
    fn names_never_lead_out_of_their_folder() {
        let folder = Path::new("/out");
        assert_eq!(below(folder, "a b.xml").unwrap(), Path::new("/out/a b.xml"));
        assert_eq!(below(folder, "2026/11/a.xml").unwrap(), Path::new("/out/2026/11/a.xml"));
        for wrong in ["", "..", "../a", "a/../../b", "/etc/passwd", "a\0b", "a/", ".", "a.xml.lock"] {
            assert!(below(folder, wrong).is_err(), "{wrong:?}");
        }
    }
}
