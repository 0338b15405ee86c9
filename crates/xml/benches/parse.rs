//! How fast documents are read, in turns with other parsers: `cargo bench -p myelin-xml --bench parse`.
//!
//! All read the same orders in a SOAP envelope, resolve namespaces and check that tags match;
//! quick-xml checks neither names nor characters, libxml2 and roxmltree also build a tree.
//! What counts is the processor's time, the middle of several rounds, because other things run on the machine too;
//! libxml2's tool measures its own time on the clock.

#![expect(clippy::print_stdout, reason = "a benchmark speaks on standard output")]

use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use myelin_xml::{Event, Options, Parser, Step};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(20);

/// A name, and a way to read a document.
type Contender = (&'static str, Box<dyn FnMut(&str)>);

fn main() {
    println!("{:>9} {:>22} {:>9} {:>11}", "bytes", "parser", "MB/s", "us/document");
    for size in [500, 10_000, 100_000, 1_000_000] {
        let document = soap(size);
        let mut parser = Parser::new(Options::default());
        let mut contenders: Vec<Contender> = vec![
            ("myelin", Box::new(move |document| myelin(&mut parser, document))),
            ("myelin, new parser", Box::new(|document| myelin(&mut Parser::new(Options::default()), document))),
            ("quick-xml", Box::new(quick_xml)),
            ("roxmltree", Box::new(|document| drop(black_box(roxmltree::Document::parse(document))))),
        ];
        let mut times = vec![Vec::new(); contenders.len()];
        for _ in 0..ROUNDS {
            for ((_, read), times) in contenders.iter_mut().zip(&mut times) {
                times.push(round(&document, read));
            }
        }
        for ((name, _), times) in contenders.iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            row(document.len(), name, times[ROUNDS / 2]);
        }
        match xmllint(&document) {
            Some(seconds) => row(document.len(), "libxml2 (xmllint)", seconds),
            None => println!("{:>9} xmllint is not installed (Debian: libxml2-utils)", document.len()),
        }
    }
}

fn row(bytes: usize, name: &str, seconds: f64) {
    println!("{bytes:>9} {name:>22} {:>9.0} {:>11.2}", bytes as f64 / seconds / 1e6, seconds * 1e6);
}

/// Seconds that one reading takes.
fn round(document: &str, read: &mut impl FnMut(&str)) -> f64 {
    let start = processor_time();
    let mut count = 0;
    loop {
        for _ in 0..8 {
            read(black_box(document));
        }
        count += 8;
        let time = processor_time().saturating_sub(start);
        if time >= ROUND {
            return time.as_secs_f64() / f64::from(count);
        }
    }
}

/// What this thread has used of a processor.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

fn myelin(parser: &mut Parser, document: &str) {
    parser.reset();
    let mut sum = 0;
    while let Step::Event(event) = parser.next(document.as_bytes(), true).expect("the document is well-formed") {
        sum += match event {
            Event::Start(start) => start.name.index() + start.attributes().len(),
            Event::End(end) => end.name.index(),
            Event::Text(text) => text.bytes().len(),
            _ => 0,
        };
    }
    black_box(sum);
}

fn quick_xml(document: &str) {
    let mut reader = quick_xml::NsReader::from_str(document);
    let mut sum = 0;
    loop {
        match reader.read_resolved_event().expect("the document is well-formed") {
            (_, quick_xml::events::Event::Eof) => break,
            (namespace, quick_xml::events::Event::Start(start)) => {
                sum += start.name().as_ref().len() + start.attributes().count();
                black_box(namespace);
            }
            (_, quick_xml::events::Event::Text(text)) => sum += text.len(),
            _ => sum += 1,
        }
    }
    black_box(sum);
}

/// Seconds that one reading takes libxml2, as its own tool measures it.
fn xmllint(document: &str) -> Option<f64> {
    let path = std::env::temp_dir().join(format!("myelin-bench-{}.xml", std::process::id()));
    std::fs::File::create(&path).and_then(|mut file| file.write_all(document.as_bytes())).ok()?;
    let output =
        Command::new("xmllint").args(["--noout", "--timing", "--repeat"]).arg(&path).stdin(Stdio::null()).output();
    std::fs::remove_file(&path).ok();
    let text = String::from_utf8(output.ok()?.stderr).ok()?;
    // `100 iterations took 12 ms`, in which reading the file is included.
    let words: Vec<_> = text.lines().find(|line| line.contains("iterations took"))?.split_whitespace().collect();
    Some(words.get(3)?.parse::<f64>().ok()? / 1e3 / words.first()?.parse::<f64>().ok()?)
}

/// Orders in an envelope, about `size` bytes: the shape of the benchmark's messages (`myelin_bench::payload::soap`).
fn soap(size: usize) -> String {
    let mut document = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body>\
         <m:buyStocks xmlns:m=\"http://services.samples/xsd\">",
    );
    let end = "</m:buyStocks></soapenv:Body></soapenv:Envelope>";
    for turn in (0..8).cycle() {
        document += &format!(
            "<order><symbol>SUNW</symbol><buyerID>buyer{turn}</buyerID>\
             <price>140.34</price><volume>{}</volume></order>",
            1_000 + turn
        );
        if document.len() + end.len() >= size {
            break;
        }
    }
    document + end
}
