//! Counts of each step of a service, kept only while somebody looks at them.
//!
//! Who looks asks again and again, and each time prolongs the counting by [`LASTS`]. Where nobody asks any more, nothing
//! is counted, and no exchange pays for it (docs/decisions/0023).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use myelin_flow::context::RequestContext;
use myelin_flow::definitions::Node;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::Flow;
use myelin_flow::position::{ServiceIdentity, StepPlace};
use myelin_flow::recorder::{BranchStart, Recorder, StepDecision};

use crate::messages::is_named;

/// How long steps are counted after somebody has asked for their counts.
pub const LASTS: Duration = Duration::from_secs(10);

/// So many services are counted at a time.
const SERVICES: usize = 32;

/// So many different choices of a step are counted; the names of what a configuration can choose are few.
const CHOICES: usize = 64;

/// What was counted of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// How often a message came to it: in a loop once for each turn.
    pub messages: u64,
    /// How often it raised a fault itself; a fault of a step inside of it is counted there.
    pub faults: u64,
    /// How often each of its branches was taken, by what the step decides: `then`, `case IBM`, `route 2`.
    pub chosen: BTreeMap<String, u64>,
}

/// What was counted of the steps of one service.
#[derive(Clone, Debug, Default)]
pub struct ServiceStepCounts {
    /// For how long.
    pub lasted: Duration,
    /// Those that a message came to.
    pub steps: Vec<(StepPlace, StepCounts)>,
}

type Counts = HashMap<StepPlace, StepCounts>;

/// Counts the steps of the services that somebody looks at.
#[derive(Debug, Default)]
pub(crate) struct StepCounting {
    services: RwLock<Vec<Counted>>,
}

/// A service whose steps are counted.
#[derive(Debug)]
struct Counted {
    /// As it was asked for.
    service: String,
    began: Instant,
    ends: Instant,
    counts: Arc<Mutex<Counts>>,
}

impl StepCounting {
    /// What was counted of a service since somebody began to look; it is counted on for [`LASTS`].
    ///
    /// Errors: a sentence, where too many services are counted.
    pub(crate) fn look(&self, service: &str, now: Instant) -> Result<ServiceStepCounts, String> {
        let mut services = self.services.write().unwrap_or_else(PoisonError::into_inner);
        services.retain(|counted| counted.ends > now);
        let Some(counted) = services.iter_mut().find(|counted| counted.service == service) else {
            if services.len() >= SERVICES {
                return Err(format!("the steps of {SERVICES} services are counted already; close one of their pages"));
            }
            let (service, counts) = (service.to_owned(), Arc::default());
            services.push(Counted { service, began: now, ends: now + LASTS, counts });
            return Ok(ServiceStepCounts::default());
        };
        counted.ends = now + LASTS;
        let counts = counted.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = counts.iter().map(|(step, counts)| (step.clone(), counts.clone())).collect();
        Ok(ServiceStepCounts { lasted: now.saturating_duration_since(counted.began), steps })
    }

    /// Forgets the services that nobody looks at any more; whether any is left.
    pub(crate) fn settle(&self, now: Instant) -> bool {
        let mut services = self.services.write().unwrap_or_else(PoisonError::into_inner);
        services.retain(|counted| counted.ends > now);
        !services.is_empty()
    }

    /// Whether nobody looks any more at a service that is still counted.
    pub(crate) fn has_ended(&self, now: Instant) -> bool {
        let services = self.services.read().unwrap_or_else(PoisonError::into_inner);
        services.iter().any(|counted| counted.ends <= now)
    }

    /// What counts an exchange of a service; `None` where nobody looks at it.
    pub(crate) fn recorder(&self, service: &ServiceIdentity, now: Instant) -> Option<Rc<dyn Recorder>> {
        let services = self.services.read().unwrap_or_else(PoisonError::into_inner);
        let mut looked_at = services.iter().filter(|counted| counted.ends > now);
        let counted = looked_at.find(|counted| is_named(service.kind, &service.name, &counted.service))?;
        let exchange = ExchangeCounts { counts: RefCell::default(), all: Arc::clone(&counted.counts) };
        Some(Rc::new(CountingRecorder { exchange: Rc::new(exchange), open: RefCell::default() }))
    }
}

/// Whether a step decides for one of its branches, by the name that the configuration gives it; what other steps decide
/// may be worked out from a message.
pub(crate) fn chooses_branch(step: &StepPlace) -> bool {
    matches!(step.element, "filter" | "switch" | "conditionalRouter")
}

/// What one exchange counts, which is added to the rest when all its flows have ended.
struct ExchangeCounts {
    counts: RefCell<Counts>,
    all: Arc<Mutex<Counts>>,
}

impl Drop for ExchangeCounts {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        for (step, counted) in self.counts.take() {
            let sum = all.entry(step).or_default();
            sum.messages += counted.messages;
            sum.faults += counted.faults;
            for (chosen, count) in counted.chosen {
                add_choice(&mut sum.chosen, &chosen, count);
            }
        }
    }
}

fn add_choice(choices: &mut BTreeMap<String, u64>, chosen: &str, count: u64) {
    if let Some(sum) = choices.get_mut(chosen) {
        *sum += count;
    } else if choices.len() < CHOICES {
        choices.insert(chosen.to_owned(), count);
    }
}

/// Counts one flow.
struct CountingRecorder {
    exchange: Rc<ExchangeCounts>,
    /// The steps that have begun and not ended, the innermost last; and whether one inside has raised a fault.
    open: RefCell<Vec<(StepPlace, bool)>>,
}

impl CountingRecorder {
    fn count(&self, step: &StepPlace, change: impl FnOnce(&mut StepCounts)) {
        let mut counts = self.exchange.counts.borrow_mut();
        match counts.get_mut(step) {
            Some(counted) => change(counted),
            None => change(counts.entry(step.clone()).or_default()),
        }
    }
}

impl Recorder for CountingRecorder {
    fn step_begins(&self, Node { step, .. }: &Node, _: &mut Exchange, _: &RequestContext<'_>) {
        self.count(step, |counts| counts.messages += 1);
        self.open.borrow_mut().push((step.clone(), false));
    }

    fn step_ends(&self, step: &StepPlace, _: &mut Exchange, _: &RequestContext<'_>, outcome: &Outcome<Flow>) {
        let mut open = self.open.borrow_mut();
        let is_handed_on = open.pop().is_some_and(|(_, has_faulted)| has_faulted);
        if outcome.is_err() {
            if !is_handed_on {
                self.count(step, |counts| counts.faults += 1);
            }
            if let Some((_, has_faulted)) = open.last_mut() {
                *has_faulted = true;
            }
        }
    }

    fn decided(&self, decision: &StepDecision) {
        let open = self.open.borrow();
        if let Some((step, _)) = open.last()
            && chooses_branch(step)
        {
            self.count(step, |counts| add_choice(&mut counts.chosen, &decision.chosen, 1));
        }
    }

    fn branch(&self, _: BranchStart) -> Option<Rc<dyn Recorder>> {
        Some(Rc::new(CountingRecorder { exchange: Rc::clone(&self.exchange), open: RefCell::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_counted_as_long_as_somebody_looks() {
        let (counting, now) = (StepCounting::default(), Instant::now());
        let orders = ServiceIdentity::new("proxy", "Orders", None);
        let others = ServiceIdentity::new("proxy", "Others", None);
        let is_counted = |service, after| counting.recorder(service, now + after).is_some();
        assert!(!is_counted(&orders, Duration::ZERO));
        counting.look("proxy Orders", now).unwrap();
        assert!(is_counted(&orders, Duration::ZERO) && !is_counted(&others, Duration::ZERO));
        counting.look("proxy Orders", now + LASTS / 2).unwrap();
        assert!(is_counted(&orders, LASTS));
        assert!(counting.has_ended(now + LASTS * 2) && !counting.has_ended(now + LASTS));
        assert!(!counting.settle(now + LASTS * 2) && !is_counted(&orders, LASTS * 2));
    }

    #[test]
    fn so_many_services_are_counted_and_no_more() {
        let (counting, now) = (StepCounting::default(), Instant::now());
        for number in 0..SERVICES {
            counting.look(&format!("proxy {number}"), now).unwrap();
        }
        assert!(counting.look("proxy more", now).is_err());
        assert!(counting.look("proxy more", now + LASTS).is_ok());
    }
}
