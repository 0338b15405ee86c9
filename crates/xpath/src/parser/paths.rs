//! Paths: steps, node tests, predicates, and the operands a path can start from.

use super::{Parser, refuse};
use crate::analysis;
use crate::ast::{Axis, AxisStep, Expr, NameTest, NodeTest, Path, Predicate, Step};
use crate::error::SyntaxError;
use crate::lexer::Kind;
use crate::types::AtomicType;

/// The local name of no node.
const NO_NAME: &str = "\0";

impl<'t> Parser<'t, '_> {
    /// A path, or an operand that is none.
    pub(super) fn path(&mut self) -> Result<Expr, SyntaxError> {
        let mut steps = Vec::new();
        let start = match *self.peek() {
            Kind::Symbol("/") => {
                self.next();
                if !self.starts_step() {
                    return Ok(Expr::Root);
                }
                steps.push(self.step()?);
                Expr::Root
            }
            Kind::Symbol("//") => {
                self.next();
                steps.push(descend());
                steps.push(self.step()?);
                Expr::Root
            }
            Kind::Symbol(".") => {
                self.next();
                self.postfix(Expr::Context)?
            }
            _ => match self.step()? {
                Step::Expr(operand) => operand,
                axis => {
                    steps.push(axis);
                    Expr::Context
                }
            },
        };
        loop {
            match *self.peek() {
                Kind::Symbol("/") => {}
                Kind::Symbol("//") => steps.push(descend()),
                _ if steps.is_empty() => return Ok(start),
                _ => break,
            }
            self.count_operator()?;
            self.next();
            steps.push(self.step()?);
        }
        analysis::fuse(&mut steps);
        Ok(Expr::Path(Box::new(Path { start, steps })))
    }

    /// Whether what comes next can be a step; behind a `/` nothing else can be an operand.
    fn starts_step(&self) -> bool {
        match self.peek() {
            Kind::End => false,
            Kind::Symbol(symbol) => matches!(*symbol, "." | ".." | "@" | "*" | "("),
            _ => true,
        }
    }

    fn step(&mut self) -> Result<Step, SyntaxError> {
        if self.starts_primary() { self.primary().map(Step::Expr) } else { self.axis_step().map(Step::Axis) }
    }

    /// Whether what comes next is an operand that is no step along an axis.
    fn starts_primary(&self) -> bool {
        match (self.peek(), self.ahead(1)) {
            (Kind::Name(None, name), Kind::Symbol("(")) => !is_kind_test(name),
            (Kind::Name(..) | Kind::Braced(..), Kind::Symbol("(" | "#")) => true,
            (Kind::Name(None, "map" | "array"), Kind::Symbol("{")) => true,
            (Kind::Symbol(symbol), _) => !matches!(*symbol, "." | ".." | "@" | "*"),
            (Kind::Name(..) | Kind::Braced(..) | Kind::InPrefix(_) | Kind::InAny(_) | Kind::InBraced(_), _) => false,
            _ => true,
        }
    }

    fn axis_step(&mut self) -> Result<AxisStep, SyntaxError> {
        let offset = self.offset();
        let (axis, test) = match *self.peek() {
            Kind::Symbol(".") => {
                self.next();
                (Axis::Self_, NodeTest::Any)
            }
            Kind::Symbol("..") => {
                self.next();
                (Axis::Parent, NodeTest::Any)
            }
            Kind::Symbol("@") => {
                self.next();
                (Axis::Attribute, self.node_test(Axis::Attribute)?)
            }
            Kind::Name(None, name) if *self.ahead(1) == Kind::Symbol("::") => {
                let Some(axis) = axis(name) else {
                    return Err(refuse(offset, format!("{name:?} is no axis")));
                };
                self.next();
                self.next();
                (axis, self.node_test(axis)?)
            }
            Kind::Name(None, name) if *self.ahead(1) == Kind::Symbol("(") && is_kind_test(name) => {
                let test = self.node_test(Axis::Child)?;
                let axis = match test {
                    NodeTest::Attribute(_) => Axis::Attribute,
                    NodeTest::Namespace => Axis::Namespace,
                    _ => Axis::Child,
                };
                (axis, test)
            }
            _ => (Axis::Child, self.node_test(Axis::Child)?),
        };
        let predicates = self.predicates(true)?;
        Ok(AxisStep { axis, test, predicates })
    }

    pub(super) fn predicates(&mut self, nodes: bool) -> Result<Vec<Predicate>, SyntaxError> {
        let mut predicates = Vec::new();
        while self.take("[") {
            self.count_operator()?;
            let expr = self.sequence()?;
            self.expect("]")?;
            predicates.push(Predicate { kind: analysis::predicate_kind(&expr, nodes), expr });
        }
        Ok(predicates)
    }

    /// What follows an axis: `name`, `*`, `p:*`, `text()` …
    pub(super) fn node_test(&mut self, axis: Axis) -> Result<NodeTest, SyntaxError> {
        let offset = self.offset();
        if let Kind::Name(None, name) = *self.peek()
            && *self.ahead(1) == Kind::Symbol("(")
        {
            if !is_kind_test(name) {
                return Err(refuse(offset, format!("{name}() tests no kind of node")));
            }
            self.next();
            self.next();
            return self.kind_test(name, offset);
        }
        // Only elements have a default namespace; attributes never do (Namespaces in XML §6.2).
        let default = !matches!(axis, Axis::Attribute | Axis::Namespace);
        self.name_test(default).map(NodeTest::Name)
    }

    fn kind_test(&mut self, name: &'t str, offset: usize) -> Result<NodeTest, SyntaxError> {
        let inside = *self.peek() != Kind::Symbol(")");
        let test = match name {
            "node" => NodeTest::Any,
            "text" => NodeTest::Text,
            "comment" => NodeTest::Comment,
            "namespace-node" => NodeTest::Namespace,
            "processing-instruction" => NodeTest::Instruction(match self.peek().clone() {
                Kind::Text(target) => {
                    self.next();
                    Some(target.trim().to_owned())
                }
                Kind::Name(None, target) => {
                    self.next();
                    Some(target.to_owned())
                }
                _ => None,
            }),
            "element" => NodeTest::Element(if inside { self.typed_name(true)? } else { NameTest::Any }),
            "attribute" => NodeTest::Attribute(if inside { self.typed_name(false)? } else { NameTest::Any }),
            "document-node" if inside && !self.sees(&["element"]) && !self.sees(&["schema-element"]) => {
                return Err(refuse(offset, "document-node() takes element() or nothing"));
            }
            "document-node" if inside => match self.nested(|parser| parser.node_test(Axis::Child))? {
                NodeTest::Element(name) => NodeTest::Document(Some(name)),
                _ => return Err(refuse(offset, "document-node() takes element() or nothing")),
            },
            "document-node" => NodeTest::Document(None),
            _ => {
                if matches!(self.peek(), Kind::Symbol(_)) {
                    return Err(refuse(offset, format!("{name}() takes a name")));
                }
                self.name_test(name == "schema-element")?;
                self.expect(")")?;
                let message = format!("{name}() needs a schema: there are none here");
                return Err(SyntaxError { offset, message, code: "XPST0008" });
            }
        };
        self.expect(")")?;
        Ok(test)
    }

    /// The name inside `element(…)`; a type behind it can only be one that every node without a schema has.
    fn typed_name(&mut self, element: bool) -> Result<NameTest, SyntaxError> {
        let name = self.name_test(element)?;
        if self.take(",") {
            let offset = self.offset();
            match (self.next(), element) {
                (Kind::Name(_, "untyped" | "anyType"), true) => {
                    self.take("?");
                }
                (Kind::Name(_, "untypedAtomic" | "anyAtomicType" | "anySimpleType" | "anyType"), false) => {}
                // Without schemas no node is of any other type; one that nobody knows is an error.
                (Kind::Name(_, local), element) if AtomicType::find(local).is_some() => {
                    if element {
                        self.take("?");
                    }
                    return Ok(NameTest::Local(NO_NAME.to_owned()));
                }
                (Kind::Name(..), _) => {
                    let message = "this type is none that is known: there are no schemas here".to_owned();
                    return Err(SyntaxError { offset, message, code: "XPST0008" });
                }
                _ => return Err(refuse(offset, "a type is missing here")),
            }
        }
        Ok(name)
    }

    fn name_test(&mut self, default: bool) -> Result<NameTest, SyntaxError> {
        let offset = self.offset();
        let (namespace, local) = match self.next() {
            Kind::Symbol("*") => return Ok(NameTest::Any),
            Kind::InPrefix(prefix) => return self.prefix(prefix, offset).map(NameTest::InNamespace),
            Kind::InBraced(uri) => return Ok(NameTest::InNamespace(uri.to_owned())),
            Kind::InAny(local) => return Ok(NameTest::Local(local.to_owned())),
            Kind::Braced(uri, local) => (uri.to_owned(), local),
            Kind::Name(None, local) if default => (self.environment.default_namespace().unwrap_or_default(), local),
            Kind::Name(None, local) => (String::new(), local),
            Kind::Name(Some(prefix), local) => (self.prefix(prefix, offset)?, local),
            _ => return Err(refuse(offset, "a name, `*` or a test such as `text()` is missing here")),
        };
        let index = self.environment.name(&namespace, local).unwrap_or_else(|| {
            self.names += 1;
            self.names - 1
        });
        Ok(NameTest::Name { namespace, local: local.to_owned(), index })
    }
}

/// `//` stands for this step and a `/` behind it.
fn descend() -> Step {
    Step::Axis(AxisStep { axis: Axis::DescendantOrSelf, test: NodeTest::Any, predicates: Vec::new() })
}

fn axis(name: &str) -> Option<Axis> {
    Some(match name {
        "child" => Axis::Child,
        "descendant" => Axis::Descendant,
        "descendant-or-self" => Axis::DescendantOrSelf,
        "attribute" => Axis::Attribute,
        "self" => Axis::Self_,
        "parent" => Axis::Parent,
        "ancestor" => Axis::Ancestor,
        "ancestor-or-self" => Axis::AncestorOrSelf,
        "following" => Axis::Following,
        "following-sibling" => Axis::FollowingSibling,
        "preceding" => Axis::Preceding,
        "preceding-sibling" => Axis::PrecedingSibling,
        "namespace" => Axis::Namespace,
        _ => return None,
    })
}

fn is_kind_test(name: &str) -> bool {
    matches!(
        name,
        "node"
            | "text"
            | "comment"
            | "processing-instruction"
            | "element"
            | "attribute"
            | "document-node"
            | "namespace-node"
            | "schema-element"
            | "schema-attribute"
    )
}
