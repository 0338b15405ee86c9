//! Mediators whose key is worked out for each message: each that a key means is made when it is asked for first, and kept.
//!
//! What keys may mean is read while the configuration is loaded, so that nothing is looked for while serving, and no more
//! is made than there is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::loader::Loader;
use crate::spec::Built;
use myelin_config::choice::Choice;
use myelin_expression::Expression;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Reads, Step};
use myelin_flow::offload::offload;

/// Makes a mediator of a text and its key; a sentence where that cannot be.
type Make = dyn Fn(&str, &str) -> Result<Box<dyn Mediator>, String> + Send + Sync;

/// What was made, or why it could not be.
type Made = Result<Arc<dyn Mediator>, String>;

struct DynamicMediator {
    key: Expression,
    need: Need,
    /// What is meant, for people: `script`, say.
    what: &'static str,
    keys: Arc<Choice<str>>,
    make: Arc<Make>,
    /// By the address of the text: a message can write the key of one in any number of ways.
    made: Mutex<HashMap<usize, Made>>,
}

/// A mediator that is made of what a key means: a local entry, or a file of the registry with one of these extensions.
pub(crate) fn dynamic_mediator(
    key: Expression,
    what: &'static str,
    extensions: &'static [&'static str],
    loader: &mut Loader,
    make: impl Fn(&str, &str) -> Result<Box<dyn Mediator>, String> + Send + Sync + 'static,
) -> Built {
    let need = Need::default().and(&key);
    let keys = loader.keys(extensions);
    Ok(Box::new(DynamicMediator { key, need, what, keys, make: Arc::new(make), made: Mutex::default() }))
}

impl DynamicMediator {
    async fn run(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        self.need.fulfil(exchange, context).await?;
        let key = self.key.text(exchange, context)?.unwrap_or_default().trim().to_owned();
        let Some(text) = self.keys.find(&key) else {
            return Err(Fault::bus(format!("There is no {} {key:?}", self.what)));
        };
        let address = text.as_ptr() as usize;
        let known = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&address).cloned();
        let made = match known {
            Some(made) => made,
            None => {
                let (make, text, name) = (Arc::clone(&self.make), Arc::clone(text), key.clone());
                let made = offload(context, move || make(&name, &text).map(Arc::<dyn Mediator>::from)).await?;
                self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(address, made.clone());
                made
            }
        };
        let faulty = |message| Fault::bus(format!("The {} {key:?} is faulty", self.what)).with_detail(message);
        made.map_err(faulty)?.step(exchange, context).finish().await.1
    }
}

impl Mediator for DynamicMediator {
    fn effect(&self) -> Effect<'_> {
        // Nobody knows what will be asked for.
        Effect::changing(Reads::Built)
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.run(exchange, context).await;
            (exchange, outcome)
        }))
    }
}
