//! Why a body cannot be read or written as what its content type says.

use std::fmt;

use myelin_json::convert::Unconverted;
use myelin_xml::Refusal;

/// Why a body cannot be read or written as what its content type says. The sender's.
#[derive(Debug)]
pub enum Unreadable {
    /// It is not well-formed XML, or XML beyond the limits.
    Xml(myelin_xml::Error),
    /// It is not JSON, or JSON beyond the limits.
    Json(myelin_json::Error),
    /// Its parts, or the heads of them, are wrong; a sentence.
    Multipart(&'static str),
    /// XML cannot hold what is to stand in it.
    Refused(Refusal),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Xml(error) => write!(f, "not well-formed XML: {error}"),
            Unreadable::Json(error) => write!(f, "not JSON: {error}"),
            Unreadable::Multipart(error) => write!(f, "not the parts that its type says: {error}"),
            Unreadable::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl From<Refusal> for Unreadable {
    fn from(refusal: Refusal) -> Unreadable {
        Unreadable::Refused(refusal)
    }
}

impl From<myelin_xml::Error> for Unreadable {
    fn from(error: myelin_xml::Error) -> Unreadable {
        Unreadable::Xml(error)
    }
}

impl From<Unconverted> for Unreadable {
    fn from(error: Unconverted) -> Unreadable {
        match error {
            Unconverted::Json(error) => Unreadable::Json(error),
            Unconverted::Xml(error) => Unreadable::Xml(error),
        }
    }
}

impl From<myelin_json::Error> for Unreadable {
    fn from(error: myelin_json::Error) -> Unreadable {
        Unreadable::Json(error)
    }
}

/// The bytes of a built body, for a sender that cannot hear of a fault. A body that cannot be written is empty, which is
/// said in the log; whoever sends with [`Unreadable`] at hand has noticed before.
pub(crate) fn written_or_empty(bytes: Result<Vec<u8>, Unreadable>) -> Vec<u8> {
    bytes.unwrap_or_else(|error| {
        tracing::error!(target: "myelin::content", "a body could not be written and leaves empty: {error}");
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_a_sentence() {
        let error = myelin_json::Value::parse(b"[1,".to_vec(), &myelin_json::Options::default()).unwrap_err();
        let said = error.to_string();
        assert_eq!(Unreadable::from(error).to_string(), format!("not JSON: {said}"));
        let parts = Unreadable::Multipart("a part has no end").to_string();
        assert_eq!(parts, "not the parts that its type says: a part has no end");
    }
}
