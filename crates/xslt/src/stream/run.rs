//! Runs a plan over the events of a parser.

use std::borrow::Cow;
use std::ops::Range;

use myelin_xml::{Event, Name, Names, NamesId, Start, Text};

use super::plan::{Action, Body, BodyId, Leaf, Part, Plan, Step, Takes};
use super::writer::{GaveUp, Open, Scopes, Writer};
use crate::output::OutputProperties;

/// What one pass needs and the next can use again.
#[derive(Debug, Default)]
pub(super) struct Memory {
    scopes: Scopes,
    frames: Vec<Frame>,
    open: Vec<Open>,
    /// For each name of the parser the number of the program's name, and one; 0: nobody has looked yet.
    numbers: Vec<u32>,
    /// The names that the numbers are for.
    names: NamesId,
    /// What prefixes mean in the source inside each element that declares some: its depth and the state around it.
    sources: Vec<(usize, u32)>,
    /// The prefixes that the element declares that will be copied.
    own: Vec<String>,
}

/// A name that no step asks for.
const OTHER: u32 = u32::MAX;

/// An element that is worked on.
#[derive(Clone, Copy, Debug)]
struct Frame {
    body: BodyId,
    /// The step that is next, or that takes children as long as they come.
    step: u32,
    /// What is done with the element instead of a body.
    kind: Kind,
    /// Elements open below it, where there is no body.
    below: u32,
    /// Where it begins in the source, and how long its name is.
    begin: usize,
    name_length: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Body,
    /// Nothing.
    Skip,
    /// Its text is written.
    Text,
    /// At its end all of it is copied.
    Copy,
}

/// What a pass is to do.
pub(super) struct Job<'j> {
    pub(super) plan: &'j Plan,
    pub(super) output: &'j OutputProperties,
    /// All of the document.
    pub(super) source: &'j [u8],
    /// Whether an element of it is transformed for its place.
    pub(super) part: bool,
    pub(super) limit_bytes: usize,
}

/// A pass under way.
pub(super) struct Pass<'p> {
    plan: &'p Plan,
    writer: Writer<'p>,
    frames: &'p mut Vec<Frame>,
    numbers: &'p mut Vec<u32>,
    sources: &'p mut Vec<(usize, u32)>,
    own: &'p mut Vec<String>,
    /// All of the document that is read.
    bytes: &'p [u8],
    /// What prefixes mean in the source where the pass is.
    source: u32,
    depth: usize,
    /// Whether the first element decides that the result is HTML.
    method_by_element: bool,
    /// Whether the result is put where its source was, so that text may stand outside of its elements.
    part: bool,
    loose_text: bool,
    limit: usize,
}

impl Memory {
    /// Forgets the numbers of a parser's names, unless they are those of the last pass.
    pub(super) fn same_names(&mut self, names: &Names) {
        if self.names != names.id() {
            self.names = names.id();
            self.numbers.clear();
            self.scopes.other_source();
        }
    }
}

impl<'p> Pass<'p> {
    /// Begins a pass.
    pub(super) fn new(job: &Job<'p>, memory: &'p mut Memory, out: &'p mut Vec<u8>) -> Pass<'p> {
        let Job { plan, output, source: bytes, part, limit_bytes } = *job;
        let limit = out.len().saturating_add(limit_bytes);
        let Memory { scopes, frames, open, numbers, sources, own, .. } = memory;
        scopes.begin(plan.literals.len());
        frames.clear();
        sources.clear();
        let declaration = (!part && !output.omit_xml_declaration).then(|| output.declaration(true));
        let writer = Writer::new(out, scopes, open, declaration.as_deref());
        let method_by_element = output.method.is_none() && !part;
        let pass = Pass {
            plan,
            writer,
            frames,
            numbers,
            sources,
            own,
            bytes,
            source: 0,
            depth: 0,
            method_by_element,
            part,
            loose_text: false,
            limit,
        };
        pass.frames.push(Frame { body: plan.document, step: 0, kind: Kind::Body, below: 0, begin: 0, name_length: 0 });
        pass
    }

    /// Goes by an element that is around the source.
    pub(super) fn around(&mut self, start: &Start<'_>) {
        self.depth += 1;
        self.declare(start);
    }

    /// Leaves one again.
    pub(super) fn leave_around(&mut self) {
        self.leave();
    }

    /// Comes to the source: what is in scope around it is so around the result.
    pub(super) fn begin_part(&mut self) {
        self.writer.set_state(self.source);
    }

    /// Whether the source was worked on to its end.
    pub(super) fn is_complete(&self) -> bool {
        self.frames.len() == 1
    }

    /// Takes an event.
    #[inline]
    pub(super) fn event(&mut self, event: &Event<'_>) -> Result<(), GaveUp> {
        match event {
            Event::Start(start) => self.start(start),
            Event::End(end) => self.end(end.range.end),
            Event::Text(text) => self.text(text),
            Event::Comment(comment) => {
                if self.leaf(|mode| mode.comment)? == Leaf::Copy {
                    self.writer.comment(&comment.value());
                }
                Ok(())
            }
            Event::Instruction(instruction) => {
                if self.leaf(|mode| mode.instruction)? == Leaf::Copy {
                    self.writer.instruction(instruction.target, &instruction.value());
                }
                Ok(())
            }
            Event::Declaration(_) | Event::Doctype(_) => Ok(()),
        }
    }

    /// Ends the pass: what stands behind all children of the document node. Gives where the first element of the
    /// result stands, and whether text stands outside of all.
    pub(super) fn finish(mut self) -> Result<(Option<Range<usize>>, bool), GaveUp> {
        if let Some(Frame { kind: Kind::Body, body, step, .. }) = self.frames.pop() {
            self.rest(body, step, None)?;
        }
        Ok((self.writer.root(), self.loose_text))
    }

    fn start(&mut self, start: &Start<'_>) -> Result<(), GaveUp> {
        self.depth += 1;
        self.declare(start);
        let Some(frame) = self.frames.last_mut() else { return Err(GaveUp) };
        match frame.kind {
            Kind::Skip | Kind::Text | Kind::Copy => {
                frame.below += 1;
                Ok(())
            }
            Kind::Body => {
                let name = self.number(start);
                match self.take(|takes| takes.element(name))? {
                    None => self.open(Kind::Skip, BodyId(0), start),
                    Some(Action::Apply(mode)) => {
                        let mode = &self.plan.modes[mode as usize];
                        let body = match name {
                            Some(name) => mode.named[name as usize],
                            None => mode.element,
                        };
                        self.open(Kind::Body, body, start)
                    }
                    Some(Action::Body(body)) => self.open(Kind::Body, body, start),
                    Some(Action::FirstText | Action::AllText) => self.open(Kind::Text, BodyId(0), start),
                    Some(Action::Copy) => self.open(Kind::Copy, BodyId(0), start),
                    Some(Action::CopySelf) => self.open(Kind::Skip, BodyId(0), start),
                }
            }
        }
    }

    /// Brings the declarations of an element into scope.
    #[inline]
    fn declare(&mut self, start: &Start<'_>) {
        let declarations = start.declarations();
        if declarations.len() > 0 {
            self.sources.push((self.depth, self.source));
            for declaration in declarations {
                let (prefix, namespace) = (declaration.prefix, declaration.namespace);
                self.source = self.writer.scopes().declared(self.source, start.names(), prefix, namespace);
            }
        }
    }

    /// Ends the scope of an element's declarations.
    #[inline]
    fn leave(&mut self) {
        if let Some((depth, around)) = self.sources.last()
            && *depth == self.depth
        {
            self.source = *around;
            self.sources.pop();
        }
        self.depth -= 1;
    }

    /// The number of an element's name, if some step asks for it.
    #[inline]
    fn number(&mut self, start: &Start<'_>) -> Option<u32> {
        let index = start.name.index();
        let known = match self.numbers.get(index) {
            Some(0) | None => self.first_number(start.names(), start.name, index),
            Some(known) => *known,
        };
        (known != OTHER).then(|| known - 1)
    }

    #[cold]
    fn first_number(&mut self, names: &Names, name: myelin_xml::NameId, index: usize) -> u32 {
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, 0);
        }
        let name = names.get(name);
        self.numbers[index] = self.plan.name(name.namespace, name.local).map_or(OTHER, |number| number + 1);
        self.numbers[index]
    }

    /// Finds the step that takes a child, and goes on to it; `None`: nobody takes it.
    #[inline]
    fn take(&mut self, takes: impl Fn(Takes) -> bool) -> Result<Option<Action>, GaveUp> {
        let Some(frame) = self.frames.last_mut() else { return Err(GaveUp) };
        let steps = &self.plan.bodies[frame.body.0 as usize].steps;
        let from = frame.step as usize;
        if let Some(Step::Consume(wanted, action)) = steps.get(from)
            && takes(*wanted)
        {
            if *action == Action::FirstText {
                frame.step += 1;
            }
            return Ok(Some(*action));
        }
        let taking = |step: &Step| matches!(step, Step::Consume(wanted, _) if takes(*wanted));
        let Some(ahead) = steps[from..].iter().position(taking) else {
            // A child that an earlier step would have taken comes too late, unless that step wanted only the first.
            let late = |step: &Step| matches!(step, Step::Consume(wanted, action) if *action != Action::FirstText && takes(*wanted));
            return if steps[..from].iter().any(late) { Err(GaveUp) } else { Ok(None) };
        };
        let next = from + ahead;
        let Step::Consume(_, action) = steps[next] else { return Err(GaveUp) };
        frame.step = next as u32 + u32::from(action == Action::FirstText);
        // Mostly only the step stands between that took children up to now.
        if !matches!(steps[from..next], [] | [Step::Consume(..)]) {
            self.write(&steps[from..next], None)?;
        }
        Ok(Some(action))
    }

    /// Begins work on an element.
    #[inline]
    fn open(&mut self, kind: Kind, body: BodyId, start: &Start<'_>) -> Result<(), GaveUp> {
        let (mut step, mut copied) = (0, kind == Kind::Copy);
        if kind == Kind::Body {
            let Body { steps, first, copies_self } = &self.plan.bodies[body.0 as usize];
            (step, copied) = (*first, copies_self.is_some());
            self.write(&steps[..step as usize], Some(start))?;
        }
        let mut frame = Frame { body, step, kind, below: 0, begin: start.range.start, name_length: 0 };
        if copied {
            self.prepare_copy(start, &mut frame)?;
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Notes what copying an element will ask for when its end is known.
    #[cold]
    fn prepare_copy(&mut self, start: &Start<'_>, frame: &mut Frame) -> Result<(), GaveUp> {
        let name = start.names().get(start.name);
        self.first_element(name.local, name.namespace)?;
        if self.writer.has_other_default(self.source) {
            return Err(GaveUp);
        }
        let prefix = if name.prefix.is_empty() { 0 } else { name.prefix.len() + 1 };
        frame.name_length = (prefix + name.local.len()) as u32;
        self.own.clear();
        self.own.extend(start.declarations().map(|declaration| declaration.prefix().to_owned()));
        Ok(())
    }

    /// Copies an element that has ended.
    fn copy_whole(&mut self, frame: &Frame, end: usize) -> Result<(), GaveUp> {
        let element = self.bytes.get(frame.begin..end).ok_or(GaveUp)?;
        self.writer.copy_as_read(element, frame.name_length as usize, self.own, self.source)
    }

    fn end(&mut self, end: usize) -> Result<(), GaveUp> {
        self.leave();
        let Some(frame) = self.frames.last_mut() else { return Err(GaveUp) };
        if frame.below > 0 {
            frame.below -= 1;
            return Ok(());
        }
        let frame = *frame;
        self.frames.pop();
        match frame.kind {
            Kind::Body => self.rest(frame.body, frame.step, Some((&frame, end))),
            Kind::Copy => self.copy_whole(&frame, end),
            Kind::Skip | Kind::Text => Ok(()),
        }
    }

    /// Writes what stands behind the last child.
    #[inline]
    fn rest(&mut self, body: BodyId, step: u32, ended: Option<(&Frame, usize)>) -> Result<(), GaveUp> {
        let Body { steps, copies_self, .. } = &self.plan.bodies[body.0 as usize];
        let mut step = step as usize;
        if let (Some((frame, end)), Some(copy)) = (ended, copies_self) {
            let copy = *copy as usize;
            self.write(&steps[step..copy], None)?;
            self.copy_whole(frame, end)?;
            step = copy + 1;
        }
        self.write(&steps[step..], None)?;
        if self.writer.out.len() > self.limit { Err(GaveUp) } else { Ok(()) }
    }

    fn text(&mut self, text: &Text<'_>) -> Result<(), GaveUp> {
        let Some(frame) = self.frames.last() else { return Err(GaveUp) };
        let written = match frame.kind {
            Kind::Skip | Kind::Copy => false,
            Kind::Text => true,
            Kind::Body => match self.take(|takes| matches!(takes, Takes::Nodes | Takes::Text))? {
                Some(Action::Apply(mode)) => self.plan.modes[mode as usize].text == Leaf::Copy,
                Some(Action::AllText | Action::Copy) => true,
                Some(Action::FirstText | Action::Body(_) | Action::CopySelf) | None => false,
            },
        };
        if written {
            self.write_text(text)?;
        }
        Ok(())
    }

    #[inline]
    fn write_text(&mut self, text: &Text<'_>) -> Result<(), GaveUp> {
        if text.verbatim && !self.writer.is_at_top() && self.writer.plain_text(text.bytes()) {
            return Ok(());
        }
        let text = text.value();
        self.check_text(&text)?;
        self.writer.text(&text)
    }

    /// Text outside of all elements is left to the tree, where it would stand in a result of its own.
    #[inline]
    fn check_text(&mut self, text: &str) -> Result<(), GaveUp> {
        if self.writer.is_at_top() && !text.is_empty() {
            self.loose_text |= !text.trim_ascii().is_empty();
            if !self.part {
                return Err(GaveUp);
            }
        }
        Ok(())
    }

    /// What is done with a comment or instruction.
    fn leaf(&mut self, of: impl Fn(&super::plan::Mode) -> Leaf) -> Result<Leaf, GaveUp> {
        let Some(frame) = self.frames.last() else { return Err(GaveUp) };
        Ok(match frame.kind {
            Kind::Skip | Kind::Text | Kind::Copy => Leaf::Drop,
            Kind::Body => match self.take(|takes| takes == Takes::Nodes)? {
                Some(Action::Apply(mode)) => of(&self.plan.modes[mode as usize]),
                Some(Action::Copy) => Leaf::Copy,
                _ => Leaf::Drop,
            },
        })
    }

    /// Writes steps that take nothing; `start` is the tag of the element, while it is known.
    #[inline]
    fn write(&mut self, steps: &[Step], start: Option<&Start<'_>>) -> Result<(), GaveUp> {
        let plan = self.plan;
        for step in steps {
            match step {
                Step::Text(text) => {
                    self.check_text(text)?;
                    self.writer.escaped(text);
                }
                Step::Start(index) => {
                    let literal = &plan.literals[*index as usize];
                    self.first_element(&literal.name().local, &literal.name().namespace)?;
                    self.writer.start(*index, literal);
                }
                Step::End(index) => self.writer.end(&plan.literals[*index as usize]),
                Step::EndCopy => self.writer.end_copy(),
                // Steps that take something are run when something is taken.
                Step::Consume(..) => {}
                of_tag => self.write_of_tag(of_tag, start.ok_or(GaveUp)?)?,
            }
        }
        Ok(())
    }

    /// The steps that ask for the start tag of the element.
    fn write_of_tag(&mut self, step: &Step, start: &Start<'_>) -> Result<(), GaveUp> {
        match step {
            Step::StartCopy => self.copy_tag(start)?,
            Step::Attributes => self.copy_attributes(start)?,
            Step::Attribute(begin, parts) => {
                self.writer.begin_attribute(begin);
                for part in parts {
                    match part {
                        Part::Text(text) => self.writer.verbatim(text),
                        Part::Attribute(name) => {
                            if let Some(value) = self.value(start, *name) {
                                self.writer.attribute_value(&value)?;
                            }
                        }
                    }
                }
                self.writer.end_attribute();
            }
            Step::AttributeText(name) => {
                if let Some(value) = self.value(start, *name) {
                    self.check_text(&value)?;
                    self.writer.text(&value)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The value of an attribute by the number of its name.
    fn value<'s>(&self, start: &Start<'s>, name: u32) -> Option<Cow<'s, str>> {
        let wanted = self.plan.names.iter().find(|(_, number)| *number == name)?;
        let mut attributes = start.attributes();
        let is = |attribute: &Name<'_>| attribute.local == wanted.0.local && attribute.namespace == wanted.0.namespace;
        attributes.find(|attribute| is(&start.names().get(attribute.name))).map(|attribute| attribute.value())
    }

    #[inline]
    fn copy_tag(&mut self, start: &Start<'_>) -> Result<(), GaveUp> {
        let name = start.names().get(start.name);
        self.first_element(name.local, name.namespace)?;
        if self.writer.start_copy(name, self.source) { Ok(()) } else { Err(GaveUp) }
    }

    #[inline]
    fn copy_attributes(&mut self, start: &Start<'_>) -> Result<(), GaveUp> {
        for attribute in start.attributes() {
            let name = start.names().get(attribute.name);
            // On another element than the one copied the prefix may mean something else.
            if !name.prefix.is_empty() && name.prefix != "xml" && !self.writer.is_in(self.source) {
                return Err(GaveUp);
            }
            self.writer.attribute(name, &attribute.value())?;
        }
        Ok(())
    }

    /// The first element may say that the result is HTML, which only the tree writes.
    #[inline]
    fn first_element(&mut self, local: &str, namespace: &str) -> Result<(), GaveUp> {
        if self.method_by_element {
            self.method_by_element = false;
            if namespace.is_empty() && local.eq_ignore_ascii_case("html") {
                return Err(GaveUp);
            }
        }
        Ok(())
    }
}
