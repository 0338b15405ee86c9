//! Synapse's own functions; those of XPath are the library's.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use myelin_xpath::{Atomic, Error, Item, Value};

use super::host::value;
use super::source::{Base, Source};
use crate::date;
use crate::exchange::{Exchange, Scene};

/// A function that the bus calls while serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// `get-property` with a name that is worked out.
    Property(Base),
    /// `get-property('SYSTEM_DATE', format)`; the format comes last.
    Date,
    Base64Encode,
    Base64Decode,
    UrlEncode,
}

impl Function {
    /// Calls it; how many arguments it has was checked when it was compiled.
    pub(super) fn call<'a>(
        self,
        arguments: &[Value<'_>],
        exchange: &'a Exchange,
        scene: &'a Scene<'a>,
    ) -> Result<Value<'a>, Error> {
        let last = arguments.len().saturating_sub(1);
        let argument = |index: usize| arguments.get(index).cloned().unwrap_or(Value::EMPTY).string();
        let text = match self {
            Function::Property(base) => {
                return Ok(value(Source::read_named(base, &argument(last), exchange, scene)));
            }
            Function::Date => date::format(scene.transport.now(), &argument(last)),
            Function::Base64Encode => BASE64.encode(&*argument(0)),
            Function::Base64Decode => {
                let decoded = BASE64.decode(argument(0).trim()).unwrap_or_default();
                String::from_utf8_lossy(&decoded).into_owned()
            }
            Function::UrlEncode => url_encode(&argument(0)),
        };
        Ok(Value::Item(Item::Atomic(Atomic::from(text))))
    }
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
