//! Our own: parser, tree, XPath on the tree and on the events, writer; with memory that is used again, as in the bus.

use std::hint::black_box;

use anyhow::{Context as _, anyhow};
use myelin_xml::{Arena, Document, Event, Kind, Options, Parser, Step, WriteOptions, write};
use myelin_xpath::stream::{Answer, Plan, QueryId, Run, StartAt, Wanted};
use myelin_xpath::{Argument, Context, Declared, Environment, Expression, NoHost, NodeRef};

use super::common::cpu_nanoseconds;
use super::{Library, Message, Task, Turn};

pub(super) struct Myelin {
    parser: Parser,
    pass: Run,
    first: Query,
    scan: Query,
    arena: Arena,
    source: Vec<u8>,
    written: Vec<u8>,
}

/// An expression, for the tree and for the events.
struct Query {
    expression: Expression,
    plan: Plan,
    id: QueryId,
}

/// No prefixes, variables or functions.
struct Bare;

impl Environment for Bare {
    fn namespace(&self, _: &str) -> Option<String> {
        None
    }

    fn variable(&mut self, _: Option<&str>, _: &str) -> Result<u32, String> {
        Err("there are no variables".to_owned())
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

impl Query {
    fn new(text: &str) -> anyhow::Result<Query> {
        let expression = Expression::compile(text, &mut Bare).map_err(|error| anyhow!("{text}: {error}"))?;
        let (plan, mut queries) = Plan::compile(&[(&expression, Wanted::Boolean)], &|_| None, StartAt::Root);
        let id =
            queries.pop().context("one query was asked for")?.map_err(|error| anyhow!("{text}: {}", error.reason))?;
        Ok(Query { expression, plan, id })
    }

    /// The answer from events, as far as they are needed.
    fn stream(&self, parser: &mut Parser, pass: &mut Run, bytes: &[u8]) -> anyhow::Result<u64> {
        parser.reset();
        pass.start(&self.plan, &NoHost);
        pass.drive(&self.plan, &NoHost, parser, bytes, true, self.id)?;
        match pass.answer(self.id) {
            Some(Answer::Boolean(answer)) => Ok(answer.into()),
            _ => Err(anyhow!("no answer")),
        }
    }

    /// The answer from a tree.
    fn tree(&self, document: &Document) -> anyhow::Result<u64> {
        let context = Context::new(&NoHost).at(NodeRef::new(document, document.document_node()));
        Ok(self.expression.condition(&context).map_err(|error| anyhow!("{error}"))?.into())
    }
}

impl Myelin {
    pub(super) fn new() -> anyhow::Result<Myelin> {
        Ok(Myelin {
            parser: Parser::new(Options::default()),
            pass: Run::new(),
            first: Query::new("//order[1]/symbol = 'IBM'")?,
            scan: Query::new("//order/symbol = 'NOBODY'")?,
            arena: Arena::default(),
            source: Vec::new(),
            written: Vec::new(),
        })
    }

    /// Builds the tree of the bytes in `source`, in the memory of the one before.
    fn build(&mut self) -> anyhow::Result<Document> {
        Ok(Document::parse_in(std::mem::take(&mut self.source), &Options::default(), std::mem::take(&mut self.arena))?)
    }

    fn take_apart(&mut self, document: Document) {
        (self.source, self.arena) = document.into_parts();
    }

    fn events(&mut self, bytes: &[u8]) -> anyhow::Result<u64> {
        self.parser.reset();
        let mut elements = 0;
        while let Step::Event(event) = self.parser.next(bytes, true)? {
            match event {
                Event::Start(start) => {
                    black_box((start.name, start.attributes().len()));
                    elements += 1;
                }
                Event::Text(text) => drop(black_box(text)),
                event => drop(black_box(event)),
            }
        }
        Ok(elements)
    }

    fn on_tree(&mut self, task: Task, repetitions: u64) -> anyhow::Result<Turn> {
        let mut document = self.build()?;
        if task == Task::WriteChanged {
            let first = document.descendants(document.document_node()).find(|node| document.kind(*node) == Kind::Text);
            document.set_value(first.context("there is text")?, "SUNW").map_err(|error| anyhow!("{error}"))?;
        }
        let turn = match task {
            Task::Xpath => timed(repetitions, || self.first.tree(black_box(&document)))?,
            _ => {
                let written = &mut self.written;
                let turn = timed(repetitions, || {
                    written.clear();
                    write(black_box(&document), document.document_node(), &WriteOptions::default(), written);
                    Ok(0)
                })?;
                Turn { check: self.written.iter().filter(|byte| **byte == b'<').count() as u64, ..turn }
            }
        };
        self.take_apart(document);
        Ok(turn)
    }
}

impl Library for Myelin {
    fn name(&self) -> &str {
        "myelin"
    }

    fn can(&self, _: Task) -> bool {
        true
    }

    fn run(&mut self, task: Task, message: &Message, repetitions: u64) -> anyhow::Result<Turn> {
        let bytes = black_box(&message.bytes[..]);
        self.source = bytes.to_vec();
        match task {
            Task::Events => timed(repetitions, || self.events(bytes)),
            Task::First => timed(repetitions, || self.first.stream(&mut self.parser, &mut self.pass, bytes)),
            Task::Scan => timed(repetitions, || self.scan.stream(&mut self.parser, &mut self.pass, bytes)),
            Task::Tree => {
                let turn = timed(repetitions, || {
                    let document = self.build()?;
                    self.take_apart(document);
                    Ok(0)
                })?;
                let document = self.build()?;
                let nodes = document.descendants(document.document_node());
                let elements = nodes.filter(|node| document.kind(*node) == Kind::Element).count() as u64;
                self.take_apart(document);
                Ok(Turn { check: elements, ..turn })
            }
            Task::TreeXpath => timed(repetitions, || {
                let document = self.build()?;
                let answer = self.first.tree(&document);
                self.take_apart(document);
                answer
            }),
            Task::Xpath | Task::Write | Task::WriteChanged => self.on_tree(task, repetitions),
        }
    }
}

/// Repeats a piece of work, with this thread's CPU time for all and the number that the last gave.
pub(super) fn timed(repetitions: u64, mut work: impl FnMut() -> anyhow::Result<u64>) -> anyhow::Result<Turn> {
    let (start, mut check) = (cpu_nanoseconds(), 0);
    for _ in 0..repetitions {
        check = black_box(work()?);
    }
    Ok(Turn { nanoseconds: cpu_nanoseconds() - start, check })
}
