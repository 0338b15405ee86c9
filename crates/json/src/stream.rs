//! Definite paths answered while a text comes in, without a tree, several in one pass.
//!
//! A [`Plan`] joins the steps of its paths into one tree; a [`Run`] follows the reader's events through it and stops at the decision.
//! Only objects and arrays on the way of a path have a frame; whatever else comes is passed over.
//! Whether an answer can fall before the text ends depends on what equal keys mean: `docs/decisions/0004-json-duplicate-keys.md`.

mod plan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, shortened};
use crate::path::Duplicates;
use crate::reader::{Event, Kind, Options, Reader, Step};
use crate::text;
use crate::value::Type;

pub use plan::Plan;

/// What is known of one path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Answer {
    /// Not decided, or not to the last.
    #[default]
    Open,
    /// It leads here.
    Found(Found),
    /// It leads to nothing.
    Missing,
    /// It leads through this key, which occurs twice, and the plan refuses that.
    Duplicate(String),
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What stands there.
    pub kind: Type,
    /// Where, in bytes from the start of the text, whatever of it was forgotten.
    pub range: Range<usize>,
}

impl Answer {
    /// What `json-eval` makes of it: the same as [`crate::Path::text`].
    ///
    /// Shape: `source` is the text from its start, at least as far as the answer stands.
    /// Errors: `NotFound`, `Duplicate`: the sender's; `NotFound` also for what is still open.
    pub fn text<'a>(&self, source: &'a [u8]) -> Result<Cow<'a, str>, Error> {
        let found = match self {
            Answer::Found(found) => found,
            Answer::Duplicate(key) => return Err(Error::Duplicate { key: key.clone() }),
            Answer::Open | Answer::Missing => return Err(Error::NotFound),
        };
        let raw = source.get(found.range.clone()).ok_or(Error::NotFound)?;
        Ok(match found.kind {
            Type::String => text::unescape(&raw[1..raw.len() - 1]),
            Type::Object | Type::Array => Cow::Owned(text::compact(raw)),
            _ => String::from_utf8_lossy(raw),
        })
    }
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Undecided at the end of the input: call again with more.
    More,
    /// All answers are final; what follows in the text was not looked at.
    Decided,
}

/// An open object or array on the way of a path.
#[derive(Debug)]
struct Frame {
    /// Its node of the plan.
    node: usize,
    /// Where it starts in the text.
    start: usize,
    kind: Type,
    /// The reader's depth within it.
    inside: usize,
    /// The position of the next element.
    index: u32,
    /// Where the value of the key that was just read leads.
    next: Option<usize>,
}

/// One pass of a plan over one text.
#[derive(Debug)]
pub struct Run {
    plan: Arc<Plan>,
    reader: Reader,
    /// Bytes that were forgotten.
    forgotten: usize,
    frames: Vec<Frame>,
    answers: Vec<Answer>,
    /// By path, whether its answer can still change.
    open: Vec<bool>,
    undecided: usize,
    /// By node of the plan, whether its key was seen in the object that is open.
    seen: Vec<bool>,
}

impl Run {
    /// A run at the start of a text.
    pub fn new(plan: Arc<Plan>, options: Options) -> Run {
        let mut run = Run {
            plan,
            reader: Reader::new(options),
            forgotten: 0,
            frames: Vec::new(),
            answers: Vec::new(),
            open: Vec::new(),
            undecided: 0,
            seen: Vec::new(),
        };
        run.restart(run.plan.clone());
        run
    }

    /// Makes it ready for another text; keeps its allocations.
    pub fn restart(&mut self, plan: Arc<Plan>) {
        self.plan = plan;
        self.reader.reset();
        self.forgotten = 0;
        self.frames.clear();
        self.answers.clear();
        self.answers.resize(self.plan.paths(), Answer::Open);
        self.open.clear();
        self.open.resize(self.plan.paths(), true);
        self.undecided = self.plan.paths();
        self.seen.clear();
        self.seen.resize(self.plan.nodes.len(), false);
    }

    /// The answers, by the order of the plan's paths; final once [`Progress::Decided`] was given.
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// Bytes of the input that were read; answers may stand in them.
    pub fn position(&self) -> usize {
        self.reader.position()
    }

    /// Says that the caller takes `gone` away from the front of the input: as [`Reader::forget`].
    pub fn forget(&mut self, gone: &[u8]) {
        self.forgotten += gone.len().min(self.reader.position());
        self.reader.forget(gone);
    }

    /// Reads on until everything is decided, and to the comma or bracket behind the value that decided it.
    ///
    /// So a scalar is known to have ended: `0x10`, `01` and `"x"y` are refused, not taken for `0` and `"x"`.
    ///
    /// Shape and errors: as [`Reader::next`].
    pub fn next(&mut self, input: &[u8], complete: bool) -> Result<Progress, Error> {
        while self.undecided > 0 {
            let inside = self.frames.last().map_or(0, |frame| frame.inside);
            match self.reader.next_within(input, complete, inside)? {
                Step::Event(event) => self.event(event, inside),
                Step::More => return Ok(Progress::More),
                Step::End => return Ok(Progress::Decided),
            }
        }
        Ok(if self.reader.ends_value(input, complete)? { Progress::Decided } else { Progress::More })
    }

    /// What stands in the innermost frame, or ends it.
    fn event(&mut self, event: Event<'_>, inside: usize) {
        match event.kind {
            Kind::Key => self.key(event),
            Kind::ObjectEnd | Kind::ArrayEnd if self.reader.depth() < inside => self.close(event),
            // Of what was passed over.
            Kind::ObjectEnd | Kind::ArrayEnd => {}
            _ => self.value(event),
        }
    }

    fn key(&mut self, event: Event<'_>) {
        let Some(frame) = self.frames.last_mut() else { return };
        let names = &self.plan.nodes[frame.node].names;
        let Some(&(_, child)) = names.iter().find(|(name, _)| event.means(name)) else { return };
        if !std::mem::replace(&mut self.seen[child], true) {
            frame.next = Some(child);
            return;
        }
        let below = self.plan.nodes[child].below.clone();
        match self.plan.duplicates {
            Duplicates::First => {}
            Duplicates::Last => {
                frame.next = Some(child);
                below.for_each(|path| self.answers[self.plan.order[path]] = Answer::Open);
            }
            Duplicates::Refuse => {
                let key = shortened(&event.text());
                below.for_each(|path| self.answer(path, Answer::Duplicate(key.clone()), true));
            }
        }
    }

    /// A value in the innermost frame, or the outermost value.
    fn value(&mut self, event: Event<'_>) {
        let node = match self.frames.last_mut() {
            None => Some(Plan::ROOT),
            Some(frame) if frame.kind == Type::Object => frame.next.take(),
            Some(frame) => {
                let index = frame.index;
                frame.index = index.saturating_add(1);
                let indexes = &self.plan.nodes[frame.node].indexes;
                indexes.iter().find(|(wanted, _)| *wanted == index).map(|&(_, child)| child)
            }
        };
        let Some(node) = node else { return };
        let start = self.forgotten + event.start;
        let kind = match event.kind {
            Kind::ObjectStart => Type::Object,
            Kind::ArrayStart => Type::Array,
            Kind::String => Type::String,
            Kind::Number => Type::Number,
            Kind::True => Type::True,
            Kind::False => Type::False,
            _ => Type::Null,
        };
        if !matches!(kind, Type::Object | Type::Array) {
            self.settle(node, kind, start..start + event.raw.len());
            return;
        }
        let plan = self.plan.clone();
        let entry = &plan.nodes[node];
        for &(_, child) in &entry.names {
            self.seen[child] = false;
        }
        // Names lead nowhere in an array, nor indexes in an object.
        let names = entry.names.iter().filter(|_| kind == Type::Array).map(|&(_, child)| child);
        let indexes = entry.indexes.iter().filter(|_| kind == Type::Object).map(|&(_, child)| child);
        for child in names.chain(indexes) {
            for path in plan.nodes[child].below.clone() {
                self.answer(path, Answer::Missing, entry.certain);
            }
        }
        self.frames.push(Frame { node, start, kind, inside: self.reader.depth(), index: 0, next: None });
    }

    fn close(&mut self, event: Event<'_>) {
        let Some(frame) = self.frames.pop() else { return };
        self.settle(frame.node, frame.kind, frame.start..self.forgotten + event.range().end);
    }

    /// The value at `node` is complete: what ends there is found, what would go on and was not found is missing.
    fn settle(&mut self, node: usize, kind: Type, range: Range<usize>) {
        let plan = self.plan.clone();
        let entry = &plan.nodes[node];
        for path in entry.below.clone() {
            let answer = if path < entry.ends {
                Answer::Found(Found { kind, range: range.clone() })
            } else {
                match &self.answers[plan.order[path]] {
                    Answer::Open => Answer::Missing,
                    answer => answer.clone(),
                }
            };
            self.answer(path, answer, entry.certain);
        }
    }

    /// Notes the answer of a path, given by its place in the plan's order.
    fn answer(&mut self, path: usize, answer: Answer, last: bool) {
        let path = self.plan.order[path];
        if self.open[path] {
            self.answers[path] = answer;
            self.open[path] = !last;
            self.undecided -= usize::from(last);
        }
    }
}
