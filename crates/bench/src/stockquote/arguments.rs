//! What an operation is called with, from XML or from a form.

use myelin_java_text::percent::{Plus, decoded};
use myelin_xml::{Document, Kind, NodeId};

use super::fault::Refusal;
use super::writing::Namespaces;

/// The namespaces that callers use.
const NAMESPACES: [&str; 2] = ["http://services.samples", "http://services.samples/xsd"];
/// Symbols in one request; each makes an answer of some hundred bytes.
const SYMBOLS: usize = 10_000;
/// A symbol is no longer, in bytes; it stands many times in an answer.
const SYMBOL_BYTES: usize = 100;

/// What an operation is called with; which of it is used is the operation's to say.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) symbols: Vec<String>,
    pub(super) quantity: Option<String>,
    pub(super) price: Option<String>,
    /// What the answer is to be written in.
    pub(super) namespaces: Namespaces,
}

impl Arguments {
    fn none() -> Arguments {
        let [operation, _] = NAMESPACES;
        let namespaces = Namespaces { operation, members: operation };
        Arguments { symbols: Vec::new(), quantity: None, price: None, namespaces }
    }

    /// The name of the operation, and what stands in its element.
    ///
    /// Shape: the arguments stand in `request` or `order`, but nobody insists on it.
    pub(super) fn of_element(document: &Document, element: NodeId) -> Result<(&str, Arguments), Refusal> {
        let name = document.qname(element);
        let known = |namespace: &str| NAMESPACES.into_iter().find(|known| *known == namespace);
        let Some(operation) = known(name.namespace) else {
            return Err(Refusal::unknown(format!("unknown operation {{{}}}{}", name.namespace, name.local)));
        };
        let mut arguments = Arguments::none();
        arguments.namespaces = Namespaces { operation, members: operation };
        for node in document.descendants(element).filter(|node| document.kind(*node) == Kind::Element) {
            let name = document.qname(node);
            if arguments.take(name.local, || document.string_value(node).trim().to_owned())? {
                arguments.namespaces.members = known(name.namespace).unwrap_or(operation);
            }
        }
        Ok((name.local, arguments))
    }

    /// From `application/x-www-form-urlencoded`, which a query is too.
    pub(super) fn of_form(form: &str) -> Result<Arguments, Refusal> {
        let mut arguments = Arguments::none();
        for pair in form.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            arguments.take(name, || decoded(value, Plus::Blank).into_owned())?;
        }
        Ok(arguments)
    }

    /// Whether there is an argument of that name.
    fn take(&mut self, name: &str, value: impl FnOnce() -> String) -> Result<bool, Refusal> {
        match name {
            "symbol" | "symbols" => {
                let value = value();
                if value.is_empty() || value.len() > SYMBOL_BYTES {
                    return Err(Refusal::wrong(format!("a symbol has 1 to {SYMBOL_BYTES} bytes")));
                }
                if self.symbols.len() == SYMBOLS {
                    return Err(Refusal::wrong(format!("more than {SYMBOLS} symbols")));
                }
                self.symbols.push(value);
            }
            "quantity" => self.quantity = Some(value()),
            "price" => self.price = Some(value()),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_form_are_decoded_and_half_an_escape_stays() {
        for (value, expected) in [("IBM", "IBM"), ("a+b%20c", "a b c"), ("%c3%A4", "ä"), ("100%", "100%"), ("%4", "%4")]
        {
            assert_eq!(decoded(value, Plus::Blank), expected);
        }
    }

    #[test]
    fn symbols_are_bounded_in_length_and_number() {
        let reason = |form: &str| Arguments::of_form(form).unwrap_err().reason;
        assert_eq!(reason("symbol="), "a symbol has 1 to 100 bytes");
        assert_eq!(reason(&format!("symbol={}", "x".repeat(101))), "a symbol has 1 to 100 bytes");
        assert_eq!(reason(&"symbols=x&".repeat(SYMBOLS + 1)), "more than 10000 symbols");
        assert_eq!(Arguments::of_form(&"symbols=x&".repeat(SYMBOLS)).unwrap().symbols.len(), SYMBOLS);
    }
}
