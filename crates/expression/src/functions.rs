//! Synapse's own functions; those of XPath are the library's.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use myelin_content::Charset;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_java_text::{date, percent};
use myelin_wss::algorithm::{DigestMethod, KeyTransport};
use myelin_wss::crypto::hmac;
use myelin_wss::keys::{Certificate, Identity};
use myelin_xpath::{Atomic, Error, Item, Value};

use crate::source::{Source, SourceScope};

/// A function that the bus calls while serving.
#[derive(Clone, Debug)]
pub(super) enum Function {
    /// `get-property` with a name that is worked out.
    Property(SourceScope),
    /// `get-property('SYSTEM_DATE', format)`; the format comes last.
    Date,
    Base64Encode(Charset),
    Base64Decode(Charset),
    UrlEncode(Charset),
    /// `hmac-generate`: the keyed digest in hexadecimal digits.
    Hmac(DigestMethod),
    /// `encrypt`: what only the owner of the certificate can read, in base64.
    Encrypt(Arc<Certificate>, KeyTransport),
    Decrypt(Arc<Identity>, KeyTransport),
}

impl Function {
    /// Calls it; how many arguments it has was checked when it was compiled.
    pub(super) fn call<'a>(
        &self,
        arguments: &[Value<'_>],
        exchange: &'a Exchange,
        context: &'a RequestContext<'a>,
    ) -> Result<Value<'a>, Error> {
        let last = arguments.len().saturating_sub(1);
        let argument = |index: usize| arguments.get(index).cloned().unwrap_or(Value::EMPTY).string();
        let failed = |why: &dyn std::fmt::Display| Error::Host(why.to_string());
        let text = match self {
            Function::Property(base) => {
                return Ok(Source::read_named(*base, &argument(last), exchange, context).into());
            }
            Function::Date => date::format(context.transport.now(), &argument(last)),
            Function::Base64Encode(charset) => BASE64.encode(charset.encode_text(&argument(0))),
            // As in Synapse, blanks around it do not count, and what is no base64 is empty.
            Function::Base64Decode(charset) => {
                charset.decode_text(&BASE64.decode(argument(0).trim()).unwrap_or_default()).trim().to_owned()
            }
            Function::UrlEncode(charset) => url_encode(&charset.encode_text(&argument(0))),
            Function::Hmac(digest) => {
                let digest = hmac(*digest, argument(1).as_bytes(), argument(0).as_bytes());
                digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
            }
            Function::Encrypt(certificate, transport) => {
                let encrypted = certificate.public_key().encrypt(*transport, argument(0).as_bytes());
                BASE64.encode(encrypted.map_err(|error| failed(&error))?)
            }
            Function::Decrypt(identity, transport) => {
                let bytes = BASE64.decode(argument(0).trim()).map_err(|error| failed(&error))?;
                let plain = identity.key.decrypt(*transport, &bytes, None).map_err(|error| failed(&error))?;
                String::from_utf8_lossy(plain.as_ref()).into_owned()
            }
        };
        Ok(Value::Item(Item::Atomic(Atomic::from(text))))
    }
}

/// Escapes what no URI may hold, as Synapse does it: reserved characters such as `/` and `?` stay.
fn url_encode(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"_-!.~'()*,;:$&=?/@".contains(&byte);
    percent::push(text, is_kept, &mut out);
    out
}
