//! What time it is for expressions and stylesheets that a command runs.

use std::time::SystemTime;

use myelin_xpath::Moment;

/// The time, in UTC; `None` where the clock stands before 1970.
pub(crate) fn now() -> Option<Moment> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Moment::at(i128::try_from(since.as_nanos()).ok()?, Some(0)))
}
