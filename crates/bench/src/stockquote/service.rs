//! From a request to its answer; knows no socket.

use std::cell::RefCell;

use myelin_soap::{Envelope, Version, escaped};
use myelin_xml::{Arena, Document, Options};

use super::arguments::Arguments;
use super::fault::Refusal;
use super::market::Market;
use super::reply::Reply;
use super::writing::Writing;

/// Where the service stands.
pub const PATH: &str = "/services/SimpleStockQuoteService";
/// Its name, with which those of its endpoints begin.
const NAME: &str = "SimpleStockQuoteService";

/// A request, as far as the service looks at it.
pub(super) struct Call<'a> {
    pub(super) method: &'a str,
    /// Path and query.
    pub(super) target: &'a str,
    /// Under which name the caller knows the service.
    pub(super) host: &'a str,
    pub(super) media_type: &'a str,
    pub(super) body: Vec<u8>,
}

/// The service of one thread.
pub(super) struct Service {
    market: Market,
    arena: RefCell<Arena>,
}

const WSDL: &str = include_str!("../../assets/SimpleStockQuoteService.wsdl");
const FORM: &str = "application/x-www-form-urlencoded";

impl Service {
    pub(super) fn new(market: Market) -> Service {
        Service { market, arena: RefCell::default() }
    }

    /// Does what is asked for, or says why not.
    pub(super) fn answer(&self, call: Call<'_>) -> Reply {
        let (path, query) = call.target.split_once('?').unwrap_or((call.target, ""));
        let rest = path.strip_prefix(PATH).and_then(behind_endpoint);
        let Some(operation) = rest.map(|rest| rest.trim_matches('/')) else {
            return Refusal::unknown(format!("there is only {PATH}")).reply(None);
        };
        let is = |media_type: &str| is_of_type(call.media_type, media_type);
        match call.method {
            "GET" if query.eq_ignore_ascii_case("wsdl") => {
                let body = WSDL.replace("{address}", &format!("http://{}{PATH}", escaped(call.host)));
                Reply { status: 200, media_type: "text/xml", body }
            }
            "GET" => self.form(operation, query),
            "POST" if is(FORM) => match String::from_utf8(call.body) {
                Ok(form) => self.form(operation, &form),
                Err(_) => Refusal::wrong("the form is not in UTF-8").reply(None),
            },
            "POST" => {
                let versions = [Version::Soap11, Version::Soap12];
                let said = versions.into_iter().find(|version| is(version.media_type()));
                self.xml(said, call.body)
            }
            _ => Refusal::unknown("only GET and POST are known").reply(None),
        }
    }

    fn form(&self, operation: &str, form: &str) -> Reply {
        let result = Arguments::of_form(form).and_then(|arguments| self.operate(operation, &arguments));
        match result {
            Ok(response) => Reply::of(None, response),
            Err(refusal) => refusal.reply(None),
        }
    }

    /// `said` is the SOAP the media type promises, which decides where the body does not get that far.
    fn xml(&self, said: Option<Version>, body: Vec<u8>) -> Reply {
        let document = match Document::parse_in(body, &Options::default(), self.arena.take()) {
            Ok(document) => document,
            Err(error) => return Refusal::wrong(format!("the body is no XML: {error}")).reply(said),
        };
        let envelope = Envelope::of(&document);
        let version = envelope.map(|envelope| envelope.version);
        let element = match envelope {
            Some(envelope) => envelope.payload(&document),
            None => document.root_element(),
        };
        let result = match element {
            Some(element) => Arguments::of_element(&document, element)
                .and_then(|(operation, arguments)| self.operate(operation, &arguments)),
            None => Err(Refusal::wrong("the SOAP body is empty")),
        };
        self.arena.replace(document.into_arena());
        match result {
            Ok(response) => Reply::of(version, response),
            Err(refusal) => refusal.reply(version.or(said)),
        }
    }

    /// The element that answers; `None` where the operation has no answer.
    fn operate(&self, operation: &str, arguments: &Arguments) -> Result<Option<String>, Refusal> {
        let writing = || Writing::new(&self.market, arguments.namespaces);
        let one = || match &arguments.symbols[..] {
            [symbol] => Ok(symbol),
            symbols => Err(Refusal::wrong(format!("{operation} needs one symbol, not {}", symbols.len()))),
        };
        match operation {
            "getQuote" if one()? == "ERR" => Err(Refusal::failure("Invalid stock symbol : ERR")),
            "getQuote" | "getSimpleQuote" => Ok(Some(writing().quote(operation, one()?))),
            "getFullQuote" => Ok(Some(writing().history(operation, one()?))),
            "getMarketActivity" => Ok(Some(writing().activity(operation, &arguments.symbols))),
            "placeOrder" => {
                one()?;
                let is_number = |value: &Option<String>| value.as_ref().is_some_and(|text| text.parse::<f64>().is_ok());
                let is_count = |value: &Option<String>| value.as_ref().is_some_and(|text| text.parse::<i32>().is_ok());
                if !is_number(&arguments.price) || !is_count(&arguments.quantity) {
                    return Err(Refusal::wrong("placeOrder needs a price and a quantity"));
                }
                Ok(None)
            }
            other => Err(Refusal::unknown(format!("unknown operation {other:?}"))),
        }
    }
}

/// What stands in a path behind the service and, where one is named, its endpoint.
///
/// Source: the names that Axis2 gives to the ports of a service in its description.
fn behind_endpoint(rest: &str) -> Option<&str> {
    let Some(named) = rest.strip_prefix('.') else {
        return Some(rest).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    };
    let (name, rest) = named.split_at(named.find('/').unwrap_or(named.len()));
    let transport = name.strip_prefix(NAME)?.strip_suffix("Endpoint")?;
    let is_known = ["Http", "Https"]
        .iter()
        .any(|known| transport.strip_prefix(known).is_some_and(|binding| matches!(binding, "" | "Soap11" | "Soap12")));
    is_known.then_some(rest)
}

/// Whether it is that media type, whatever its parameters.
fn is_of_type(media_type: &str, wanted: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(wanted)
}
