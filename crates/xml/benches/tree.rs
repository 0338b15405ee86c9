//! How fast trees are made, written and canonicalised: `cargo bench -p myelin-xml --bench tree`.
//!
//! The parser's own share stands in the first row; `benches/parse.rs` compares it with others.
//! The middle of several rounds counts, and of each only the time on a processor where Linux tells it, because other
//! things run on the machine too.

#![expect(clippy::print_stdout, reason = "a benchmark speaks on standard output")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{Arena, Document, NodeId, Options, Parser, Step, WriteOptions, write};

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(20);

fn main() {
    println!("{:>9} {:>32} {:>9} {:>12}", "bytes", "what", "MB/s", "us/document");
    for size in [500, 10_000, 100_000, 1_000_000] {
        let source = soap(size).into_bytes();
        reading(&source);
        let document = Document::parse(source.clone(), &Options::default()).expect("it is well-formed");
        let top = document.document_node();
        let mut out = Vec::with_capacity(2 * source.len());
        let bytes = source.len();
        measure(bytes, "write, unchanged", || written(&document, top, &mut out));
        let mut changed = document.clone();
        let last = changed.descendants(top).last().expect("there are orders");
        changed.set_value(last, "1").expect("it is text");
        measure(bytes, "write, one text changed", || written(&changed, top, &mut out));
        let (wrapped, root) = wrap(&document);
        measure(bytes, "write, moved under two elements", || written(&wrapped, top, &mut out));
        measure(bytes, "write, moved, its root alone", || written(&wrapped, root, &mut out));
        for (name, method) in [("c14n", Method::Inclusive), ("c14n, exclusive", Method::Exclusive)] {
            let how = Canonical::new(method);
            measure(bytes, name, || {
                out.clear();
                let subset = Subset { apex: top, excluded: &[] };
                canonicalize(&document, subset, &how, &mut out).expect("no namespace is relative");
            });
        }
        measure(bytes, "string value of it all", || drop(black_box(document.string_value(top))));
    }
}

/// The parser alone, then the tree in new memory and in used memory.
fn reading(source: &[u8]) {
    let mut parser = Parser::new(Options::default());
    measure(source.len(), "events", || {
        parser.reset();
        while let Step::Event(event) = parser.next(source, true).expect("it is well-formed") {
            black_box(event);
        }
    });
    let mut kept = Some((source.to_vec(), Arena::default()));
    measure(source.len(), "tree, new memory", || {
        let (source, _) = kept.take().expect("it was put back");
        let document = Document::parse(source, &Options::default()).expect("it is well-formed");
        kept = Some(black_box(document).into_parts());
    });
    measure(source.len(), "tree, used memory", || {
        let (source, arena) = kept.take().expect("it was put back");
        let document = Document::parse_in(source, &Options::default(), arena).expect("it is well-formed");
        kept = Some(black_box(document).into_parts());
    });
}

fn written(document: &Document, node: NodeId, out: &mut Vec<u8>) {
    out.clear();
    write(document, node, &WriteOptions::default(), out);
    black_box(&out);
}

/// The document with its root two elements deeper, as plain XML is kept in a bus.
fn wrap(document: &Document) -> (Document, NodeId) {
    let mut document = document.clone();
    let root = document.root_element().expect("it has a root");
    let outer = document.create_element("e", "Envelope", "urn:envelope").expect("it is a name");
    let inner = document.create_element("e", "Body", "urn:envelope").expect("it is a name");
    document.replace(root, outer).expect("both are elements");
    document.append(outer, inner).expect("both are elements");
    document.append(inner, root).expect("both are elements");
    (document, root)
}

fn measure(bytes: usize, what: &str, mut work: impl FnMut()) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let (start, on_processor) = (Instant::now(), on_processor());
            let mut count = 0;
            while start.elapsed() < ROUND {
                work();
                count += 1;
            }
            let spent = self::on_processor().zip(on_processor).map(|(after, before)| after.saturating_sub(before));
            spent.filter(|spent| !spent.is_zero()).unwrap_or(start.elapsed()).as_secs_f64() / f64::from(count)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let seconds = times[ROUNDS / 2];
    println!("{bytes:>9} {what:>32} {:>9.0} {:>12.2}", bytes as f64 / seconds / 1e6, seconds * 1e6);
}

/// How long this thread has run, as the kernel counts it.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
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
