//! Why a body cannot be read or written as what its content type says.

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
        tracing::error!(target: "myelin::content", "a body could not be written: {error:?}");
        Vec::new()
    })
}
