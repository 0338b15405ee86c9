//! The last lines of the log as JSON, for whoever reads or follows it.

use std::time::Duration;

use myelin_logging::{Entry, Query, Ring, level_of_log4j};
use serde_json::{Value, json};

/// How many lines an answer holds where nobody says it, and at most.
const LIMITS: (usize, usize) = (500, 2_000);

/// How long somebody may wait for the next line, in seconds.
const LONGEST_WAIT: u64 = 20;

/// The lines that the parameters of a query ask for: `after` (a number), `level`, `contains`, `correlation`, `limit`,
/// and `wait` (seconds, at most 20), how long to wait where there is no such line yet.
///
/// Shape: `{"last": NUMBER, "count": N, "list": [{"number", "time", "level", "target", "message", "correlationId",
/// "service", "place"}]}`, the oldest first; what is not known is left out. `last` is the number to ask for lines after.
/// Blocks as long as it waits.
/// Errors: a sentence about a parameter that cannot be.
pub fn log_lines(ring: &Ring, parameter: &dyn Fn(&str) -> Option<String>) -> Result<Value, String> {
    let given = |name: &str| parameter(name).filter(|text| !text.is_empty());
    let number = |name: &str| -> Result<Option<u64>, String> {
        let wrong = |_| format!("{name} is a number that is not negative");
        given(name).map(|text| text.parse::<u64>().map_err(wrong)).transpose()
    };
    let level = given("level").map(|level| level_of_log4j(&level).map_err(|error| error.to_string())).transpose()?;
    // Nothing is worse than `off`, so that no line is asked for.
    let is_off = level.is_some_and(|level| level.into_level().is_none());
    let limit = number("limit")?.map_or(LIMITS.0, |limit| usize::try_from(limit).unwrap_or(usize::MAX).min(LIMITS.1));
    let query = Query {
        after: number("after")?.unwrap_or(0),
        level: level.and_then(|level| level.into_level()),
        contains: given("contains"),
        correlation: given("correlation"),
        limit: if is_off { 0 } else { limit },
    };
    let wait = Duration::from_secs(number("wait")?.unwrap_or(0).min(LONGEST_WAIT));
    // Before the lines, so that one that comes meanwhile is asked for again.
    let seen = ring.last();
    let found = if query.limit == 0 { Vec::new() } else { ring.wait(&query, wait) };
    let last = found.last().map_or(seen, |entry| entry.number.max(seen));
    let list: Vec<Value> = found.iter().map(|entry| object(entry)).collect();
    Ok(json!({ "last": last, "count": list.len(), "list": list }))
}

fn object(entry: &Entry) -> Value {
    let Entry { number, time, level, target, message, correlation, service, place, .. } = entry;
    let mut object = json!({
        "number": number,
        "time": humantime::format_rfc3339_micros(*time).to_string(),
        "level": level.as_str(),
        "target": target,
        "message": message,
    });
    if let Some(trace) = entry.trace {
        object["traceId"] = trace.trace_id().into();
    }
    for (name, value) in [("correlationId", correlation), ("service", service), ("place", place)] {
        if let Some(value) = value {
            object[name] = value.as_str().into();
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use tracing::Level;

    use super::*;

    fn ring() -> Ring {
        let ring = Ring::default();
        for (level, message, correlation) in
            [(Level::INFO, "one", Some("c-1")), (Level::WARN, "two", None), (Level::INFO, "Three", Some("c-1"))]
        {
            ring.add(Entry {
                number: 0,
                time: SystemTime::UNIX_EPOCH,
                level,
                target: "t".into(),
                message: message.into(),
                correlation: correlation.map(str::to_owned),
                service: None,
                place: None,
                trace: None,
            });
        }
        ring
    }

    fn asked(ring: &Ring, parameters: &[(&str, &str)]) -> Result<Value, String> {
        log_lines(ring, &|name| {
            parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn lines_are_told_with_the_number_to_go_on_from() {
        let ring = ring();
        let check = |parameters: &[(&str, &str)], expected: &[u64], last: u64| {
            let told = asked(&ring, parameters).unwrap();
            let numbers: Vec<u64> =
                told["list"].as_array().unwrap().iter().filter_map(|it| it["number"].as_u64()).collect();
            assert_eq!((numbers.as_slice(), &told["last"]), (expected, &last.into()), "{parameters:?}");
            assert_eq!(told["count"], expected.len());
        };
        check(&[], &[1, 2, 3], 3);
        check(&[("after", "2")], &[3], 3);
        check(&[("level", "WARN")], &[2], 3);
        check(&[("level", "OFF")], &[], 3);
        check(&[("contains", "three")], &[3], 3);
        check(&[("correlation", "c-1"), ("limit", "1")], &[3], 3);
        check(&[("after", "3"), ("wait", "0")], &[], 3);
        let first = &asked(&ring, &[("limit", "9")]).unwrap()["list"][0];
        assert_eq!((&first["time"], &first["correlationId"]), (&"1970-01-01T00:00:00.000000Z".into(), &"c-1".into()));
        assert!(first.get("service").is_none());
    }

    #[test]
    fn a_parameter_that_cannot_be_is_told() {
        let ring = ring();
        assert_eq!(asked(&ring, &[("after", "-1")]).unwrap_err(), "after is a number that is not negative");
        assert!(asked(&ring, &[("level", "loud")]).unwrap_err().contains("\"loud\" is no level"));
    }
}
