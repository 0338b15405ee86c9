//! Our own, with memory that is used again, as in the bus.

use std::hint::black_box;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use myelin_xml::{Arena, Document};
use myelin_xslt::{Memory, NoResolver, Options, Stylesheet};

use super::common::cpu_nanoseconds;
use super::{Message, Processor, Task};

pub(super) struct Myelin {
    way: Way,
    root: PathBuf,
    compiled: Option<(Task, Stylesheet)>,
    memory: Memory,
    arena: Arena,
    out: Vec<u8>,
}

/// How a message is transformed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// In one pass over its bytes, where the stylesheet allows it.
    Best,
    /// By way of a tree in any case.
    Tree,
}

impl Myelin {
    pub(super) fn new(way: Way, root: PathBuf) -> Myelin {
        let (memory, arena) = (Memory::default(), Arena::default());
        Myelin { way, root, compiled: None, memory, arena, out: Vec::new() }
    }

    /// Transforms the bytes in `source`, which are afterwards as they were, into `self.out`.
    fn transform(&mut self, stylesheet: &Stylesheet, source: &mut Vec<u8>) -> anyhow::Result<()> {
        let options = Options::default();
        self.out.clear();
        let result = match self.way {
            Way::Best => stylesheet.transform_bytes(source, &options, &mut self.memory, &mut self.out),
            Way::Tree => {
                let arena = std::mem::take(&mut self.arena);
                let mut document = Document::take(source, &myelin_xml::Options::default(), arena)?;
                let top = document.document_node();
                let result = stylesheet.transform(&mut document, top, &options, &mut self.out);
                (*source, self.arena) = document.into_parts();
                result
            }
        };
        result.map(drop).map_err(|error| anyhow!("{error:?}"))
    }

    fn repeat(&mut self, stylesheet: &Stylesheet, message: &Message, repetitions: u64) -> anyhow::Result<()> {
        let mut source = message.bytes.clone();
        (0..repetitions).try_for_each(|_| self.transform(stylesheet, black_box(&mut source)))
    }

    /// Only transforms, and asks no clock: under valgrind there is none.
    pub(super) fn alone(&mut self, task: Task, message: &Message, repetitions: u64) -> anyhow::Result<()> {
        let stylesheet = self.compile(task)?;
        self.repeat(&stylesheet, message, repetitions)
    }

    fn compile(&self, task: Task) -> anyhow::Result<Stylesheet> {
        let path = self.root.join(task.stylesheet());
        let source = std::fs::read(&path).with_context(|| path.display().to_string())?;
        Stylesheet::compile(&source, task.stylesheet(), &NoResolver).map_err(|problems| anyhow!("{problems:?}"))
    }
}

impl Processor for Myelin {
    fn name(&self) -> &str {
        match self.way {
            Way::Best => "myelin",
            Way::Tree => "myelin, by a tree",
        }
    }

    fn run(&mut self, task: Task, message: &Message, repetitions: u64) -> anyhow::Result<(u64, Vec<u8>)> {
        let stylesheet = match self.compiled.take() {
            Some((compiled, stylesheet)) if compiled == task => stylesheet,
            _ => self.compile(task)?,
        };
        let start = cpu_nanoseconds();
        self.repeat(&stylesheet, message, repetitions)?;
        let nanoseconds = cpu_nanoseconds() - start;
        self.compiled = Some((task, stylesheet));
        Ok((nanoseconds, self.out.clone()))
    }
}
