//! What a local entry takes from another file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::element::Element;
use super::files;
use crate::bus::Settings;

/// A file that a local entry holds.
pub(super) struct Included {
    pub(super) file: Arc<str>,
    /// As they stand in the file: what reads them as XML finds out the encoding itself.
    pub(super) bytes: Vec<u8>,
    pub(super) content: Content,
}

pub(super) enum Content {
    Xml(Element),
    /// What is no XML, which is fine for a local entry.
    Text(String),
}

impl Included {
    /// Reads the file that a `src` attribute in the file `from` means.
    ///
    /// Errors: a sentence for the place of the attribute.
    pub(super) fn read(src: &str, from: &str, settings: &Settings) -> Result<Included, String> {
        let path = resolve(src.trim(), from, settings)?;
        let in_file = |message: String| format!("{}: {message}", path.display());
        let bytes = files::bytes(&path).map_err(|problem| in_file(problem.message))?;
        let text = files::decode(bytes.clone()).map_err(in_file)?;
        let file: Arc<str> = path.display().to_string().into();
        let content = Element::parse(&file, text.clone()).map_or(Content::Text(text), Content::Xml);
        Ok(Included { file, bytes, content })
    }

    /// Its root element, if it is XML.
    pub(super) fn element(&self) -> Option<&Element> {
        match &self.content {
            Content::Xml(element) => Some(element),
            Content::Text(_) => None,
        }
    }
}

/// The path that a `file:` URL or a path in the file `from` means.
///
/// Errors: a sentence, for other URLs.
pub(super) fn resolve(src: &str, from: &str, settings: &Settings) -> Result<PathBuf, String> {
    let path = match src.split_once(':') {
        Some(("file", path)) => path.strip_prefix("//").unwrap_or(path),
        // A single letter is a drive, not a scheme.
        Some((scheme, _)) if scheme.len() > 1 && !scheme.contains('/') => {
            return Err(format!("{scheme:?} is not offered yet: files are"));
        }
        _ => src,
    };
    let start = settings.home.clone().or_else(|| Path::new(from).parent().map(Path::to_owned)).unwrap_or_default();
    Ok(start.join(path))
}
