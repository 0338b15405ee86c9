//! The built-ins: what stands behind a question mark.

mod kind;
mod moment;
mod number;
mod sequence;
mod text;

use regex::Regex;

use crate::builtin::{Builtin, whole_if};
use crate::pattern::regex;
use crate::syntax::{Expression, ExpressionKind};

/// FreeMarker's other built-ins.
const ELSEWHERE: &[&str] = &[
    "absolute_template_name",
    "ancestors",
    "api",
    "esc",
    "groups",
    "interpret",
    "markup_string",
    "namespace",
    "new",
    "number_to_locale",
    "rtf",
    "source",
    "truncate",
    "truncate_c",
    "truncate_w",
    "with_args",
    "with_args_last",
];

/// The built-in of that name, in FreeMarker's way of writing with underscores.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    let tables = [text::TEXT, sequence::SEQUENCE, number::NUMBER, moment::MOMENT, kind::KIND];
    tables.into_iter().flatten().find(|builtin| builtin.name == name)
}

/// Whether FreeMarker has a built-in of that name that is not offered.
pub(crate) fn is_known_elsewhere(name: &str) -> bool {
    ELSEWHERE.contains(&name)
}

/// A name as FreeMarker writes it with underscores; it knows `upperCase` as well as `upper_case`.
pub(crate) fn with_underscores(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// The pattern of a built-in that takes one, where it is written out in the template.
pub(crate) fn literal_pattern(builtin: &Builtin, arguments: &[Expression]) -> Option<Result<Regex, String>> {
    let literal = |index: usize| match &arguments.get(index)?.kind {
        ExpressionKind::Text(text) => Some(&**text),
        _ => None,
    };
    let (flags, is_pattern) = match builtin.name {
        "matches" => (if arguments.len() > 1 { literal(1)? } else { "" }, true),
        "replace" if arguments.len() > 2 => (literal(2)?, literal(2)?.contains('r')),
        "split" if arguments.len() > 1 => (literal(1)?, literal(1)?.contains('r')),
        _ => return None,
    };
    if is_pattern { literal(0).map(|pattern| regex(&whole_if(builtin, pattern), flags)) } else { None }
}
