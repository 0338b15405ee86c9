//! Mediators whose key is worked out for each message: each that a key means is made when it is asked for first, and kept.
//!
//! What keys may mean is read while the configuration is loaded, so that nothing is looked for while serving, and no more
//! is made than there is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::apart::apart;
use crate::config::{Choice, Loader};
use crate::content::Need;
use crate::effect::{Effect, Reads};
use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::{Fault, Outcome};
use crate::mediator::{Built, Flow, Mediator, Step};

/// Makes a mediator of a text and its key; a sentence where that cannot be.
type Make = dyn Fn(&str, &str) -> Result<Box<dyn Mediator>, String> + Send + Sync;

/// What was made, or why it could not be.
type Made = Result<Arc<dyn Mediator>, String>;

struct Keyed {
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
pub(super) fn keyed(
    key: Expression,
    what: &'static str,
    extensions: &'static [&'static str],
    loader: &mut Loader,
    make: impl Fn(&str, &str) -> Result<Box<dyn Mediator>, String> + Send + Sync + 'static,
) -> Built {
    let need = Need::default().and(&key);
    let keys = loader.keys(extensions);
    Ok(Box::new(Keyed { key, need, what, keys, make: Arc::new(make), made: Mutex::default() }))
}

impl Keyed {
    async fn run(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        self.need.bring(exchange, scene).await?;
        let key = self.key.text(exchange, scene)?.unwrap_or_default().trim().to_owned();
        let Some(text) = self.keys.find(&key) else {
            return Err(Fault::bus(format!("There is no {} {key:?}", self.what)));
        };
        let address = text.as_ptr() as usize;
        let known = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&address).cloned();
        let made = match known {
            Some(made) => made,
            None => {
                let (make, text, name) = (Arc::clone(&self.make), Arc::clone(text), key.clone());
                let made = apart(scene, move || make(&name, &text).map(Arc::<dyn Mediator>::from)).await?;
                self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(address, made.clone());
                made
            }
        };
        let faulty = |message| Fault::bus(format!("The {} {key:?} is faulty", self.what)).with_detail(message);
        made.map_err(faulty)?.step(exchange, scene).finish().await.1
    }
}

impl Mediator for Keyed {
    fn effect(&self) -> Effect<'_> {
        // Nobody knows what will be asked for.
        Effect::changing(Reads::Built)
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.run(exchange, scene).await;
            (exchange, outcome)
        }))
    }
}
