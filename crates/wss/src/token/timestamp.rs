//! `wsu:Timestamp`: when a message was made, and how long it is good.

use std::time::{Duration, SystemTime};

use myelin_xml::{Document, NodeId};

use super::short_text;
use crate::findings::Timestamp;
use crate::structure::Children;
use crate::vocabulary::WSU;
use crate::{Limits, Refusal, Rule, time};

/// How old a message may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ages {
    /// How long a message is good after it was made, whatever it says itself.
    pub(crate) ttl: Duration,
    /// How far the sender's clock may be from ours.
    pub(crate) skew: Duration,
    /// Whether the end that a message says is kept to the moment, without regard to clocks.
    pub(crate) strict: bool,
}

/// Reads a timestamp.
///
/// Errors: `Malformed` for a time that is none, or where it does not say when it was made; the sender's.
/// Source: WS-Security 1.1 §10.
pub(crate) fn read(document: &Document, element: NodeId, limits: &Limits) -> Result<Timestamp, Refusal> {
    let mut children = Children::of(document, element);
    let created = moment(document, children.require(WSU, "Created")?, limits)?;
    let expires = children.take(WSU, "Expires").map(|element| moment(document, element, limits)).transpose()?;
    children.end()?;
    Ok(Timestamp { created, expires })
}

/// The time that an element says.
pub(crate) fn moment(document: &Document, element: NodeId, limits: &Limits) -> Result<SystemTime, Refusal> {
    let text = short_text(document, element, limits)?;
    time::parse(&text).ok_or_else(|| Refusal::new(Rule::Malformed, format!("{text:?} is no time")))
}

/// Checks a timestamp, and gives the time from which on it would be refused.
///
/// Errors: `CreatedInFuture`, `Expired`; `Malformed` where it ends before it begins.
pub(crate) fn check(timestamp: &Timestamp, ages: Ages, now: SystemTime) -> Result<SystemTime, Refusal> {
    let created = timestamp.created;
    let out_of_range = || Refusal::new(Rule::Malformed, "a time beyond all clocks");
    if created > now.checked_add(ages.skew).ok_or_else(out_of_range)? {
        return Err(Refusal::new(Rule::CreatedInFuture, "Created lies in the future"));
    }
    let by_age = created.checked_add(ages.ttl).and_then(|end| end.checked_add(ages.skew)).ok_or_else(out_of_range)?;
    let end = match timestamp.expires {
        Some(expires) if expires < created => {
            return Err(Refusal::new(Rule::Malformed, "Expires lies before Created"));
        }
        Some(expires) => {
            let grace = if ages.strict { Duration::ZERO } else { ages.skew };
            // Far beyond all clocks is later than any age allows.
            expires.checked_add(grace).map_or(by_age, |end| end.min(by_age))
        }
        None => by_age,
    };
    if now >= end {
        return Err(Refusal::new(Rule::Expired, "the timestamp is too old"));
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use myelin_xml::Options;

    const AGES: Ages = Ages { ttl: Duration::from_secs(300), skew: Duration::from_secs(60), strict: false };

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)
    }

    fn check_at(expires: Option<u64>, ages: Ages, now: u64) -> Result<SystemTime, Rule> {
        let timestamp = Timestamp { created: at(1_000), expires: expires.map(at) };
        check(&timestamp, ages, at(now)).map_err(|refusal| refusal.rule)
    }

    #[test]
    fn a_message_is_good_for_its_time_and_the_skew_of_clocks() {
        assert_eq!(check_at(Some(1_100), AGES, 1_000), Ok(at(1_160)));
        assert_eq!(check_at(Some(1_100), AGES, 1_159), Ok(at(1_160)));
        assert_eq!(check_at(Some(1_100), AGES, 1_160), Err(Rule::Expired));
        assert_eq!(check_at(Some(1_100), Ages { strict: true, ..AGES }, 1_100), Err(Rule::Expired));
    }

    #[test]
    fn what_a_message_says_of_its_end_makes_it_good_no_longer_than_we_allow() {
        assert_eq!(check_at(Some(9_000), AGES, 1_359), Ok(at(1_360)));
        assert_eq!(check_at(Some(9_000), AGES, 1_360), Err(Rule::Expired));
        assert_eq!(check_at(None, AGES, 1_359), Ok(at(1_360)));
        assert_eq!(check_at(None, AGES, 1_360), Err(Rule::Expired));
    }

    #[test]
    fn the_future_is_refused_beyond_the_skew_of_clocks() {
        assert!(check_at(Some(1_100), AGES, 940).is_ok());
        assert_eq!(check_at(Some(1_100), AGES, 939), Err(Rule::CreatedInFuture));
    }

    #[test]
    fn an_end_before_the_beginning_is_refused() {
        assert_eq!(check_at(Some(999), AGES, 1_000), Err(Rule::Malformed));
    }

    #[test]
    fn a_timestamp_is_read_whatever_harmless_things_stand_in_it() {
        let read = |inside: &str| {
            let text = format!("<u:Timestamp xmlns:u='{WSU}'>{inside}</u:Timestamp>");
            let document = Document::parse(text.into_bytes(), &Options::default()).expect("it is well-formed");
            let element = document.root_element().expect("it has a root");
            read(&document, element, &Limits::default()).map_err(|refusal| refusal.rule)
        };
        let expected = read("<u:Created>2026-11-21T13:27:43Z</u:Created>");
        assert!(expected.is_ok());
        assert_eq!(read(" <u:Created><![CDATA[2026]]>-11<!-- c -->-21T13&#58;27:43.000Z\n</u:Created> "), expected);
        for wrong in ["", "<u:Expires>2026-11-21T13:27:43Z</u:Expires>", "<u:Created>now</u:Created>"] {
            assert_eq!(read(wrong), Err(Rule::Malformed), "{wrong}");
        }
        let twice = "<u:Created>2026-11-21T13:27:43Z</u:Created>".repeat(2);
        assert_eq!(read(&twice), Err(Rule::UnknownElement));
    }
}
