//! What a case of QT3 runs with: documents, variables, prefixes.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use myelin_java_text::decimal_format::Symbols;
use myelin_xml::doctype::DoctypeOptions;
use myelin_xml::{Document, NodeId, Options, encoding};
use myelin_xpath::{
    Argument, Context, Declared, Environment, Error, Expression, Host, Item, Limits, Meter, Moment, NodeRef,
    SyntaxError, Value, Version,
};
use myelin_xslt::{Library, LibraryCalls, LibraryScope, LibraryStore, Resolver, Resource, Wanted};

/// The documents that cases look into, each read once; they live as long as the test.
#[derive(Default)]
pub(crate) struct Documents {
    read: HashMap<PathBuf, Result<&'static Document, String>>,
}

impl Documents {
    pub(crate) fn get(&mut self, path: &Path) -> Result<&'static Document, String> {
        self.read.entry(path.to_owned()).or_insert_with(|| read(path)).clone()
    }
}

/// Reads a document, with what its document type says.
pub(crate) fn read(path: &Path) -> Result<&'static Document, String> {
    let source = fs::read(path).map_err(|_| "a file that is not there".to_owned())?;
    let refused = |_: myelin_xml::Error| "a document that is not read".to_owned();
    let (text, declared_encoding) = encoding::decode(None, &source).map_err(refused)?;
    let options = Options { attributes: 10_000, declarations: 10_000, declared_encoding, ..Options::default() };
    let uri = path.to_string_lossy();
    let read = Document::parse_with_doctype(
        text.into_owned(),
        &uri,
        &options,
        &crate::xml::Beside,
        &DoctypeOptions::default(),
    );
    read.map(|document| &*Box::leak(Box::new(document))).map_err(refused)
}

/// What a case can refer to.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) context: Option<Item<'static>>,
    pub(crate) prefixes: Vec<(String, String)>,
    pub(crate) variables: Vec<(String, Value<'static>)>,
    /// Files by the URIs that stand for them, with their encodings.
    resources: Vec<(String, PathBuf, Option<String>)>,
    decimal_formats: Vec<(String, Symbols)>,
    documents: Vec<(String, &'static Document)>,
    base: String,
    calls: LibraryCalls,
}

impl Environment for Scope {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.prefixes.iter().find(|(known, _)| known == prefix).map(|(_, uri)| uri.clone())
    }

    fn default_namespace(&self) -> Option<String> {
        self.namespace("")
    }

    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String> {
        let name = prefix.map_or_else(|| local.to_owned(), |prefix| format!("{prefix}:{local}"));
        let found = self.variables.iter().position(|(known, _)| *known == name);
        found.map(|slot| slot as u32).ok_or_else(|| format!("${name} is not known"))
    }

    fn function(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> Result<Option<Declared>, String> {
        // There is no stylesheet whose functions could be called.
        self.calls.declare(name, namespace, arguments.len())
    }

    fn version(&self) -> Version {
        Version::V3
    }
}

/// What an expression asks while it runs.
struct Hosts {
    variables: Vec<Value<'static>>,
    library: &'static Library<'static>,
}

impl Host<'static> for Hosts {
    fn variable(&'static self, slot: u32) -> Result<Value<'static>, Error> {
        Ok(self.variables[slot as usize].clone())
    }

    fn call(
        &'static self,
        slot: u32,
        arguments: &[Value<'static>],
        item: Option<&Item<'static>>,
    ) -> Result<Value<'static>, Error> {
        self.library.call(slot, arguments, item)
    }

    fn find_function(&'static self, namespace: &str, local: &str, arity: usize) -> Option<u32> {
        self.library.find(namespace, local, arity)
    }

    fn function_name(&'static self, slot: u32) -> Option<(String, String)> {
        self.library.name(slot)
    }

    fn base_uri(&'static self, node: NodeRef<'static>) -> Option<Option<String>> {
        self.library.base(node)
    }

    fn document_uri(&'static self, document: &'static Document) -> Option<String> {
        self.library.uri(document)
    }
}

/// The files of an environment, and those beside the set.
struct Resources {
    named: Vec<(String, PathBuf, Option<String>)>,
}

impl Resolver for Resources {
    fn resolve(&self, href: &str, base: &str, _: Wanted) -> Result<Resource, String> {
        let beside = |base: &str| match href {
            "" => Some(base.to_owned()),
            _ => Some(format!("{}/{href}", base.rsplit_once('/')?.0)),
        };
        let uris = [Some(href.to_owned()), beside(base)];
        let named = |uri: &String| self.named.iter().find(|(known, ..)| known == uri);
        let path = match uris.iter().flatten().find_map(named) {
            Some((_, path, _)) => path.clone(),
            None => {
                let file = uris.iter().flatten().find_map(|uri| uri.strip_prefix("file://"));
                PathBuf::from(file.ok_or_else(|| format!("{href:?} is not there"))?)
            }
        };
        let bytes = fs::read(&path).map_err(|error| format!("{href:?}: {error}"))?;
        let uri = uris.into_iter().flatten().next_back().unwrap_or_default();
        Ok(Resource { uri: if href.contains("://") { href.to_owned() } else { uri }, bytes })
    }
}

/// Why an expression gives nothing.
pub(crate) enum Failure {
    Syntax(SyntaxError),
    Running(Error),
}

impl Failure {
    pub(crate) fn code(&self) -> &str {
        match self {
            Failure::Syntax(error) => error.code,
            Failure::Running(Error::Raised { local, .. }) => local,
            Failure::Running(error) => error.code().unwrap_or("none"),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Syntax(error) => write!(f, "{} at {}: {error}", error.code, error.offset),
            Failure::Running(error) => write!(f, "{}: {error}", self.code()),
        }
    }
}

impl Scope {
    /// The value of an expression.
    pub(crate) fn run(&self, expression: &str) -> Result<Value<'static>, Failure> {
        let mut known = self.clone();
        let compiled = Expression::compile(expression, &mut known).map_err(Failure::Syntax)?;
        // Values borrow from the expression and its scope; the test keeps them all.
        let compiled: &'static Expression = Box::leak(Box::new(compiled));
        let scope = LibraryScope { namespaces: self.prefixes.clone(), base: self.base.clone(), later: true };
        let mut store = LibraryStore::new(scope);
        for (name, symbols) in &self.decimal_formats {
            store.set_decimal_format(name, symbols.clone());
        }
        let (store, meter): (&'static LibraryStore, &'static Meter) =
            (Box::leak(Box::new(store)), Box::leak(Box::default()));
        let resources: &'static Resources = Box::leak(Box::new(Resources { named: self.resources.clone() }));
        let now = Some(Moment::at(1_600_000_000_000_000_000, Some(0)));
        let limits = (meter, Limits::default());
        let library = Box::leak(Box::new(Library::new(store, &known.calls, resources, now, limits)));
        self.documents.iter().for_each(|(uri, document)| library.add_document(uri, document));
        let variables = self.variables.iter().map(|(_, value)| value.clone()).collect();
        let host: &'static Hosts = Box::leak(Box::new(Hosts { variables, library }));
        let context = Context { item: self.context.clone(), now, meter: Some(meter), ..Context::new(host) };
        compiled.evaluate(&context).map_err(Failure::Running)
    }
}

/// The name of a test set, which is that of its file; the catalog has none.
fn set_name(set: &Document) -> String {
    let root = set.root_element();
    let name = root.and_then(|root| set.attribute(root, "", "name")).unwrap_or("catalog".into());
    name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).trim_start_matches('-').to_owned()
}

/// Reads an `environment` element; `Err`: why its cases cannot run.
pub(crate) fn scope(
    set: &Document,
    element: NodeId,
    folder: &Path,
    documents: &mut Documents,
) -> Result<Scope, String> {
    let mut scope = Scope { base: format!("file://{}/{}.xml", folder.display(), set_name(set)), ..Scope::default() };
    for child in set.children(element) {
        let attribute = |name: &str| set.attribute(child, "", name).map(|value| value.into_owned());
        match set.qname(child).local {
            "source" => {
                if attribute("validation").is_some_and(|validation| validation != "skip") {
                    return Err("needs a schema".to_owned());
                }
                let file = attribute("file").ok_or("a source without a file")?;
                let path = folder.join(file);
                if let Some(uri) = attribute("uri") {
                    scope.resources.push((uri, path.clone(), None));
                }
                let document = documents.get(&path).map_err(|reason| format!("needs {reason}"))?;
                let uri = attribute("uri").unwrap_or_else(|| format!("file://{}", path.display()));
                scope.documents.push((uri, document));
                let node = NodeRef::new(document, document.document_node());
                match attribute("role").as_deref() {
                    Some(".") => scope.context = Some(Item::Node(node)),
                    Some(variable) => {
                        let name = variable.trim_start_matches('$').to_owned();
                        scope.variables.push((name, Value::from(node)));
                    }
                    None => {}
                }
            }
            "namespace" => {
                scope.prefixes.push((attribute("prefix").unwrap_or_default(), attribute("uri").unwrap_or_default()));
            }
            "param" => {
                let (name, select) = (attribute("name"), attribute("select"));
                let (Some(name), Some(select)) = (name, select) else { return Err("needs a parameter".to_owned()) };
                let value = scope.run(&select).map_err(|_| "needs a parameter that is no XPath of ours".to_owned())?;
                scope.variables.push((name, value));
            }
            "context-item" => {
                let select = attribute("select").unwrap_or_default();
                let value =
                    scope.run(&select).map_err(|_| "needs a context item that is no XPath of ours".to_owned())?;
                scope.context = value.first();
            }
            "resource" => {
                let (file, uri) = (attribute("file").unwrap_or_default(), attribute("uri").unwrap_or_default());
                let path = folder.join(file);
                if !path.is_file() {
                    return Err("needs a file that is not there".to_owned());
                }
                scope.resources.push((uri, path, attribute("encoding")));
            }
            "static-base-uri" => {
                let uri = attribute("uri").unwrap_or_default();
                scope.base = if uri == "#UNDEFINED" { String::new() } else { uri };
            }
            "decimal-format" => {
                let mut symbols = Symbols::default();
                let letter = |name: &str| attribute(name).and_then(|value| value.chars().next());
                for (name, place) in [
                    ("decimal-separator", &mut symbols.decimal_separator),
                    ("grouping-separator", &mut symbols.grouping_separator),
                    ("exponent-separator", &mut symbols.exponent_separator),
                    ("minus-sign", &mut symbols.minus_sign),
                    ("percent", &mut symbols.percent),
                    ("per-mille", &mut symbols.per_mille),
                    ("zero-digit", &mut symbols.zero_digit),
                    ("digit", &mut symbols.digit),
                    ("pattern-separator", &mut symbols.pattern_separator),
                ] {
                    *place = letter(name).unwrap_or(*place);
                }
                for (name, place) in [("infinity", &mut symbols.infinity), ("NaN", &mut symbols.nan)] {
                    *place = attribute(name).unwrap_or_else(|| place.clone());
                }
                let name = attribute("name").unwrap_or_default();
                let name = match name.split_once(':') {
                    Some((prefix, local)) => {
                        let namespace = set.lookup_namespace(child, prefix).unwrap_or_default();
                        format!("{{{namespace}}}{local}")
                    }
                    None => name,
                };
                scope.decimal_formats.push((name, symbols));
            }
            "schema" => return Err("needs a schema".to_owned()),
            "collection" | "collation" | "function-library" => {
                return Err(format!("needs a {}", set.qname(child).local));
            }
            _ => {}
        }
    }
    Ok(scope)
}
