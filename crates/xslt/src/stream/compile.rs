//! From a program to a plan, or the reason why there is none.
//!
//! What a body makes of an element is put in the order of its result. Each part that comes from below the element must
//! come from other children than the parts before it, and from later ones: only then one pass is enough. Whether the
//! children of a message stand in that order is seen when it comes.

use super::plan::{Action, Body, BodyId, Leaf, Mode, Part, Plan, Step, Takes};
use crate::output::escape_xml;
use crate::program::{
    Avt, AvtPart, Block, Content, Instruction, Kind, ModeUse, NoMatch, Program, Select, Shape, Template, Test,
};
use crate::scope::At;
use crate::stack;
use myelin_xpath::Version;

/// Why a stylesheet cannot run on events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) at: Option<At>,
    pub(crate) what: String,
}

type Compiled<T> = Result<T, Reason>;

/// Bodies called within each other and steps of one body; more is left to the tree.
const DEPTH_LIMIT: u32 = 32;
const STEP_LIMIT: usize = 500;

/// Instructions of all bodies, those of a template counted wherever it is called; and entries of the tables of modes.
const INSTRUCTION_LIMIT: usize = 100_000;
const TABLE_LIMIT: usize = 1_000_000;

impl Reason {
    fn new(what: impl Into<String>) -> Reason {
        Reason { at: None, what: what.into() }
    }
}

/// A text of the stylesheet as it is written.
fn escaped(text: &str, attribute: bool) -> Compiled<Box<str>> {
    let mut out = Vec::new();
    let written = escape_xml(text, attribute, &mut out).ok().and_then(|()| String::from_utf8(out).ok());
    written.map(String::into_boxed_str).ok_or_else(|| Reason::new("a text holds what XML does not have"))
}

/// Makes a plan, if one pass over the events is enough.
pub(crate) fn compile(program: &Program) -> Result<Plan, Reason> {
    if !program.strip.is_empty() {
        return Err(Reason::new("white space is stripped from the source"));
    }
    if !program.output.is_plain() {
        return Err(Reason::new("the result is not written as plain XML in UTF-8"));
    }
    if program.globals.iter().any(|global| global.parameter) {
        return Err(Reason::new("it has parameters, whose values have to be checked"));
    }
    if program.initial_template.is_some() {
        return Err(Reason::new("it begins with a named template"));
    }
    if program.modes.len().saturating_mul(program.names.len()) > TABLE_LIMIT {
        return Err(Reason::new("there are very many modes and names"));
    }
    let templates = vec![None; program.templates.len()];
    let mut compiler =
        Compiler { program, bodies: Vec::new(), literals: Vec::new(), templates, depth: 0, instructions: 0 };
    let modes: Compiled<Vec<Mode>> = (0..program.modes.len() as u32).map(|mode| compiler.mode(mode)).collect();
    let document = match compiler.certain(program.modes[0].rules.for_document())? {
        Some(template) => compiler.template(template)?,
        None => compiler.body(vec![Step::Consume(Takes::Nodes, Action::Apply(0))])?,
    };
    // The document node has no tag to copy.
    let copies = |step: &Step| {
        let consumed = matches!(step, Step::Consume(_, Action::CopySelf));
        consumed || matches!(step, Step::StartCopy | Step::Attributes | Step::AttributeText(_))
    };
    if compiler.bodies[document.0 as usize].steps.iter().any(copies) {
        return Err(Reason::new("the document node is copied"));
    }
    let mut names: Vec<_> = program.names.iter().cloned().zip(0..).collect();
    names.sort_by(|(one, _), (other, _)| (&one.local, &one.namespace).cmp(&(&other.local, &other.namespace)));
    Ok(Plan {
        names: names.into(),
        modes: modes?.into(),
        bodies: compiler.bodies,
        literals: compiler.literals,
        document,
    })
}

struct Compiler<'p> {
    program: &'p Program,
    bodies: Vec<Body>,
    literals: Vec<crate::output::LiteralStart>,
    /// The body of each template that was compiled.
    templates: Vec<Option<BodyId>>,
    depth: u32,
    instructions: usize,
}

impl<'p> Compiler<'p> {
    fn mode(&mut self, mode: u32) -> Compiled<Mode> {
        let Program { modes, names, .. } = self.program;
        let rules = &modes[mode as usize].rules;
        let policy = modes[mode as usize].on_no_match;
        let built_in = match policy {
            NoMatch::TextOnlyCopy => vec![Step::Consume(Takes::Nodes, Action::Apply(mode))],
            NoMatch::ShallowCopy if !self.copies_attributes(mode, Leaf::Copy)? => {
                return Err(Reason::new("attributes are not only copied"));
            }
            NoMatch::ShallowCopy => {
                vec![Step::StartCopy, Step::Attributes, Step::Consume(Takes::Nodes, Action::Apply(mode)), Step::EndCopy]
            }
            _ => return Err(Reason::new("nodes that no template matches are treated in a special way")),
        };
        let built_in = self.body(built_in)?;
        let element = match self.certain(rules.for_elements(None))? {
            Some(template) => self.template(template)?,
            None => built_in,
        };
        let mut named = Vec::with_capacity(names.len());
        for name in 0..names.len() as u32 {
            named.push(match self.certain(rules.for_elements(Some(name)))? {
                Some(template) => self.template(template)?,
                None => built_in,
            });
        }
        let (copied, by_default) = match policy {
            NoMatch::ShallowCopy => (Leaf::Copy, Leaf::Copy),
            _ => (Leaf::Copy, Leaf::Drop),
        };
        Ok(Mode {
            named: named.into(),
            element,
            text: self.leaf(rules.for_text(), copied)?,
            comment: self.leaf(rules.for_comments(), by_default)?,
            instruction: self.leaf(rules.for_instructions(), by_default)?,
        })
    }

    /// The template that a list of rules chooses, if that does not depend on more than what the list is for.
    fn certain(&self, mut list: impl Iterator<Item = (u32, bool)>) -> Compiled<Option<u32>> {
        match list.next() {
            None => Ok(None),
            Some((template, true)) => Ok(Some(template)),
            Some((template, false)) => {
                let at = Some(self.program.templates[template as usize].at);
                Err(Reason { at, what: "a pattern asks for more than a name".to_owned() })
            }
        }
    }

    fn leaf(&self, list: impl Iterator<Item = (u32, bool)>, by_default: Leaf) -> Compiled<Leaf> {
        let Some(template) = self.certain(list)? else { return Ok(by_default) };
        let template = &self.program.templates[template as usize];
        self.check(template)?;
        match &*template.body {
            [] => Ok(Leaf::Drop),
            [Instruction { kind: Kind::Copy(copy), .. }] if copy.select.is_none() => Ok(Leaf::Copy),
            [Instruction { kind: Kind::CopyOf(select, _), .. }] if select.shape == Shape::Here => Ok(Leaf::Copy),
            _ => Err(Reason { at: Some(template.at), what: "a template is for nodes that are no elements".to_owned() }),
        }
    }

    /// Whether all attributes are copied that templates of a mode are applied to.
    fn copies_attributes(&self, mode: u32, by_default: Leaf) -> Compiled<bool> {
        let rules = &self.program.modes[mode as usize].rules;
        Ok(!rules.names_attributes() && self.leaf(rules.for_attributes(), by_default)? == Leaf::Copy)
    }

    fn check(&self, template: &Template) -> Compiled<()> {
        if template.parameters.is_empty() && template.result.is_none() {
            return Ok(());
        }
        Err(Reason { at: Some(template.at), what: "a template has parameters or a type".to_owned() })
    }

    /// The body of a template, compiled once.
    fn template(&mut self, index: u32) -> Compiled<BodyId> {
        if let Some(known) = self.templates[index as usize] {
            return Ok(known);
        }
        let program = self.program;
        let template = &program.templates[index as usize];
        self.check(template)?;
        let mut steps = Vec::new();
        self.block(&template.body, &mut steps)?;
        let body = self.body(steps)?;
        self.templates[index as usize] = Some(body);
        Ok(body)
    }

    /// Checks what steps take, and makes a body of them.
    fn body(&mut self, steps: Vec<Step>) -> Compiled<BodyId> {
        if steps.len() > STEP_LIMIT {
            return Err(Reason::new("a template is very long"));
        }
        let taken: Vec<Takes> = steps
            .iter()
            .filter_map(|step| if let Step::Consume(takes, _) = step { Some(*takes) } else { None })
            .collect();
        for (index, one) in taken.iter().enumerate() {
            if taken[index + 1..].iter().any(|other| one.overlaps(*other)) {
                return Err(Reason::new("the same children are taken twice"));
            }
        }
        let first = steps.iter().position(|step| matches!(step, Step::Consume(..))).unwrap_or(steps.len());
        for (index, step) in steps.iter().enumerate() {
            let of_tag = match step {
                Step::Attribute(_, parts) => parts.iter().any(|part| matches!(part, Part::Attribute(_))),
                Step::AttributeText(_) | Step::Attributes | Step::StartCopy => true,
                _ => false,
            };
            if of_tag && index > first {
                return Err(Reason::new("attributes are asked for behind what comes from below their element"));
            }
            let in_tag =
                index > 0 && matches!(steps[index - 1], Step::Start(_) | Step::StartCopy | Step::Attribute(..));
            if matches!(step, Step::Attribute(..) | Step::Attributes) && !in_tag {
                return Err(Reason::new("an attribute is made elsewhere than in a start tag"));
            }
            if matches!(step, Step::Attributes) && matches!(steps[index - 1], Step::Attribute(..)) {
                return Err(Reason::new("attributes are copied beside others"));
            }
        }
        let copies_self = steps.iter().position(|step| matches!(step, Step::Consume(_, Action::CopySelf)));
        let copies_self = copies_self.map(|step| step as u32);
        self.bodies.push(Body { steps: steps.into(), first: first as u32, copies_self });
        Ok(BodyId(self.bodies.len() as u32 - 1))
    }

    fn block(&mut self, block: &'p Block, steps: &mut Vec<Step>) -> Compiled<()> {
        for instruction in block {
            self.instructions += 1;
            if self.instructions > INSTRUCTION_LIMIT {
                return Err(Reason::new("templates call each other very often"));
            }
            stack::with_enough(|| self.instruction(&instruction.kind, steps))
                .map_err(|reason| Reason { at: reason.at.or(Some(instruction.at)), what: reason.what })?;
        }
        Ok(())
    }

    fn instruction(&mut self, kind: &'p Kind, steps: &mut Vec<Step>) -> Compiled<()> {
        match kind {
            Kind::Text(text, false) => steps.push(Step::Text(escaped(text, false)?)),
            Kind::ValueOf(Content::Select(source, None), false) => {
                let v1 = source.expr.version() == Version::V1;
                steps.push(match &source.shape {
                    Shape::Here => Step::Consume(Takes::Nodes, Action::AllText),
                    Shape::Children(Test::Name(name)) if v1 => Step::Consume(Takes::Named(*name), Action::FirstText),
                    Shape::Attributes(Test::Name(name)) => Step::AttributeText(*name),
                    _ => return Err(Reason::new(format!("`{}` is asked for as a text", source.expr.text))),
                });
            }
            Kind::Literal(element) if element.attribute_sets.is_empty() => {
                let literal = self.literals.len() as u32;
                self.literals.push(element.start.clone());
                steps.push(Step::Start(literal));
                for attribute in &element.attributes {
                    let name = &attribute.name;
                    if !name.namespace.is_empty() {
                        return Err(Reason::new("a literal attribute is in a namespace"));
                    }
                    let begin = format!(" {}=\"", name.local);
                    steps.push(Step::Attribute(begin.into(), self.parts(&attribute.value)?));
                }
                self.block(&element.body, steps)?;
                steps.push(Step::End(literal));
            }
            Kind::ApplyTemplates(apply) => {
                let ModeUse::Mode(mode) = apply.mode else {
                    return Err(Reason::new("templates are applied in whatever mode is current"));
                };
                if !apply.sorts.is_empty() || !apply.parameters.is_empty() {
                    return Err(Reason::new("templates are applied in another order or with parameters"));
                }
                self.taken(apply.select.as_ref(), Action::Apply(mode), steps)?;
            }
            Kind::ForEach(for_each) if for_each.sorts.is_empty() => {
                let mut inside = Vec::new();
                self.block(&for_each.body, &mut inside)?;
                let body = self.body(inside)?;
                match &for_each.select.shape {
                    Shape::Children(Test::Name(name)) => {
                        steps.push(Step::Consume(Takes::Named(*name), Action::Body(body)));
                    }
                    Shape::Children(Test::Element) => steps.push(Step::Consume(Takes::Elements, Action::Body(body))),
                    _ => return Err(Reason::new(format!("`{}` is gone through", for_each.select.expr.text))),
                }
            }
            Kind::Copy(copy) if copy.select.is_none() && copy.attribute_sets.is_empty() && copy.namespaces => {
                steps.push(Step::StartCopy);
                self.block(&copy.body, steps)?;
                steps.push(Step::EndCopy);
            }
            Kind::CopyOf(select, true) => match select.shape {
                Shape::Here => steps.push(Step::Consume(Takes::Nodes, Action::CopySelf)),
                _ => self.taken(Some(select), Action::Copy, steps)?,
            },
            Kind::CallTemplate(call) if call.parameters.is_empty() => {
                let program = self.program;
                let template = &program.templates[call.template as usize];
                self.check(template)?;
                self.depth += 1;
                if self.depth > DEPTH_LIMIT || steps.len() > STEP_LIMIT {
                    return Err(Reason::new("templates call each other"));
                }
                self.block(&template.body, steps)?;
                self.depth -= 1;
            }
            _ => return Err(Reason::new("an instruction needs more than one pass")),
        }
        Ok(())
    }

    /// What an expression takes of the nodes below.
    fn taken(&mut self, select: Option<&'p Select>, action: Action, steps: &mut Vec<Step>) -> Compiled<()> {
        let children = Shape::Children(Test::Any);
        let shape = select.map_or(&children, |select| &select.shape);
        let takes = match shape {
            Shape::Children(Test::Any) => Takes::Nodes,
            Shape::Children(Test::Element) => Takes::Elements,
            Shape::Children(Test::Name(name)) => Takes::Named(*name),
            Shape::Children(Test::Text) => Takes::Text,
            Shape::AttributesAndChildren | Shape::Attributes(Test::Any) => {
                if let Action::Apply(mode) = action
                    && !self.copies_attributes(mode, Leaf::Drop)?
                {
                    return Err(Reason::new("attributes are not only copied"));
                }
                steps.push(Step::Attributes);
                if *shape != Shape::AttributesAndChildren {
                    return Ok(());
                }
                Takes::Nodes
            }
            _ => {
                let text = select.map_or("", |select| &select.expr.text);
                return Err(Reason::new(format!("`{text}` is taken from the source")));
            }
        };
        steps.push(Step::Consume(takes, action));
        Ok(())
    }

    fn parts(&self, value: &Avt) -> Compiled<Box<[Part]>> {
        match value {
            Avt::Constant(text) => Ok(Box::new([Part::Text(escaped(text, true)?)])),
            Avt::Parts(parts) => parts
                .iter()
                .map(|part| match part {
                    AvtPart::Text(text) => Ok(Part::Text(escaped(text, true)?)),
                    AvtPart::Value(source) => match source.shape {
                        Shape::Attributes(Test::Name(name)) => Ok(Part::Attribute(name)),
                        _ => Err(Reason::new(format!("`{}` stands in an attribute", source.expr.text))),
                    },
                })
                .collect(),
        }
    }
}
