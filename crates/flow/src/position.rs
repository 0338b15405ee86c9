//! Where a thread is in its work: the exchange, the service and the step, for what is logged meanwhile.
//!
//! The engine and the sequences set references to them while they poll a future; only a log line makes text of them.

use std::fmt::{self, Display};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;

use myelin_config::problem::Place;
use myelin_message::{CorrelationId, TraceMark};
use scoped_tls::{ScopedKey, scoped_thread_local};

scoped_thread_local!(static CORRELATION: CorrelationId);
scoped_thread_local!(static SERVICE: ServiceIdentity);
scoped_thread_local!(static STEP: StepPlace);
scoped_thread_local!(static TRAIL: String);

/// A step of a sequence, as the log and the trail of a fault name it: `log (orders.xml:12)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepPlace {
    /// The element's name.
    pub element: &'static str,
    /// Where it stands.
    pub place: Place,
}

/// What serves an exchange, as the log and the trail of a fault name it: `proxy Orders (orders.xml:3)`.
#[derive(Clone, Debug)]
pub struct ServiceIdentity {
    /// The element that defines it.
    pub kind: &'static str,
    /// Its name; of an API with `:v` and its version behind it, where it has one.
    pub name: Arc<str>,
    /// Where it is defined; `None` for a `main` that is defined nowhere.
    pub place: Option<Place>,
    /// The path of a resource of an API, with the names of what varies: `/shop/orders/{id}`; `None` for all else.
    pub route: Option<Arc<str>>,
    /// Whether each of its exchanges is to be traced: `trace="enable"`.
    pub is_traced: bool,
}

/// A copy of where a thread is.
#[derive(Clone, Debug, Default)]
pub struct Position {
    /// What ties the log lines of the exchange together.
    pub correlation: Option<CorrelationId>,
    /// What serves the exchange.
    pub service: Option<ServiceIdentity>,
    /// The innermost step.
    pub step: Option<StepPlace>,
    /// The way to a place inside of the step, which takes the place of the step: `script (a.xml:3) → line (a.xml:5)`.
    trail: Option<String>,
}

/// Does something for an exchange.
pub fn in_exchange<T>(correlation: &CorrelationId, work: impl FnOnce() -> T) -> T {
    CORRELATION.set(correlation, work)
}

/// Does something for a service.
pub fn in_service<T>(service: &ServiceIdentity, work: impl FnOnce() -> T) -> T {
    SERVICE.set(service, work)
}

/// Does what a step does.
#[inline]
pub fn at_step<T>(step: &StepPlace, work: impl FnOnce() -> T) -> T {
    STEP.set(step, work)
}

/// Waits for what is done for an exchange.
pub async fn wait_in_exchange<F: Future + Unpin>(correlation: &CorrelationId, mut future: F) -> F::Output {
    poll_fn(|cx| in_exchange(correlation, || Pin::new(&mut future).poll(cx))).await
}

/// Waits for what is done for a service.
pub async fn wait_in_service<F: Future + Unpin>(service: &ServiceIdentity, mut future: F) -> F::Output {
    poll_fn(|cx| in_service(service, || Pin::new(&mut future).poll(cx))).await
}

/// Waits for what a step does.
pub async fn wait_at_step<F: Future + Unpin>(step: &StepPlace, mut future: F) -> F::Output {
    poll_fn(|cx| at_step(step, || Pin::new(&mut future).poll(cx))).await
}

/// Does something at a place inside of the current step: `inside` says how one gets there from the step.
pub fn inside_step<T>(inside: impl Display, work: impl FnOnce() -> T) -> T {
    let trail = match get(&STEP) {
        Some(step) => format!("{step} → {inside}"),
        None => inside.to_string(),
    };
    TRAIL.set(&trail, work)
}

fn get<T: Clone>(key: &'static ScopedKey<T>) -> Option<T> {
    key.is_set().then(|| key.with(T::clone))
}

fn set<T, R>(key: &'static ScopedKey<T>, value: Option<&T>, work: impl FnOnce() -> R) -> R {
    match value {
        Some(value) => key.set(value, work),
        None => work(),
    }
}

impl Position {
    /// Where this thread is.
    pub fn here() -> Position {
        Position { correlation: get(&CORRELATION), service: get(&SERVICE), step: get(&STEP), trail: get(&TRAIL) }
    }

    /// Does something as if this thread were there.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let work = || set(&STEP, self.step.as_ref(), || set(&TRAIL, self.trail.as_ref(), work));
        set(&CORRELATION, self.correlation.as_ref(), || set(&SERVICE, self.service.as_ref(), work))
    }

    /// The trace that the exchange belongs to, where it is traced.
    pub fn trace(&self) -> Option<TraceMark> {
        self.correlation.as_ref().and_then(CorrelationId::trace)
    }

    /// The step or the place inside of it; else the service.
    pub fn place(&self) -> Option<&dyn Display> {
        let trail = self.trail.as_ref().map(|trail| trail as &dyn Display);
        let step = self.step.as_ref().map(|step| step as &dyn Display);
        trail.or(step).or(self.service.as_ref().map(|service| service as &dyn Display))
    }
}

/// As the end of a log line: `, CORRELATION_ID = …, TRACE_ID = …, SPAN_ID = …, AT = …`, each as far as it is known.
impl Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(correlation) = self.correlation.as_ref().filter(|correlation| !correlation.as_str().is_empty()) {
            write!(f, ", CORRELATION_ID = {correlation}")?;
        }
        if let Some(mark) = self.trace() {
            write!(f, ", TRACE_ID = {}, SPAN_ID = {}", mark.trace_id(), mark.span_id())?;
        }
        self.place().map_or(Ok(()), |place| write!(f, ", AT = {place}"))
    }
}

impl ServiceIdentity {
    /// That of an element of a kind, with a name, which stands there.
    pub fn new(kind: &'static str, name: impl Into<Arc<str>>, place: Option<Place>) -> ServiceIdentity {
        ServiceIdentity { kind, name: name.into(), place, route: None, is_traced: false }
    }

    /// The same, whose exchanges are to be traced or not.
    pub fn traced(self, is_traced: bool) -> ServiceIdentity {
        ServiceIdentity { is_traced, ..self }
    }

    /// The proxy's name, where it is one.
    pub fn proxy_name(&self) -> Option<&str> {
        (self.kind == "proxy").then_some(&*self.name)
    }

    /// Where it is defined, for people; empty where that is nowhere.
    pub fn place_text(&self) -> String {
        self.place.as_ref().map(Place::to_string).unwrap_or_default()
    }
}

impl Display for ServiceIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " ({place})"))
    }
}

impl Display for StepPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.element, self.place)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn step(element: &'static str, line: u32) -> StepPlace {
        StepPlace { element, place: Place { file: "a.xml".into(), line, column: 1 } }
    }

    #[test]
    fn a_line_names_the_innermost_step_and_else_the_service() {
        let service = ServiceIdentity::new("proxy", "P", Some(step("", 2).place));
        let told = || Position::here().to_string();
        assert_eq!(told(), "");
        in_exchange(&CorrelationId::fixed("c-1"), || {
            assert_eq!(told(), ", CORRELATION_ID = c-1");
            in_service(&service, || {
                assert_eq!(told(), ", CORRELATION_ID = c-1, AT = proxy P (a.xml:2)");
                at_step(&step("filter", 3), || {
                    at_step(&step("log", 4), || assert_eq!(told(), ", CORRELATION_ID = c-1, AT = log (a.xml:4)"));
                    inside_step("then (a.xml:9)", || {
                        assert_eq!(told(), ", CORRELATION_ID = c-1, AT = filter (a.xml:3) → then (a.xml:9)");
                    });
                    assert_eq!(told(), ", CORRELATION_ID = c-1, AT = filter (a.xml:3)");
                });
                assert_eq!(told(), ", CORRELATION_ID = c-1, AT = proxy P (a.xml:2)");
            });
        });
        in_exchange(CorrelationId::NONE, || assert_eq!(told(), ""));
        let traced = CorrelationId::fixed("c-2");
        traced.set_trace(TraceMark { trace: [0xab; 16], span: [0x0c; 8], is_sampled: true });
        let marks = format!(", CORRELATION_ID = c-2, TRACE_ID = {}, SPAN_ID = {}", "ab".repeat(16), "0c".repeat(8));
        in_exchange(&traced.clone(), || assert_eq!(told(), marks));
        CorrelationId::NONE.set_trace(TraceMark { trace: [1; 16], span: [1; 8], is_sampled: true });
        assert_eq!(CorrelationId::NONE.trace(), None);
    }

    #[test]
    fn a_position_can_be_taken_along_to_another_thread() {
        let here = in_exchange(&CorrelationId::fixed("c-1"), || at_step(&step("xslt", 3), Position::here));
        let told = thread::spawn(move || here.run(|| Position::here().to_string())).join();
        assert_eq!(told.expect("nothing panics there"), ", CORRELATION_ID = c-1, AT = xslt (a.xml:3)");
    }
}
