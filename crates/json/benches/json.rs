//! How fast JSON is read, built into a tree, routed by a path and written; beside serde_json, in turns.
//!
//! `cargo bench -p myelin-json`: medians of short rounds on one thread, in MB/s (10^6 bytes), or in µs for what does not depend on the size.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use myelin_json::{Duplicates, Options, Path, Plan, Progress, Reader, Rules, Run, Step, Value};

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(40);

/// Orders of a shop, with texts of the usual lengths, some of them with escapes and beyond ASCII.
fn orders(bytes: usize) -> String {
    let mut text = "{\"type\":\"order\",\"lines\":[\n".to_owned();
    let mut index = 0;
    while text.len() < bytes {
        text += &format!(
            "  {{\"symbol\": \"IBM{index}\", \"buyerID\": \"asankha-{index}\", \"price\": {}.{:02}, \"volume\": {}, \
             \"note\": \"delivered \\\"today\\\" to Zürich\", \"flags\": [true, false, null], \
             \"text\": \"The quick brown fox jumps over the lazy dog and comes back again.\"}},\n",
            100 + index % 50,
            index % 100,
            index * 10
        );
        index += 1;
    }
    text += "  {\"symbol\": \"LAST\"}\n]}\n";
    text
}

struct Contender<'a> {
    name: &'a str,
    run: Box<dyn FnMut() + 'a>,
    rounds: Vec<f64>,
}

fn contender<'a>(name: &'a str, run: impl FnMut() + 'a) -> Contender<'a> {
    Contender { name, run: Box::new(run), rounds: Vec::new() }
}

/// Lets all have their rounds in turns, so that a busy moment of the machine meets them alike.
#[expect(clippy::print_stdout, reason = "a bench prints its figures")]
fn race(title: &str, bytes: usize, mut contenders: Vec<Contender<'_>>) {
    for _ in 0..ROUNDS {
        for contender in &mut contenders {
            let (started, mut runs) = (Instant::now(), 0);
            while started.elapsed() < ROUND {
                (contender.run)();
                runs += 1;
            }
            contender.rounds.push(started.elapsed().as_secs_f64() / f64::from(runs));
        }
    }
    println!("{title} ({bytes} bytes)");
    for contender in &mut contenders {
        contender.rounds.sort_by(f64::total_cmp);
        let median = contender.rounds[ROUNDS / 2];
        println!("  {:<32} {:>8.2} µs {:>8.0} MB/s", contender.name, median * 1e6, bytes as f64 / median / 1e6);
    }
}

fn events(text: &[u8]) -> usize {
    let mut reader = Reader::new(Options::default());
    let mut events = 0;
    loop {
        match reader.next(text, true).expect("the text is well-formed") {
            Step::Event(event) => events += event.raw.len(),
            Step::More => unreachable!("the text is complete"),
            Step::End => return events,
        }
    }
}

fn main() {
    for bytes in [500, 10_000, 1_000_000] {
        let text = orders(bytes);
        let source = text.as_bytes();
        race(
            "read",
            source.len(),
            vec![
                contender("reader, events", || {
                    black_box(events(source));
                }),
                contender("tree", || {
                    black_box(Value::parse(source.to_vec(), &Options::default()).expect("it is well-formed"));
                }),
                contender("serde_json, ignored", || {
                    black_box(serde_json::from_slice::<serde::de::IgnoredAny>(source).expect("it is well-formed"));
                }),
                contender("serde_json, Value", || {
                    black_box(serde_json::from_slice::<serde_json::Value>(source).expect("it is well-formed"));
                }),
            ],
        );
        let (first, last) = ("$.type".to_owned(), format!("$.lines[{}].symbol", text.matches("buyerID").count()));
        for (title, path) in [("route at the front", first), ("route at the end", last)] {
            let path = Path::compile(&path).expect("it is a path");
            let plan = Arc::new(Plan::new(&[&path], Duplicates::First).expect("it is definite"));
            let mut run = Run::new(plan.clone(), Options::default());
            let pointer = path.as_str().replace("$.", "/").replace(['.', '['], "/").replace(']', "");
            race(
                title,
                source.len(),
                vec![
                    contender("stream", || {
                        run.restart(plan.clone());
                        assert_eq!(run.next(source, true), Ok(Progress::Decided));
                        black_box(run.answers()[0].text(source).expect("it is there"));
                    }),
                    contender("tree and path", || {
                        let value = Value::parse(source.to_vec(), &Options::default()).expect("it is well-formed");
                        black_box(path.text(&value, &Rules::default()).expect("it is there"));
                    }),
                    contender("serde_json, Value and pointer", || {
                        let value: serde_json::Value = serde_json::from_slice(source).expect("it is well-formed");
                        black_box(value.pointer(&pointer).expect("it is there"));
                    }),
                ],
            );
        }
        let value = Value::parse(source.to_vec(), &Options::default()).expect("it is well-formed");
        let theirs: serde_json::Value = serde_json::from_slice(source).expect("it is well-formed");
        let mut out = Vec::with_capacity(source.len());
        race(
            "write",
            source.len(),
            vec![
                contender("compact", || {
                    out.clear();
                    value.write_compact(value.root(), &mut out);
                    black_box(out.len());
                }),
                contender("serde_json", || {
                    black_box(serde_json::to_vec(&theirs).expect("it can be written").len());
                }),
            ],
        );
    }
}
