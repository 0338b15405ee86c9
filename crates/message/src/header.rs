//! The header names the bus itself acts on, recognised once when a head is parsed.

/// A header name the bus knows, or [`HeaderId::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "each variant is the header of that name")]
pub enum HeaderId {
    Other,
    ActivityId,
    Connection,
    ContentLength,
    ContentType,
    Date,
    Expect,
    Host,
    KeepAlive,
    ProxyAuthenticate,
    ProxyAuthorization,
    ProxyConnection,
    Server,
    Te,
    Trailer,
    TransferEncoding,
    Upgrade,
    UserAgent,
    Via,
    XForwardedFor,
    XForwardedHost,
    XForwardedProto,
}

/// Known names, grouped by length so that an unknown name is compared with few of them.
const KNOWN: &[(&str, HeaderId)] = &[
    ("activityid", HeaderId::ActivityId),
    ("connection", HeaderId::Connection),
    ("content-length", HeaderId::ContentLength),
    ("content-type", HeaderId::ContentType),
    ("date", HeaderId::Date),
    ("expect", HeaderId::Expect),
    ("host", HeaderId::Host),
    ("keep-alive", HeaderId::KeepAlive),
    ("proxy-authenticate", HeaderId::ProxyAuthenticate),
    ("proxy-authorization", HeaderId::ProxyAuthorization),
    ("proxy-connection", HeaderId::ProxyConnection),
    ("server", HeaderId::Server),
    ("te", HeaderId::Te),
    ("trailer", HeaderId::Trailer),
    ("transfer-encoding", HeaderId::TransferEncoding),
    ("upgrade", HeaderId::Upgrade),
    ("user-agent", HeaderId::UserAgent),
    ("via", HeaderId::Via),
    ("x-forwarded-for", HeaderId::XForwardedFor),
    ("x-forwarded-host", HeaderId::XForwardedHost),
    ("x-forwarded-proto", HeaderId::XForwardedProto),
];

impl HeaderId {
    /// Recognises a header name, whatever its case.
    pub fn of(name: &[u8]) -> HeaderId {
        // Length and first letter rule out nearly all of the table before any text is compared.
        let Some(first) = name.first().map(u8::to_ascii_lowercase) else { return HeaderId::Other };
        for (known, id) in KNOWN {
            if known.len() == name.len() && known.as_bytes()[0] == first && known.as_bytes().eq_ignore_ascii_case(name)
            {
                return *id;
            }
        }
        HeaderId::Other
    }
}

/// Header lines by which a client proves who it is: those of RFC 9110 §11 and RFC 6265, and the usual ones of API gateways.
const CREDENTIALS: [&str; 10] = [
    "Authorization",
    "Proxy-Authorization",
    "Cookie",
    "Cookie2",
    "ApiKey",
    "Api-Key",
    "X-API-Key",
    "X-Auth-Token",
    "X-JWT-Assertion",
    "Internal-Key",
];

/// Whether a header of that name holds what proves who a client is: a password, a session, a key.
pub fn is_credential(name: &str) -> bool {
    CREDENTIALS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether `name` is a field name (RFC 9110 §5.1: a token).
pub fn is_token(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|&byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether `value` can stand in a field line (RFC 9110 §5.5: no control characters but the tab).
pub fn is_value(value: &[u8]) -> bool {
    value.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_recognised_in_any_case() {
        assert_eq!(HeaderId::of(b"Content-LENGTH"), HeaderId::ContentLength);
        assert_eq!(HeaderId::of(b"TE"), HeaderId::Te);
        assert_eq!(HeaderId::of(b"X-Content-Length"), HeaderId::Other);
        assert_eq!(HeaderId::of(b""), HeaderId::Other);
    }
}
