//! What it costs to answer an expression from the parser's events, in turns with the parser alone.
//!
//! `cargo bench -p myelin-xpath --bench stream`; prints the median of several turns.

#![expect(clippy::print_stdout, reason = "the figures are what this is for")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on had better stop")]

use std::hint::black_box;

use myelin_xml::{Event, Options, Parser, Step};
use myelin_xpath::stream::{Plan, Run, StartAt, Wanted};
use myelin_xpath::{Argument, Declared, Environment, Expression, NoHost};
use rustix::time::{ClockId, clock_gettime};

/// Knows one prefix, and neither variables nor functions.
struct Nothing;

impl Environment for Nothing {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "m").then(|| "http://services.samples/xsd".to_owned())
    }

    fn variable(&mut self, _: Option<&str>, _: &str) -> Result<u32, String> {
        Err("there are no variables".to_owned())
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

const TURNS: usize = 15;
const TURN_SECONDS: f64 = 0.03;

/// What this thread has used; other programs on the machine count less than on the clock at the wall.
fn cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Seconds of the processor that one call takes: the median of turns, which the measured ones take in rotation.
fn compare(measured: &mut [(&str, &mut dyn FnMut())]) -> Vec<f64> {
    let mut seconds = vec![Vec::new(); measured.len()];
    for _ in 0..TURNS {
        for (index, (_, call)) in measured.iter_mut().enumerate() {
            let (start, mut calls) = (cpu_seconds(), 0_u32);
            while cpu_seconds() - start < TURN_SECONDS {
                for _ in 0..4 {
                    call();
                }
                calls += 4;
            }
            seconds[index].push((cpu_seconds() - start) / f64::from(calls));
        }
    }
    seconds
        .iter_mut()
        .map(|turns| {
            turns.sort_by(f64::total_cmp);
            turns[TURNS / 2]
        })
        .collect()
}

fn main() {
    let expressions = [
        ("stop at the first order", "//order[1]/symbol = 'IBM'"),
        ("full scan", "//order[1]/symbol = 'none'"),
        ("full scan, each symbol", "//symbol = 'none'"),
        ("full scan, condition", "//order[symbol = 'none']/price > 5"),
        ("full scan, count", "count(//order) = 0.5"),
    ];
    for size in [500, 10_240, 1 << 20] {
        let document = myelin_bench::payload::soap(size).unwrap().to_vec();
        println!("{size} bytes");
        let mut parser = Parser::new(Options::default());
        let mut alone = || {
            parser.reset();
            // Events that nobody looks at would not be made at all.
            let mut seen = 0;
            while let Step::Event(event) = parser.next(black_box(&document), true).unwrap() {
                seen += match event {
                    Event::Start(start) => start.name.index(),
                    Event::Text(text) => text.bytes().len(),
                    _ => 1,
                };
            }
            black_box(seen);
        };
        for (what, text) in expressions {
            let expression = Expression::compile(text, &mut Nothing).unwrap();
            let (plan, queries) = Plan::compile(&[(&expression, Wanted::Boolean)], &|_| None, StartAt::Root);
            let query = *queries[0].as_ref().unwrap();
            let (mut run, mut parser) = (Run::new(), Parser::new(Options::default()));
            let mut answer = || {
                parser.reset();
                run.start(&plan, &NoHost);
                run.drive(&plan, &NoHost, &mut parser, black_box(&document), true, query).unwrap();
                black_box(run.answer(query));
            };
            let times = compare(&mut [("parser", &mut alone), (what, &mut answer)]);
            let speed = |seconds: f64| size as f64 / seconds / 1e6;
            println!(
                "  {what:28} {:9.2} µs {:7.0} MB/s   parser alone {:9.2} µs {:7.0} MB/s",
                times[1] * 1e6,
                speed(times[1]),
                times[0] * 1e6,
                speed(times[0]),
            );
        }
    }
}
