//! Expressions as the machine runs them: those of a common shape without the evaluator.

use myelin_xpath::ast::{self, Axis, NameTest, NodeTest, Step};
use myelin_xpath::{Expression, Version};

/// An expression.
pub(crate) struct Expr {
    pub(crate) compiled: Expression,
    /// As it is written.
    pub(crate) text: Box<str>,
}

/// An expression that is asked for its items.
pub(crate) struct Select {
    pub(crate) expr: Expr,
    pub(crate) shape: Shape,
}

/// An expression that is asked for a text.
pub(crate) struct TextSource {
    pub(crate) expr: Expr,
    pub(crate) shape: Shape,
}

/// An expression that is asked whether it holds.
pub(crate) struct Condition {
    pub(crate) expr: Expr,
    /// [`Shape::General`] unless it asks whether there are nodes.
    pub(crate) shape: Shape,
}

/// What an expression looks like, where that is simple enough to be run without the evaluator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// `.`
    Here,
    /// `a`, `*`, `text()`, `node()`
    Children(Test),
    /// `a/b/c`: steps to children.
    Path(Box<[Test]>),
    /// `@a`, `@*`
    Attributes(Test),
    /// `@*|node()`
    AttributesAndChildren,
    /// A variable's slot.
    Variable(u32),
    General,
}

/// Which nodes of an axis are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// `node()`; on the attribute axis all attributes.
    Any,
    /// `*`
    Element,
    Text,
    Comment,
    Instruction,
    /// An element, or on the attribute axis an attribute, by the number of its name in
    /// [`Program::names`](super::Program::names).
    Name(u32),
}

impl Shape {
    /// Whether it leads to nodes around the context node, by steps along the tree.
    pub(crate) fn is_walked(&self) -> bool {
        !matches!(self, Shape::General | Shape::Variable(_) | Shape::Here)
    }
}

impl Expr {
    pub(crate) fn new(compiled: Expression, text: &str) -> Expr {
        Expr { compiled, text: text.into() }
    }

    pub(crate) fn version(&self) -> Version {
        self.compiled.version()
    }
}

impl Select {
    pub(crate) fn new(expr: Expr) -> Select {
        Select { shape: shape(expr.compiled.ast()), expr }
    }
}

impl TextSource {
    pub(crate) fn new(expr: Expr) -> TextSource {
        let shape = match shape(expr.compiled.ast()) {
            // Their first node is found only by document order.
            Shape::AttributesAndChildren => Shape::General,
            simple => simple,
        };
        TextSource { shape, expr }
    }
}

impl Condition {
    pub(crate) fn new(expr: Expr) -> Condition {
        let shape = match shape(expr.compiled.ast()) {
            nodes @ (Shape::Children(_) | Shape::Path(_) | Shape::Attributes(_)) => nodes,
            _ => Shape::General,
        };
        Condition { shape, expr }
    }
}

fn shape(expr: &ast::Expr) -> Shape {
    match expr {
        ast::Expr::Context => Shape::Here,
        ast::Expr::Variable(slot) => Shape::Variable(*slot),
        ast::Expr::Path(path) if matches!(path.start, ast::Expr::Context) => match path.steps.as_slice() {
            [Step::Axis(step)] => match (step.axis, test(step)) {
                (Axis::Child, Some(test)) => Shape::Children(test),
                (Axis::Attribute, Some(test @ (Test::Any | Test::Element | Test::Name(_)))) => {
                    Shape::Attributes(if test == Test::Element { Test::Any } else { test })
                }
                (Axis::Self_, Some(Test::Any)) => Shape::Here,
                _ => Shape::General,
            },
            steps => {
                let tests = steps.iter().map(|step| match step {
                    Step::Axis(step) if step.axis == Axis::Child => test(step),
                    _ => None,
                });
                tests.collect::<Option<Box<[Test]>>>().map_or(Shape::General, Shape::Path)
            }
        },
        ast::Expr::Union(sides) => {
            let mut sides: Vec<Shape> = sides.iter().map(shape).collect();
            sides.sort_by_key(|side| matches!(side, Shape::Children(_)));
            match sides.as_slice() {
                [Shape::Attributes(Test::Any), Shape::Children(Test::Any)] => Shape::AttributesAndChildren,
                _ => Shape::General,
            }
        }
        _ => Shape::General,
    }
}

fn test(step: &ast::AxisStep) -> Option<Test> {
    if !step.predicates.is_empty() {
        return None;
    }
    Some(match &step.test {
        NodeTest::Any => Test::Any,
        NodeTest::Name(NameTest::Any) => Test::Element,
        NodeTest::Name(NameTest::Name { index, .. }) => Test::Name(*index),
        NodeTest::Text => Test::Text,
        NodeTest::Comment => Test::Comment,
        NodeTest::Instruction(None) => Test::Instruction,
        _ => return None,
    })
}
