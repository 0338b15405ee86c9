//! Single messages to the examples, and what must come back.

use std::time::SystemTime;

use anyhow::{Context, bail, ensure};
use myelin_bench::suite::Service;
use myelin_bench::{canonical, stockquote};
use myelin_testkit::raw;
use myelin_wss::Replays;
use myelin_wss::guard::{Arrival, Conversation, Departure};
use myelin_xml::{Document, Options, WriteOptions, write};

use super::{CHECK_PRICE, SEED, Stage, content};

const ORDER: &str = include_str!("../../../../examples/cbr/request.xml");
const ROUTED_ORDER: &str = include_str!("../../../../examples/soap-header-routing/request.xml");
const ROUTING_BLOCK: &str =
    r#"<r:Routing xmlns:r="http://example.org/routing">xadmin;server1;community#1.0##</r:Routing>"#;
const PORTFOLIO: &str = include_str!("../../../../examples/split/request.xml");
const JSON_ORDER: &str = include_str!("../../../../examples/json-routing/request.json");

/// A request by itself.
struct Message<'a> {
    media_type: &'a str,
    lines: String,
    body: &'a str,
}

impl<'a> Message<'a> {
    fn soap(body: &'a str) -> Message<'a> {
        Message { media_type: "text/xml", lines: String::new(), body }
    }

    fn json(body: &'a str) -> Message<'a> {
        Message { media_type: "application/json", lines: String::new(), body }
    }
}

/// What was sent, and what came of it.
type Checked = (&'static str, anyhow::Result<String>);

impl Stage {
    /// Messages that show what headers and bodies decide, and what happens when a backend fails.
    pub(super) fn single_answers(&self) -> Vec<Checked> {
        let mut all = self.routed_by_headers();
        all.extend(self.routed_by_content());
        all.extend(self.transformed());
        all.extend(self.made());
        all.extend(self.secured());
        all.extend(self.at_an_api());
        all.extend(self.split());
        #[cfg(feature = "sql")]
        all.extend(self.kept());
        all.extend(self.failures());
        all
    }

    fn routed_by_headers(&self) -> Vec<Checked> {
        let class = |class: &str| Message { lines: format!("X-Customer-Class: {class}\r\n"), ..Message::soap(ORDER) };
        vec![
            ("routed by a header, gold", self.routed("Orders", &class("gold"), "gold", ORDER)),
            ("routed by a header, anybody else", self.routed("Orders", &class("copper"), "standard", ORDER)),
            ("refused by a header", self.refused("Orders", &class("blocked-17"), 403, "")),
        ]
    }

    fn routed_by_content(&self) -> Vec<Checked> {
        let (sun, none) = (ORDER.replace("IBM", "SUN"), ORDER.replace("IBM", "?"));
        let without_block = ROUTED_ORDER.replace(ROUTING_BLOCK, "");
        let other = JSON_ORDER.replace("IBM", "SUN");
        // An object in which something changed is written without white space; no string here has any.
        let accepted = other.replace("new", "accepted").replace([' ', '\n'], "");
        let no_symbol = JSON_ORDER.replace("IBM", "?");
        vec![
            ("routed by the body", self.routed("StockOrders", &Message::soap(ORDER), "ibm", ORDER)),
            ("routed by the body, another order", self.routed("StockOrders", &Message::soap(&sun), "trading", &sun)),
            ("no order that fits", self.refused("StockOrders", &Message::soap(&none), 500, "names no symbol")),
            (
                "routed by a SOAP header block, which is taken out",
                self.routed("RoutedOrders", &Message::soap(ROUTED_ORDER), "server1", &without_block),
            ),
            ("no such block", self.routed("RoutedOrders", &Message::soap(ORDER), "anywhere", ORDER)),
            ("routed by JSON", self.routed("JsonOrders", &Message::json(JSON_ORDER), "ibm", JSON_ORDER)),
            (
                "routed by JSON, one value changed",
                self.routed("JsonOrders", &Message::json(&other), "trading", &accepted),
            ),
            ("JSON that fits nowhere", self.refused("JsonOrders", &Message::json(&no_symbol), 422, "no symbol")),
        ]
    }

    fn transformed(&self) -> Vec<Checked> {
        let err = CHECK_PRICE.replace("IBM", "ERR");
        vec![
            ("names that arrive backwards", self.backwards()),
            ("names there and back", self.there_and_back()),
            ("a price in the customers' words", self.price()),
            (
                "a fault of the service, as it is",
                self.refused("CheckPrice", &Message::soap(&err), 500, "Invalid stock symbol : ERR"),
            ),
        ]
    }

    /// Messages that become others, and come back.
    fn made(&self) -> Vec<Checked> {
        vec![
            ("JSON that becomes SOAP", self.becomes("JsonToSoap", Service::JsonToSoap, "application/soap+xml")),
            (
                "SOAP that becomes JSON again, digit for digit",
                self.becomes("JsonToSoapAndBack", Service::JsonToSoapAndBack, "application/json"),
            ),
            (
                "a body of a hundred orders, in JSON",
                self.becomes("PayloadFactoryJson", Service::PayloadFactoryJson, "application/json"),
            ),
            (
                "a body put aside, in JSON",
                self.becomes("EnrichBackAndForthJson", Service::EnrichJson, "application/json"),
            ),
        ]
    }

    /// Whether the answer is what a service of the suite makes of its request, in this content type.
    fn becomes(&self, proxy: &str, service: Service, media_type: &str) -> anyhow::Result<String> {
        let sent = String::from_utf8(service.request(500)?.to_vec())?;
        let answer = self.post(proxy, &Message { media_type: service.media_type(), ..Message::soap(&sent) })?;
        let expected = service.answer(500)?;
        let alike = match service.answers_json() {
            true => answer.body == expected,
            false => canonical::form(answer.body.clone())? == canonical::form(expected)?,
        };
        ensure!(answer.status == 200 && alike, "status {} and {:?}", answer.status, answer.text());
        let said = answer.header("Content-Type").unwrap_or_default();
        ensure!(said.starts_with(media_type), "the content type is {said:?} instead of {media_type:?}");
        Ok(format!("200, {} bytes of {media_type}", answer.body.len()))
    }

    /// What a database holds of the orders it was told of.
    #[cfg(feature = "sql")]
    fn kept(&self) -> Vec<Checked> {
        let attack = ORDER.replace("IBM", "' or '1'='1");
        vec![
            ("an order that is kept in a database", self.counted(ORDER, 1, 2000)),
            ("another one of the same symbol", self.counted(ORDER, 2, 4000)),
            ("a symbol that would be SQL elsewhere", self.counted(&attack, 1, 2000)),
        ]
    }

    #[cfg(feature = "sql")]
    fn counted(&self, order: &str, orders: u32, volume: u32) -> anyhow::Result<String> {
        let text = self.post("Ledger", &Message::soap(order))?.text();
        let expected = format!("<orders>{orders}</orders><volume>{volume}</volume>");
        ensure!(text.contains(&expected), "{text:?} has no {expected:?}");
        Ok(expected)
    }

    /// Whether the backend gets the names backwards, and the texts as they were.
    fn backwards(&self) -> anyhow::Result<String> {
        let text = self.post("BackwardsOrders", &Message::soap(ORDER))?.text();
        for part in ["<m:skcotSyub", "<redro><lobmys>IBM</lobmys>", "<emulov>2000</emulov></redro>"] {
            ensure!(text.contains(part), "{text:?} has no {part:?}");
        }
        ensure!(!text.contains("order"), "{text:?} has a name that goes forwards");
        Ok("<redro><lobmys>IBM</lobmys>…".to_owned())
    }

    fn there_and_back(&self) -> anyhow::Result<String> {
        let answer = self.post("ReversedOrders", &Message::soap(ORDER))?;
        // The stylesheets take the white space between orders for what it is: indentation.
        let (text, sent) = (without_indentation(&answer.text()), without_indentation(ORDER));
        ensure!(answer.status == 200 && text == sent, "status {} and {text:?} instead of {sent:?}", answer.status);
        Ok("200, every name as it was sent".to_owned())
    }

    /// Whether the price is the one that the service gives to those who ask it in its own words.
    fn price(&self) -> anyhow::Result<String> {
        let answer = self.post("CheckPrice", &Message::soap(CHECK_PRICE))?.text();
        let between = |text: &str, start: &str| Some(text.split_once(start)?.1.split_once('<')?.0.to_owned());
        let quote = r#"<getQuote xmlns="http://services.samples"><request><symbol>IBM</symbol></request></getQuote>"#;
        let (price, last) = (between(&answer, "<x:Price>"), between(&stockquote::answer(SEED, quote), "<ns:last>"));
        match (price, last) {
            (Some(price), Some(last)) if price == last => Ok(format!("IBM at {price}")),
            (_, last) => bail!("{answer:?} does not have the price {last:?}"),
        }
    }

    fn secured(&self) -> Vec<Checked> {
        let sealed = || self.seal().map(|(text, _)| text);
        let refused = |text: &str, why: &str| self.refused("SecureOrders", &Message::soap(text), 500, why);
        let changed = |text: String| {
            // A letter in the middle of the last cipher value, which is the body's.
            let at = text.rfind("CipherValue>").map(|end| end - "</xenc:".len() - 40).unwrap_or_default();
            let other = if text[at..].starts_with('A') { "B" } else { "A" };
            format!("{}{other}{}", &text[..at], &text[at + 1..])
        };
        vec![
            ("signed and encrypted, the answer too", self.sealed_and_opened()),
            ("an order that nobody secured", refused(ORDER, "InvalidSecurity")),
            ("one letter of the ciphertext changed", sealed().and_then(|text| refused(&changed(text), "FailedCheck"))),
            (
                "the same secured order twice",
                sealed().and_then(|text| {
                    ensure!(self.post("SecureOrders", &Message::soap(&text))?.status == 200, "the first was refused");
                    refused(&text, "FailedCheck")
                }),
            ),
            ("a plain client's order to a secured service", self.plain_to_secured()),
        ]
    }

    /// An order as a client secures it, and what its answer refers to.
    fn seal(&self) -> anyhow::Result<(String, Conversation)> {
        let order = Document::parse(ORDER.as_bytes().to_vec(), &Options::default())?;
        let secured = self.client()?.secure(order, &Departure { now: SystemTime::now(), conversation: None })?;
        Ok((String::from_utf8(secured.bytes)?, secured.conversation))
    }

    fn sealed_and_opened(&self) -> anyhow::Result<String> {
        let (text, conversation) = self.seal()?;
        ensure!(!text.contains(">IBM<"), "{text:?} can be read");
        let answer = self.post("SecureOrders", &Message::soap(&text))?;
        ensure!(answer.status == 200 && !answer.text().contains(">IBM<"), "{} {:?}", answer.status, answer.text());
        let arrival = Arrival {
            now: SystemTime::now(),
            tls: false,
            client_certificate: false,
            replays: &Replays::in_memory(1, SystemTime::UNIX_EPOCH),
            conversation: Some(&conversation),
            xml: &Options::default(),
        };
        let verified = self.client()?.verify(Document::parse(answer.body, &Options::default())?, &arrival)?;
        let mut clear = Vec::new();
        write(&verified.document, verified.document.document_node(), &WriteOptions::default(), &mut clear);
        let clear = String::from_utf8(clear)?;
        ensure!(clear.contains(content(ORDER)), "{clear:?} is not what was sent");
        let signer = verified.findings.signer.context("the answer has a signer")?;
        Ok(format!("200, signed by {}", signer.subject().text()))
    }

    fn plain_to_secured(&self) -> anyhow::Result<String> {
        let answer = self.post("PlainOrders", &Message::soap(ORDER))?;
        let text = answer.text();
        ensure!(answer.status == 200 && text.contains(content(ORDER)), "status {} and {text:?}", answer.status);
        ensure!(!text.contains("Security"), "{text:?} has a header that is none of the client's business");
        Ok("200, in clear again".to_owned())
    }

    fn at_an_api(&self) -> Vec<Checked> {
        let asked = |method: &str, path: &str, status: u16, header: (&str, Option<&str>)| -> anyhow::Result<String> {
            let request = format!("{method} /orders/1{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
            let answer = raw::exchange(self.address, request.as_bytes())?;
            ensure!(answer.status == status, "status {} and {:?} instead of {status}", answer.status, answer.text());
            let (name, value) = header;
            ensure!(answer.header(name) == value, "{name} is {:?} instead of {value:?}", answer.header(name));
            Ok(status.to_string())
        };
        vec![
            ("a resource of an API", asked("GET", "/4711?fields=price", 200, ("X-Order", Some("4711")))),
            ("a method that no resource has", asked("DELETE", "/files/4711", 405, ("X-Order", None))),
            ("a path that no resource has", asked("GET", "/a/b/c", 404, ("X-Order", None))),
        ]
    }

    fn split(&self) -> Vec<Checked> {
        vec![
            ("one question split into three, the answers joined", self.joined()),
            (
                "JSON split into its elements, the answers joined",
                self.becomes("IterateAndAggregateJson", Service::IterateJson, "application/json"),
            ),
            (
                "JSON sent to eight backends, the answers joined",
                self.becomes("CloneAndAggregate8", Service::CloneJson, "application/json"),
            ),
        ]
    }

    /// Whether one message with the quotes of all symbols comes back.
    fn joined(&self) -> anyhow::Result<String> {
        let answer = self.post("Portfolio", &Message::soap(PORTFOLIO))?;
        let text = answer.text();
        let quotes = text.matches("</ns:getQuoteResponse>").count();
        ensure!(answer.status == 200 && quotes == 3, "status {} and {quotes} quotes in {text:?}", answer.status);
        for symbol in ["IBM", "SUN", "MSFT"] {
            ensure!(text.contains(&format!(">{symbol}<")), "{text:?} has no quote of {symbol}");
        }
        Ok("200, three quotes in one envelope".to_owned())
    }

    /// Whether every order arrives though one of two desks is down.
    fn shared(&self) -> anyhow::Result<String> {
        for _ in 0..6 {
            let answer = self.post("SharedOrders", &Message::soap(ORDER))?;
            ensure!(answer.status == 200 && answer.text() == ORDER, "{} {:?}", answer.status, answer.text());
        }
        Ok("six of six orders arrive".to_owned())
    }

    /// Whether the stand-in answers where the first backend is too slow.
    fn covered(&self) -> anyhow::Result<String> {
        let answer = self.post("CoveredOrders", &Message::soap(ORDER))?;
        ensure!(answer.status == 200 && answer.text() == ORDER, "{} {:?}", answer.status, answer.text());
        ensure!(answer.header("X-Answered") == Some("after all"), "the flow did not go on");
        Ok("200, by the stand-in".to_owned())
    }

    fn failures(&self) -> Vec<Checked> {
        let fault = |proxy: &str, status: u16, code: &str| self.refused(proxy, &Message::soap(ORDER), status, code);
        vec![
            ("one of two balanced backends down", self.shared()),
            ("backend too slow, another stands in", self.covered()),
            ("backend down", fault("Down", 502, "101503")),
            ("backend down, fault sequence answers", fault("Caught", 503, "101503")),
            ("backend too slow", fault("Slow", 504, "101504")),
            ("backend stops half-way", self.broken_off()),
        ]
    }

    /// Whether a message goes that way, and arrives as it should.
    fn routed(&self, proxy: &str, message: &Message<'_>, route: &str, arrives: &str) -> anyhow::Result<String> {
        let answer = self.post(proxy, message)?;
        ensure!(answer.status == 200, "status {} and {:?} instead of 200", answer.status, answer.text());
        let chosen = answer.header("X-Chosen-Route");
        ensure!(chosen == Some(route), "routed to {chosen:?} instead of {route:?}");
        ensure!(answer.text() == arrives, "the backend got {:?} instead of {arrives:?}", answer.text());
        Ok(format!("200, by {route}"))
    }

    /// Whether a message is answered with that status and a text or header that says why.
    fn refused(&self, proxy: &str, message: &Message<'_>, status: u16, why: &str) -> anyhow::Result<String> {
        let answer = self.post(proxy, message)?;
        ensure!(answer.status == status, "status {} instead of {status}", answer.status);
        let said = answer.text() + answer.header("X-Error-Code").unwrap_or_default();
        ensure!(said.contains(why), "{said:?} does not say {why}");
        Ok(if why.is_empty() { status.to_string() } else { format!("{status}, saying {why:?}") })
    }

    fn broken_off(&self) -> anyhow::Result<String> {
        match self.post("Half", &Message::soap(ORDER)) {
            // Nothing of it had been passed on when it broke off, so the client could be told.
            Ok(answer) if answer.status == 502 => Ok(format!("502, {}", answer.text().trim())),
            Ok(answer) => bail!("status {} and a whole answer of {} bytes", answer.status, answer.body.len()),
            Err(raw::Error::Closed(bytes) | raw::Error::Io(_, bytes)) => {
                Ok(format!("connection closed after {} bytes, so that the client sees it", bytes.len()))
            }
            Err(error) => bail!(error),
        }
    }

    fn post(&self, proxy: &str, message: &Message<'_>) -> Result<raw::Answer, raw::Error> {
        let request = format!(
            "POST /services/{proxy} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\n{}Content-Length: {}\r\n\r\n{}",
            self.address,
            message.media_type,
            message.lines,
            message.body.len(),
            message.body,
        );
        raw::exchange(self.address, request.as_bytes())
    }
}

/// The text without white space between tags.
fn without_indentation(text: &str) -> String {
    text.split('>').map(str::trim_start).collect::<Vec<_>>().join(">").trim_end().to_owned()
}
