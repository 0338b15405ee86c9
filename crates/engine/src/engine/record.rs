//! How an exchange ends whose message somebody has to acknowledge.

use std::cell::{Cell, RefCell};

use myelin_flow::fault::Fault;

/// What is noted of an exchange for whoever has to acknowledge its message.
#[derive(Default)]
pub(super) struct ExchangeRecord {
    /// Whether somebody answered.
    pub(super) answered: Cell<bool>,
    /// Whether the configuration wants the message to come again.
    pub(super) rolled_back: Cell<bool>,
    /// The code and sentence of a fault that no sequence answered.
    pub(super) fault: RefCell<Option<(String, String)>>,
}

impl ExchangeRecord {
    /// A fault came all its way.
    pub(super) fn fail(&self, fault: &Fault) {
        let code = fault.error_code().text().into_owned();
        self.fault.replace(Some((code, fault.message.clone())));
    }
}
