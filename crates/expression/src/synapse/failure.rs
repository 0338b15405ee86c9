//! Why an expression gives no value.

use myelin_flow::fault::Fault;
use myelin_json as json;

/// What parts of an expression give, or why not.
pub(super) type Result<T> = std::result::Result<T, Failure>;

/// Why a part of an expression gives nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// Something is missing, or of the wrong type: the expression is empty then, which is said in the log.
    Nothing(String),
    /// The message cannot be read, or the work is without bound: a fault of the flow.
    Fault(Box<Fault>),
}

impl Failure {
    /// A result that would be too long.
    pub(super) fn too_long(limit_bytes: usize) -> Failure {
        let detail = format!("its text is longer than {limit_bytes} bytes");
        Failure::Fault(Fault::bus("An expression could not be evaluated").with_detail(detail))
    }
}

impl From<Box<Fault>> for Failure {
    fn from(fault: Box<Fault>) -> Failure {
        Failure::Fault(fault)
    }
}

impl From<json::Error> for Failure {
    fn from(error: json::Error) -> Failure {
        match error {
            json::Error::NotFound | json::Error::Inapplicable(_) => Failure::Nothing(error.to_string()),
            error => Failure::Fault(Fault::bus("An expression could not be evaluated").with_detail(error.to_string())),
        }
    }
}
