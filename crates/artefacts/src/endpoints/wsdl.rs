//! `wsdl` endpoints: a description says where a port is, and what is spoken there.

use std::sync::Arc;

use http::Uri;
use myelin_wsdl::{Description, Documents, Port};

use crate::descriptions::{self, RemoteDescription};
use crate::endpoints::address::absolute;
use crate::endpoints::format::Shape;
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::context::RequestContext;
use myelin_flow::fault::{Fault, Outcome};

/// What a fault is called whose endpoint has no description, or is not to be tried at the moment.
pub(super) const DESCRIBED_NOT_READY: u32 = 303002;

/// The port of a description that messages are sent to.
pub struct Described {
    service: String,
    port: String,
    origin: Origin,
}

enum Origin {
    /// It was read while the configuration was loaded.
    Held(Arc<Spot>),
    /// Another server holds it.
    Remote(Uri, RemoteDescription<Spot>),
}

/// Where a port is, and what is spoken there.
pub(super) struct Spot {
    pub(super) uri: Uri,
    pub(super) text: String,
    pub(super) shape: Option<Shape>,
}

impl Described {
    /// Reads a `<wsdl>`.
    ///
    /// Errors: a [`Problem`] where something is missing, or where the description is none.
    /// Source: Synapse's `WSDLEndpointFactory`.
    pub(super) fn read(kind: &Element, loader: &mut Loader) -> Result<Described, Problem> {
        let name = |attribute: &str| kind.required(attribute).map(|text| text.value.trim().to_owned());
        let (service, port) = (name("service")?, name("port")?);
        let origin = match kind.attribute("uri").filter(|uri| uri.value.trim_start().starts_with("http")) {
            Some(uri) => {
                let uri = absolute(uri.value).map_err(|message| uri.problem(message))?;
                Origin::Remote(uri, RemoteDescription::new(Vec::new()))
            }
            None => {
                let documents = descriptions::of_endpoint(kind, loader)?;
                let spot = spot(&documents, &service, &port).map_err(|message| kind.problem(message))?;
                Origin::Held(Arc::new(spot))
            }
        };
        Ok(Described { service, port, origin })
    }

    /// Brings the description, where it is not at hand.
    ///
    /// Errors: 303002 where it cannot be had.
    pub(super) async fn get_ready(&self, context: &RequestContext<'_>) -> Outcome<()> {
        let Origin::Remote(uri, remote) = &self.origin else { return Ok(()) };
        let make = |documents: &Documents| spot(documents, &self.service, &self.port);
        let got = remote.get(uri, context.transport, make).await;
        got.map(drop).map_err(|message| Fault::not_ready(DESCRIBED_NOT_READY, message))
    }

    /// Where the port is, as far as that is known.
    pub(super) fn spot(&self) -> Option<Arc<Spot>> {
        match &self.origin {
            Origin::Held(spot) => Some(Arc::clone(spot)),
            Origin::Remote(_, remote) => remote.kept(),
        }
    }

    /// Nobody was there: what another server says is asked for again, for the port may have moved.
    pub(super) fn failed(&self) {
        if let Origin::Remote(_, remote) = &self.origin {
            remote.forget();
        }
    }

    /// Where the description is: where the configuration says; else, by the custom of Axis2 and others, at the address
    /// of the port with `?wsdl` behind it.
    pub(super) fn uri(&self) -> Option<Uri> {
        match &self.origin {
            Origin::Remote(uri, _) => Some(uri.clone()),
            Origin::Held(spot) => format!("{}?wsdl", spot.text).parse().ok(),
        }
    }

    /// What it is, for people.
    pub(super) fn text(&self) -> String {
        format!("port {} of service {} in a description", self.port, self.service)
    }
}

/// Finds a port of a description.
///
/// Errors: a sentence that says what there is instead.
fn spot(documents: &Documents, service: &str, port: &str) -> Result<Spot, String> {
    let ports = Description::ports(documents);
    let of_service: Vec<&Port> = ports.iter().filter(|it| it.service == service).collect();
    if of_service.is_empty() {
        return Err(format!(
            "the description has no service {service:?}{}",
            others(ports.iter().map(|it| &it.service))
        ));
    }
    let Some(found) = of_service.iter().find(|it| it.name == port) else {
        let others = others(of_service.iter().map(|it| &it.name));
        return Err(format!("service {service:?} of the description has no port {port:?}{others}"));
    };
    let uri = absolute(&found.address).map_err(|message| format!("port {port:?} of the description: {message}"))?;
    Ok(Spot { uri, text: found.address.clone(), shape: Shape::spoken(&found.binding) })
}

/// What else there is, as the end of a sentence.
fn others<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.dedup();
    if names.is_empty() { String::new() } else { format!(": it has {}", names.join(", ")) }
}
