//! What is logged: levels, and filters that name modules.

use anyhow::bail;
use myelin_spelling::suggestion;
use tracing_subscriber::EnvFilter;

/// The levels, from nothing to everything.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What other programs call them.
const ELSEWHERE: [(&str, &str); 9] = [
    ("all", "trace"),
    ("critical", "error"),
    ("fatal", "error"),
    ("finest", "trace"),
    ("none", "off"),
    ("notice", "info"),
    ("severe", "error"),
    ("verbose", "debug"),
    ("warning", "warn"),
];

/// The filter that a text is; `info` where it is empty.
///
/// Errors: it names no level, or is no filter.
pub(super) fn filter(text: &str) -> anyhow::Result<EnvFilter> {
    if text.trim().is_empty() {
        return Ok(EnvFilter::new("info"));
    }
    // A word that is no level would be the name of a module, and nothing else would be logged. Fields of spans, which
    // stand in brackets, may hold commas and signs of equality of their own.
    let directives = text.split(',').map(str::trim).filter(|it| !it.is_empty() && !text.contains('['));
    for directive in directives {
        let level = match directive.rsplit_once('=') {
            Some((_, level)) => level.trim(),
            None if directive.starts_with("myelin") || directive.contains("::") => continue,
            None => directive,
        };
        let word = level.to_ascii_lowercase();
        if !LEVELS.contains(&word.as_str()) {
            let usual = ELSEWHERE.iter().find(|(other, _)| *other == word).map(|(_, level)| *level);
            let hint = match usual {
                Some(level) => format!("; did you mean {level}?"),
                None => suggestion(&word, LEVELS),
            };
            bail!(
                "{level:?} is no level: off, error, warn, info, debug and trace are{hint} A filter such as \
                 info,myelin_http=debug names modules as well"
            );
        }
    }
    Ok(EnvFilter::builder().parse(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_or_a_filter_is_taken_and_anything_else_is_refused_with_what_was_meant() {
        for sound in
            ["", " ", "warn", "INFO", "off", "info,myelin_http=debug", "myelin_wss", "a::b,error", "[x{a=b}]=info"]
        {
            assert!(filter(sound).is_ok(), "{sound}: {:?}", filter(sound).err());
        }
        let refused = |text: &str, part: &str| {
            let error = format!("{:#}", filter(text).unwrap_err());
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        };
        refused("warning", "\"warning\" is no level: off, error, warn, info, debug and trace are; did you mean warn?");
        refused("verbose", "did you mean debug?");
        refused("inof", "did you mean info?");
        refused("info,myelin_http=loud", "\"loud\" is no level");
        refused("5", "is no level");
    }
}
