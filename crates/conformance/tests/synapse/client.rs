//! What the sample clients of Apache Synapse send: stock quotes, orders, and requests of load-balancing clients.

use std::fmt::Write as _;

/// A request that is still to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    /// Path and query, or a whole URL where the bus is used as a proxy.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";

/// A SOAP 1.1 message of an operation, to `/`.
fn soap(operation: &str, payload: &str) -> Request {
    Request {
        method: "POST",
        target: "/".to_owned(),
        headers: vec![
            ("Content-Type".to_owned(), "text/xml; charset=UTF-8".to_owned()),
            ("SOAPAction".to_owned(), format!("\"urn:{operation}\"")),
        ],
        body: format!(
            r#"<soapenv:Envelope xmlns:soapenv="{SOAP11}"><soapenv:Body>{payload}</soapenv:Body></soapenv:Envelope>"#
        ),
    }
}

/// `-Dmode=quote`, the client's default.
pub(crate) fn quote(symbol: &str) -> Request {
    quotes(&[symbol])
}

/// `-Ditr=N`: one message with several requests inside.
pub(crate) fn quotes(symbols: &[&str]) -> Request {
    let mut payload = String::from(r#"<m0:getQuote xmlns:m0="http://services.samples">"#);
    for symbol in symbols {
        // Writing to a string does not fail.
        let _ = write!(payload, "<m0:request><m0:symbol>{symbol}</m0:symbol></m0:request>");
    }
    soap("getQuote", &(payload + "</m0:getQuote>"))
}

/// `-Dmode=customquote`.
pub(crate) fn custom_quote(symbol: &str) -> Request {
    let payload = format!(
        r#"<m0:CheckPriceRequest xmlns:m0="http://services.samples"><m0:Code>{symbol}</m0:Code></m0:CheckPriceRequest>"#
    );
    soap("getQuote", &payload)
}

/// `-Dmode=placeorder`, which has no answer.
pub(crate) fn order(symbol: &str) -> Request {
    let payload = format!(
        r#"<m0:placeOrder xmlns:m0="http://services.samples"><m0:order><m0:price>171.5</m0:price><m0:quantity>1800</m0:quantity><m0:symbol>{symbol}</m0:symbol></m0:order></m0:placeOrder>"#
    );
    soap("placeOrder", &payload)
}

/// `-Drest=true`: plain XML without an envelope.
pub(crate) fn plain_quote(symbol: &str) -> Request {
    let body = format!(
        r#"<m0:getQuote xmlns:m0="http://services.samples"><m0:request><m0:symbol>{symbol}</m0:symbol></m0:request></m0:getQuote>"#
    );
    let headers = vec![
        ("Content-Type".to_owned(), "application/xml; charset=UTF-8".to_owned()),
        ("SOAPAction".to_owned(), "\"urn:getQuote\"".to_owned()),
    ];
    Request { method: "POST", target: "/".to_owned(), headers, body }
}

/// A request of the client for load balancing and failover.
pub(crate) fn balanced() -> Request {
    soap("sampleOperation", r#"<sampleOperation xmlns="http://services.samples"/>"#)
}

/// A GET.
pub(crate) fn get(target: &str) -> Request {
    Request { method: "GET", target: target.to_owned(), headers: Vec::new(), body: String::new() }
}

impl Request {
    /// To another path of the bus.
    pub(crate) fn at(mut self, target: &str) -> Request {
        target.clone_into(&mut self.target);
        self
    }

    /// With a header line.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a content type of its own.
    pub(crate) fn of_type(mut self, media_type: &str) -> Request {
        for (name, value) in &mut self.headers {
            if name == "Content-Type" {
                media_type.clone_into(value);
            }
        }
        self
    }

    /// In SOAP 1.2: `-Dsoapver=soap12`.
    pub(crate) fn soap12(mut self) -> Request {
        let action = self.headers.iter().find(|(name, _)| name == "SOAPAction").map(|(_, value)| value.clone());
        self.headers.retain(|(name, _)| name != "SOAPAction");
        self.body = self.body.replace(SOAP11, SOAP12);
        let action = action.map(|action| format!("; action={action}")).unwrap_or_default();
        self.of_type(&format!("application/soap+xml; charset=UTF-8{action}"))
    }

    /// With a block in the SOAP header.
    pub(crate) fn block(mut self, block: &str) -> Request {
        const END: &str = "</soapenv:Header>";
        if !self.body.contains(END) {
            self.body = self.body.replacen("<soapenv:Body>", "<soapenv:Header></soapenv:Header><soapenv:Body>", 1);
        }
        self.body = self.body.replacen(END, &format!("{block}{END}"), 1);
        self
    }

    /// `-Daddurl=…`: addressed by WS-Addressing to a service behind the bus.
    pub(crate) fn addressed(self, to: &str) -> Request {
        let action = self.headers.iter().find(|(name, _)| name == "SOAPAction").map(|(_, value)| value.clone());
        let action = action.unwrap_or_default();
        let blocks = format!(
            r#"<wsa:To xmlns:wsa="{WSA}">{to}</wsa:To><wsa:MessageID xmlns:wsa="{WSA}">urn:uuid:5b4b7cd2-6c29-4b1d-9d4c-000000000001</wsa:MessageID><wsa:Action xmlns:wsa="{WSA}">{}</wsa:Action>"#,
            action.trim_matches('"')
        );
        self.block(&blocks)
    }

    /// The bytes on the wire.
    pub(crate) fn bytes(&self, host: &str) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        if self.method != "GET" {
            text += &format!("Content-Length: {}\r\n", self.body.len());
        }
        text += "Connection: close\r\n\r\n";
        text += &self.body;
        text.into_bytes()
    }
}

const WSA: &str = "http://www.w3.org/2005/08/addressing";
