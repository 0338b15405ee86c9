//! `json-eval(…)`: a JSONPath over the message.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_json::{Error, Path, Rules};

use crate::plan::{PlanBuilder, Query};
use crate::result_type::ResultType;
use crate::scan::{Answer, answer_of};

/// A compiled path.
#[derive(Debug)]
pub(crate) struct JsonEval {
    path: Arc<Path>,
    /// Whether it leads to all of the body, which is handed out as it stands there.
    is_whole: bool,
    rules: Rules,
    query: Option<Query>,
}

impl JsonEval {
    /// Where the path stands, in the text of an expression that is `json-eval(…)`.
    ///
    /// Errors: where it is only a part of one.
    pub(super) fn inside(text: &str) -> Result<Option<Range<usize>>, (usize, String)> {
        let Some(at) = text.find("json-eval(") else { return Ok(None) };
        let (start, end) = (at + "json-eval(".len(), text.trim_end().len() - 1);
        if text[..at].trim().is_empty() && text.trim_end().ends_with(')') {
            return Ok(Some(start..end));
        }
        Err((at, "json-eval(…) stands alone, with its closing parenthesis".to_owned()))
    }

    /// Compiles the path in `text` at `range`.
    ///
    /// Errors: the byte where it is wrong, and a sentence.
    pub(super) fn compile(
        text: &str,
        range: Range<usize>,
        wanted: ResultType,
        plans: &mut PlanBuilder,
    ) -> Result<JsonEval, (usize, String)> {
        let path = fixed_path(&text[range.clone()]).map_err(|(offset, message)| (range.start + offset, message))?;
        let is_whole = path.as_str() == "$";
        let query = if wanted == ResultType::Nodes || is_whole { None } else { plans.add_json(&path) };
        let rules = Rules { duplicates: plans.duplicates(), ..Rules::default() };
        Ok(JsonEval { path: Arc::new(path), is_whole, rules, query })
    }

    pub(super) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// The path, if it leads to a part of the body.
    pub(super) fn part(&self) -> Option<&Arc<Path>> {
        (!self.is_whole).then_some(&self.path)
    }

    pub(super) fn query(&self) -> Option<&Query> {
        self.query.as_ref()
    }

    /// The text: that of a string, what the message says of other scalars, JSON of objects and arrays.
    /// What is not there is empty, and said in the log, as in Synapse.
    pub(super) fn text<'a>(&'a self, exchange: &'a Exchange) -> Outcome<Cow<'a, str>> {
        if let Some(query) = &self.query
            && let Some(Answer::Text(text)) = answer_of(exchange, query)
        {
            return Ok(Cow::Borrowed(text));
        }
        let Some(json) = exchange.json()? else { return Ok(Cow::Borrowed("")) };
        if self.is_whole {
            return Ok(without_mark(json.text()));
        }
        let text = json.outcome(&self.path, &self.rules).and_then(|found| match found {
            Cow::Borrowed(found) => found.text(json.value(), &self.rules),
            Cow::Owned(found) => found.text(json.value(), &self.rules).map(|text| Cow::Owned(text.into_owned())),
        });
        match text {
            Ok(text) => Ok(text),
            Err(Error::NotFound | Error::Inapplicable { .. }) => {
                tracing::warn!(target: "myelin::expression", "json-eval({}) finds nothing", self.path.as_str());
                Ok(Cow::Borrowed(""))
            }
            Err(error) => Err(Fault::bus("An expression could not be evaluated").with_detail(error.to_string())),
        }
    }

    /// Whether it leads to `true`, or to a text that says so; nothing else holds.
    ///
    /// Source: `SynapseJsonPath.booleanValueOf` of wso2-synapse.
    pub(super) fn boolean(&self, exchange: &Exchange) -> Outcome<bool> {
        self.text(exchange).map(|text| text.eq_ignore_ascii_case("true"))
    }
}

/// A text without the byte order mark that it may begin with.
fn without_mark(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches('\u{feff}')),
        Cow::Owned(text) => Cow::Owned(text),
    }
}

/// Compiles a path in which nothing is worked out.
///
/// Errors: the byte where it is wrong, and a sentence.
pub fn fixed_path(text: &str) -> Result<Path, (usize, String)> {
    if let Some(at) = brace(text) {
        let message = "nothing is worked out in braces inside of a JSONPath: `${payload[vars.name]}` takes what stands in \
                       its brackets from a variable; a member with braces in its name is written `['{name}']`";
        return Err((at, message.to_owned()));
    }
    // People write `$.` for the whole body.
    let written = if text.trim() == "$." { "$" } else { text };
    Path::compile(written).map_err(|error| match error {
        Error::Path { offset, .. } => (offset, error.to_string()),
        other => (0, other.to_string()),
    })
}

/// Where a brace stands in a name, or in the place of one; filters may hold JSON, and quotes anything.
fn brace(text: &str) -> Option<usize> {
    let (mut quote, mut open) = (None, 0_usize);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(end), letter) if letter == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => open += 1,
            (None, ')') => open = open.saturating_sub(1),
            (None, '{') if open == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_in_a_path_are_no_name() {
        let check = |path: &str, expected: Option<usize>| assert_eq!(brace(path), expected, "{path}");
        check("$.a.{$ctx:b}", Some(4));
        check("$.a[{get-property('b')}]", Some(4));
        check("$.a{b}", Some(3));
        check("$['{a}'][\"{\"].b", None);
        check("$.a[?(@.b == {\"c\": 1} && @.d =~ /x{2}/)].e", None);
        check("$['\\'{']", None);
    }
}
