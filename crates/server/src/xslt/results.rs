//! Results beside a stylesheet's own, as files below one folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use myelin_xslt::ResultDocument;

use crate::files;

/// The folder that they are written below.
pub(super) struct Folder {
    path: PathBuf,
    /// What a stylesheet sees as the place of its own result.
    uri: String,
}

impl Folder {
    /// A folder, which is made where it is not there.
    ///
    /// Errors: a sentence for whoever typed its name.
    pub(super) fn new(path: &Path) -> Result<Folder, String> {
        let about = |error: std::io::Error| format!("myelin: {}: {error}", path.display());
        fs::create_dir_all(path).map_err(about)?;
        let path = path.canonicalize().map_err(about)?;
        let uri = files::uri(&path.join("result"));
        Ok(Folder { path, uri })
    }

    pub(super) fn uri(&self) -> &str {
        &self.uri
    }

    /// Writes each result to the file that its URI names.
    ///
    /// Errors: a sentence for the author, where one is not below the folder or cannot be written.
    pub(super) fn write(&self, results: &[ResultDocument]) -> Result<(), String> {
        results.iter().try_for_each(|result| {
            let path = self.located(&result.uri)?;
            let about = |error: std::io::Error| format!("myelin: {}: {error}", path.display());
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(about)?;
                // A link below the folder may lead out of it.
                if !folder.canonicalize().map_err(about)?.starts_with(&self.path) {
                    return Err(self.outside(&result.uri));
                }
            }
            if fs::symlink_metadata(&path).is_ok_and(|known| known.is_symlink()) {
                return Err(self.outside(&result.uri));
            }
            fs::write(&path, &result.bytes).map_err(about)
        })
    }

    fn located(&self, uri: &str) -> Result<PathBuf, String> {
        let base = self.uri.trim_end_matches("result");
        let below = uri.strip_prefix(base).and_then(unescaped);
        let is_plain = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
        match below {
            Some(below) if !below.is_empty() && is_plain(Path::new(&below)) => Ok(self.path.join(below)),
            _ => Err(self.outside(uri)),
        }
    }

    fn outside(&self, uri: &str) -> String {
        format!("myelin: {uri} is not written: it is not below {}", self.path.display())
    }
}

/// A path without `%20` and its like; `None` where they make no text.
fn unescaped(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &behind[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stay_below_their_folder() {
        let folder = Folder { path: PathBuf::from("/a b"), uri: "file:///a%20b/result".to_owned() };
        let check =
            |uri: &str, expected: Option<&str>| assert_eq!(folder.located(uri).ok(), expected.map(PathBuf::from));
        check("file:///a%20b/c.xml", Some("/a b/c.xml"));
        check("file:///a%20b/c/d%20e.xml", Some("/a b/c/d e.xml"));
        check("file:///a%20b/../c.xml", None);
        check("file:///a%20b/%2E%2E/c.xml", None);
        check("file:///a%20b/%2Fetc/c.xml", None);
        check("file:///c.xml", None);
        check("http://localhost/c.xml", None);
    }
}
