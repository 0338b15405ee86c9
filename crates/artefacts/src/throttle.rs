//! Throttles: how many requests may be under way at once, and how many may come in a stretch of time.
//!
//! A throttle is shared by the mediators that have its id and its policy, by all threads, and by the buses of a process
//! that reloads. What it remembers is a count for each rule and service, never one for each caller.

mod policy;
mod rules;
mod window;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::loader::Loader;
use crate::throttle::policy::{Access, Policy};
use crate::throttle::window::Window;
use myelin_config::element::Element;
use myelin_config::problem::Problem;

/// A throttle.
#[derive(Debug)]
pub(crate) struct Throttle {
    id: Box<str>,
    policy: Policy,
    /// How many requests are under way.
    inside: AtomicU32,
    /// For each service, the stretches of the rules that control; as many services as the configuration has.
    windows: Mutex<HashMap<String, Box<[Window]>>>,
}

/// Who asks.
pub(crate) struct Caller<'a> {
    /// Its address, where that is one.
    pub address: Option<IpAddr>,
    /// Its name.
    pub domain: &'a str,
}

/// Why a request may not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// As many are under way as may be.
    Full,
    /// A rule denies the caller everything.
    Denied,
    /// More came than may; it takes that long at most until another one passes.
    TooMany(Duration),
}

/// One of the requests that may be under way; dropping it makes room for another.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Throttle>);

impl Throttle {
    /// The throttle with an id and a policy; what it has counted before goes on where both are the same.
    ///
    /// Errors: a [`Problem`] at what the policy cannot mean.
    pub(crate) fn load(id: &str, policy: &Element, loader: &mut Loader) -> Result<Arc<Throttle>, Problem> {
        let mut warnings = Vec::new();
        let read = Policy::read(policy, &mut warnings);
        policy.forgive();
        warnings.into_iter().for_each(|warning| loader.warning(warning));
        let read = read?;
        let identity = format!("{id} {}", policy.source());
        Ok(loader.share("throttle", identity, || Throttle::new(id, read)))
    }

    fn new(id: &str, policy: Policy) -> Throttle {
        Throttle { id: id.into(), policy, inside: AtomicU32::new(0), windows: Mutex::default() }
    }

    /// Lets a request pass, or not; the permit is to be held as long as it is under way.
    pub(crate) fn admit(
        self: &Arc<Throttle>,
        caller: &Caller<'_>,
        service: impl FnOnce() -> String,
        now: Duration,
    ) -> Result<Option<Permit>, Rejection> {
        let permit = self.enter()?;
        // Synapse goes by the address only where no rule is for the name.
        let rule = self.policy.domains.find(caller.domain);
        match rule.or_else(|| self.policy.addresses.find(caller.address)) {
            Some(rule) => self.count(rule, service, now).map(|()| permit),
            None => Ok(permit),
        }
    }

    fn enter(self: &Arc<Throttle>) -> Result<Option<Permit>, Rejection> {
        let Some(at_once) = self.policy.at_once else { return Ok(None) };
        let one_more = |inside: u32| (inside < at_once).then_some(inside + 1);
        match self.inside.fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Some(Permit(Arc::clone(self)))),
            Err(_) => Err(Rejection::Full),
        }
    }

    fn count(&self, rule: usize, service: impl FnOnce() -> String, now: Duration) -> Result<(), Rejection> {
        let rate = match &self.policy.rules[rule] {
            Access::Allowed => return Ok(()),
            Access::Denied => return Err(Rejection::Denied),
            Access::Controlled(rate) => rate,
        };
        // Counts are as they were or as they are to be, whatever happened to who held them.
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let none = || vec![Window::default(); self.policy.rules.len()].into_boxed_slice();
        let windows = windows.entry(service()).or_insert_with(none);
        windows[rule].admit(rate, now).map_err(Rejection::TooMany)
    }
}

impl Permit {
    /// Whether it is of the throttle with that id.
    pub(crate) fn is_of(&self, id: &str) -> bool {
        *self.0.id == *id
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn throttle(inside: &str) -> Arc<Throttle> {
        let text = format!(
            "<p:Policy xmlns:p='http://schemas.xmlsoap.org/ws/2004/09/policy' \
             xmlns:t='http://www.wso2.org/products/wso2commons/throttle' \
             xmlns='http://www.wso2.org/products/wso2commons/throttle'><ThrottleAssertion>{inside}</ThrottleAssertion>\
             </p:Policy>"
        );
        let policy = Policy::read(&Element::parse(&"p.xml".into(), text).unwrap(), &mut Vec::new()).unwrap();
        Arc::new(Throttle::new("A", policy))
    }

    fn rule(kind: &str, id: &str, maximum: u32) -> String {
        format!(
            "<p:All><ID t:type='{kind}'>{id}</ID><p:All><MaximumCount>{maximum}</MaximumCount>\
             <UnitTime>1000</UnitTime></p:All></p:All>"
        )
    }

    fn caller(number: u32) -> Caller<'static> {
        Caller { address: Some(Ipv4Addr::from(number).into()), domain: "" }
    }

    fn admit(throttle: &Arc<Throttle>, number: u32, service: &str) -> bool {
        throttle.admit(&caller(number), || service.to_owned(), Duration::ZERO).is_ok()
    }

    #[test]
    fn a_million_addresses_are_one_count_and_take_no_memory_each() {
        let throttle = throttle(&rule("IP", "other", 1000));
        let passed = (0..1_000_000).filter(|&number| admit(&throttle, number, "proxy P")).count();
        assert_eq!(passed, 1000);
        assert_eq!(throttle.windows.lock().unwrap().values().map(|windows| windows.len()).sum::<usize>(), 1);
    }

    #[test]
    fn each_service_has_counts_of_its_own() {
        let throttle = throttle(&rule("IP", "other", 1));
        assert!(admit(&throttle, 1, "proxy P") && !admit(&throttle, 2, "proxy P"));
        assert!(admit(&throttle, 1, "api P"));
    }

    #[test]
    fn a_rule_for_the_name_comes_before_one_for_the_address() {
        let throttle = throttle(&(rule("IP", "other", 0) + &rule("DOMAIN", "example.com", 1)));
        let named = Caller { domain: "www.example.com", ..caller(1) };
        assert!(throttle.admit(&named, String::new, Duration::ZERO).is_ok());
        assert_eq!(
            throttle.admit(&named, String::new, Duration::ZERO).unwrap_err(),
            Rejection::TooMany(Duration::from_secs(1))
        );
        assert!(!admit(&throttle, 1, "proxy P"));
    }

    #[test]
    fn what_is_rejected_for_its_rate_leaves_room_for_others() {
        let inside = "<MaximumConcurrentAccess>1</MaximumConcurrentAccess>".to_owned() + &rule("IP", "10.0.0.1", 0);
        let throttle = throttle(&inside);
        assert!(!admit(&throttle, u32::from_be_bytes([10, 0, 0, 1]), "main"));
        let permit = throttle.admit(&caller(1), String::new, Duration::ZERO).unwrap().unwrap();
        assert!(permit.is_of("A") && !permit.is_of("B"));
        assert_eq!(throttle.admit(&caller(1), String::new, Duration::ZERO).unwrap_err(), Rejection::Full);
        drop(permit);
        assert!(admit(&throttle, 1, "main"));
    }

    #[test]
    fn counts_are_exact_over_threads() {
        let inside = "<MaximumConcurrentAccess>7</MaximumConcurrentAccess>".to_owned() + &rule("IP", "other", 100);
        let throttle = throttle(&inside);
        let (passed, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for number in 0..500 {
                        let Ok(permit) = throttle.admit(&caller(number), String::new, Duration::ZERO) else { continue };
                        passed.fetch_add(1, Ordering::Relaxed);
                        most.fetch_max(throttle.inside.load(Ordering::Acquire), Ordering::Relaxed);
                        std::thread::yield_now();
                        drop(permit);
                    }
                });
            }
        });
        assert_eq!((passed.into_inner(), throttle.inside.load(Ordering::Acquire)), (100, 0));
        assert!(most.into_inner() <= 7);
    }
}
