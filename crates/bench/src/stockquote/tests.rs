use std::net::SocketAddr;

use myelin_testkit::raw::{self, Answer};
use myelin_xml::{Document, Kind};

use super::*;

fn seeded() -> Handle {
    start("127.0.0.1:0".parse().unwrap(), &Options { seed: Some(4), ..Options::default() }).unwrap()
}

fn ask(address: SocketAddr, method: &str, target: &str, media_type: &str, body: &str) -> Answer {
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: quotes.example:81\r\nContent-Type: {media_type}\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    raw::exchange(address, request.as_bytes()).unwrap()
}

fn get(address: SocketAddr, rest: &str) -> Answer {
    ask(address, "GET", &format!("{PATH}{rest}"), "", "")
}

const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";

fn soap(address: SocketAddr, namespace: &str, payload: &str) -> Answer {
    let media_type = if namespace == SOAP11 { "text/xml; charset=UTF-8" } else { "application/soap+xml" };
    let body = format!(r#"<e:Envelope xmlns:e="{namespace}"><e:Header/><e:Body>{payload}</e:Body></e:Envelope>"#);
    ask(address, "POST", PATH, media_type, &body)
}

/// Names and namespaces of all elements, with their text where that is all they hold.
fn elements(answer: &Answer) -> Vec<String> {
    let document = Document::parse(answer.body.clone(), &myelin_xml::Options::default()).unwrap();
    let elements = document.descendants(document.document_node()).filter(|node| document.kind(*node) == Kind::Element);
    let shown = elements.map(|node| {
        let name = document.qname(node);
        let is_leaf = document.children(node).all(|child| document.kind(child) == Kind::Text);
        let text = if is_leaf { document.string_value(node) } else { "".into() };
        format!("{{{}}}{} {text}", name.namespace, name.local).trim_end().to_owned()
    });
    shown.collect()
}

const GET_QUOTE: &str =
    r#"<m:getQuote xmlns:m="http://services.samples"><m:request><m:symbol>IBM</m:symbol></m:request></m:getQuote>"#;

#[test]
fn a_quote_is_answered_in_the_soap_it_was_asked_in() {
    let service = seeded();
    for (namespace, media_type) in [(SOAP11, "text/xml"), (SOAP12, "application/soap+xml")] {
        let answer = soap(service.address, namespace, GET_QUOTE);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("Content-Type"), Some(&*format!("{media_type}; charset=UTF-8")));
        let elements = elements(&answer);
        assert_eq!(elements[0], format!("{{{namespace}}}Envelope"));
        assert_eq!(elements[2..4], ["{http://services.samples}getQuoteResponse", "{http://services.samples}return"]);
        for member in ["name IBM Company", "symbol IBM", "lastTradeTimestamp 2026-01-02T21:00:00Z"] {
            let member = format!("{{http://services.samples}}{member}");
            assert!(elements.contains(&member), "{member} in {elements:?}");
        }
        assert_eq!(elements.len(), 4 + 14);
    }
}

#[test]
fn answers_are_in_the_namespaces_of_the_request() {
    let service = seeded();
    let check = |request: &str, operation: &str, members: &str| {
        let elements = elements(&soap(service.address, SOAP11, request));
        assert_eq!(elements[2], format!("{{{operation}}}getQuoteResponse"));
        assert_eq!(elements[3], format!("{{{operation}}}return"));
        assert!(elements[4..].iter().all(|element| element.starts_with(&format!("{{{members}}}"))), "{elements:?}");
    };
    let (plain, xsd) = ("http://services.samples", "http://services.samples/xsd");
    check(GET_QUOTE, plain, plain);
    check(&GET_QUOTE.replace(plain, xsd), xsd, xsd);
    let both = r#"<s:getQuote xmlns:s="http://services.samples"><s:request><x:symbol
        xmlns:x="http://services.samples/xsd">IBM</x:symbol></s:request></s:getQuote>"#;
    check(both, plain, xsd);
}

#[test]
fn with_a_seed_all_ways_to_ask_give_the_same_quote_each_time() {
    let service = seeded();
    let answers = [
        get(service.address, "/getQuote?symbol=IBM"),
        ask(
            service.address,
            "POST",
            &format!("{PATH}/getQuote"),
            "application/x-www-form-urlencoded; charset=x",
            "symbol=IBM",
        ),
        ask(service.address, "POST", PATH, "application/xml", GET_QUOTE),
        get(service.address, "/getQuote/?x=y&symbol=%49BM"),
    ];
    for answer in &answers {
        assert_eq!((answer.status, answer.text()), (200, answers[0].text()));
        assert_eq!(answer.header("Content-Type"), Some("application/xml; charset=UTF-8"));
    }
    assert_eq!(elements(&answers[0])[2..], elements(&soap(service.address, SOAP11, GET_QUOTE))[4..]);
    let simple = get(service.address, "/getSimpleQuote?symbol=IBM").text();
    assert_eq!(simple.replace("Simple", ""), answers[0].text());
    assert_ne!(get(service.address, "/getQuote?symbol=SUN").text(), answers[0].text());
}

#[test]
fn the_addresses_of_apache_s_description_are_known() {
    let service = seeded();
    let expected = get(service.address, "/getQuote?symbol=IBM").text();
    for transport in ["Http", "Https"] {
        let rest = |binding: &str| format!(".SimpleStockQuoteService{transport}{binding}Endpoint");
        let plain = get(service.address, &format!("{}/getQuote?symbol=IBM", rest("")));
        assert_eq!((plain.status, plain.text()), (200, expected.clone()));
        for (binding, media_type, namespace) in
            [("Soap11", "text/xml", SOAP11), ("Soap12", "application/soap+xml", SOAP12)]
        {
            let body = format!(r#"<e:Envelope xmlns:e="{namespace}"><e:Body>{GET_QUOTE}</e:Body></e:Envelope>"#);
            for slash in ["", "/"] {
                let target = format!("{PATH}{}{slash}", rest(binding));
                let answer = ask(service.address, "POST", &target, media_type, &body);
                assert_eq!((answer.status, elements(&answer)[0].clone()), (200, format!("{{{namespace}}}Envelope")));
            }
        }
    }
    for unknown in [".SimpleStockQuoteServiceFtpEndpoint", ".OtherHttpSoap11Endpoint", ".", ".SimpleStockQuoteService"]
    {
        assert_eq!(get(service.address, &format!("{unknown}/getQuote?symbol=IBM")).status, 404, "{unknown}");
    }
}

#[test]
fn a_full_quote_has_a_thousand_days_and_market_activity_every_symbol() {
    let service = seeded();
    let full = elements(&get(service.address, "/getFullQuote?symbol=A%26B"));
    assert_eq!(full.iter().filter(|element| element.ends_with("}tradeHistory")).count(), 1000);
    assert_eq!(full.iter().filter(|element| element.ends_with("}name A&B Company")).count(), 1000);
    let request = r#"<getMarketActivity xmlns="http://services.samples"><request><symbols>IBM</symbols>
        <symbols>SUN</symbols></request></getMarketActivity>"#;
    let activity = elements(&soap(service.address, SOAP12, request));
    let symbols: Vec<_> = activity.iter().filter_map(|element| element.split_once("}symbol ")).collect();
    assert_eq!(symbols.iter().map(|(_, symbol)| *symbol).collect::<Vec<_>>(), ["IBM", "SUN"]);
}

#[test]
fn an_order_is_accepted_without_an_answer_and_a_wrong_one_is_not() {
    let service = seeded();
    let order = r#"<m:placeOrder xmlns:m="http://services.samples"><m:order><m:price>1.5</m:price>
        <m:quantity>20</m:quantity><m:symbol>IBM</m:symbol></m:order></m:placeOrder>"#;
    let answer = soap(service.address, SOAP11, order);
    assert_eq!((answer.status, answer.text()), (202, String::new()));
    assert_eq!(get(service.address, "/placeOrder?symbol=IBM&price=1&quantity=2").status, 202);
    for wrong in [order.replace("20", "many"), order.replace("1.5", ""), order.replace("symbol", "name")] {
        assert_eq!(soap(service.address, SOAP11, &wrong).status, 500, "{wrong}");
    }
}

#[test]
fn what_cannot_be_answered_gets_a_fault_in_the_same_soap() {
    let service = seeded();
    let check = |namespace: &str, payload: &str, status: u16, code: &str, reason: &str| {
        let answer = soap(service.address, namespace, payload);
        let text = answer.text();
        assert_eq!(answer.status, status, "{text}");
        assert!(text.contains(namespace) && text.contains(code) && text.contains(reason), "{text}");
    };
    let unknown = r#"<m:buyAll xmlns:m="http://services.samples"/>"#;
    check(SOAP11, unknown, 500, ":Client<", "unknown operation &quot;buyAll&quot;");
    check(SOAP12, unknown, 400, ":Sender<", "unknown operation &quot;buyAll&quot;");
    check(SOAP11, r#"<getQuote xmlns="urn:x"/>"#, 500, ":Client<", "unknown operation {urn:x}getQuote");
    check(SOAP11, &GET_QUOTE.replace("IBM", "ERR"), 500, ":Server<", "Invalid stock symbol : ERR");
    check(SOAP12, &GET_QUOTE.replace("IBM", "ERR"), 500, ":Receiver<", "Invalid stock symbol : ERR");
    check(SOAP11, &GET_QUOTE.replace("IBM", ""), 500, ":Client<", "a symbol has 1 to 100 bytes");
    check(SOAP12, "", 400, ":Sender<", "the SOAP body is empty");
    check(SOAP12, "<open>", 400, ":Sender<", "the body is no XML");
}

#[test]
fn without_soap_what_cannot_be_answered_gets_a_line_of_text() {
    let service = seeded();
    let check = |answer: Answer, status: u16, reason: &str| {
        assert_eq!((answer.status, answer.text().contains(reason)), (status, true), "{}", answer.text());
    };
    check(get(service.address, "/buyAll?symbol=IBM"), 404, "unknown operation");
    check(get(service.address, "/getQuote"), 400, "needs one symbol, not 0");
    check(get(service.address, "/getQuote?symbol=A&symbol=B"), 400, "needs one symbol, not 2");
    check(get(service.address, "/getQuote?symbol=ERR"), 500, "Invalid stock symbol : ERR");
    check(get(service.address, "X?wsdl"), 404, "there is only /services/SimpleStockQuoteService");
    check(ask(service.address, "PUT", PATH, "", ""), 404, "only GET and POST");
    check(ask(service.address, "POST", PATH, "application/xml", "no XML"), 400, "the body is no XML");
}

#[test]
fn the_wsdl_is_well_formed_and_names_the_address_it_was_fetched_from() {
    let service = seeded();
    let answer = get(service.address, "?wsdl");
    let elements = elements(&answer);
    assert_eq!(answer.status, 200);
    assert!(elements.iter().any(|element| element == "{http://schemas.xmlsoap.org/wsdl/}service"));
    let address = "location=\"http://quotes.example:81/services/SimpleStockQuoteService\"";
    assert_eq!(answer.text().matches(address).count(), 3);
}

#[test]
fn requests_sent_ahead_and_in_pieces_are_answered_one_after_another() {
    let service = seeded();
    let (first, rest) = GET_QUOTE.split_at(20);
    let chunked = format!(
        "POST {PATH} HTTP/1.1\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
        first.len(),
        rest.len()
    );
    let both = format!("{chunked}GET {PATH}/getQuote?symbol=IBM HTTP/1.1\r\nConnection: close\r\n\r\n");
    let mut client = raw::Client::connect(service.address).unwrap();
    let ends: Vec<usize> = (1..both.len()).step_by(97).collect();
    client.send_split(both.as_bytes(), &ends, std::time::Duration::from_millis(1)).unwrap();
    let (one, two) = (client.answer().unwrap(), client.answer().unwrap());
    assert_eq!((one.status, two.status, one.text()), (200, 200, two.text()));
    assert!(client.until_closed().unwrap().is_empty());
}

#[test]
fn what_is_no_http_or_too_much_is_refused() {
    let service = seeded();
    let status = |request: &[u8]| raw::exchange(service.address, request).unwrap().status;
    assert_eq!(status(b"nothing at all\r\n\r\n"), 400);
    assert_eq!(status(b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
    let long = [b"GET / HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; 70_000]].concat();
    assert_eq!(status(&long), 431);
    let large = [b"POST / HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n".to_vec(), vec![b'x'; 3_000_000]].concat();
    assert_eq!(status(&large), 413);
}
