//! Answers as XML, in the order and with the types of the original service.

use std::fmt::Write;
use std::rc::Rc;

use myelin_soap::escaped;

use super::market::{Market, Quote};

/// The namespaces an answer is written in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Namespaces {
    /// Of the operation and of `return`.
    pub(super) operation: &'static str,
    /// Of what stands in `return`.
    pub(super) members: &'static str,
}

/// Writes the element `{operation}Response` of one answer.
pub(super) struct Writing<'m> {
    market: &'m Market,
    namespaces: Namespaces,
    out: String,
    /// The prefix of what stands in `return`.
    prefix: &'static str,
    time: Rc<str>,
}

impl<'m> Writing<'m> {
    pub(super) fn new(market: &'m Market, namespaces: Namespaces) -> Writing<'m> {
        // The prefixes are Axis2's.
        let prefix = if namespaces.members == namespaces.operation { "ns" } else { "ax21" };
        Writing { market, namespaces, out: String::new(), prefix, time: market.time().into() }
    }

    /// One quote.
    pub(super) fn quote(mut self, operation: &str, symbol: &str) -> String {
        self.begin(operation, "GetQuoteResponse");
        let quote = self.market.quote(symbol);
        self.members(&escaped(symbol), &quote);
        self.end(operation)
    }

    /// The quotes of many days.
    pub(super) fn history(mut self, operation: &str, symbol: &str) -> String {
        self.begin(operation, "GetFullQuoteResponse");
        let shown = escaped(symbol);
        for (day, quote) in self.market.history(symbol) {
            self.open("tradeHistory", "TradingDay");
            self.member("day", day);
            self.open("quote", "GetQuoteResponse");
            self.members(&shown, &quote);
            self.close("quote");
            self.close("tradeHistory");
        }
        self.end(operation)
    }

    /// A quote for each symbol.
    pub(super) fn activity(mut self, operation: &str, symbols: &[String]) -> String {
        self.begin(operation, "GetMarketActivityResponse");
        for symbol in symbols {
            self.open("quotes", "GetQuoteResponse");
            let quote = self.market.quote(symbol);
            self.members(&escaped(symbol), &quote);
            self.close("quotes");
        }
        self.end(operation)
    }

    fn begin(&mut self, operation: &str, kind: &str) {
        let Namespaces { operation: namespace, members } = self.namespaces;
        let prefix = self.prefix;
        self.write(format_args!("<ns:{operation}Response xmlns:ns=\"{namespace}\"><ns:return "));
        if members != namespace {
            self.write(format_args!("xmlns:{prefix}=\"{members}\" "));
        }
        self.write(format_args!(
            "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"{prefix}:{kind}\">"
        ));
    }

    fn end(mut self, operation: &str) -> String {
        self.write(format_args!("</ns:return></ns:{operation}Response>"));
        self.out
    }

    fn members(&mut self, symbol: &str, quote: &Quote) {
        self.member("change", quote.change);
        self.member("earnings", quote.earnings);
        self.member("high", quote.high);
        self.member("last", quote.last);
        self.member("lastTradeTimestamp", self.time.clone());
        self.member("low", quote.low);
        self.member("marketCap", quote.market_cap);
        self.member("name", format_args!("{symbol} Company"));
        self.member("open", quote.open);
        self.member("peRatio", quote.pe_ratio);
        self.member("percentageChange", quote.percentage_change);
        self.member("prevClose", quote.previous_close);
        self.member("symbol", symbol);
        self.member("volume", quote.volume);
    }

    fn member(&mut self, name: &str, value: impl std::fmt::Display) {
        let prefix = self.prefix;
        self.write(format_args!("<{prefix}:{name}>{value}</{prefix}:{name}>"));
    }

    fn open(&mut self, name: &str, kind: &str) {
        let prefix = self.prefix;
        self.write(format_args!("<{prefix}:{name} xsi:type=\"{prefix}:{kind}\">"));
    }

    fn close(&mut self, name: &str) {
        let prefix = self.prefix;
        self.write(format_args!("</{prefix}:{name}>"));
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
    }
}
