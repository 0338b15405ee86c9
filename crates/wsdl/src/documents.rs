//! A description with everything it imports.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use myelin_xml::{DeclaredEncoding, DoctypePolicy, Document, NodeId, Options};

use crate::error::{Error, ErrorKind};
use crate::{SCHEMA, WSDL11, WSDL20, node};

/// More documents than this are refused: a description of that many is a mistake, or means harm.
const DOCUMENT_LIMIT: usize = 256;

/// How many elements all descriptions may have together, schemas aside: an operation takes about sixteen.
const DEFINITION_LIMIT: usize = 20_000;

/// How large all of them together may be.
const TOTAL_BYTES: usize = 16 << 20;

/// A document, as text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Tells it from all others.
    pub uri: String,
    /// What stands in it; a declaration of an encoding means nothing any more.
    pub text: String,
}

/// A document that another imports, and that nobody has brought yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// The URI of the document that imports it.
    pub base: &'a str,
    /// What stands there as its location.
    pub location: &'a str,
}

/// A description and everything it imports.
#[derive(Debug)]
pub struct Documents {
    pub(crate) list: Vec<Member>,
    by_uri: HashMap<String, usize>,
    waiting: VecDeque<Waiting>,
    names: HashSet<String>,
    bytes: usize,
    definitions: usize,
}

/// One document of a description.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) uri: String,
    /// What it is asked for as, in `?wsdl=` or `?xsd=`.
    pub(crate) name: String,
    pub(crate) tree: Document,
    pub(crate) element: NodeId,
    pub(crate) is_schema: bool,
    /// Where it imports another: the place of the location's value, and which one, if it was brought.
    pub(crate) imports: Vec<(Range<usize>, usize)>,
}

#[derive(Debug)]
struct Waiting {
    from: usize,
    range: Range<usize>,
    location: String,
}

impl Documents {
    /// Begins with the description itself.
    ///
    /// Errors: [`Error`] where it is not well-formed, or none.
    pub fn new(root: Source) -> Result<Documents, Error> {
        let mut documents = Documents {
            list: Vec::new(),
            by_uri: HashMap::new(),
            waiting: VecDeque::new(),
            names: HashSet::new(),
            bytes: 0,
            definitions: 0,
        };
        documents.add(root, String::new())?;
        let root = documents.root();
        if root.is_schema {
            return Err(Error::whole(&root.uri, ErrorKind::Root("schema".to_owned())));
        }
        Ok(documents)
    }

    /// Collects a whole description at once, by a function that says what a location in a document means: `None`
    /// leaves the reference as it stands.
    ///
    /// Errors: as [`Documents::new`] and [`Documents::supply`].
    pub fn collect(root: Source, mut find: impl FnMut(Wanted<'_>) -> Option<Source>) -> Result<Documents, Error> {
        let mut documents = Documents::new(root)?;
        while let Some(wanted) = documents.wanted() {
            let found = find(wanted);
            documents.supply(found)?;
        }
        Ok(documents)
    }

    /// The next document that is wanted; none is left where this gives `None`.
    pub fn wanted(&self) -> Option<Wanted<'_>> {
        let waiting = self.waiting.front()?;
        Some(Wanted { base: &self.list[waiting.from].uri, location: &waiting.location })
    }

    /// Whether a document with that URI is there already; supplying it again needs no text.
    pub fn knows(&self, uri: &str) -> bool {
        self.by_uri.contains_key(uri)
    }

    /// Brings the document that is wanted next; `None` leaves the reference to it as it stands.
    ///
    /// Errors: [`Error`] where it is not well-formed, or where a bound is reached.
    pub fn supply(&mut self, found: Option<Source>) -> Result<(), Error> {
        let Some(waiting) = self.waiting.pop_front() else { return Ok(()) };
        let Some(source) = found else { return Ok(()) };
        let known = self.by_uri.get(&source.uri).copied();
        let index = match known {
            Some(index) => index,
            None => {
                let name = self.name(waiting.from, &waiting.location);
                self.add(source, name)?
            }
        };
        self.list[waiting.from].imports.push((waiting.range, index));
        Ok(())
    }

    /// The description itself.
    pub(crate) fn root(&self) -> &Member {
        &self.list[0]
    }

    /// The documents that are descriptions, the first one first.
    pub(crate) fn descriptions(&self) -> impl Iterator<Item = (usize, &Member)> {
        self.list.iter().enumerate().filter(|(_, member)| !member.is_schema)
    }

    /// What a document is asked for as: its location, seen from the description as far as that can be said.
    fn name(&mut self, from: usize, location: &str) -> String {
        let path = location.split(['?', '#']).next().unwrap_or_default();
        let folder = self.list[from].name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let outside = path.contains(':') || path.starts_with('/') || path.split('/').any(|part| part == "..");
        let joined = match (outside || path.is_empty(), folder) {
            (true, _) => location.rsplit(['/', '=']).next().unwrap_or_default().to_owned(),
            (false, "") => path.to_owned(),
            (false, folder) => format!("{folder}/{path}"),
        };
        // It stands in a query: what means something there, or in XML, is replaced.
        let plain = |c: char| if c.is_ascii_alphanumeric() || "/._-".contains(c) { c } else { '_' };
        let name: String = joined.trim_start_matches("./").chars().map(plain).collect();
        let mut free = if name.is_empty() { "document".to_owned() } else { name };
        let mut number = self.names.len();
        while !self.names.insert(free.clone()) {
            free = format!("{number}-{free}");
            number += 1;
        }
        free
    }

    fn add(&mut self, source: Source, name: String) -> Result<usize, Error> {
        let Source { uri, text } = source;
        self.bytes += text.len();
        if self.list.len() >= DOCUMENT_LIMIT {
            return Err(Error::whole(&uri, ErrorKind::TooManyDocuments(DOCUMENT_LIMIT)));
        }
        if self.bytes > TOTAL_BYTES {
            return Err(Error::whole(&uri, ErrorKind::TooLarge(TOTAL_BYTES)));
        }
        // Schemas of old have a document type; nothing in it is applied, and it is not handed on.
        let options = Options {
            declared_encoding: DeclaredEncoding::Any,
            doctype: DoctypePolicy::Skip,
            depth: 128,
            ..Options::default()
        };
        let tree = Document::parse(text.into_bytes(), &options).map_err(|error| Error {
            document: uri.clone(),
            line: error.line,
            column: error.column,
            kind: ErrorKind::Malformed(error.kind.to_string()),
        })?;
        let element = tree.root_element().expect("a document that was read has a root element");
        let root = tree.qname(element);
        let is_schema = match (root.namespace, root.local) {
            (WSDL11, "definitions") | (WSDL20, "description") => false,
            (SCHEMA, "schema") => true,
            (_, local) => return Err(Error::whole(&uri, ErrorKind::Root(local.to_owned()))),
        };
        if !is_schema {
            let is_definition = |&node: &NodeId| matches!(tree.qname(node).namespace, WSDL11 | WSDL20);
            self.definitions += tree.descendants(element).filter(is_definition).count();
            if self.definitions > DEFINITION_LIMIT {
                return Err(Error::whole(&uri, ErrorKind::TooManyDefinitions(DEFINITION_LIMIT)));
            }
        }
        let index = self.list.len();
        let found = locations(&tree, element, is_schema);
        self.waiting.extend(found.into_iter().map(|(range, location)| Waiting { from: index, range, location }));
        self.by_uri.insert(uri.clone(), index);
        self.list.push(Member { uri, name, tree, element, is_schema, imports: Vec::new() });
        Ok(index)
    }
}

/// Where a document imports or includes others: the place of each location's value, and the value.
fn locations(tree: &Document, root: NodeId, is_schema: bool) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut location = |element: NodeId, attribute: &str| {
        let Some(node) = tree.attribute_node(element, "", attribute) else { return };
        let value = tree.value(node).trim().to_owned();
        if let Some(range) = tree.value_range(node).filter(|_| !value.is_empty()) {
            found.push((range, value));
        }
    };
    let schemas: Vec<NodeId> = if is_schema {
        vec![root]
    } else {
        for element in node::elements(tree, root) {
            let name = tree.qname(element);
            if matches!((name.namespace, name.local), (WSDL11 | WSDL20, "import") | (WSDL20, "include")) {
                location(element, "location");
            }
        }
        schemas(tree, root)
    };
    for element in schemas.into_iter().flat_map(|schema| node::elements(tree, schema)) {
        let name = tree.qname(element);
        if name.namespace == SCHEMA && matches!(name.local, "import" | "include" | "redefine") {
            location(element, "schemaLocation");
        }
    }
    found
}

/// The schemas in the `types` of a description.
pub(crate) fn schemas(tree: &Document, root: NodeId) -> Vec<NodeId> {
    let namespace = tree.qname(root).namespace;
    let types = node::named(tree, root, namespace, "types");
    types.flat_map(|types| node::named(tree, types, SCHEMA, "schema")).collect()
}
