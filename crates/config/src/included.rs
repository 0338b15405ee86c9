//! What a local entry takes from another file, or a key from the registry.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::element::Element;
use crate::files;
use crate::resource::Resource;
use crate::sources::Sources;

/// How many folders above that of the referring file are looked in.
const LEVELS: usize = 7;

/// A file or resource that a part of a configuration is taken from.
pub struct Included {
    /// The path of the file, or the URI of the resource.
    pub file: Arc<str>,
    /// As they stand in the file: what reads them as XML finds out the encoding itself.
    pub bytes: Arc<[u8]>,
    /// What it holds.
    pub content: Content,
}

/// What an included file holds.
pub enum Content {
    /// XML: its root element.
    Xml(Element),
    /// What is no XML, which is fine for a local entry.
    Text(String),
}

impl Included {
    /// Reads the file that a `src` attribute in the file `from` means.
    ///
    /// Errors: a sentence for the place of the attribute.
    pub fn read(src: &str, from: &str, home: Option<&Path>, sources: &Sources) -> Result<Included, String> {
        let path = resolve(src.trim(), from, home, sources)?;
        let in_file = |message: String| format!("{}: {message}", path.display());
        let bytes = files::bytes(&path, sources).map_err(|problem| in_file(problem.message))?;
        Included::of(Resource::new(&path.display().to_string(), bytes))
    }

    /// What a resource holds.
    ///
    /// Errors: a sentence, where it is text in no known encoding.
    pub fn of(resource: Resource) -> Result<Included, String> {
        let Resource { uri: file, bytes } = resource;
        let text = files::decode(bytes.to_vec()).map_err(|message| format!("{file}: {message}"))?;
        let content = Element::parse(&file, text.clone()).map_or(Content::Text(text), Content::Xml);
        Ok(Included { file, bytes, content })
    }

    /// Its root element, if it is XML.
    pub fn element(&self) -> Option<&Element> {
        match &self.content {
            Content::Xml(element) => Some(element),
            Content::Text(_) => None,
        }
    }
}

/// The path that a `file:` URL or a path in the file `from` means.
///
/// Errors: a sentence, for other URLs.
pub fn resolve(src: &str, from: &str, home: Option<&Path>, sources: &Sources) -> Result<PathBuf, String> {
    let path = match src.split_once(':') {
        Some(("file", path)) => path.strip_prefix("//").unwrap_or(path),
        Some((scheme @ ("http" | "https"), _)) => {
            return Err(format!(
                "{scheme} is not fetched while the configuration is loaded: save {src} as a file, and name that"
            ));
        }
        // A single letter is a drive, not a scheme.
        Some((scheme, _)) if scheme.len() > 1 && !scheme.contains('/') => {
            return Err(format!("{scheme:?} is not offered: files are"));
        }
        _ => src,
    };
    let start = home.map(Path::to_owned).or_else(|| Path::new(from).parent().map(Path::to_owned)).unwrap_or_default();
    Ok(nearest(start.join(path), &start, sources))
}

/// The file or folder that a path below `start` means: itself, or that of the nearest folder above which has it, as
/// paths such as `repository/conf/…` start at the home of Synapse and WSO2's servers.
pub fn nearest(path: PathBuf, start: &Path, sources: &Sources) -> PathBuf {
    let Ok(inside) = path.strip_prefix(start) else { return path };
    let above = start.ancestors().take(LEVELS).map(|folder| folder.join(inside));
    let found = above.into_iter().find(|path| {
        sources.look(path);
        path.exists()
    });
    found.unwrap_or(path)
}
