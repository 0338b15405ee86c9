//! The texts of files that problems are told of.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::archive::{Archive, INSIDE};
use crate::element::{Element, SourceFile};
use crate::excerpt::Shown;
use crate::files;
use crate::problem::Problem;
use crate::sources::Sources;

/// So many files are read again for what is shown of them.
const READ_AGAIN: usize = 256;

/// The texts of the files of a configuration, for the excerpts of its problems.
#[derive(Default)]
pub struct Texts {
    parsed: HashMap<Arc<str>, SourceFile>,
    /// What was read for an excerpt; `None` where it cannot be read.
    read: HashMap<Arc<str>, Option<ReadText>>,
}

struct ReadText {
    text: String,
    secrets: OnceLock<Vec<Range<usize>>>,
}

impl Texts {
    /// Makes the file known that an element stands in.
    pub fn add(&mut self, element: &Element) {
        self.parsed.entry(Arc::clone(&element.place.file)).or_insert_with(|| element.source_file());
    }

    /// Gives an excerpt to a problem that has none, where the file it is in can be read.
    pub fn explain(&mut self, problem: &mut Problem, sources: &Sources) {
        if problem.excerpt.is_some() {
            return;
        }
        let (line, column) = (problem.line(), problem.column());
        let file = &problem.place.file;
        problem.excerpt = match self.parsed.get(file) {
            Some(parsed) => parsed.excerpt(line, column),
            None => self.read(file, sources).and_then(|it| Shown::new(&it.text, &it.secrets).excerpt(line, column)),
        };
    }

    fn read(&mut self, file: &Arc<str>, sources: &Sources) -> Option<&ReadText> {
        if !self.read.contains_key(file) {
            let is_known = self.read.len() < READ_AGAIN;
            let bytes = if is_known { bytes(file, sources) } else { None };
            let text = bytes.and_then(|bytes| files::decode(bytes).ok());
            let read = text.map(|text| ReadText { text, secrets: OnceLock::new() });
            self.read.insert(Arc::clone(file), read);
        }
        self.read.get(file)?.as_ref()
    }
}

/// The bytes of a file, or of one in an archive.
fn bytes(file: &str, sources: &Sources) -> Option<Vec<u8>> {
    let Some((outer, inside)) = file.split_once(INSIDE) else {
        // What has another name than a file, such as a local entry, is not looked for on the disk.
        return sources.knows(Path::new(file)).then(|| files::bytes(Path::new(file), sources).ok()).flatten();
    };
    let mut bytes = files::archive(Path::new(outer), sources).ok()?;
    for name in inside.split(INSIDE) {
        bytes = Archive::open(&bytes).ok()?.read(name).ok()??;
    }
    Some(bytes)
}
