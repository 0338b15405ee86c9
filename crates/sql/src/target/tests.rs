//! URLs as configurations have them.

use myelin_flow::database::Password;

use super::*;

fn source(url: &str) -> DataSource {
    DataSource { url: url.to_owned(), ..DataSource::default() }
}

fn read(url: &str) -> (Target, Vec<String>) {
    Target::read(&source(url), &Limits::default()).unwrap()
}

#[test]
fn what_is_not_offered_is_refused_with_what_is() {
    let check = |url: &str, part: &str| {
        let Err(error) = Target::read(&source(url), &Limits::default()) else { panic!("{url} is taken") };
        assert!(error.contains(part), "{error}");
        assert!(!error.contains("hush"), "{error}");
    };
    check("jdbc:h2:./testdb;PASSWORD=hush", "jdbc:sqlite:FILE");
    check("jdbc:derby://localhost:1527/db;password=hush", "jdbc:sqlite:FILE");
    check("jdbc:oracle:thin:@db:1521/orders", "PostgreSQL");
    check("jdbc:exotic:orders", "PostgreSQL");
    check("$url", "is not the URL of a database");
    check("postgresql://bus:hush@db/orders", "is not the URL of a database");
    check("jdbc:postgresql://a,b/orders", "name one");
    check("jdbc:postgresql://a/orders?sslmode=maybe&password=hush", "verify-full");
    check("jdbc:mysql://a/orders?sslMode=maybe", "VERIFY_IDENTITY");
    check("jdbc:sqlite:orders.db?journal_mode=fast", "journal_mode");
    check("jdbc:sqlite::resource:orders.db", "a file");
}

#[test]
fn what_a_url_says_besides_has_its_effect_or_is_told() {
    let (target, remarks) =
        read("jdbc:postgresql://db/orders?sslmode=require&connectTimeout=2&socketTimeout=3&tcpKeepAlive=true");
    assert_eq!(remarks, ["tcpKeepAlive in the URL has no effect: the bus does not know it"]);
    assert_eq!((target.connect_timeout.as_secs(), target.timeout.as_secs()), (2, 3));
    assert!(target.first.as_deref().unwrap().contains("statement_timeout = 3000"));
    let (target, remarks) = read("jdbc:mysql://db/orders?useSSL=false&autoReconnect=true&socketTimeout=2500");
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(target.timeout.as_millis(), 2500);
    assert!(target.first.as_deref().unwrap().contains("max_statement_time = 2.5"));
    let (target, remarks) = read("jdbc:sqlite:orders.db?journal_mode=wal&foreign_keys=true&cache=shared");
    assert_eq!(remarks.len(), 1);
    assert!(!target.in_memory && read("jdbc:sqlite::memory:").0.in_memory && read("jdbc:sqlite:").0.in_memory);
}

#[test]
fn who_asks_is_said_by_the_source_before_the_url() {
    let url = "jdbc:postgresql://db/orders?user=u&password=p";
    let user = |source: &DataSource| match Target::read(source, &Limits::default()).unwrap().0.kind {
        Kind::Postgres(options) => options.get_username().to_owned(),
        _ => panic!("not PostgreSQL"),
    };
    assert_eq!(user(&source(url)), "u");
    let own = DataSource { user: Some("own".into()), password: Some(Password("x".into())), ..source(url) };
    assert_eq!(user(&own), "own");
}

#[test]
fn a_schema_and_an_isolation_are_set_on_each_connection() {
    let mut source = source("jdbc:postgresql:orders?currentSchema=a%22b,c");
    source.pool.isolation = Some(myelin_flow::database::Isolation::Serializable);
    let first = Target::read(&source, &Limits::default()).unwrap().0.first.unwrap();
    assert!(first.contains("ISOLATION LEVEL SERIALIZABLE"), "{first}");
    assert!(first.contains("search_path = \"a\"\"b\", \"c\""), "{first}");
}
