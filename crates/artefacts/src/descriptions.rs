//! Descriptions of services in WSDL: read while the configuration is loaded, or fetched from another server.

mod read;
mod remote;

pub(crate) use read::{file, inline, named_resources, of_endpoint, problem, read};
pub(crate) use remote::RemoteDescription;
