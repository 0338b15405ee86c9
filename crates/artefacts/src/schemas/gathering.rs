//! Schemas as they were read, with all that they refer to: what is compiled of them needs nothing else.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::Arc;

use crate::schemas::{JsonSchema, Part, Schema, XmlSchema};

/// How many schemas may belong to one.
const SCHEMAS: usize = 500;

/// The schemas of one mediator.
#[derive(Default)]
pub struct Gathering {
    /// W3C XML Schemas; a sentence in the place of one that cannot be used.
    files: Vec<Result<File, String>>,
    /// The files, by what they hold.
    places: HashMap<String, usize>,
    texts: Vec<String>,
}

/// A W3C XML Schema that refers to others by the names that they have in a folder of all, see [`Gathering::name`].
pub struct File {
    pub text: Vec<u8>,
    /// What it declares things in; empty for none.
    pub namespace: String,
    pub refers: Vec<usize>,
}

/// One of the schemas that were gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// W3C XML Schema, which counts together with the others of its mediator.
    Xml(usize),
    Json(usize),
}

/// What messages are checked by.
#[derive(Clone, Default)]
pub struct Schemas {
    /// All W3C XML Schemas as one.
    pub xml: Option<Arc<dyn Schema>>,
    /// The JSON Schema, the last one where there are several.
    pub json: Option<Arc<dyn Schema>>,
}

impl Gathering {
    /// The file that holds what is called so, and whether it is new: then [`Gathering::lay`] has to follow.
    pub fn place(&mut self, uri: &str) -> (usize, bool) {
        if let Some(&known) = self.places.get(uri) {
            return (known, false);
        }
        self.files.push(Err(format!("{uri} was not read")));
        self.places.insert(uri.to_owned(), self.files.len() - 1);
        (self.files.len() - 1, true)
    }

    /// Puts a schema into the file at a place, or why there is none.
    pub fn lay(&mut self, place: usize, file: Result<File, String>) {
        self.files[place] = file;
    }

    /// The name by which other files refer to the one at a place.
    pub fn name(place: usize) -> String {
        format!("{place}.xsd")
    }

    /// Adds a JSON Schema.
    pub fn add_json(&mut self, text: String) -> Source {
        self.texts.push(text);
        Source::Json(self.texts.len() - 1)
    }

    /// Whether one of them, and all that it refers to, could be read.
    ///
    /// Errors: a sentence that says what could not.
    pub fn check(&self, source: Source) -> Result<(), String> {
        match source {
            Source::Xml(place) => self.belonging(vec![place]).map(drop),
            Source::Json(_) => Ok(()),
        }
    }

    /// Compiles some of them.
    ///
    /// Errors: which of them is faulty, and a sentence that says what is wrong; the configuration's.
    pub fn compile(&self, sources: &[Source]) -> Result<Schemas, (usize, String)> {
        let mut schemas = Schemas::default();
        let mut places = Vec::new();
        let mut first = 0;
        for (at, source) in sources.iter().enumerate() {
            match *source {
                Source::Xml(place) if places.is_empty() => (first, places) = (at, vec![place]),
                Source::Xml(place) if places.contains(&place) => {}
                Source::Xml(place) => places.push(place),
                Source::Json(text) => {
                    let schema = JsonSchema::compile(&self.texts[text]).map_err(|message| (at, message))?;
                    schemas.json = Some(Arc::new(schema));
                }
            }
        }
        if !places.is_empty() {
            let schema = self.compile_xml(places).map_err(|message| (first, message))?;
            schemas.xml = Some(Arc::new(schema));
        }
        Ok(schemas)
    }

    /// Compiles W3C XML Schemas as one, in a folder where each finds what it refers to.
    fn compile_xml(&self, places: Vec<usize>) -> Result<XmlSchema, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for schemas: {error}"))?;
        let files = self.belonging(places.clone())?;
        for (place, file) in &files {
            let path = folder.path().join(Gathering::name(*place));
            fs::write(path, &file.text).map_err(|error| format!("no file for a schema: {error}"))?;
        }
        let part = |place: usize| Part { file: Gathering::name(place), namespace: files[&place].namespace.clone() };
        XmlSchema::compile(folder.path(), &places.into_iter().map(part).collect::<Vec<_>>())
    }

    /// Files with all that they refer to.
    fn belonging(&self, mut waiting: Vec<usize>) -> Result<BTreeMap<usize, &File>, String> {
        let mut found = BTreeMap::new();
        while let Some(place) = waiting.pop() {
            let file = self.files[place].as_ref().map_err(Clone::clone)?;
            if found.insert(place, file).is_none() {
                waiting.extend(&file.refers);
            }
            if found.len() > SCHEMAS {
                return Err(format!("more than {SCHEMAS} schemas belong together"));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(refers: Vec<usize>) -> Result<File, String> {
        let text = format!("<xs:schema xmlns:xs='{}'/>", crate::schemas::NAMESPACE);
        Ok(File { text: text.into_bytes(), namespace: String::new(), refers })
    }

    #[test]
    fn what_is_gathered_twice_stands_once_and_what_goes_round_ends() {
        let mut gathering = Gathering::default();
        assert_eq!(gathering.place("a"), (0, true));
        assert_eq!(gathering.place("b"), (1, true));
        assert_eq!(gathering.place("a"), (0, false));
        gathering.lay(0, file(vec![1]));
        gathering.lay(1, file(vec![0, 1]));
        assert!(gathering.compile(&[Source::Xml(0), Source::Xml(0)]).is_ok_and(|schemas| schemas.xml.is_some()));
    }

    #[test]
    fn what_cannot_be_read_is_told_of_those_alone_that_refer_to_it() {
        let mut gathering = Gathering::default();
        for uri in ["sound", "broken", "beside"] {
            gathering.place(uri);
        }
        gathering.lay(0, file(Vec::new()));
        gathering.lay(2, file(vec![1]));
        assert_eq!(gathering.check(Source::Xml(0)), Ok(()));
        assert_eq!(gathering.check(Source::Xml(2)), Err("broken was not read".to_owned()));
        let both = gathering.compile(&[Source::Xml(0), Source::Xml(2)]);
        assert_eq!(both.err(), Some((0, "broken was not read".to_owned())));
    }

    #[test]
    fn no_more_belong_to_one_than_may() {
        let mut gathering = Gathering::default();
        for place in 0..=SCHEMAS {
            gathering.place(&place.to_string());
            gathering.lay(place, file(vec![(place + 1) % (SCHEMAS + 1)]));
        }
        assert!(gathering.check(Source::Xml(0)).is_err_and(|message| message.contains("belong together")));
    }
}
