//! `json-eval(…)`: a JSONPath over the message.

use std::borrow::Cow;
use std::ops::Range;

use myelin_json::{Error, Path, Rules};

use super::Wanted;
use crate::content::{Answer, PlanBuilder, Query};
use crate::exchange::Exchange;
use crate::fault::{Fault, Outcome};

/// A compiled path.
#[derive(Debug)]
pub(crate) struct JsonEval {
    path: Path,
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
        wanted: Wanted,
        plans: &mut PlanBuilder,
    ) -> Result<JsonEval, (usize, String)> {
        // People write `$.` for the whole body.
        let written = match text[range.clone()].trim() {
            "$." => "$",
            _ => &text[range.clone()],
        };
        let path = Path::compile(written).map_err(|error| match error {
            Error::Path { offset, .. } => (range.start + offset, error.to_string()),
            other => (range.start, other.to_string()),
        })?;
        let query = if wanted == Wanted::Nodes { None } else { plans.add_json(&path) };
        let rules = Rules { duplicates: plans.duplicates(), ..Rules::default() };
        Ok(JsonEval { path, rules, query })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn query(&self) -> Option<&Query> {
        self.query.as_ref()
    }

    /// The text: that of a string, what the message says of other scalars, JSON of objects and arrays.
    /// What is not there is empty, and said in the log, as in Synapse.
    pub(super) fn text<'a>(&'a self, exchange: &'a Exchange) -> Outcome<Cow<'a, str>> {
        if let Some(query) = &self.query
            && let Some(Answer::Text(text)) = exchange.answer_of(query)
        {
            return Ok(Cow::Borrowed(text));
        }
        let Some(json) = exchange.json()? else { return Ok(Cow::Borrowed("")) };
        match self.path.text(json.value(), &self.rules) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(Error::NotFound | Error::Inapplicable { .. }) => {
                tracing::warn!(target: "myelin::expression", "json-eval({}) finds nothing", self.path.as_str());
                Ok(Cow::Borrowed(""))
            }
            Err(error) => Err(Fault::bus("An expression could not be evaluated").with_detail(error.to_string())),
        }
    }

    /// Whether it leads to something that is neither `false` nor `null` nor an empty text.
    pub(super) fn boolean(&self, exchange: &Exchange) -> Outcome<bool> {
        self.text(exchange).map(|text| !matches!(&*text, "" | "false" | "null"))
    }
}
