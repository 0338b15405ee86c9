//! What a case of QT3 runs with: documents, variables, prefixes.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use myelin_xml::{DoctypePolicy, Document, NodeId, Options};
use myelin_xpath::{
    Argument, Context, Declared, Environment, Error, Expression, Host, Item, Moment, NodeRef, SyntaxError, Value,
    Version,
};

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

/// Reads a document, without what its document type may say.
pub(crate) fn read(path: &Path) -> Result<&'static Document, String> {
    let source = fs::read(path).map_err(|_| "a file that is not there".to_owned())?;
    let options =
        Options { doctype: DoctypePolicy::Skip, attributes: 10_000, declarations: 10_000, ..Options::default() };
    match Document::parse(source, &options) {
        Ok(document) => Ok(Box::leak(Box::new(document))),
        Err(_) => Err("a document that needs its document type or another encoding".to_owned()),
    }
}

/// What a case can refer to.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) context: Option<Item<'static>>,
    pub(crate) prefixes: Vec<(String, String)>,
    pub(crate) variables: Vec<(String, Value<'static>)>,
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

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }

    fn version(&self) -> Version {
        Version::V3
    }
}

impl<'a> Host<'a> for Scope {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        Ok(self.variables[slot as usize].1.clone())
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
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
        let compiled = Expression::compile(expression, &mut self.clone()).map_err(Failure::Syntax)?;
        // Values borrow from the expression and its scope; the test keeps them all.
        let (compiled, host): (&'static Expression, &'static Scope) =
            (Box::leak(Box::new(compiled)), Box::leak(Box::new(self.clone())));
        let mut context = Context::new(host);
        context.item.clone_from(&self.context);
        context.now = Some(Moment::at(1_600_000_000_000_000_000, Some(0)));
        compiled.evaluate(&context).map_err(Failure::Running)
    }
}

/// Reads an `environment` element; `Err`: why its cases cannot run.
pub(crate) fn scope(
    set: &Document,
    element: NodeId,
    folder: &Path,
    documents: &mut Documents,
) -> Result<Scope, String> {
    let mut scope = Scope::default();
    for child in set.children(element) {
        let attribute = |name: &str| set.attribute(child, "", name).map(|value| value.into_owned());
        match set.qname(child).local {
            "source" => {
                if attribute("validation").is_some_and(|validation| validation != "skip") {
                    return Err("needs a schema".to_owned());
                }
                let file = attribute("file").ok_or("a source without a file")?;
                let document = documents.get(&folder.join(file)).map_err(|reason| format!("needs {reason}"))?;
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
            "schema" => return Err("needs a schema".to_owned()),
            "collection" | "resource" | "collation" | "decimal-format" | "function-library" => {
                return Err(format!("needs a {}", set.qname(child).local));
            }
            _ => {}
        }
    }
    Ok(scope)
}
