//! `/myelin/log`: the last lines of the log, and those that come.

use std::sync::atomic::{AtomicUsize, Ordering};

use myelin_message::StatusCode;

use super::answer::{ApiAnswer, Failure, bad_request, failure, item};
use super::call::Call;
use super::request::Caller;
use super::route::{Access, Route, Shape, optional};
use crate::log_lines;

pub(super) const ROUTES: &[Route] = &[Route {
    path: "/myelin/log",
    access: Access::User,
    summary: "Gives the last lines of the log, or waits for the next one.",
    parameters: &[
        optional("after", "Only lines with larger numbers: `last` of the answer before"),
        optional("level", "Only lines that are at least as bad"),
        optional("contains", "Only lines that hold this, whatever the case of letters"),
        optional("correlation", "Only lines of the exchange with this correlation id"),
        optional("limit", "At most so many lines, the newest; 500 where nothing is said, at most 2,000"),
        optional("wait", "How many seconds to wait where there is no such line yet, at most 20"),
    ],
    answer: Shape::Json,
    handler: read,
    ..Route::READ
}];

/// How many may wait for lines at once: each has a thread of the few that answer requests. Others are answered at once.
const WAITING: usize = 6;

static WAITS: AtomicUsize = AtomicUsize::new(0);

/// One that may wait; dropping it lets another one wait.
struct Waits(bool);

impl Waits {
    fn begin() -> Waits {
        let may = |waits: usize| (waits < WAITING).then_some(waits + 1);
        Waits(WAITS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, may).is_ok())
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if self.0 {
            WAITS.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let missing = || failure(StatusCode::NOT_FOUND, "The log is not written by this process");
    let ring = call.api.process.log_ring().ok_or_else(missing)?;
    let waits = Waits::begin();
    let parameter = |name: &str| call.query(name).filter(|_| waits.0 || name != "wait").map(str::to_owned);
    item(&log_lines(&ring, &parameter).map_err(bad_request)?)
}
