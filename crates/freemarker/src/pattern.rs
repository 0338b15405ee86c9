//! Regular expressions of templates, which are Java's.

use myelin_java_text::pattern::{Flags, compiled};
use regex::Regex;

/// The pattern that a literal is, with FreeMarker's flags.
///
/// Errors: a sentence.
pub(crate) fn regex(pattern: &str, flags: &str) -> Result<Regex, String> {
    let flags = Flags {
        is_whole: false,
        caseless: flags.contains('i'),
        multi_line: flags.contains('m'),
        dot_all: flags.contains('s'),
        comments: flags.contains('c'),
        limit_bytes: 1 << 20,
    };
    compiled(pattern, &flags).map_err(|reason| format!("the pattern {pattern:?}: {reason}"))
}
