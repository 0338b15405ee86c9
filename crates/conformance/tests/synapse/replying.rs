//! A backend with WS-Addressing: it answers where a message says, on a connection of its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use myelin_testkit::raw;
use myelin_testkit::service::Response;
use regex::Regex;

/// The receiver has the answer to its own request first.
const BEHIND: Duration = Duration::from_millis(200);

/// The text of the first element of a name, whatever its prefix.
fn text(envelope: &str, name: &str) -> Option<String> {
    let element = Regex::new(&format!(r"<(?:\w+:)?{name}(?:\s[^>]*)?>([^<]+)</")).expect("the name is a word");
    Some(element.captures(envelope)?[1].trim().to_owned())
}

/// Where a message wants its answer, if not on the connection.
fn reply_to(envelope: &str) -> Option<String> {
    let from = envelope.find("ReplyTo")?;
    text(&envelope[from..], "Address").filter(|address| !address.contains("www.w3.org") && !address.contains("xmlsoap"))
}

/// Sends an answer where the request wants it, and accepts the request; or gives the answer back.
pub(crate) fn answered(request: &[u8], answer: Response) -> Response {
    let envelope = String::from_utf8_lossy(request).into_owned();
    let Some(address) = reply_to(&envelope) else { return answer };
    let related = text(&envelope, "MessageID").unwrap_or_default();
    std::thread::spawn(move || {
        std::thread::sleep(BEHIND);
        // Whether it is heard, the client of the bus knows.
        let _ = send(&address, &related, &answer);
    });
    Response { status: 202, ..Response::default() }
}

fn send(address: &str, related: &str, answer: &Response) -> Option<()> {
    let (authority, path) = address.strip_prefix("http://")?.split_once('/')?;
    let (_, port) = authority.split_once(':')?;
    let target = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?));
    let header = format!(
        "<soapenv:Header xmlns:wsa=\"http://www.w3.org/2005/08/addressing\"><wsa:To>{address}</wsa:To>\
         <wsa:MessageID>urn:uuid:5b4b7cd2-6c29-4b1d-9d4c-000000000002</wsa:MessageID>\
         <wsa:Action>urn:getQuoteResponse</wsa:Action><wsa:RelatesTo>{related}</wsa:RelatesTo></soapenv:Header>"
    );
    let body = String::from_utf8_lossy(&answer.body).replacen("<soapenv:Body>", &format!("{header}<soapenv:Body>"), 1);
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: text/xml; charset=UTF-8\r\n\
         SOAPAction: \"urn:getQuoteResponse\"\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    raw::exchange(target, request.as_bytes()).ok().map(drop)
}
