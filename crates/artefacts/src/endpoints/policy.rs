//! What surrounds an endpoint's address: what is done to a request before it leaves, and to its answer.

use std::sync::Arc;

use crate::endpoints::addressing::{Addressed, Related};
use crate::endpoints::authentication::{Again, Authentication, Credentials};
use crate::endpoints::format::{Before, Shape};
use crate::endpoints::wsdl::Described;
use crate::guards::endpoint as endpoint_security;
use crate::guards::{self, Protection};
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::fault::Outcome;
use myelin_flow::property::{Scope, slot};
use myelin_flow::transport::Outgoing;

/// What is done to the messages of an endpoint; an endpoint that leaves them alone has none.
#[derive(Default)]
pub struct EndpointPolicy {
    /// What form they are given.
    pub(super) shape: Option<Shape>,
    /// What says it otherwise.
    pub(super) described: Option<Arc<Described>>,
    /// What they are told by WS-Addressing.
    pub(super) addressed: Option<Addressed>,
    /// How the backend is told who the bus is.
    pub(super) authentication: Option<Authentication>,
    /// What protects requests and responses.
    pub(super) security: Option<Arc<Protection>>,
}

/// What is known of a request when its answer comes.
pub(super) struct SentState {
    before: Option<Before>,
    related: Option<Related>,
    again: Option<Again>,
    security: Option<guards::SentState>,
}

impl EndpointPolicy {
    /// What the attributes of an endpoint's kind ask for; its children are given to [`EndpointPolicy::take`].
    pub(super) fn read(kind: &Element, loader: &mut Loader) -> EndpointPolicy {
        if kind.is("http")
            && let Some(version) = kind.attribute("version")
            && !matches!(version.value.trim(), "" | "1.1")
        {
            let message = format!("HTTP/{} is not offered: requests leave by HTTP/1.1", version.value.trim());
            loader.problem(version.problem(message));
        }
        EndpointPolicy { shape: Shape::read(kind, loader), ..EndpointPolicy::default() }
    }

    /// Reads a child of `kind`, which is an endpoint's kind; whether it is one that belongs here.
    pub(super) fn take(&mut self, child: &Element, kind: &Element, loader: &mut Loader) -> bool {
        match child.name.as_str() {
            "enableAddressing" => {
                let addressed = Addressed::read(child, loader);
                addressed.check(child, kind, self.gives_form() && !self.is_soap(), loader);
                self.addressed = Some(addressed);
            }
            "enableSec" => self.security = endpoint_security(child, loader),
            "authentication" => match Authentication::read(child, loader) {
                Ok(authentication) => self.authentication = Some(authentication),
                Err(problem) => {
                    child.forgive();
                    loader.problem(problem);
                }
            },
            "trustStoreConfigs" => {
                child.forgive();
                let message = "<trustStoreConfigs> is not offered: backends are trusted by the roots of the system, or \
                               by those that --ca names";
                loader.problem(child.problem(message));
            }
            "enableRM" => loader.problem(child.problem("<enableRM> is not offered yet")),
            _ => return false,
        }
        true
    }

    /// The same to be shared, where there is anything to do.
    pub(super) fn shared(self) -> Option<Arc<EndpointPolicy>> {
        let EndpointPolicy { shape, described, addressed, authentication, security } = &self;
        let shaped = shape.is_some() || described.is_some();
        (shaped || addressed.is_some() || authentication.is_some() || security.is_some()).then(|| Arc::new(self))
    }

    /// What form messages are given: what the configuration says, else what a description says.
    fn shape(&self) -> Option<Shape> {
        let Some(described) = &self.described else { return self.shape };
        let spoken = described.spot().and_then(|spot| spot.shape);
        self.shape.map_or(spoken, |shape| Some(shape.or(spoken)))
    }

    /// Whether the endpoint makes each message anew of its XML.
    pub(super) fn gives_form(&self) -> bool {
        self.shape().is_some_and(|shape| shape.gives_form())
    }

    /// Whether the endpoint is sent SOAP, whatever came.
    pub(super) fn is_soap(&self) -> bool {
        self.shape().is_some_and(|shape| shape.is_soap())
    }

    /// Works out what is to be said of the bus with a message, before that is taken away.
    ///
    /// Errors: the bus's, where an expression cannot be evaluated.
    pub(super) fn credentials(
        &self,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<Credentials>> {
        self.authentication.as_ref().map(|authentication| authentication.work_out(exchange, context)).transpose()
    }

    /// Makes a request what the endpoint wants; security comes last of what changes the body, for
    /// what is signed must not change.
    ///
    /// Errors: ours, save for a body that its sender did not send whole; nothing has left then.
    pub(super) async fn depart(
        &self,
        outgoing: &mut Outgoing,
        credentials: Option<Credentials>,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<SentState> {
        let is_response = exchange.direction == Direction::Response;
        let before = match self.shape() {
            Some(shape) => shape.apply(outgoing, exchange, context).await?,
            None => None,
        };
        let is_unaddressed = exchange.properties.is_true(Scope::Axis2, slot::DISABLE_ADDRESSING);
        let related = match self.addressed.filter(|_| !is_unaddressed) {
            Some(addressed) => addressed.apply(outgoing, exchange, context).await?,
            None => None,
        };
        let security = match &self.security {
            Some(security) => Some(Box::pin(security.depart(outgoing, context, is_response)).await?),
            None => None,
        };
        let again = match (&self.authentication, credentials) {
            (Some(authentication), Some(credentials)) => {
                authentication.apply(credentials, outgoing, context, is_response).await?
            }
            _ => None,
        };
        Ok(SentState { before, related, again, security })
    }

    /// Takes back from an answer, which has become the exchange's message, what was done to its request.
    ///
    /// Errors: the backend's.
    pub(super) async fn returned(
        &self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        departed: SentState,
    ) -> Outcome<()> {
        if let (Some(authentication), Some(again)) = (&self.authentication, departed.again) {
            authentication.returned(exchange, context, again).await?;
        }
        if let (Some(security), Some(departed)) = (&self.security, departed.security) {
            Box::pin(security.returned(exchange, context, departed)).await?;
        }
        if let Some(related) = departed.related {
            related.returned(exchange, context).await?;
        }
        if let (Some(shape), Some(before)) = (self.shape(), departed.before) {
            shape.returned(exchange, context, before).await?;
        }
        Ok(())
    }
}
