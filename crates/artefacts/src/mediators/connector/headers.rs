//! The parameter `headers` of an operation: a JSON array of pairs, or of objects with one member each.
//!
//! Source: `RestURLBuilder` of WSO2's connector.

use myelin_json::{NodeId, Options, Type, Value};

use crate::loader::Loader;
use crate::mediators::connector::parameter::setting;
use crate::values::ConfiguredValue;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_expression::{Expression, InlineText};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// The header lines that an operation sets.
pub(super) enum Headers {
    /// Names and values, in which expressions may stand: what they give cannot break the JSON around.
    Listed(Vec<(InlineText, InlineText)>),
    /// What becomes such an array when it has been worked out.
    Computed(ConfiguredValue),
}

/// Pairs of names and values, white space around them left out.
type Pairs = Vec<(String, String)>;

impl Headers {
    /// Reads the parameter.
    ///
    /// Errors: a [`Problem`] where it is neither an array of headers nor has expressions that could make it one.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Headers, Problem> {
        let text = element.text();
        if text.value.is_empty() {
            return Ok(Headers::Listed(Vec::new()));
        }
        match pairs(text.value) {
            Ok(pairs) => {
                let compile = |(name, value): &(String, String), loader: &mut Loader| {
                    Ok((inline(text, name, loader)?, inline(text, value, loader)?))
                };
                pairs.iter().map(|pair| compile(pair, loader)).collect::<Result<_, _>>().map(Headers::Listed)
            }
            Err(message) => match setting(text, loader)? {
                ConfiguredValue::Fixed(_) => Err(element.problem(message)),
                computed => Ok(Headers::Computed(computed)),
            },
        }
    }

    /// The expressions in it.
    pub(super) fn expressions(&self) -> Vec<&Expression> {
        match self {
            Headers::Listed(pairs) => {
                pairs.iter().flat_map(|(name, value)| name.expressions().chain(value.expressions())).collect()
            }
            Headers::Computed(setting) => setting.expression().into_iter().collect(),
        }
    }

    /// The header lines for one message; those without a name are left out, as in WSO2.
    ///
    /// Errors: as [`Expression::text`]; the bus's, where what was worked out is no array of headers.
    pub(super) fn work_out(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Pairs> {
        let mut worked = match self {
            Headers::Listed(listed) => {
                let text =
                    |inline: &InlineText| -> Outcome<String> { Ok(inline.text(exchange, context)?.trim().to_owned()) };
                listed.iter().map(|(name, value)| Ok((text(name)?, text(value)?))).collect::<Outcome<Pairs>>()?
            }
            Headers::Computed(setting) => {
                let text = setting.text(exchange, context)?.unwrap_or_default();
                if text.trim().is_empty() {
                    return Ok(Vec::new());
                }
                pairs(&text).map_err(|message| {
                    Fault::bus("The headers of a connector's operation are no array").with_detail(message)
                })?
            }
        };
        worked.retain(|(name, _)| !name.is_empty());
        Ok(worked)
    }
}

fn inline(text: Text<'_>, value: &str, loader: &mut Loader) -> Result<InlineText, Problem> {
    // An expression in braces is one, too.
    let value = value
        .strip_prefix("{${")
        .and_then(|rest| rest.strip_suffix("}}"))
        .map_or_else(|| value.to_owned(), |inside| format!("${{{inside}}}"));
    InlineText::compile(text.standing_for(&value), loader)
}

/// Reads an array of headers; a comma behind the last of them is let pass, as WSO2's tools write one.
fn pairs(text: &str) -> Result<Pairs, String> {
    let text = text.trim();
    let trailing = text.strip_suffix(']').and_then(|rest| rest.trim_end().strip_suffix(','));
    let bytes = match trailing {
        Some(rest) => format!("{rest}]").into_bytes(),
        None => text.as_bytes().to_vec(),
    };
    let value =
        Value::parse(bytes, &Options::default()).map_err(|error| format!("the headers are no JSON: {error}"))?;
    if value.kind(value.root()) != Type::Array {
        return Err("the headers are no array of JSON".to_owned());
    }
    let items: Vec<NodeId> = value.children(value.root()).collect();
    let pairs = items.into_iter().map(|item| pair(&value, item));
    pairs
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| "a header is an array of its name and its value, or an object with one member".to_owned())
}

fn pair(value: &Value, item: NodeId) -> Option<(String, String)> {
    let parts: Vec<NodeId> = value.children(item).collect();
    let text = |node: NodeId| value.scalar(node).map(|text| text.trim().to_owned());
    match (value.kind(item), parts.as_slice()) {
        (Type::Array, &[name, given]) => Some((text(name)?, text(given)?)),
        (Type::Object, &[given]) => Some((value.key(given)?.trim().to_owned(), text(given)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_pairs_or_objects_of_one_member() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = pairs(text).unwrap_or_else(|message| vec![("error".to_owned(), message)]);
            let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("[]", &[]);
        check(r#"[["A", " 1 "], {"B": "2"}, ]"#, &[("A", "1"), ("B", "2")]);
        check(r#"[["A", 1]]"#, &[("A", "1")]);
        let wrong = "a header is an array of its name and its value, or an object with one member";
        check(r#"[["A"]]"#, &[("error", wrong)]);
        check(r#"[{"A": "1", "B": "2"}]"#, &[("error", wrong)]);
        check("{}", &[("error", "the headers are no array of JSON")]);
        assert!(pairs("[[").is_err());
    }
}
