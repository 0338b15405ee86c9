//! The functions of expressions: XPath 1.0's own, a few of 2.0, and Synapse's.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use regex::Regex;

use super::{Expr, Value};
use crate::pattern;

/// A function with what it needs to run.
#[derive(Debug)]
pub(super) enum Function {
    Str,
    Number,
    Boolean,
    Not,
    True,
    False,
    Concat,
    StartsWith,
    EndsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    Floor,
    Ceiling,
    Round,
    UpperCase,
    LowerCase,
    Base64Encode,
    Base64Decode,
    UrlEncode,
    /// Compiled when the configuration is loaded: the pattern is a literal.
    Matches(Option<Regex>),
    /// The same, with the replacement in the `regex` crate's own notation.
    Replace(Option<(Regex, String)>),
}

/// Why a function is not offered, where it is known.
pub(super) fn refused(name: &str) -> Option<&'static str> {
    match name {
        "count"
        | "sum"
        | "name"
        | "local-name"
        | "namespace-uri"
        | "id"
        | "lang"
        | "json-eval"
        | "text"
        | "node"
        | "comment"
        | "processing-instruction" => Some("needs the body: not offered yet"),
        "tokenize" | "hmac-generate" | "encrypt" | "decrypt" | "vault-lookup" | "document" | "evaluate"
        | "system-property" | "xpath" | "registry" => Some("is not offered yet"),
        _ => None,
    }
}

impl Function {
    /// A function by its local name, with the least and most arguments it takes.
    pub(super) fn find(name: &str) -> Option<(Function, usize, usize)> {
        Some(match name {
            "string" => (Function::Str, 1, 1),
            "number" => (Function::Number, 1, 1),
            "boolean" => (Function::Boolean, 1, 1),
            "not" => (Function::Not, 1, 1),
            "true" => (Function::True, 0, 0),
            "false" => (Function::False, 0, 0),
            "concat" => (Function::Concat, 2, 1000),
            "starts-with" => (Function::StartsWith, 2, 2),
            "ends-with" => (Function::EndsWith, 2, 2),
            "contains" => (Function::Contains, 2, 2),
            "substring-before" => (Function::SubstringBefore, 2, 2),
            "substring-after" => (Function::SubstringAfter, 2, 2),
            "substring" => (Function::Substring, 2, 3),
            "string-length" => (Function::StringLength, 1, 1),
            "normalize-space" => (Function::NormalizeSpace, 1, 1),
            "translate" => (Function::Translate, 3, 3),
            "floor" => (Function::Floor, 1, 1),
            "ceiling" => (Function::Ceiling, 1, 1),
            "round" => (Function::Round, 1, 1),
            "upper-case" => (Function::UpperCase, 1, 1),
            "lower-case" => (Function::LowerCase, 1, 1),
            "base64Encode" => (Function::Base64Encode, 1, 2),
            "base64Decode" => (Function::Base64Decode, 1, 2),
            "url-encode" => (Function::UrlEncode, 1, 2),
            "matches" => (Function::Matches(None), 2, 2),
            "replace" => (Function::Replace(None), 3, 3),
            _ => return None,
        })
    }

    /// Whether it means the context node when it has no argument.
    pub(super) fn defaults_to_context(&self) -> bool {
        matches!(self, Function::Str | Function::Number | Function::StringLength | Function::NormalizeSpace)
    }

    /// Settles what can be settled when loading.
    pub(super) fn check(&mut self, arguments: &[Expr]) -> Result<(), String> {
        let literal = |index: usize, what: &str| match arguments.get(index) {
            Some(Expr::Text(text)) => Ok(text),
            _ => Err(format!("the {what} must be a text literal")),
        };
        match self {
            Function::Matches(regex) => *regex = Some(pattern::anywhere(literal(1, "pattern")?)?),
            Function::Replace(prepared) => {
                let regex = pattern::anywhere(literal(1, "pattern")?)?;
                *prepared = Some((regex, replacement(literal(2, "replacement")?)));
            }
            Function::Base64Encode | Function::Base64Decode | Function::UrlEncode if arguments.len() == 2 => {
                let charset = literal(1, "character set")?;
                if !charset.eq_ignore_ascii_case("utf-8") && !charset.eq_ignore_ascii_case("utf8") {
                    return Err(format!("character set {charset:?} is not offered: UTF-8 is"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Calls it.
    pub(super) fn call<'a>(&'a self, arguments: impl Iterator<Item = Value<'a>>) -> Value<'a> {
        let mut arguments = arguments;
        if let Function::Concat = self {
            return Value::Text(Cow::Owned(arguments.map(Value::string).collect()));
        }
        let mut next = || arguments.next().unwrap_or(Value::Nothing);
        let first = next();
        match self {
            Function::Str => Value::Text(first.string()),
            Function::Number => Value::Number(first.number()),
            Function::Boolean => Value::Boolean(first.boolean()),
            Function::Not => Value::Boolean(!first.boolean()),
            Function::True => Value::Boolean(true),
            Function::False => Value::Boolean(false),
            Function::StartsWith => Value::Boolean(first.string().starts_with(&*next().string())),
            Function::EndsWith => Value::Boolean(first.string().ends_with(&*next().string())),
            Function::Contains => Value::Boolean(first.string().contains(&*next().string())),
            Function::SubstringBefore => {
                let (text, part) = (first.string(), next().string());
                let end = text.find(&*part).unwrap_or(0);
                Value::Text(slice(text, 0, end))
            }
            Function::SubstringAfter => {
                let (text, part) = (first.string(), next().string());
                let start = text.find(&*part).map_or(text.len(), |at| at + part.len());
                let end = text.len();
                Value::Text(slice(text, start, end))
            }
            Function::Substring => {
                let (text, start, length) = (first.string(), next().number(), next());
                let length = if length == Value::Nothing { f64::INFINITY } else { length.number() };
                Value::Text(substring(&text, start, length).into())
            }
            Function::StringLength => Value::Number(first.string().chars().count() as f64),
            Function::NormalizeSpace => {
                let text = first.string();
                let words: Vec<&str> = text.split([' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()).collect();
                Value::Text(words.join(" ").into())
            }
            Function::Translate => {
                let (text, from, to) = (first.string(), next().string(), next().string());
                Value::Text(translate(&text, &from, &to).into())
            }
            Function::Floor => Value::Number(first.number().floor()),
            Function::Ceiling => Value::Number(first.number().ceil()),
            // Halves go up, also below zero (§4.4).
            Function::Round => Value::Number((first.number() + 0.5).floor()),
            Function::UpperCase => Value::Text(first.string().to_uppercase().into()),
            Function::LowerCase => Value::Text(first.string().to_lowercase().into()),
            Function::Base64Encode => Value::Text(BASE64.encode(&*first.string()).into()),
            Function::Base64Decode => {
                let decoded = BASE64.decode(first.string().trim()).unwrap_or_default();
                Value::Text(String::from_utf8_lossy(&decoded).into_owned().into())
            }
            Function::UrlEncode => Value::Text(url_encode(&first.string()).into()),
            Function::Matches(regex) => {
                let text = first.string();
                Value::Boolean(regex.as_ref().is_some_and(|regex| regex.is_match(&text)))
            }
            Function::Replace(prepared) => {
                let text = first.string();
                Value::Text(match prepared {
                    Some((regex, by)) => regex.replace_all(&text, by.as_str()).into_owned().into(),
                    None => text,
                })
            }
            Function::Concat => Value::Nothing,
        }
    }
}

fn slice(text: Cow<'_, str>, start: usize, end: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
    }
}

/// Characters from position `start`, counted from 1 and rounded, as §4.2 says it, NaN and infinities included.
fn substring(text: &str, start: f64, length: f64) -> String {
    let round = |number: f64| (number + 0.5).floor();
    let (first, behind) = (round(start), round(start) + round(length));
    let wanted = |position: f64| position >= first && position < behind;
    text.chars().enumerate().filter(|(index, _)| wanted((index + 1) as f64)).map(|(_, letter)| letter).collect()
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let replaced = |letter: char| match from.chars().position(|known| known == letter) {
        Some(index) => to.chars().nth(index),
        None => Some(letter),
    };
    text.chars().filter_map(replaced).collect()
}

/// Escapes what no URI may hold, as Synapse does it: reserved characters such as `/` and `?` stay.
fn url_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"_-!.~'()*,;:$&=?/@".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// XPath's `$1` and `\$` in the notation of the `regex` crate.
fn replacement(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => match rest.next() {
                Some('$') => out.push_str("$$"),
                Some(other) => out.push(other),
                None => {}
            },
            '$' => {
                let mut digits = String::new();
                while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                out.push_str(&if digits.is_empty() { "$$".to_owned() } else { format!("${{{digits}}}") });
            }
            other => out.push(other),
        }
    }
    out
}
