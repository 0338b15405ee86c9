//! How fast JSON becomes XML and JSON again, in all and step by step.
//!
//! `cargo bench -p myelin-json --bench convert`: medians of short rounds on one thread, in MB/s of JSON (10^6 bytes), by the processor's time: what else the machine does counts less.

use std::hint::black_box;

use myelin_json::Options;
use myelin_json::convert::{Switches, to_document, to_json, to_xml};
use myelin_xml::{Arena, Document, Parser, Step};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 15;
const ROUND_SECONDS: f64 = 0.04;
/// How much is converted between two looks at the clock.
const BATCH_BYTES: usize = 100_000;

/// Orders of a shop: texts, numbers, words, nested objects and arrays, an attribute, a text with escapes.
fn orders(bytes: usize) -> String {
    let mut text = "{\"type\":\"order\",\"lines\":[".to_owned();
    let mut index = 0;
    while text.len() < bytes {
        text += &format!(
            "{{\"@id\":\"{index}\",\"symbol\":\"IBM{index}\",\"price\":{}.{:02},\"volume\":{},\"open\":true,\"closed\":null,\
             \"note\":\"delivered \\\"today\\\" to Zürich & Bern\",\"tags\":[\"a\",\"b\",3],\
             \"address\":{{\"street\":\"Bahnhofstrasse 17\",\"city\":\"Zürich\",\"zip\":\"CH-8001\"}},\
             \"text\":\"The quick brown fox jumps over the lazy dog and comes back again.\"}},",
            100 + index % 50,
            index % 100,
            index * 10
        );
        index += 1;
    }
    text + "{\"symbol\":\"LAST\"}]}"
}

/// The processor's time that this process took.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[expect(clippy::print_stdout, reason = "a bench prints its figures")]
fn time(name: &str, bytes: usize, mut run: impl FnMut()) {
    // To look at this clock takes half a microsecond, which is not to count for what takes a few.
    let batch = (BATCH_BYTES / bytes).max(1);
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let (started, mut runs) = (seconds(), 0);
            while seconds() - started < ROUND_SECONDS {
                (0..batch).for_each(|_| run());
                runs += batch;
            }
            (seconds() - started) / runs as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    let median = rounds[ROUNDS / 2];
    println!("  {name:<32} {:>8.2} µs {:>8.0} MB/s", median * 1e6, bytes as f64 / median / 1e6);
}

#[expect(clippy::print_stdout, reason = "a bench prints its figures")]
fn main() {
    let (switches, options, xml_options) = (Switches::default(), Options::default(), myelin_xml::Options::default());
    for bytes in [1_000, 10_000, 100_000, 1_000_000] {
        let json = orders(bytes);
        let json = json.as_bytes();
        let mut xml = Vec::new();
        to_xml(json, &switches, &options, usize::MAX, &mut xml).expect("it can be converted");
        let document = Document::parse(xml.clone(), &xml_options).expect("it is well-formed");
        let root = document.root_element().expect("a document has a root");
        println!("{} bytes of JSON, {} of XML, {} nodes", json.len(), xml.len(), document.node_count());

        let (mut source, mut arena, mut back) = (Vec::new(), Arena::default(), Vec::new());
        time("there and back", json.len(), || {
            let memory = (std::mem::take(&mut source), std::mem::take(&mut arena));
            let document = to_document(json, &switches, &options, &xml_options, usize::MAX, memory);
            let document = document.expect("it can be converted");
            let root = document.root_element().expect("a document has a root");
            back.clear();
            to_json(&document, root, &switches, usize::MAX, &mut back).expect("it can be converted");
            (source, arena) = document.into_parts();
        });
        assert!(back == json, "it comes back as it was");
        time("  JSON to a tree", json.len(), || {
            let memory = (std::mem::take(&mut source), std::mem::take(&mut arena));
            let document = to_document(json, &switches, &options, &xml_options, usize::MAX, memory);
            (source, arena) = document.expect("it can be converted").into_parts();
        });
        time("  the tree to JSON", json.len(), || {
            back.clear();
            to_json(&document, root, &switches, usize::MAX, &mut back).expect("it can be converted");
        });
        time("for comparison: JSON to XML", json.len(), || {
            source.clear();
            to_xml(json, &switches, &options, usize::MAX, &mut source).expect("it can be converted");
        });
        time("for comparison: that XML, parsed", json.len(), || {
            let document = Document::take(&mut source, &xml_options, std::mem::take(&mut arena)).expect("well-formed");
            (source, arena) = document.into_parts();
        });
        time("for comparison: XML, events", json.len(), || {
            let mut parser = Parser::new(xml_options.clone());
            let mut events = 0;
            while let Step::Event(event) = parser.next(&xml, true).expect("it is well-formed") {
                black_box(&event);
                events += 1;
            }
            black_box(events);
        });
    }
}
