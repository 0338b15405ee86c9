//! `[myelin.log]`: the bus's own log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use myelin_logging::{Directives, Format, Selector, directives, level_of_log4j, resolve, selector};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::logging::LogOptions;

/// `[myelin.log]`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(in crate::deployment) struct OwnLog {
    #[serde(deserialize_with = "levels")]
    level: Directives,
    #[serde(deserialize_with = "format")]
    format: Option<Format>,
    file: Option<PathBuf>,
    #[serde(deserialize_with = "targets")]
    targets: Directives,
    #[serde(deserialize_with = "artefacts")]
    artefacts: Directives,
}

impl OwnLog {
    /// What it says, for a file in that folder.
    pub(in crate::deployment) fn options(&self, folder: &Path) -> LogOptions {
        let OwnLog { level, format, file, targets, artefacts } = self;
        let all = level.iter().chain(targets).chain(artefacts);
        LogOptions {
            levels: all.map(|(selector, level)| (selector.clone(), *level)).collect(),
            format: *format,
            file: file.as_ref().map(|file| folder.join(file)),
        }
    }
}

fn levels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Directives, D::Error> {
    directives(&String::deserialize(deserializer)?).map_err(Error::custom)
}

fn format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Format>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let unknown = || Error::custom(format_args!("{text:?} is no format of the log: text and json are"));
    Format::named(&text).ok_or_else(unknown).map(Some)
}

/// Levels by the names of targets, or of Micro Integrator's loggers.
fn targets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Directives, D::Error> {
    let mut levels = Directives::new();
    for (name, level) in BTreeMap::<String, String>::deserialize(deserializer)? {
        let level = level_of_log4j(&level).map_err(Error::custom)?;
        levels.extend(resolve(&name).map_err(Error::custom)?.into_iter().map(|selector| (selector, level)));
    }
    Ok(levels)
}

/// Levels by `KIND:NAME`.
fn artefacts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Directives, D::Error> {
    let mut levels = Directives::new();
    for (name, level) in BTreeMap::<String, String>::deserialize(deserializer)? {
        let level = level_of_log4j(&level).map_err(Error::custom)?;
        match selector(&name).map_err(Error::custom)? {
            artefact @ Selector::Artefact(_) => levels.insert(artefact, level),
            _ => return Err(Error::custom(format_args!("{name:?} is no artefact: write \"proxy:NAME\""))),
        };
    }
    Ok(levels)
}

#[cfg(test)]
mod tests {
    use crate::deployment::parse;

    #[test]
    fn the_log_has_levels_a_format_and_a_file() {
        let text = "[myelin.log]\nlevel = \"warn,myelin_wss=info\"\nformat = \"json\"\nfile = \"m.log\"\n\
                    [myelin.log.targets]\n\"org.apache.synapse\" = \"DEBUG\"\nmyelin_http = \"trace\"\n\
                    [myelin.log.artefacts]\n\"proxy:Orders\" = \"debug\"\n";
        let options = parse(text).unwrap().log();
        let levels: Vec<String> =
            options.levels.iter().map(|(selector, level)| format!("{selector}={level}")).collect();
        assert_eq!(
            levels,
            ["rootLogger=warn", "myelin=debug", "myelin_http=trace", "myelin_wss=info", "proxy:Orders=debug"]
        );
        assert_eq!(options.format, Some(myelin_logging::Format::Json));
        assert_eq!(options.file.as_deref(), Some(std::path::Path::new("m.log")));
    }

    #[test]
    fn what_it_cannot_mean_is_an_error_that_says_what_would_be_right() {
        let refused = |text: &str, part: &str| {
            let error = format!("{:#}", parse(&format!("[myelin.log]\n{text}")).unwrap_err());
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        };
        refused("level = \"warning\"", "did you mean warn?");
        refused("format = \"xml\"", "text and json are");
        refused("targets = { mylin_http = \"debug\" }", "did you mean myelin_http?");
        refused("targets = { myelin_http = \"loud\" }", "\"loud\" is no level");
        refused("artefacts = { \"Orders\" = \"debug\" }", "\"Orders\" is no artefact: write \"proxy:NAME\"");
        refused("artefacts = { \"prxy:Orders\" = \"debug\" }", "did you mean proxy?");
    }
}
