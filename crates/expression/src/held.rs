//! `json-eval($ctx:order.items[0])`: a JSONPath over JSON that a property or a header line holds.
//!
//! Source: "JSONPath expressions on properties" in the documentation of WSO2 Micro Integrator.

use std::borrow::Cow;
use std::ops::Range;

use myelin_config::element::Text;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_json::{Error, Options, Path, Rules, Value};

use crate::compiler::Compiler;
use crate::error::CompileError;
use crate::json::fixed_path;
use crate::result_type::ResultType;
use crate::source::Source;
use crate::xpath::{XPath, XPathOrSource};

/// A property, and the path into the JSON that it holds.
#[derive(Debug)]
pub(crate) struct HeldJson {
    source: Source,
    /// `None` where the property is meant as it is.
    path: Option<Path>,
    rules: Rules,
}

impl HeldJson {
    /// Whether the path in `text` at `range` begins with a variable of Synapse: `$ctx:name`, `$trp:name` …
    pub(super) fn is_in(text: &str, range: Range<usize>) -> bool {
        let Some(rest) = text[range].trim_start().strip_prefix('$') else { return false };
        let letters = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').unwrap_or(rest.len());
        letters > 0 && rest[letters..].starts_with(':')
    }

    /// Compiles the path in `text` at `range`. The name of the property ends at the first dot or bracket.
    ///
    /// Errors: where it is wrong.
    pub(super) fn compile(
        text: Text<'_>,
        range: Range<usize>,
        compiler: &mut Compiler,
    ) -> Result<HeldJson, CompileError> {
        let whole = &text.value[range.clone()];
        let start = range.start + whole.len() - whole.trim_start().len();
        let whole = whole.trim();
        let end = start + whole.find(['.', '[']).unwrap_or(whole.len());
        let rest = &text.value[end..start + whole.len()];
        let name = XPath::compile(text.part(start..end), ResultType::Text, compiler);
        let source = match name.map_err(|error| error.behind(start))? {
            XPathOrSource::Source(source) => source,
            XPathOrSource::XPath(_) => {
                return Err(CompileError::new(start, "a property is named like this: $ctx:name"));
            }
        };
        let path = match rest {
            "" | "." => None,
            // The path begins at `$`, which stands in the place of the name.
            _ => {
                let path = fixed_path(&format!("${rest}"));
                Some(path.map_err(|error| CompileError::from(error).behind(end.saturating_sub(1)))?)
            }
        };
        let rules = Rules { duplicates: compiler.for_expressions().1.duplicates(), ..Rules::default() };
        Ok(HeldJson { source, path, rules })
    }

    /// Where the JSON is held.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// The text: that of a string, JSON of objects and arrays. What is not there is empty, and said in the log.
    pub(super) fn text<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> Outcome<Cow<'a, str>> {
        let held = self.source.read(exchange, context).text().unwrap_or_default();
        let Some(path) = &self.path else { return Ok(held) };
        let nothing = |why: &dyn std::fmt::Display| {
            tracing::warn!(target: "myelin::expression", "json-eval() finds nothing at {} of a property: {why}", path.as_str());
            Ok(Cow::Borrowed(""))
        };
        let value = match Value::parse(held.as_ref().into(), &Options::default()) {
            Ok(value) => value,
            Err(error) => return nothing(&error),
        };
        let found = path.outcome(&value, value.root(), &self.rules);
        match found.and_then(|found| found.text(&value, &self.rules).map(Cow::into_owned)) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(error @ (Error::NotFound | Error::Inapplicable { .. })) => nothing(&error),
            Err(error) => Err(Fault::bus("An expression could not be evaluated").with_detail(error.to_string())),
        }
    }
}
