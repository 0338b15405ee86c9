//! Levels of the log, by their names and by what other programs call them.

use anyhow::bail;
use myelin_spelling::suggestion;
use tracing_subscriber::filter::LevelFilter;

/// The levels, from nothing to everything.
pub(crate) const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What other programs call them; those of log4j are taken as they are by [`level_of_log4j`].
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

/// The level with that name, in whichever case.
///
/// Errors: there is none; the error says what was meant.
pub fn level(text: &str) -> anyhow::Result<LevelFilter> {
    let word = text.trim().to_ascii_lowercase();
    if let Some(level) = named(&word) {
        return Ok(level);
    }
    let usual = ELSEWHERE.iter().find(|(other, _)| *other == word).map(|(_, level)| *level);
    let hint = match usual {
        Some(level) => format!("; did you mean {level}?"),
        None => suggestion(&word, LEVELS),
    };
    bail!("{:?} is no level: off, error, warn, info, debug and trace are{hint}", text.trim())
}

/// The level that log4j means by a name: `FATAL` is `error`, and `ALL` is `trace`.
///
/// Errors: as [`level`].
pub fn level_of_log4j(text: &str) -> anyhow::Result<LevelFilter> {
    match text.trim().to_ascii_lowercase().as_str() {
        "fatal" => Ok(LevelFilter::ERROR),
        "all" => Ok(LevelFilter::TRACE),
        _ => level(text),
    }
}

fn named(word: &str) -> Option<LevelFilter> {
    Some(match word {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_no_level_is_refused_with_what_was_meant() {
        assert_eq!(level(" INFO ").unwrap(), LevelFilter::INFO);
        assert_eq!(level_of_log4j("FATAL").unwrap(), LevelFilter::ERROR);
        assert!(level("warning").unwrap_err().to_string().ends_with("; did you mean warn?"));
        assert!(level("inof").unwrap_err().to_string().ends_with("; did you mean info?"));
        assert!(level("5").unwrap_err().to_string().ends_with("debug and trace are"));
    }
}
