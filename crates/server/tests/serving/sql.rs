//! Databases behind the whole bus, over real sockets; the database is SQLite, which every build has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{Bus, DEADLINE, definitions, load, settings};
use myelin_engine::database::{DataSource, DatabaseSettings};
use myelin_sql::{Limits, Sql};
use myelin_testkit::raw::{Answer, Client};

/// A query that never ends.
const ENDLESS: &str = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as n from n";

/// Settings of a bus that knows a database in memory as `stocks`.
fn mediation() -> myelin_engine::Settings {
    let limits = Limits { timeout: Duration::from_secs(1), ..Limits::default() };
    let stocks = DataSource { url: "jdbc:sqlite::memory:".to_owned(), ..DataSource::default() };
    let sources = [("stocks".to_owned(), stocks)].into();
    let databases = DatabaseSettings { databases: Some(Arc::new(Sql::new(limits))), sources };
    myelin_engine::Settings { databases, ..myelin_engine::Settings::default() }
}

/// Proxies that make a table, write into it, ask it, and ask what has no answer; `Plain` asks nobody.
fn configuration() -> String {
    let pool = "<connection><pool><dsName>jdbc/stocks</dsName></pool></connection>";
    let proxy = |name: &str, mediators: &str| {
        format!("<proxy name='{name}'><target><inSequence>{mediators}<respond/></inSequence></target></proxy>")
    };
    let symbol = "<parameter expression='//symbol' type='VARCHAR'/>";
    definitions(&[
        proxy("Make", &format!("<dbreport>{pool}<statement><sql>create table company (symbol text, price double)</sql></statement></dbreport>")),
        proxy(
            "Report",
            &format!(
                "<dbreport useTransaction='true'>{pool}<statement><sql>delete from company where symbol = ?</sql>{symbol}</statement>\
                 <statement><sql>insert into company values (?, ?)</sql>{symbol}<parameter expression='//price' type='DOUBLE'/></statement></dbreport>"
            ),
        ),
        proxy(
            "Ask",
            &format!(
                "<dblookup>{pool}<statement><sql>select price from company where symbol = ?</sql>{symbol}<result name='price' column='price'/></statement></dblookup>\
                 <property name='X-Price' expression=\"get-property('price')\" scope='transport'/>"
            ),
        ),
        proxy("Hang", &format!("<dblookup>{pool}<statement><sql>{ENDLESS}</sql><result name='n' column='n'/></statement></dblookup>")),
        proxy("Plain", ""),
    ]
    .concat())
}

fn post(client: &mut Client, proxy: &str, symbol: &str, price: &str) -> Answer {
    let body = format!("<q><symbol>{symbol}</symbol><price>{price}</price></q>");
    let length = body.len();
    let head = format!("POST /services/{proxy} HTTP/1.1\r\nHost: bus\r\nContent-Type: application/xml\r\n");
    client.exchange(format!("{head}Content-Length: {length}\r\n\r\n{body}").as_bytes()).unwrap()
}

#[test]
fn messages_are_written_into_a_database_and_found_again_over_a_reload() {
    let mediation = mediation();
    let bus = Bus::mediating(&configuration(), &mediation, settings());
    let mut client = Client::connect(bus.address).unwrap();
    assert_eq!(post(&mut client, "Make", "", "").status, 200);
    assert_eq!(post(&mut client, "Report", "IBM", "84.5").status, 200);
    let price = |client: &mut Client, symbol: &str| {
        let answer = post(client, "Ask", symbol, "");
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.header("x-price").map(str::to_owned)
    };
    assert_eq!(price(&mut client, "IBM").as_deref(), Some("84.5"));
    assert_eq!(price(&mut client, "SUN"), None);
    for attack in ["' or '1'='1", "IBM' --", "'; drop table company; --"] {
        assert_eq!(price(&mut client, attack), None, "{attack}");
        assert_eq!(post(&mut client, "Report", attack, "1").status, 200);
        assert_eq!(price(&mut client, attack).as_deref(), Some("1.0"), "{attack}");
    }
    // A database in memory is there as long as its pool is.
    bus.swap_to(load(&configuration(), &mediation));
    assert_eq!(price(&mut client, "IBM").as_deref(), Some("84.5"));
    let refused = post(&mut client, "Report", "IBM", "much");
    assert_eq!(refused.status, 500, "{}", refused.text());
    assert_eq!(price(&mut client, "IBM").as_deref(), Some("84.5"), "nothing of it was done");
}

#[test]
fn a_statement_that_hangs_ends_in_a_fault_and_holds_nobody_else_up() {
    let bus = Bus::mediating(&configuration(), &mediation(), settings());
    let mut hanging = Client::connect(bus.address).unwrap();
    let begun = Instant::now();
    let hung = std::thread::spawn(move || post(&mut hanging, "Hang", "", ""));
    let mut client = Client::connect(bus.address).unwrap();
    let mut served = 0;
    while !hung.is_finished() {
        assert_eq!(post(&mut client, "Plain", "", "").status, 200);
        served += 1;
    }
    let answer = hung.join().unwrap();
    assert_eq!(answer.status, 504, "{}", answer.text());
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
    assert!(served > 20, "only {served} were served meanwhile");
    assert_eq!(post(&mut client, "Make", "", "").status, 200, "the database is asked again");
}
