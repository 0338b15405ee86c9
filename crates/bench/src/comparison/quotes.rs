//! The messages of the scenarios that ask for a stock quote.

use crate::stockquote;

/// What quotes depend on, so that answers are known beforehand.
pub(super) const SEED: u64 = 2014;

/// The question that the service understands.
pub(super) fn standard(symbol: &str) -> String {
    envelope(&format!(
        r#"<m:getQuote xmlns:m="http://services.samples"><m:request><m:symbol>{symbol}</m:symbol></m:request></m:getQuote>"#
    ))
}

/// Its answer.
pub(super) fn standard_answer(symbol: &str) -> String {
    stockquote::answer(SEED, &standard(symbol))
}

/// The question in the customers' words.
///
/// Source: sample 8 of Apache Synapse.
pub(super) fn custom(symbol: &str) -> String {
    envelope(&format!(
        r#"<m:CheckPriceRequest xmlns:m="http://services.samples"><m:Code>{symbol}</m:Code></m:CheckPriceRequest>"#
    ))
}

/// Its answer, with the price of the standard one.
pub(super) fn custom_answer(symbol: &str) -> String {
    let standard = standard_answer(symbol);
    let price = standard.split_once("<ns:last>").and_then(|(_, rest)| rest.split_once('<')).map(|(price, _)| price);
    envelope(&format!(
        r#"<x:CheckPriceResponse xmlns:x="http://services.samples/xsd"><x:Code>{symbol}</x:Code><x:Price>{}</x:Price></x:CheckPriceResponse>"#,
        price.unwrap_or_default()
    ))
}

fn envelope(payload: &str) -> String {
    format!(
        r#"<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>{payload}</soapenv:Body></soapenv:Envelope>"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_hold_a_price() {
        assert!(standard_answer("IBM").contains("<ns:symbol>IBM</ns:symbol>"));
        let custom = custom_answer("IBM");
        let price = custom.split("Price>").nth(1).unwrap().trim_end_matches("</x:");
        assert!(price.parse::<f64>().unwrap() > 0.0, "{custom}");
    }
}
