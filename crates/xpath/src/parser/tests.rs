//! What the parser accepts, how operators bind, and where it says something is wrong.

use crate::ast::{Axis, Expr, PredicateKind, Step};
use crate::{Argument, Declared, Environment, Expression, Version};

struct Bindings(Version);

impl Environment for Bindings {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "p").then(|| "urn:p".to_owned())
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        local.strip_prefix('v').and_then(|slot| slot.parse().ok()).ok_or_else(|| format!("${local} is unknown"))
    }

    fn function(&mut self, name: &str, _: Option<&str>, known: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(match (name, known) {
            ("get-property", [Argument::Text(_)]) => Some(Declared::Variable(7)),
            ("syn:get-property", _) => Some(Declared::Function(8)),
            _ => None,
        })
    }

    fn version(&self) -> Version {
        self.0
    }
}

fn compile(text: &str, version: Version) -> Result<Expression, crate::SyntaxError> {
    Expression::compile(text, &mut Bindings(version))
}

#[test]
fn errors_say_where_and_what() {
    let check = |text: &str, offset: usize, part: &str| {
        let error = compile(text, Version::V1).expect_err(text);
        assert_eq!(error.offset, offset, "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
    };
    check("", 0, "a value is missing");
    check("a[", 2, "a value is missing");
    check("a[1", 3, "`]` is missing");
    check("a b", 2, "an operator is missing");
    check("(a", 2, "`)` is missing");
    check("a)", 1, "closes what nothing has opened");
    check("q:a", 0, "\"q\" stands for no namespace");
    check("$w", 0, "$w is unknown");
    check("q:f()", 0, "\"q\" stands for no namespace");
    check("contain(a, b)", 0, "did you mean contains()?");
    check("contains(a)", 0, "contains() takes 2 to 3 arguments, not 1");
    check("sideways::a", 0, "is no axis");
    check("if (a) then b", 13, "`else` is missing");
    check("a cast as xs:nothing", 10, "is no known type");
    check(&"(".repeat(100), 64, "nests deeper than 64");
    check(&vec!["1"; 600].join("+"), 1001, "more than 500 operators");
}

#[test]
fn slots_of_the_host_are_known_once_each() {
    let expression =
        compile("$v3 = $p:v3 or syn:get-property('a', $v1) or get-property('x')", Version::V1).expect("ok");
    assert_eq!((expression.variables(), expression.functions()), (&[1, 3, 7][..], &[8][..]));
    assert!(!expression.needs_context());
    assert!(compile("$v1[a]/b = 1 or position() = last()", Version::V1).is_ok_and(|it| !it.needs_context()));
    assert!(compile("string() = 'a'", Version::V1).is_ok_and(|it| it.needs_context()));
}

#[test]
fn two_slashes_and_a_child_are_one_step_where_nothing_counts() {
    let check = |text: &str, expected: &[Axis]| {
        let expression = compile(text, Version::V1).expect(text);
        let Expr::Path(path) = expression.ast() else { panic!("{text} is a path") };
        let axes: Vec<Axis> = path
            .steps
            .iter()
            .map(|step| match step {
                Step::Axis(step) => step.axis,
                Step::Expr(_) => panic!("{text} has axes only"),
            })
            .collect();
        assert_eq!(axes, expected, "{text}");
    };
    check("//a", &[Axis::Descendant]);
    check("//a[b]/c", &[Axis::Descendant, Axis::Child]);
    check("//a[1]", &[Axis::DescendantOrSelf, Axis::Child]);
    check("//a[$v1]", &[Axis::DescendantOrSelf, Axis::Child]);
    check("a//@b", &[Axis::Child, Axis::DescendantOrSelf, Axis::Attribute]);
    check(".//..", &[Axis::DescendantOrSelf, Axis::Parent]);
}

#[test]
fn predicates_are_known_by_what_they_ask() {
    let check = |text: &str, expected: PredicateKind| {
        let whole = format!("a[{text}]");
        let expression = compile(&whole, Version::V1).expect(text);
        let Expr::Path(path) = expression.ast() else { panic!("{text} is a path") };
        let [Step::Axis(step)] = &path.steps[..] else { panic!("{text} is one step") };
        assert_eq!(step.predicates[0].kind, expected, "{text}");
    };
    check("3", PredicateKind::At(3));
    check("position() = 3", PredicateKind::At(3));
    check("position() < 3", PredicateKind::UpTo(2));
    check("3 >= position()", PredicateKind::UpTo(3));
    check("last()", PredicateKind::Last);
    check("position() = last()", PredicateKind::Last);
    check("position() = last() - 1", PredicateKind::Sized);
    check("b[last()] = 1", PredicateKind::Condition);
    check("contains(., 'a')", PredicateKind::Condition);
    check("count(b)", PredicateKind::Positional);
    check("1.5", PredicateKind::Positional);
    check("position() mod 2 = 1", PredicateKind::Positional);
}

#[test]
fn later_versions_refuse_what_they_cannot_chain() {
    assert!(compile("1 = 2 = 3", Version::V1).is_ok());
    assert!(compile("1 = 2 = 3", Version::V2).is_err());
    assert!(compile("1 to 2 to 3", Version::V1).is_err());
    assert!(compile("10div 2", Version::V1).is_ok());
    assert!(compile("10div 2", Version::V2).is_err());
}
