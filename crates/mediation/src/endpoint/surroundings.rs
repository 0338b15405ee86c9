//! What surrounds an endpoint's address: what is done to a request before it leaves, and to its answer.

use std::sync::Arc;

use super::addressing::{Addressed, Related};
use super::format::{Before, Shape};
use crate::config::{Element, Loader};
use crate::exchange::{Direction, Exchange, Scene};
use crate::fault::Outcome;
use crate::security::{self, Protection};
use crate::transport::Outgoing;

/// What is done to the messages of an endpoint; an endpoint that leaves them alone has none.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// What form they are given.
    pub(super) shape: Option<Shape>,
    /// What they are told by WS-Addressing.
    pub(super) addressed: Option<Addressed>,
    /// What protects requests and responses.
    pub(super) security: Option<Arc<Protection>>,
}

/// What is known of a request when its answer comes.
pub(crate) struct Departed {
    before: Option<Before>,
    related: Option<Related>,
    security: Option<security::Departed>,
}

impl Surroundings {
    /// What the attributes of an endpoint's kind ask for; its children are added by whoever reads them.
    pub(super) fn read(kind: &Element, loader: &mut Loader) -> Surroundings {
        Surroundings { shape: Shape::read(kind, loader), ..Surroundings::default() }
    }

    /// The same to be shared, where there is anything to do.
    pub(super) fn shared(self) -> Option<Arc<Surroundings>> {
        let Surroundings { shape, addressed, security } = &self;
        (shape.is_some() || addressed.is_some() || security.is_some()).then(|| Arc::new(self))
    }

    /// Whether the endpoint is sent SOAP, whatever came.
    pub(super) fn is_soap(&self) -> bool {
        self.shape.is_some_and(|shape| shape.is_soap())
    }

    /// Makes a request what the endpoint wants; security comes last, for what is signed must not change.
    ///
    /// Errors: ours, save for a body that its sender did not send whole; nothing has left then.
    pub(super) async fn depart(
        &self,
        outgoing: &mut Outgoing,
        exchange: &Exchange,
        scene: &Scene<'_>,
    ) -> Outcome<Departed> {
        let is_response = exchange.direction == Direction::Response;
        let before = match self.shape {
            Some(shape) => shape.apply(outgoing, exchange, scene).await?,
            None => None,
        };
        let related = match self.addressed {
            Some(addressed) => addressed.apply(outgoing, exchange, scene).await?,
            None => None,
        };
        let security = match &self.security {
            Some(security) => Some(Box::pin(security.depart(outgoing, scene, is_response)).await?),
            None => None,
        };
        Ok(Departed { before, related, security })
    }

    /// Takes back from an answer, which has become the exchange's message, what was done to its request.
    ///
    /// Errors: the backend's.
    pub(super) async fn returned(&self, exchange: &mut Exchange, scene: &Scene<'_>, departed: Departed) -> Outcome<()> {
        if let (Some(security), Some(departed)) = (&self.security, departed.security) {
            Box::pin(security.returned(exchange, scene, departed)).await?;
        }
        if let Some(related) = departed.related {
            related.returned(exchange, scene).await?;
        }
        if let (Some(shape), Some(before)) = (self.shape, departed.before) {
            shape.returned(exchange, scene, before).await?;
        }
        Ok(())
    }
}
