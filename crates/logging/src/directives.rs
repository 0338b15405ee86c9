//! Levels as one text says them: `info,myelin_http=debug,proxy:Orders=trace`.

use std::collections::BTreeMap;

use anyhow::bail;
use tracing_subscriber::filter::LevelFilter;

use crate::level::level;
use crate::selector::{Selector, selector};

/// Levels, each with what it is for.
pub type Directives = BTreeMap<Selector, LevelFilter>;

/// The levels that a text says, with commas between them.
///
/// Shape: a level for everything, `TARGET=LEVEL`, `KIND:NAME=LEVEL`, or a target alone, which means everything of it.
/// Errors: a word that is no level, a part of the bus that cannot be.
pub fn directives(text: &str) -> anyhow::Result<Directives> {
    let mut directives = Directives::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if part.contains(['[', '{']) {
            bail!("{part:?}: the bus has no spans whose fields a filter could name; write proxy:NAME=debug");
        }
        let (place, text) = match part.rsplit_once('=') {
            Some((place, level)) => (selector(place)?, level),
            // A word that is no level would be the name of a module, and nothing else would be logged.
            None if part.starts_with("myelin") || part.contains(':') => (selector(part)?, "trace"),
            None => (Selector::Root, part),
        };
        let Ok(level) = level(text) else {
            let error = level(text).err().map(|error| error.to_string()).unwrap_or_default();
            let end = if error.ends_with('?') { "" } else { "." };
            bail!(
                "{error}{end} A filter such as info,myelin_http=debug,proxy:Orders=trace names modules and artefacts as well"
            );
        };
        directives.insert(place, level);
    }
    Ok(directives)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_or_a_filter_is_taken_and_anything_else_is_refused_with_what_was_meant() {
        for sound in ["", " ", "warn", "INFO", "off", "info,myelin_http=debug", "myelin_wss", "a::b,error", "proxy:A"] {
            assert!(directives(sound).is_ok(), "{sound}: {:?}", directives(sound).err());
        }
        let refused = |text: &str, part: &str| {
            let error = format!("{:#}", directives(text).unwrap_err());
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        };
        refused("warning", "\"warning\" is no level: off, error, warn, info, debug and trace are; did you mean warn?");
        refused("verbose", "did you mean debug?");
        refused("inof", "did you mean info?");
        refused("info,myelin_http=loud", "\"loud\" is no level");
        refused("5", "is no level");
        refused("[x{a=b}]=info", "has no spans");
        refused("pr:A=info", "is no kind of artefact");
    }
}
