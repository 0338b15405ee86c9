//! One pass: what each event does to the steps that are looked for, and the answers so far.
//!
//! Most elements of a document take a step nobody looks for, or one with nothing more to it; for these there is only
//! the work on bits in [`Run::event`]. Everything else is in the modules below.

mod candidate;
mod collect;
mod settle;
mod state;
mod truth;
mod value;

use myelin_xml::{Event, Name, NameId, Names, Parser, Step as Parsed, Text};

use self::candidate::Tag;
use self::collect::Found;
pub use self::state::{AnyHost, Run};
use self::state::{Frame, Scene, Settled};
use super::plan::{Masks, Plan, QueryId};

/// The bit that no path has.
const KNOWN: u64 = 1 << 63;

/// The answer of one expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<'a> {
    /// For [`Wanted::Boolean`](super::Wanted::Boolean).
    Boolean(bool),
    /// For [`Wanted::Text`](super::Wanted::Text) and [`Wanted::String`](super::Wanted::String).
    Text(&'a str),
    /// For [`Wanted::Number`](super::Wanted::Number).
    Number(f64),
    /// Only the tree can tell: the text of an element that has no text of its own must be serialised, elements with a
    /// condition stand within each other, or more than 64 of which the text is wanted, more text had to be kept than
    /// [`LIMIT_BYTES`](super::LIMIT_BYTES), or the host gave nodes or an error.
    NeedsTree,
}

/// How far [`Run::drive`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The answer is there.
    Settled,
    /// More of the document must come first.
    More,
}

impl Run {
    /// A pass that has not started.
    pub fn new() -> Run {
        Run::default()
    }

    /// Begins with a new document, whatever happened before.
    ///
    /// What the host gives must stay the same for the whole pass: some of it is read here, the rest when it matters.
    pub fn start(&mut self, plan: &Plan, host: &AnyHost<'_>) {
        self.reset(plan);
        self.begin(Scene { plan, host });
    }

    /// An element around the document that is not in it, opened before the first event; the host's plain XML messages
    /// stand in a SOAP body nobody sent.
    pub fn enter(&mut self, plan: &Plan, host: &AnyHost<'_>, name: Name<'_>) {
        let slow =
            plan.accept(name).enumerate().fold(0, |slow, (word, accepted)| slow | self.open(plan, word, accepted));
        self.deepen(plan);
        if slow != 0 || self.depth == self.entered + 1 {
            self.opened(Scene { plan, host }, Tag::Made(name));
        }
        self.entered = self.depth;
    }

    /// Takes events until one expression has its answer.
    ///
    /// Errors: the parser's, in the order of the bytes; what is behind the place of decision is not read.
    pub fn drive(
        &mut self,
        plan: &Plan,
        host: &AnyHost<'_>,
        parser: &mut Parser,
        input: &[u8],
        complete: bool,
        until: QueryId,
    ) -> Result<Progress, myelin_xml::Error> {
        while !self.is_settled(until) {
            match parser.next(input, complete)? {
                Parsed::Event(event) => self.take(Scene { plan, host }, event),
                Parsed::More => return Ok(Progress::More),
                Parsed::End => self.finish(plan, host),
            }
        }
        Ok(Progress::Settled)
    }

    /// Takes the next event of the document.
    #[inline]
    pub fn event(&mut self, plan: &Plan, host: &AnyHost<'_>, event: &Event<'_>) {
        self.take(Scene { plan, host }, event.clone());
    }

    /// Takes an event: its parts stay in registers, and only what needs all of it has it in memory.
    #[inline(always)]
    fn take(&mut self, scene: Scene<'_>, event: Event<'_>) {
        match event {
            Event::Start(start) => {
                if self.element(scene, start.names(), start.name) {
                    self.opened(scene, Tag::Read(&start.clone()));
                }
            }
            Event::End(_) => self.end(scene),
            Event::Text(text) => {
                if self.wants_text(scene) {
                    self.text(scene, &text.clone());
                }
            }
            Event::Comment(comment) => self.aside(scene, |masks| masks.comment, &Found::Comment(&comment)),
            Event::Instruction(instruction) => {
                self.aside(scene, |masks| masks.instruction, &Found::Instruction(&instruction));
            }
            Event::Declaration(_) | Event::Doctype(_) => {}
        }
    }

    /// Takes the end of the document, and of the elements that the host has put around it: what was not found is not
    /// there, so each expression has its answer.
    pub fn finish(&mut self, plan: &Plan, host: &AnyHost<'_>) {
        let scene = Scene { plan, host };
        while self.depth > 0 {
            self.end(scene);
        }
        self.complete(scene);
    }

    /// Whether an expression has its answer.
    #[inline]
    pub fn is_settled(&self, query: QueryId) -> bool {
        !matches!(self.answers[query.0 as usize], Settled::Open)
    }

    /// The answer of an expression, when it is certain whatever may follow.
    pub fn answer(&self, query: QueryId) -> Option<Answer<'_>> {
        let index = query.0 as usize;
        match self.answers[index] {
            Settled::Open => None,
            Settled::Boolean(answer) => Some(Answer::Boolean(answer)),
            Settled::Number(answer) => Some(Answer::Number(answer)),
            Settled::Text => Some(Answer::Text(&self.texts[index])),
            Settled::NeedsTree => Some(Answer::NeedsTree),
        }
    }

    /// Opens an element; whether there is more to it than the steps that need only a name.
    #[inline]
    fn element(&mut self, scene: Scene<'_>, names: &Names, name: NameId) -> bool {
        if self.in_node {
            self.end_node(scene);
        }
        let class = self.class(scene.plan, names, name);
        let slow = (0..scene.plan.masks.len())
            .fold(0, |slow, word| slow | self.open(scene.plan, word, self.classes[class + word]));
        self.deepen(scene.plan);
        // The root element is looked at in any case: behind it there is no other.
        slow != 0 || self.depth == self.entered + 1
    }

    /// Takes the steps of one word that need no more than a name; gives those that need more.
    #[inline(always)]
    fn open(&mut self, plan: &Plan, word: usize, accepted: u64) -> u64 {
        let masks = &plan.masks[word];
        // The frame of the parent, as those of the element are put behind it one by one.
        let parent = self.frames[self.frames.len() - plan.masks.len()];
        let alive = parent.expects & !(parent.spent | self.retired[word]);
        let taken = alive & accepted & masks.element;
        let expects = (taken & !masks.slow & masks.inner) << 1 | parent.expects & masks.carry;
        self.frames.push(Frame { expects, spent: 0, above: parent.above | parent.hopes(masks) });
        self.candidates[word] = taken & masks.slow;
        taken & masks.slow | expects & masks.attribute
    }

    #[inline]
    fn deepen(&mut self, plan: &Plan) {
        self.depth += 1;
        if plan.counters > 0 {
            self.counters.truncate(self.depth * plan.counters);
            self.counters.resize((self.depth + 1) * plan.counters, 0);
        }
    }

    #[inline]
    fn end(&mut self, scene: Scene<'_>) {
        if self.in_node {
            self.end_node(scene);
        }
        let mut lost = 0;
        for masks in scene.plan.masks.iter().rev() {
            let Some(frame) = self.frames.pop() else { return };
            lost |= frame.hopes(masks) & !frame.above;
        }
        self.depth -= 1;
        if self.watched > self.depth || lost != 0 {
            self.ended(scene, lost);
        }
    }

    /// Takes the end of an element at which something is decided, or `lost` for good.
    #[inline(never)]
    fn ended(&mut self, scene: Scene<'_>, lost: u64) {
        if self.watched > self.depth {
            self.close(scene);
        }
        if lost != 0 {
            self.look_for_the_end(scene, lost);
        }
    }

    /// Whether text here is of any use.
    #[inline]
    fn wants_text(&self, scene: Scene<'_>) -> bool {
        // White space around the document is no node, even if the host has put elements around it.
        self.depth != self.entered && (self.watched > 0 || self.expects(scene.plan, |masks| masks.text))
    }

    #[inline(never)]
    fn text(&mut self, scene: Scene<'_>, text: &Text<'_>) {
        self.capture(scene, text);
        if self.expects(scene.plan, |masks| masks.text) {
            self.keep_node(scene, text);
        }
    }

    /// Takes a comment or an instruction.
    fn aside(&mut self, scene: Scene<'_>, kind: impl Fn(&Masks) -> u64, found: &Found<'_>) {
        if self.in_node {
            self.end_node(scene);
        }
        // Around a document that the host has put into elements of its own there is nothing but white space to it.
        let around = self.entered > 0 && self.depth == self.entered;
        if !around && self.expects(scene.plan, &kind) {
            self.leaf(scene, kind, found);
        }
    }

    /// Whether the innermost element's children are looked at for steps of some kind.
    #[inline]
    fn expects(&self, plan: &Plan, kind: impl Fn(&Masks) -> u64) -> bool {
        plan.masks.iter().enumerate().any(|(word, masks)| {
            let frame = self.frames[self.depth * plan.masks.len() + word];
            frame.expects & !frame.spent & kind(masks) != 0
        })
    }

    /// Where the steps that a name can take stand among the classes.
    #[inline]
    fn class(&mut self, plan: &Plan, names: &Names, name: NameId) -> usize {
        let class = name.index() * plan.masks.len();
        // The first word says whether the name is known.
        if self.learnt_for != Some((plan.id, names.id())) || self.classes.get(class).is_none_or(|&steps| steps == 0) {
            self.learn(plan, names, name);
        }
        class
    }

    /// Notes which steps a name can take that was not met before.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, plan: &Plan, names: &Names, name: NameId) {
        let learnt_for = Some((plan.id, names.id()));
        if self.learnt_for != learnt_for {
            self.forget_classes();
            self.learnt_for = learnt_for;
        }
        let words = plan.masks.len();
        let class = name.index() * words;
        if self.classes.len() < class + words {
            self.classes.resize(class + words, 0);
        }
        for (steps, accepted) in self.classes[class..].iter_mut().zip(plan.accept(names.get(name))) {
            *steps = accepted | KNOWN;
        }
    }
}
