//! Which request leaves next, and what its answer has to be.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use myelin_wss::guard::Conversation;

use super::answer::Expected;
use super::failure::Failure;
use super::plan::Plan;
use super::request::{Request, ThinkTime};
use super::secured::Sealing;
use super::template::{Random, Template, Values};
use crate::payload::Payload;

/// The requests of one thread, which leave as often as their weights say.
pub(super) struct Mix {
    kinds: Vec<Kind>,
    /// How far each kind is behind its share; see [`Mix::turn`].
    behind: RefCell<Vec<i64>>,
    /// The number of the next request, and how far apart those of a thread are.
    number: Cell<u64>,
    step: u64,
    random: Random,
}

/// Requests that differ in nothing but the values of a template.
struct Kind {
    weight: i64,
    origin: usize,
    think: Option<ThinkTime>,
    source: Source,
}

enum Source {
    /// Each request is the same.
    Fixed(Rc<Ready>),
    /// Each has values of its own.
    Templates { request: Box<Request>, path: Template, headers: Vec<Template>, body: Template },
    /// Each is secured anew.
    Sealed(Box<Sealing>),
}

/// A request that can leave.
pub(super) struct Ready {
    /// Which of the mix it is.
    pub(super) kind: usize,
    /// Which of the dialers leads to its host.
    pub(super) origin: usize,
    /// Head and body.
    pub(super) bytes: Payload,
    pub(super) expected: Expected,
    /// What the answer to a secured request refers to.
    pub(super) conversation: Conversation,
}

/// Longer bodies are not searched for places to fill.
const TEMPLATE_LIMIT_BYTES: u64 = 16 << 20;

impl Mix {
    /// The requests of thread `index` of `threads`; `origins` are the dialers of the requests.
    ///
    /// Errors: a template or a body that is to be secured makes no sense; the caller's.
    pub(super) fn new(plan: &Plan, origins: &[usize], index: usize, threads: usize) -> anyhow::Result<Mix> {
        let mut sealing = Sealing::new(plan)?.map(Box::new);
        let mut kinds = Vec::new();
        for (kind, (request, &origin)) in plan.requests_sent().into_iter().zip(origins).enumerate() {
            let source = if let Some(sealing) = sealing.take() {
                Source::Sealed(sealing)
            } else if request.template {
                templates(request.clone()).with_context(|| request.name.clone())?
            } else {
                Source::Fixed(Rc::new(Ready {
                    kind,
                    origin,
                    bytes: request.bytes(&request.body, plan.keep_alive, plan.chunked),
                    expected: Expected::new(&request.verify, &request.body, &request.method, false),
                    conversation: Conversation::default(),
                }))
            };
            kinds.push(Kind { weight: request.weight.into(), origin, think: request.think, source });
        }
        Ok(Mix {
            behind: RefCell::new(vec![0; kinds.len()]),
            kinds,
            number: Cell::new(index as u64 + 1),
            step: threads as u64,
            random: Random::new(),
        })
    }

    /// Whether each request is the same as the one before.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(&*self.kinds, [Kind { source: Source::Fixed(_), .. }])
    }

    /// Whether requests are secured, and answers verified.
    pub(super) fn sealing(&self) -> Option<&Sealing> {
        match &*self.kinds {
            [Kind { source: Source::Sealed(sealing), .. }] => Some(sealing),
            _ => None,
        }
    }

    /// The next request.
    ///
    /// Errors: it cannot be secured.
    pub(super) fn next(&self, plan: &Plan) -> Result<Rc<Ready>, Failure> {
        let index = self.turn();
        let number = self.number.replace(self.number.get().wrapping_add(self.step));
        let Kind { origin, source, .. } = &self.kinds[index];
        let ready = |bytes, expected, conversation| {
            Rc::new(Ready { kind: index, origin: *origin, bytes, expected, conversation })
        };
        Ok(match source {
            Source::Fixed(request) => request.clone(),
            Source::Sealed(sealing) => {
                let (bytes, conversation) = sealing.seal()?;
                ready(bytes, Expected::new(&plan.verify, &plan.body, &plan.method, true), conversation)
            }
            Source::Templates { request, path, headers, body } => {
                let values = Values { number, uuid: self.random.uuid(), now: SystemTime::now() };
                let text = |template: &Template| String::from_utf8_lossy(&template.fill(&values)).into_owned();
                let mut filled = Request::clone(request);
                filled.target.path = text(path);
                for ((_, value), template) in filled.headers.iter_mut().zip(headers) {
                    *value = text(template);
                }
                filled.body = Payload::from(body.fill(&values));
                let expected = Expected::new(&filled.verify, &filled.body, &filled.method, false);
                ready(filled.bytes(&filled.body, plan.keep_alive, plan.chunked), expected, Conversation::default())
            }
        })
    }

    /// How long to wait after the answer to a request of this kind.
    pub(super) fn think(&self, kind: usize) -> Option<Duration> {
        self.kinds[kind].think.map(|think| think.pick(self.random.fraction()))
    }

    /// The kind that is furthest behind its share: in every run of as many requests as the weights add up to, each kind
    /// has its weight, and they alternate as evenly as they can.
    ///
    /// Source: nginx's smooth weighted round robin.
    fn turn(&self) -> usize {
        if self.kinds.len() == 1 {
            return 0;
        }
        let mut behind = self.behind.borrow_mut();
        let mut furthest = 0;
        for index in 0..self.kinds.len() {
            behind[index] += self.kinds[index].weight;
            if behind[index] > behind[furthest] {
                furthest = index;
            }
        }
        behind[furthest] -= self.kinds.iter().map(|kind| kind.weight).sum::<i64>();
        furthest
    }
}

fn templates(request: Request) -> anyhow::Result<Source> {
    if request.body.length() > TEMPLATE_LIMIT_BYTES {
        bail!("a body with places to fill has at most {} MB", TEMPLATE_LIMIT_BYTES >> 20);
    }
    Ok(Source::Templates {
        path: Template::parse(request.target.path.as_bytes())?,
        headers: request
            .headers
            .iter()
            .map(|(_, value)| Template::parse(value.as_bytes()))
            .collect::<anyhow::Result<_>>()?,
        body: Template::parse(&request.body.to_vec())?,
        request: Box::new(request),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(weights: &[u32]) -> Mix {
        let mut plan = Plan::new("http://127.0.0.1/").unwrap();
        plan.mix = weights
            .iter()
            .map(|&weight| Request { weight, ..Request::new("http://127.0.0.1/{{n}}".parse().unwrap()) })
            .collect();
        Mix::new(&plan, &vec![0; weights.len()], 0, 1).unwrap()
    }

    #[test]
    fn requests_take_turns_as_their_weights_say() {
        let mix = mix(&[5, 1, 2]);
        let turns: Vec<usize> = (0..8).map(|_| mix.turn()).collect();
        assert_eq!(turns, [0, 2, 0, 0, 1, 0, 2, 0]);
        assert_eq!((0..800).filter(|_| mix.turn() == 1).count(), 100);
    }

    #[test]
    fn numbers_differ_over_all_threads() {
        let mut plan = Plan::new("http://127.0.0.1/{{n}}").unwrap();
        plan.template = true;
        let first_line = |mix: &Mix| {
            let bytes = mix.next(&plan).unwrap().bytes.to_vec();
            String::from_utf8(bytes).unwrap().lines().next().unwrap().to_owned()
        };
        let mixes: Vec<Mix> = (0..2).map(|index| Mix::new(&plan, &[0], index, 2).unwrap()).collect();
        let lines = [&mixes[0], &mixes[1], &mixes[0], &mixes[1]].map(first_line);
        assert_eq!(lines, ["GET /1 HTTP/1.1", "GET /2 HTTP/1.1", "GET /3 HTTP/1.1", "GET /4 HTTP/1.1"]);
    }
}
