//! What surrounds an exchange while it runs.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::UNIX_EPOCH;

use myelin_json::Rules;
use myelin_xpath::Moment;

use crate::branch::Stage;
use crate::bus::Bus;
use crate::engine::{Arrival, Counts, Engine};
use crate::service::Service;
use crate::transport::Transport;

/// What stays the same while an exchange runs.
pub(crate) struct Scene<'a> {
    pub(crate) bus: &'a Bus,
    pub(crate) transport: &'a dyn Transport,
    pub(crate) arrival: Arrival<'a>,
    pub(crate) service: Service<'a>,
    /// What is under way on this thread.
    pub(crate) counts: &'a Counts,
    pub(crate) ground: Ground<'a>,
}

/// What the flows of a request stand on.
pub(crate) enum Ground<'a> {
    /// The first flow: a stage is made when another one begins.
    Engine(&'a Engine, &'a OnceCell<Rc<Stage>>),
    /// One that runs beside it.
    Stage(&'a Rc<Stage>),
}

impl<'a> Scene<'a> {
    /// Whether this thread has other exchanges under way, which would wait for long work done here.
    pub(crate) fn is_busy(&self) -> bool {
        self.counts.exchanges.get() > 1
    }

    /// The time, as expressions are told it.
    pub(crate) fn moment(&self) -> Option<Moment> {
        let since = self.transport.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i128::try_from(since.as_nanos()).ok().map(|nanos| Moment::at(nanos, Some(0)))
    }

    /// How paths into JSON are followed on this bus.
    pub(crate) fn json_rules(&self) -> Rules {
        Rules { duplicates: self.bus.settings.json_duplicate_keys, ..Rules::default() }
    }

    /// What flows beside this one stand on; made when it is first asked for.
    pub(crate) fn stage(&self) -> &'a Rc<Stage> {
        match self.ground {
            Ground::Engine(engine, stage) => stage.get_or_init(|| engine.stage(self)),
            Ground::Stage(stage) => stage,
        }
    }
}
