//! How long expressions take on a tree that is there: medians in turns, on a SOAP order of 10 KB and of 1 MB.
//!
//! `cargo bench -p myelin-xpath`

use std::hint::black_box;
use std::time::{Duration, Instant};

use myelin_xml::{Document, Options};
use myelin_xpath::{
    Argument, Context, Declared, Environment, Error, Expression, Host, Item, Meter, NameTable, NoHost, NodeRef, Value,
};

const EXPRESSIONS: &[&str] = &[
    "//order[1]/symbol = 'IBM'",
    "/*/*/*/order[1]/symbol",
    "//order[last()]/symbol",
    "count(//order)",
    "//order[symbol = 'nothing']",
    "sum(//volume)",
    "string(/)",
    "//order[3]/following-sibling::order[2]",
    "//symbol/ancestor::*",
    "starts-with(//symbol, 'I') and count(//order) > 2",
    "concat('a', 'b')",
];

/// What stylesheets ask at one element, again and again: here what begins an evaluation counts.
const SMALL: &[&str] = &[
    "symbol",
    "string(symbol)",
    "concat(symbol, '-', price)",
    "price * volume",
    "volume > 100",
    "symbol = 'MSFT' and price > 1",
    "position() mod 2 = 1",
    "$orders[3]/symbol",
    "count($orders)",
    "$orders[last()]",
    "for $x in (1, 2, 3) return $x + 1",
    "substring-before(price, '.')",
    "../order[2]/symbol",
    "preceding-sibling::order[1]/price",
];

const ROUNDS: usize = 7;

/// A host without names of its own.
struct Nothing;

impl Environment for Nothing {
    fn namespace(&self, _: &str) -> Option<String> {
        None
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Err(format!("${local} is not known"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

/// Knows `$orders` and numbers names, as the host of a stylesheet does.
#[derive(Default)]
struct Numbered(Vec<String>);

impl Environment for Numbered {
    fn namespace(&self, _: &str) -> Option<String> {
        None
    }

    fn variable(&mut self, _: Option<&str>, _: &str) -> Result<u32, String> {
        Ok(0)
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }

    fn name(&mut self, _: &str, local: &str) -> Option<u32> {
        self.0.push(local.to_owned());
        Some(self.0.len() as u32 - 1)
    }
}

/// Gives `$orders`.
struct Orders<'d>(Value<'d>);

impl<'a> Host<'a> for Orders<'a> {
    fn variable(&'a self, _: u32) -> Result<Value<'a>, Error> {
        Ok(self.0.clone())
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }
}

/// A SOAP envelope with orders for about so many bytes, the first of them for IBM.
fn orders(bytes: usize) -> String {
    let mut text = String::from(
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><m:buyStocks xmlns:m=\"http://services.samples/xsd\">",
    );
    let mut symbol = "IBM";
    while text.len() < bytes {
        let number = text.len() % 9973;
        text += &format!(
            "<order><symbol>{symbol}</symbol><buyerID>buyer{number}</buyerID><price>{number}.5</price><volume>{number}</volume></order>"
        );
        symbol = "MSFT";
    }
    text + "</m:buyStocks></s:Body></s:Envelope>"
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The time of one call, from as many as fit into 20 ms.
fn timed(mut call: impl FnMut()) -> Duration {
    let started = Instant::now();
    let mut calls = 0;
    while started.elapsed() < Duration::from_millis(20) {
        call();
        calls += 1;
    }
    started.elapsed() / calls
}

#[expect(clippy::print_stdout, reason = "it is what a bench is for")]
fn main() {
    for size in [10 * 1024, 1024 * 1024] {
        let source = orders(size);
        let length = source.len();
        let document = Document::parse(source.into_bytes(), &Options::default()).expect("a SOAP envelope");
        println!("\n{length} bytes, {} nodes", document.node_count());
        let context = Context::new(&NoHost).at(NodeRef::new(&document, document.document_node()));
        let compiled: Vec<Expression> =
            EXPRESSIONS.iter().map(|text| Expression::compile(text, &mut Nothing).expect(text)).collect();
        let mut times = vec![Vec::new(); compiled.len()];
        for _ in 0..ROUNDS {
            for (expression, times) in compiled.iter().zip(&mut times) {
                times.push(timed(|| {
                    black_box(expression.evaluate(&context).expect("a value"));
                }));
            }
        }
        for (text, times) in EXPRESSIONS.iter().zip(times) {
            println!("{:>12.3} µs  {text}", median(times).as_nanos() as f64 / 1000.0);
        }
    }
    small();
    let compiling = (0..ROUNDS).map(|_| {
        timed(|| {
            black_box(Expression::compile(black_box(EXPRESSIONS[0]), &mut Nothing).expect("it compiles"));
        })
    });
    println!("\n{:>12.3} µs  compiling {}", median(compiling.collect()).as_nanos() as f64 / 1000.0, EXPRESSIONS[0]);
}

/// Small expressions at one element.
#[expect(clippy::print_stdout, reason = "it is what a bench is for")]
fn small() {
    let document = Document::parse(orders(10 * 1024).into_bytes(), &Options::default()).expect("a SOAP envelope");
    let mut names = Numbered::default();
    let compiled: Vec<Expression> =
        SMALL.iter().map(|text| Expression::compile(text, &mut names).expect(text)).collect();
    let all = Expression::compile("//order", &mut Nothing).expect("a path");
    let root = NodeRef::new(&document, document.document_node());
    let orders = all.evaluate(&Context::new(&NoHost).at(root)).expect("orders").shared();
    let order = orders.get(4).and_then(|item| item.node()).expect("an order");
    let (host, meter, table) = (Orders(orders), Meter::default(), NameTable::new(names.0.len()));
    let mut context = Context::new(&host).at(order);
    context.meter = Some(&meter);
    context.names = Some(&table);
    println!("\nat one order");
    for (text, expression) in SMALL.iter().zip(&compiled) {
        let times = (0..ROUNDS).map(|_| {
            timed(|| {
                black_box(black_box(expression).evaluate(&context).expect("a value"));
            })
        });
        println!("{:>12.3} µs  {text}", median(times.collect()).as_nanos() as f64 / 1000.0);
    }
}
