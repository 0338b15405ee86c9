//! One pass: what each event does to the steps that are looked for, and the answers so far.
//!
//! Most elements of a document take a step nobody looks for, or one with nothing more to it; for these there is only
//! the work on bits in [`Run::event`]. Everything else is in the modules below.

mod beginning;
mod candidate;
mod collect;
mod settle;
mod state;
mod truth;
mod value;

use std::ops::ControlFlow;

use myelin_xml::{End, Event, Handler, Name, NameId, Names, Parser, Reached, Start, Text};

pub use self::beginning::Beginning;
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
            self.opened(Scene { plan, host }, &Tag::Made(name));
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
        if self.is_settled(until) {
            return Ok(Progress::Settled);
        }
        let scene = Scene { plan, host };
        self.learn_names(plan, parser.names());
        match parser.read(input, complete, &mut Driving { run: self, scene, until })? {
            Reached::Enough => {}
            Reached::More => return Ok(Progress::More),
            Reached::End => self.finish(plan, host),
        }
        Ok(Progress::Settled)
    }

    /// Takes the next event of the document.
    pub fn event(&mut self, plan: &Plan, host: &AnyHost<'_>, event: &Event<'_>) {
        let scene = Scene { plan, host };
        match event {
            Event::Start(start) => {
                self.learn_names(plan, start.names());
                if self.element(scene, start.names(), start.name) {
                    self.opened(scene, &Tag::Read(start));
                }
            }
            Event::End(_) => {
                self.end(scene);
            }
            Event::Text(text) => {
                if self.wants_text(scene) {
                    self.text(scene, text);
                }
            }
            other => self.other(scene, other),
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
    #[inline(always)]
    fn element(&mut self, scene: Scene<'_>, names: &Names, name: NameId) -> bool {
        if self.in_node {
            self.end_node(scene);
        }
        // Mostly all paths lie in one word.
        let slow = match scene.plan.masks.len() {
            1 => {
                let steps = self.classes.get(name.index()).copied().filter(|&steps| steps != 0);
                let steps = steps.unwrap_or_else(|| self.learn(scene.plan, names, name));
                self.open(scene.plan, 0, steps)
            }
            words => {
                let class = self.class(scene.plan, names, name);
                (0..words).fold(0, |slow, word| slow | self.open(scene.plan, word, self.classes[class + word]))
            }
        };
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

    /// Closes an element; whether anything was decided.
    #[inline(always)]
    fn end(&mut self, scene: Scene<'_>) -> bool {
        if self.in_node {
            self.end_node(scene);
        }
        let lost = match scene.plan.masks.as_slice() {
            [masks] => self.leave(masks, 0),
            several => several.iter().enumerate().rev().fold(0, |lost, (word, masks)| lost | self.leave(masks, word)),
        };
        self.depth -= 1;
        let is_decisive = self.watched > self.depth || lost != 0;
        if is_decisive {
            self.ended(scene, lost);
        }
        is_decisive
    }

    /// Takes back what an element was looked at for; gives the steps that are lost with it.
    #[inline(always)]
    fn leave(&mut self, masks: &Masks, word: usize) -> u64 {
        let Some(frame) = self.frames.pop() else { return 0 };
        let is_renewed = frame.above & !self.retired[word] & masks.renewing == masks.renewing;
        frame.hopes(masks) & !(frame.above | if is_renewed { masks.renewed } else { 0 })
    }

    /// Takes the end of an element at which something is decided, or `lost` for good.
    #[inline(never)]
    fn ended(&mut self, scene: Scene<'_>, lost: u64) {
        if self.watched > self.depth {
            self.close(scene);
        }
        self.look_for_the_end(scene, lost);
    }

    /// Whether text here is of any use.
    #[inline]
    fn wants_text(&self, scene: Scene<'_>) -> bool {
        // White space around the document is no node, even if the host has put elements around it.
        let takes_nodes = || scene.plan.takes_text && self.expects(scene.plan, |masks| masks.text);
        self.depth != self.entered && (self.watched > 0 || takes_nodes())
    }

    #[inline(never)]
    fn text(&mut self, scene: Scene<'_>, text: &Text<'_>) {
        self.capture(scene, text);
        if scene.plan.takes_text && self.expects(scene.plan, |masks| masks.text) {
            self.keep_node(scene, text);
        }
    }

    /// Takes an event that is rare.
    fn other(&mut self, scene: Scene<'_>, event: &Event<'_>) {
        match event {
            Event::Comment(comment) => self.aside(scene, |masks| masks.comment, &Found::Comment(comment)),
            Event::Instruction(instruction) => {
                self.aside(scene, |masks| masks.instruction, &Found::Instruction(instruction));
            }
            _ => {}
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
        if self.classes.get(class).is_none_or(|&steps| steps == 0) {
            self.learn(plan, names, name);
        }
        class
    }

    /// Says which names the next events have: what was learnt of others does not count.
    fn learn_names(&mut self, plan: &Plan, names: &Names) {
        let learnt_for = Some((plan.id, names.id()));
        if self.learnt_for != learnt_for {
            self.forget_classes();
            self.learnt_for = learnt_for;
        }
    }

    /// Notes which steps a name can take that was not met before; gives those of the first word.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, plan: &Plan, names: &Names, name: NameId) -> u64 {
        let words = plan.masks.len();
        let class = name.index() * words;
        if self.classes.len() < class + words {
            self.classes.resize(class + words, 0);
        }
        for (steps, accepted) in self.classes[class..].iter_mut().zip(plan.accept(names.get(name))) {
            *steps = accepted | KNOWN;
        }
        // A plan without paths has no word.
        self.classes.get(class).copied().unwrap_or(KNOWN)
    }
}

/// Takes events until one expression has its answer.
struct Driving<'r, 's> {
    run: &'r mut Run,
    scene: Scene<'s>,
    until: QueryId,
}

impl Driving<'_, '_> {
    /// Whether to go on, after something may have been decided.
    #[inline(always)]
    fn flow(&self) -> ControlFlow<()> {
        if self.run.is_settled(self.until) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Handler for Driving<'_, '_> {
    #[inline(always)]
    fn start(&mut self, start: Start<'_>) -> ControlFlow<()> {
        // Text that ends here may have been what was looked for.
        let mut is_decisive = self.run.in_node;
        if self.run.element(self.scene, start.names(), start.name) {
            // A copy, so that an event of which only the name is looked at is not in memory.
            self.run.opened(self.scene, &Tag::Read(&start.clone()));
            is_decisive = true;
        }
        if is_decisive { self.flow() } else { ControlFlow::Continue(()) }
    }

    #[inline(always)]
    fn end(&mut self, _: End) -> ControlFlow<()> {
        let is_decisive = self.run.in_node;
        if self.run.end(self.scene) || is_decisive { self.flow() } else { ControlFlow::Continue(()) }
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'_>) -> ControlFlow<()> {
        if !self.run.wants_text(self.scene) {
            return ControlFlow::Continue(());
        }
        self.run.text(self.scene, &text.clone());
        self.flow()
    }

    fn other(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self.run.other(self.scene, &event);
        self.flow()
    }
}
