//! URI templates of `http` endpoints: `{uri.var.x}` escaped unless they begin with it, `{+uri.var.x}` as it is (RFC 6570
//! §3.2.2, §3.2.3), and what Synapse expressions `${…}` give as it is.

use http::Uri;

use crate::endpoints::address::{absolute, parse_uri, unusable};
use crate::loader::Loader;
use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_expression::{Expression, Source, SourceScope};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_java_text::percent::push_byte;

/// A URI, or the pieces one is put together from.
pub enum Template {
    /// Without variables.
    Fixed(Uri),
    /// With what its expressions look at.
    Pieces(Vec<Piece>, Need),
}

/// A piece of a template.
pub enum Piece {
    /// As it stands.
    Text(String),
    /// A variable of RFC 6570.
    Hole {
        /// Where its value comes from.
        source: Source,
        /// Whether characters with a meaning in URIs stay as they are: `{+name}`.
        reserved_stays: bool,
    },
    /// A Synapse expression.
    Computed(Box<Expression>),
}

impl Template {
    /// Reads a template.
    ///
    /// Errors: a [`Problem`] at the hole that is not offered, or where a URI without holes is not valid.
    pub fn parse(text: Text<'_>, loader: &mut Loader) -> Result<Template, Problem> {
        let (mut pieces, mut need, mut at) = (Vec::new(), Need::default(), 0);
        let value = text.value;
        while let Some(open) = value[at..].find('{').map(|open| at + open) {
            if let Some(before) = value[at..open].strip_suffix('$') {
                let (expression, end) = Expression::compile_at(text, open - 1, loader)?;
                need = need.and(&expression);
                pieces.extend([Piece::Text(before.to_owned()), Piece::Computed(Box::new(expression))]);
                at = end;
                continue;
            }
            let refuse = |message: String| Err(Problem::new(text.place(open), message));
            let Some(close) = value[open..].find('}').map(|close| open + close) else {
                return refuse("the brace is not closed".to_owned());
            };
            let inside = &value[open + 1..close];
            let (reserved_stays, name) = match inside.strip_prefix('+') {
                Some(name) => (true, name),
                // As in WSO2, a hole that a template begins with is for a whole address: connectors rely on it.
                None => (open == 0, inside),
            };
            if name.contains([',', ':', '*']) {
                return refuse(format!("{{{inside}}}: lists and modifiers are not offered yet"));
            }
            if !name.starts_with("uri.var.") && !name.starts_with("query.param.") {
                // RFC 6570 §2.3: a name is of these characters, and what has no value gives nothing.
                if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.%-".contains(&byte))
                {
                    return refuse(format!("{{{inside}}} is not offered: {{uri.var.…}} and {{query.param.…}} are"));
                }
                let meant = match name.split_once('.') {
                    Some(("payload" | "vars" | "headers" | "properties", _)) => format!("${{{name}}}"),
                    _ => format!("{{uri.var.{name}}}"),
                };
                let message = format!(
                    "{{{inside}}} gives nothing, as only {{uri.var.…}} and {{query.param.…}} have values; \
                     did you mean {meant}?"
                );
                loader.warning(Problem::new(text.place(open), message));
                pieces.push(Piece::Text(value[at..open].to_owned()));
                at = close + 1;
                continue;
            }
            pieces.push(Piece::Text(value[at..open].to_owned()));
            pieces.push(Piece::Hole {
                source: Source::property(SourceScope::Default, name, loader.names()),
                reserved_stays,
            });
            at = close + 1;
        }
        if pieces.is_empty() {
            return absolute(value).map(Template::Fixed).map_err(|message| unusable(text, value, message));
        }
        pieces.push(Piece::Text(value[at..].to_owned()));
        // A template that starts with text says its scheme itself, and a wrong one can be told now.
        if let Some(Piece::Text(start)) = pieces.first()
            && !start.is_empty()
            && !start.starts_with("http://")
            && !start.starts_with("https://")
        {
            return Err(unusable(text, value, format!("{value:?} is not an absolute http or https URI")));
        }
        Ok(Template::Pieces(pieces, need))
    }

    /// The template as it stands in the configuration, but for the names of its holes.
    pub fn text(&self) -> String {
        match self {
            Template::Fixed(uri) => uri.to_string(),
            Template::Pieces(pieces, _) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => text.as_str(),
                    Piece::Hole { .. } => "{…}",
                    Piece::Computed(_) => "${…}",
                })
                .collect(),
        }
    }

    /// Reads as much of the message as its expressions look at.
    ///
    /// Errors: faults of whoever sent a body that cannot be read.
    pub(super) async fn get_ready(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        match self {
            Template::Fixed(_) => Ok(()),
            Template::Pieces(_, need) => need.fulfil(exchange, context).await,
        }
    }

    /// The URI for one exchange.
    pub fn uri(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Uri> {
        let pieces = match self {
            Template::Fixed(uri) => return Ok(uri.clone()),
            Template::Pieces(pieces, _) => pieces,
        };
        let mut uri = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => uri.push_str(text),
                Piece::Hole { source, reserved_stays } => {
                    if let Some(text) = source.read(exchange, context).text() {
                        escape(&text, *reserved_stays, &mut uri);
                    }
                }
                Piece::Computed(expression) => uri.push_str(&expression.text(exchange, context)?.unwrap_or_default()),
            }
        }
        parse_uri(&uri)
    }
}

fn escape(text: &str, reserved_stays: bool, out: &mut String) {
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let reserved = b":/?#[]@!$&'()*+,;=".contains(&byte);
        let escaped_already =
            byte == b'%' && bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        if unreserved || (reserved_stays && (reserved || escaped_already)) {
            out.push(byte as char);
        } else {
            push_byte(byte, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_unless_they_are_declared_reserved() {
        let check = |text: &str, reserved_stays: bool, expected: &str| {
            let mut out = String::new();
            escape(text, reserved_stays, &mut out);
            assert_eq!(out, expected);
        };
        check("a b/c?d", false, "a%20b%2Fc%3Fd");
        check("a b/c?d", true, "a%20b/c?d");
        check("100%", true, "100%25");
        check("%20", true, "%20");
        check("%20", false, "%2520");
        check("é", false, "%C3%A9");
    }
}
