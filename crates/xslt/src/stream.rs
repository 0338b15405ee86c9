//! One pass over the events of a parser, without a tree, for stylesheets that need no more.
//!
//! Which stylesheets these are is decided when they are compiled; whether a message fits is seen when it comes. A pass
//! that finds something it cannot do in order gives up, what it wrote is taken back, and the tree does it. Either way
//! gives the same bytes.

mod compile;
mod plan;
mod run;
mod writer;

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use myelin_xml::{Error, Event, Options, Parser, Start, Step};

pub(crate) use compile::Reason;
pub(crate) use plan::Plan;
use run::{Job, Pass};
use writer::GaveUp;

use crate::output::OutputProperties;
use crate::program::Program;

/// After so many messages in a row that did not fit, a stylesheet is run on trees only.
const MOST_FAILURES: u32 = 16;

/// A stylesheet's way to run on events, and how that went.
#[derive(Debug)]
pub(crate) struct Streaming {
    pub(crate) plan: Result<Plan, Reason>,
    /// Tells this stylesheet from others.
    owner: u64,
    /// How many messages in a row did not fit.
    failures: AtomicU32,
}

/// Stylesheets of which a thread keeps what their passes have learnt.
const KEPT_STYLESHEETS: usize = 16;

/// What passes need and can use again: one for each thread.
#[derive(Default)]
pub(crate) struct Memory {
    /// The newest at the end; the oldest goes first.
    stylesheets: Vec<StylesheetMemory>,
}

/// What the passes of one stylesheet need and can use again.
struct StylesheetMemory {
    owner: u64,
    parser: Parser,
    pass: run::Memory,
}

impl Memory {
    /// The memory of a stylesheet, with a parser that is ready for a document.
    fn of(&mut self, owner: u64) -> &mut StylesheetMemory {
        let at = match self.stylesheets.iter().position(|known| known.owner == owner) {
            Some(at) => {
                self.stylesheets[at].parser.reset();
                at
            }
            None => {
                if self.stylesheets.len() == KEPT_STYLESHEETS {
                    self.stylesheets.remove(0);
                }
                let parser = Parser::new(Options::default());
                self.stylesheets.push(StylesheetMemory { owner, parser, pass: run::Memory::default() });
                self.stylesheets.len() - 1
            }
        };
        &mut self.stylesheets[at]
    }
}

/// What a pass found.
pub(crate) struct Streamed {
    /// Where the element stands that was the source; all bytes where it was the document.
    pub(crate) source: Range<usize>,
    /// Whether text that is not white space stands outside of all elements of the result.
    pub(crate) loose_text: bool,
    /// Where the first element of the result stands that no other is around.
    pub(crate) root: Option<Range<usize>>,
}

/// What is transformed.
pub(crate) enum Source<'s> {
    Document,
    /// The first element for which this says so, with its depth, which counts from 1.
    Element(&'s mut dyn FnMut(usize, &Start<'_>) -> bool),
}

impl Streaming {
    pub(crate) fn new(program: &Program) -> Streaming {
        static OWNERS: AtomicU64 = AtomicU64::new(1);
        let owner = OWNERS.fetch_add(1, Ordering::Relaxed);
        Streaming { plan: compile::compile(program), owner, failures: AtomicU32::new(0) }
    }

    /// Transforms in one pass; `None`: that cannot be done, and `out` is as it was.
    ///
    /// Shape: `source` is a document in UTF-8, whole. An element of it is transformed for its place: without a
    /// declaration, and with the namespaces in scope that are so around it.
    /// Errors: the parser's, as far as the pass came; `out` is then as it was.
    pub(crate) fn run(
        &self,
        output: &OutputProperties,
        source: &[u8],
        mut which: Source<'_>,
        limit_bytes: usize,
        memory: &mut Memory,
        out: &mut Vec<u8>,
    ) -> Result<Option<Streamed>, Error> {
        let Ok(plan) = &self.plan else { return Ok(None) };
        if self.failures.load(Ordering::Relaxed) >= MOST_FAILURES {
            return Ok(None);
        }
        let length = out.len();
        let StylesheetMemory { parser, pass, .. } = memory.of(self.owner);
        pass.same_names(parser.names());
        let part = matches!(which, Source::Element(_));
        let job = Job { plan, output, source, part, limit_bytes };
        let result = transform(&job, &mut which, parser, pass, out);
        match result {
            Ok(streamed) => {
                self.failures.store(0, Ordering::Relaxed);
                Ok(Some(streamed))
            }
            Err(stop) => {
                out.truncate(length);
                match stop {
                    Stop::GaveUp => {
                        self.failures.fetch_add(1, Ordering::Relaxed);
                        Ok(None)
                    }
                    // Such a message says nothing of the order in which others come.
                    Stop::NoSource => Ok(None),
                    Stop::Malformed(error) => Err(error),
                }
            }
        }
    }
}

/// Why a pass ends early.
enum Stop {
    GaveUp,
    /// No element of the document is the source.
    NoSource,
    Malformed(Error),
}

impl From<GaveUp> for Stop {
    fn from(_: GaveUp) -> Stop {
        Stop::GaveUp
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Malformed(error)
    }
}

fn transform(
    job: &Job<'_>,
    which: &mut Source<'_>,
    parser: &mut Parser,
    memory: &mut run::Memory,
    out: &mut Vec<u8>,
) -> Result<Streamed, Stop> {
    let Job { source, part, .. } = *job;
    let mut pass = Pass::new(job, memory, out);
    let mut found = match which {
        Source::Document => Some(0..source.len()),
        Source::Element(_) => None,
    };
    // How deep the parser is around the source.
    let mut outside = 0;
    let mut inside = !part;
    loop {
        match parser.next(source, true)? {
            Step::Event(event) => {
                if !inside {
                    match (&event, &mut *which) {
                        (Event::Start(start), Source::Element(is_source)) if found.is_none() => {
                            outside += 1;
                            if !is_source(outside, start) {
                                pass.around(start);
                                continue;
                            }
                            pass.begin_part();
                            found = Some(start.range.clone());
                            inside = true;
                        }
                        (Event::End(_), _) if found.is_none() => {
                            outside -= 1;
                            pass.leave_around();
                            continue;
                        }
                        _ => continue,
                    }
                }
                pass.event(&event)?;
                if part
                    && let (Event::End(end), Some(source)) = (&event, &mut found)
                    && pass.is_complete()
                {
                    source.end = end.range.end;
                    inside = false;
                }
            }
            Step::End => break,
            Step::More => return Err(Stop::GaveUp),
        }
    }
    let Some(source) = found else { return Err(Stop::NoSource) };
    let (root, loose_text) = pass.finish()?;
    Ok(Streamed { source, loose_text, root })
}
