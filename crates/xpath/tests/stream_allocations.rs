//! A message costs no memory but what the messages before it have left behind.
//!
//! In a binary of its own: the counting allocator is for the whole program.

use allocation_counter::measure;
use myelin_xml::{Options, Parser};
use myelin_xpath::stream::{Answer, Plan, Progress, Run, StartAt, Wanted};
use myelin_xpath::{Argument, Declared, Environment, Expression, NoHost};

struct Nothing;

impl Environment for Nothing {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "m").then(|| "http://services.samples/xsd".to_owned())
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Err(format!("{local:?} is unknown"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

#[test]
fn a_second_message_allocates_nothing() {
    let texts = [
        ("//order[1]/symbol = 'IBM'", Wanted::Boolean),
        ("//m:buyStocks/order[2]/symbol", Wanted::Text),
        ("//order[symbol = 'MSFT']/price > 5", Wanted::Boolean),
        ("count(//order[volume > 1000])", Wanted::Number),
        ("string(//order[3]/buyerID)", Wanted::String),
        ("//*[local-name() = 'none'] or //none/@id = 5", Wanted::Boolean),
    ];
    let expressions = texts.map(|(text, wanted)| (Expression::compile(text, &mut Nothing).unwrap(), wanted));
    let asked: Vec<_> = expressions.iter().map(|(expression, wanted)| (expression, *wanted)).collect();
    let (plan, queries) = Plan::compile(&asked, &|_| None, StartAt::Root);
    let queries: Vec<_> = queries.into_iter().map(Result::unwrap).collect();
    let message = myelin_bench::payload::soap(10_240).unwrap().to_vec();
    let mut run = Run::new();
    let mut parser = Parser::new(Options::default());
    let mut answer_all = || {
        parser.reset();
        run.start(&plan, &NoHost);
        for query in &queries {
            // In two pieces, as from the wire.
            let progress = run.drive(&plan, &NoHost, &mut parser, &message[..1000], false, *query).unwrap();
            if progress == Progress::More {
                run.drive(&plan, &NoHost, &mut parser, &message, true, *query).unwrap();
            }
        }
        let expected = [
            Answer::Boolean(true),
            Answer::Text("SUNW"),
            Answer::Boolean(true),
            Answer::Number(84.0),
            Answer::Text("buyer1"),
            Answer::Boolean(false),
        ];
        for (query, expected) in queries.iter().zip(expected) {
            assert_eq!(run.answer(*query), Some(expected));
        }
    };
    let first = measure(&mut answer_all);
    let second = measure(&mut answer_all);
    assert!(first.count_total > 0, "the counter counts");
    assert_eq!(second.count_total, 0, "{} bytes", second.bytes_total);
}
