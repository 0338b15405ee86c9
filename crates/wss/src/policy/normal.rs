//! Normal form: a policy as the list of its alternatives, each a list of assertions.
//!
//! `wsp:All` multiplies the alternatives below it and `wsp:ExactlyOne` adds them up, at each level of nested policies,
//! so that a short text can stand for more alternatives than there are atoms. Hence all is counted, and bounded.
//!
//! Source: WS-Policy 1.5 Framework §4.3; WS-Policy 1.2 §4.

use std::collections::HashMap;
use std::rc::Rc;

use myelin_xml::{Document, Kind, NodeId};

use super::names::{is_policy, is_security, problem};
use crate::Problem;
use crate::vocabulary::WSU;

/// Alternatives of a policy or of a part of it.
const ALTERNATIVES_MAX: usize = 64;
/// Elements that are looked at, and assertions that are copied from one alternative to the next.
const STEPS_MAX: usize = 50_000;
/// Operators, assertions and references inside of each other.
const DEPTH_MAX: usize = 32;

/// An assertion in one of the forms that its nested policy leaves.
#[derive(Debug)]
pub(super) struct Assertion {
    /// Its element.
    pub(super) node: NodeId,
    /// What its nested policy says.
    pub(super) nested: Combination,
}

/// Assertions that hold together.
pub(super) type Combination = Vec<Rc<Assertion>>;

/// The alternatives of a policy; none: nothing can fulfil it.
///
/// Errors: an operator that is not known, a reference that leads nowhere, or a bound: the author's.
pub(super) fn normalize(document: &Document, policy: NodeId) -> Result<Vec<Combination>, Problem> {
    let mut normalizer = Normalizer { document, policies: named_policies(document), steps: 0, depth: 0 };
    normalizer.all_of(policy)
}

/// The policies of a document by what references say: `#` and their id, or their name; `None`: it stands twice.
fn named_policies(document: &Document) -> HashMap<String, Option<NodeId>> {
    const XML: &str = "http://www.w3.org/XML/1998/namespace";
    let mut policies = HashMap::new();
    let elements = document.descendants(document.document_node()).filter(|&node| document.kind(node) == Kind::Element);
    for node in elements.filter(|&node| is_policy(document, node, "Policy")) {
        let ids = [document.attribute(node, WSU, "Id"), document.attribute(node, XML, "id")];
        let references = ids.into_iter().flatten().map(|id| format!("#{id}"));
        let name = document.attribute(node, "", "Name").map(|name| name.into_owned());
        for reference in references.chain(name) {
            policies.entry(reference).and_modify(|known| *known = None).or_insert(Some(node));
        }
    }
    policies
}

struct Normalizer<'d> {
    document: &'d Document,
    policies: HashMap<String, Option<NodeId>>,
    steps: usize,
    depth: usize,
}

impl Normalizer<'_> {
    /// The alternatives of an operator of which all has to hold: `Policy` and `All`.
    fn all_of(&mut self, operator: NodeId) -> Result<Vec<Combination>, Problem> {
        self.enter(operator)?;
        let mut product: Vec<Combination> = vec![Vec::new()];
        for child in self.elements(operator) {
            let mut choices = self.choices(child)?;
            if product.len() * choices.len() > ALTERNATIVES_MAX {
                let message = format!("the policy has more than {ALTERNATIVES_MAX} alternatives; write fewer");
                return Err(problem(self.document, child, message));
            }
            self.step(child, product.len() * choices.iter().map(Vec::len).sum::<usize>())?;
            product = match choices.len() {
                // By far the most frequent, and without copies.
                1 => {
                    let only = choices.swap_remove(0);
                    product.iter_mut().for_each(|combination| combination.extend(only.iter().cloned()));
                    product
                }
                _ => {
                    self.step(child, choices.len() * product.iter().map(Vec::len).sum::<usize>())?;
                    let pairs = product.iter().flat_map(|left| choices.iter().map(move |right| (left, right)));
                    pairs.map(|(left, right)| left.iter().chain(right).cloned().collect()).collect()
                }
            };
        }
        self.depth -= 1;
        Ok(product)
    }

    /// The alternatives of an `ExactlyOne`.
    fn one_of(&mut self, operator: NodeId) -> Result<Vec<Combination>, Problem> {
        self.enter(operator)?;
        let mut sum = Vec::new();
        for child in self.elements(operator) {
            sum.append(&mut self.choices(child)?);
            if sum.len() > ALTERNATIVES_MAX {
                let message = format!("the policy has more than {ALTERNATIVES_MAX} alternatives; write fewer");
                return Err(problem(self.document, child, message));
            }
        }
        self.depth -= 1;
        Ok(sum)
    }

    /// The alternatives that an operator or assertion stands for.
    fn choices(&mut self, node: NodeId) -> Result<Vec<Combination>, Problem> {
        self.step(node, 1)?;
        let name = self.document.qname(node);
        if !is_policy(self.document, node, name.local) {
            return self.assertion(node);
        }
        match name.local {
            "Policy" | "All" => self.all_of(node),
            "ExactlyOne" => self.one_of(node),
            "PolicyReference" => {
                let policy = self.referenced(node)?;
                self.all_of(policy)
            }
            other => {
                let message = format!("{other} is no operator of WS-Policy, expected All, ExactlyOne or Policy");
                Err(problem(self.document, node, message))
            }
        }
    }

    /// The forms of an assertion: one for each alternative of its nested policy, and none where it is optional.
    fn assertion(&mut self, node: NodeId) -> Result<Vec<Combination>, Problem> {
        let mut nested = vec![Vec::new()];
        if is_security(self.document.qname(node).namespace) {
            let mut policies =
                self.elements(node).into_iter().filter(|&child| is_policy(self.document, child, "Policy"));
            let (first, second) = (policies.next(), policies.next());
            if let Some(second) = second {
                return Err(problem(self.document, second, "a second policy in one assertion, expected one"));
            }
            if let Some(policy) = first {
                nested = self.all_of(policy)?;
            }
        }
        let forms = nested.into_iter().map(|nested| vec![Rc::new(Assertion { node, nested })]);
        let mut choices: Vec<Combination> = forms.collect();
        if self.is_optional(node)? {
            choices.push(Vec::new());
        }
        Ok(choices)
    }

    fn is_optional(&self, node: NodeId) -> Result<bool, Problem> {
        let mut attributes = self.document.attributes(node);
        let Some(optional) = attributes.find(|&attribute| is_policy(self.document, attribute, "Optional")) else {
            return Ok(false);
        };
        match self.document.value(optional).trim() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            other => Err(problem(self.document, node, format!("Optional is {other:?}, expected true or false"))),
        }
    }

    /// The policy that a `PolicyReference` means.
    fn referenced(&self, node: NodeId) -> Result<NodeId, Problem> {
        let uri = self.document.attribute(node, "", "URI").unwrap_or_default();
        let wrong = |message: String| problem(self.document, node, message);
        match self.policies.get(uri.trim()) {
            Some(Some(policy)) => Ok(*policy),
            Some(None) => Err(wrong(format!("two policies of this document are called {uri:?}"))),
            None => {
                Err(wrong(format!("the policy {uri:?} is not in this document, and references do not lead out of it")))
            }
        }
    }

    fn elements(&self, node: NodeId) -> Vec<NodeId> {
        let children = self.document.children(node);
        children.filter(|&child| self.document.kind(child) == Kind::Element).collect()
    }

    /// Goes one level down; a policy that refers to itself comes to the bound.
    fn enter(&mut self, node: NodeId) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth <= DEPTH_MAX {
            return Ok(());
        }
        let message = format!("policies inside of each other more than {DEPTH_MAX} deep, or one that refers to itself");
        Err(problem(self.document, node, message))
    }

    fn step(&mut self, node: NodeId, steps: usize) -> Result<(), Problem> {
        self.steps += steps;
        if self.steps <= STEPS_MAX {
            return Ok(());
        }
        Err(problem(self.document, node, "the policy stands for too many assertions; write fewer alternatives"))
    }
}
