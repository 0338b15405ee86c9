//! Endpoints and descriptions.

use http::Uri;

use super::{Endpoint, Target};

impl Endpoint {
    /// Where its description is, by the custom of Axis2 and others: at its address with `?wsdl` behind it.
    pub(crate) fn description_uri(&self) -> Option<Uri> {
        match &self.target {
            Target::Address { text, .. } => format!("{text}?wsdl").parse().ok(),
            _ => None,
        }
    }
}
