//! One document and some expressions: what comes of the events must be what the tree says.

use std::fmt::Write;

use myelin_xml::{Document, Event, Kind, NodeId, Options, Parser, Step};
use myelin_xpath::stream::{Answer, Plan, Progress, QueryId, Run, StartAt, Wanted};
use myelin_xpath::{Argument, Context, Declared, Environment, Error, Expression, Host, Item, NodeRef, Value};

use super::generator::{self, Choices};

/// Knows `$anchor`, which is a place in the document, and a few values.
pub(crate) struct Known;

const VARIABLES: [&str; 4] = ["anchor", "text", "number", "truth"];
const ANCHOR: &str = "/*/*[local-name() = 'a'][1]";

impl Environment for Known {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "m").then(|| "urn:m".to_owned())
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        let slot = VARIABLES.iter().position(|known| *known == local);
        slot.map(|slot| slot as u32).ok_or_else(|| format!("{local:?} is unknown"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

impl<'a> Host<'a> for Known {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        Ok(match VARIABLES[slot as usize] {
            "text" => Value::from("1"),
            "number" => Value::from(2.0),
            "truth" => Value::from(true),
            _ => Value::EMPTY,
        })
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }
}

/// The same host for the tree, where the anchor is nodes.
struct OnTree<'d>(&'d Document, Expression);

impl<'a> Host<'a> for OnTree<'_> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        if slot == 0 {
            self.1.evaluate(&Context::new(&Known).at(NodeRef::new(self.0, self.0.document_node())))
        } else {
            Known.variable(slot)
        }
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }
}

/// An answer that holds for itself.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Boolean(bool),
    Text(String),
    Number(f64),
    NeedsTree,
}

impl PartialEq for Told {
    fn eq(&self, other: &Told) -> bool {
        match (self, other) {
            (Told::Boolean(one), Told::Boolean(other)) => one == other,
            (Told::Text(one), Told::Text(other)) => one == other,
            (Told::Number(one), Told::Number(other)) => one == other || one.is_nan() && other.is_nan(),
            (Told::NeedsTree, _) | (_, Told::NeedsTree) => true,
            _ => false,
        }
    }
}

fn told(run: &Run, query: QueryId) -> Told {
    match run.answer(query).expect("it is settled") {
        Answer::Boolean(answer) => Told::Boolean(answer),
        Answer::Text(answer) => Told::Text(answer.to_owned()),
        Answer::Number(answer) => Told::Number(answer),
        Answer::NeedsTree => Told::NeedsTree,
    }
}

/// What the tree says.
fn by_tree(source: &str, expression: &Expression, wanted: Wanted, start: StartAt) -> Told {
    let document = Document::parse(source.as_bytes().to_vec(), &Options::default()).expect("it is well formed");
    let anchor = Expression::compile(ANCHOR, &mut Known).expect("it is right");
    let host = OnTree(&document, anchor);
    let node = match start {
        StartAt::Document => document.document_node(),
        StartAt::Root => document.root_element().expect("each document has one"),
    };
    let value = expression.evaluate(&Context::new(&host).at(NodeRef::new(&document, node)));
    let Ok(value) = value else { return Told::NeedsTree };
    match wanted {
        Wanted::Boolean => Told::Boolean(value.boolean()),
        Wanted::Number => Told::Number(value.number()),
        Wanted::String => Told::Text(value.string().into_owned()),
        Wanted::Text if value.is_nodes() => joined(&value).map_or(Told::NeedsTree, Told::Text),
        Wanted::Text => Told::Text(value.string().into_owned()),
    }
}

/// The texts of nodes as Synapse joins them; `None` where it serialises an element.
fn joined(value: &Value<'_>) -> Option<String> {
    let mut joined = String::new();
    for item in value.items() {
        let Item::Node(node) = item else { continue };
        match (node.kind(), node.node.tree()) {
            (Some(Kind::Element), Some(element)) => {
                let text = direct_text(node.document, element);
                if text.trim().is_empty() {
                    return None;
                }
                joined.push_str(&text);
            }
            (Some(Kind::Text | Kind::Attribute), _) => joined.push_str(&node.string_value()),
            _ => {}
        }
    }
    Some(joined)
}

fn direct_text(document: &Document, element: NodeId) -> String {
    let texts = document.children(element).filter(|&child| document.kind(child) == Kind::Text);
    texts.map(|text| document.value(text)).collect()
}

/// How many expressions could be streamed, and how many answers needed the tree.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) expressions: usize,
    pub(crate) streamed: usize,
    pub(crate) needed_tree: usize,
    pub(crate) early: usize,
}

/// Checks what comes of these choices.
pub(crate) fn check(choices: &mut Choices<'_>, tally: &mut Tally) {
    let start = if choices.below(2) == 0 { StartAt::Document } else { StartAt::Root };
    let together = 1 + choices.below(4);
    let (names, expression): (_, fn(&mut Choices<'_>) -> String) = match choices.below(2) {
        0 => (generator::MANY, generator::expression),
        _ => (generator::FEW, generator::conditional),
    };
    let mut expressions = Vec::new();
    for _ in 0..together {
        let wanted = [Wanted::Boolean, Wanted::Boolean, Wanted::String, Wanted::Text, Wanted::Number][choices.below(5)];
        let text = expression(choices);
        let expression = Expression::compile(&text, &mut Known).unwrap_or_else(|error| panic!("{text}: {error}"));
        expressions.push((text, expression, wanted));
    }
    let document = generator::document(choices, names);
    let anchor = Expression::compile(ANCHOR, &mut Known).expect("it is right");
    let asked: Vec<(&Expression, Wanted)> =
        expressions.iter().map(|(_, expression, wanted)| (expression, *wanted)).collect();
    let (plan, queries) = Plan::compile(&asked, &|slot| (slot == 0).then_some(&anchor), start);
    tally.expressions += together;
    let mut run = Run::new();
    run.start(&plan, &Known);
    let mut parser = Parser::new(Options::default());
    let mut available = 0;
    let mut all = String::new();
    for ((text, ..), query) in expressions.iter().zip(&queries) {
        let _ = writeln!(all, "{text}{}", if query.is_err() { "   (by the tree)" } else { "" });
    }
    for ((text, expression, wanted), query) in expressions.iter().zip(&queries) {
        let Ok(query) = query else { continue };
        tally.streamed += 1;
        loop {
            let (input, complete) = (&document.as_bytes()[..available], available == document.len());
            match run.drive(&plan, &Known, &mut parser, input, complete, *query).expect("it is well formed") {
                Progress::Settled => break,
                Progress::More => available = (available + 1 + choices.below(40)).min(document.len()),
            }
        }
        let answer = told(&run, *query);
        tally.needed_tree += usize::from(matches!(answer, Told::NeedsTree));
        let place = parser.position();
        tally.early += usize::from(place < document.len());
        let mut documents = vec![document.clone()];
        documents.extend([false, true].map(|more| otherwise(&document[..place], choices, names, more)));
        for other in &documents {
            let expected = by_tree(other, expression, *wanted, start);
            assert!(
                answer == expected,
                "{text} as {wanted:?} from {start:?}: {answer:?}, by the tree {expected:?}\n\
                 read: {}\nof: {document}\nin: {other}\nall:\n{all}",
                &document[..place]
            );
        }
    }
    let queries: Vec<QueryId> = queries.into_iter().flatten().collect();
    check_behind(&plan, &queries, &document, choices);
}

/// What a pass says that drives one query after the other, and how far it reads for each.
fn driven(run: &mut Run, parser: &mut Parser, plan: &Plan, queries: &[QueryId], document: &str) -> Vec<(Told, usize)> {
    let drive = |&query: &QueryId| {
        let progress = run.drive(plan, &Known, parser, document.as_bytes(), true, query);
        assert_eq!(progress.expect("it is well formed"), Progress::Settled);
        (told(run, query), parser.position())
    };
    queries.iter().map(drive).collect()
}

/// Checks that a pass which starts behind the beginning of a document says what one over all of it does.
fn check_behind(plan: &Plan, queries: &[QueryId], document: &str, choices: &mut Choices<'_>) {
    let (mut run, mut parser) = (Run::new(), Parser::new(Options::default()));
    run.start(plan, &Known);
    let mut beginning = None;
    for _ in 0..choices.below(24) {
        let Ok(Step::Event(event)) = parser.next(document.as_bytes(), true) else { break };
        run.event(plan, &Known, &event);
        if let Some(noted) = run.beginning(plan)
            && parser.note_beginning(document.as_bytes())
        {
            beginning = Some(noted);
        }
    }
    let Some(noted) = beginning else { return };
    // The pass has read something else in between, or nothing at all.
    if choices.below(2) == 0 {
        run = Run::new();
    } else {
        parser.reset();
        run.start(plan, &Known);
        let other = "<a xmlns:m='urn:other'><b x='1'>2</b><m:a/></a>";
        driven(&mut run, &mut parser, plan, queries, other);
    }
    parser.reset();
    assert!(parser.begin_behind(document.as_bytes()));
    run.start_behind(plan, &Known, &noted);
    let behind = driven(&mut run, &mut parser, plan, queries, document);
    let (mut run, mut parser) = (Run::new(), Parser::new(Options::default()));
    run.start(plan, &Known);
    assert_eq!(behind, driven(&mut run, &mut parser, plan, queries, document), "{document}");
}

/// Another document that begins with these bytes.
fn otherwise(begun: &str, choices: &mut Choices<'_>, names: &[&str], more: bool) -> String {
    let mut parser = Parser::new(Options::default());
    let mut open = Vec::new();
    let (mut started, mut in_text) = (false, false);
    while let Step::Event(event) = parser.next(begun.as_bytes(), false).expect("it is well formed") {
        in_text = matches!(event, Event::Text(_));
        match event {
            Event::Start(start) => {
                started = true;
                let name = start.names().get(start.name);
                let colon = if name.prefix.is_empty() { "" } else { ":" };
                open.push(format!("{}{colon}{}", name.prefix, name.local));
            }
            Event::End(_) => {
                open.pop();
            }
            _ => {}
        }
    }
    let mut out = begun.to_owned();
    if !started {
        out.push_str("<other/>");
    }
    // What was given as text has ended at a tag or the like, or it would not have been given.
    if in_text {
        out.push_str(["<!--y-->", "<a/>", "<![CDATA[y]]>"][choices.below(3)]);
    }
    for name in open.iter().rev() {
        if more {
            let children = choices.below(4);
            generator::content(choices, names, &mut out, 3, children);
        }
        let _ = write!(out, "</{name}>");
    }
    out
}
