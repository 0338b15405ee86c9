//! quick-xml, which resolves namespaces and matches tags, and checks neither names nor characters.

use std::hint::black_box;

use quick_xml::NsReader;
use quick_xml::events::Event;

use super::myelin::timed;
use super::{Library, Message, Task, Turn};

pub(super) struct QuickXml;

impl Library for QuickXml {
    fn name(&self) -> &str {
        "quick-xml"
    }

    fn can(&self, task: Task) -> bool {
        matches!(task, Task::Events | Task::First | Task::Scan)
    }

    fn run(&mut self, task: Task, message: &Message, repetitions: u64) -> anyhow::Result<Turn> {
        timed(repetitions, || {
            let mut reader = NsReader::from_reader(black_box(&message.bytes[..]));
            match task {
                Task::First => symbol_is(&mut reader, "IBM", true).map(u64::from),
                Task::Scan => symbol_is(&mut reader, "NOBODY", false).map(u64::from),
                _ => events(&mut reader),
            }
        })
    }
}

fn events(reader: &mut NsReader<&[u8]>) -> anyhow::Result<u64> {
    let mut elements = 0;
    loop {
        match reader.read_resolved_event()? {
            (_, Event::Eof) => return Ok(elements),
            (namespace, Event::Start(start)) => {
                black_box((namespace, start.attributes().count()));
                elements += 1;
            }
            (_, event) => drop(black_box(event)),
        }
    }
}

/// Whether an order's symbol has this text: of the first order only, or of any.
fn symbol_is(reader: &mut NsReader<&[u8]>, wanted: &str, only_first: bool) -> anyhow::Result<bool> {
    let mut inside = false;
    loop {
        match reader.read_resolved_event()? {
            (_, Event::Eof) => return Ok(false),
            (_, Event::Start(start)) => inside = start.local_name().as_ref() == "symbol",
            (_, Event::Text(text)) if inside => {
                let same = &*text == wanted;
                if same || only_first {
                    return Ok(same);
                }
            }
            _ => inside = false,
        }
    }
}
