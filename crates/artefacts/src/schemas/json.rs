//! JSON Schema, of draft 4 and later.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::schemas::{Complaint, Schema};

/// How often a pattern of a schema may try again on one text.
const BACKTRACKS: usize = 100_000;

/// How long a text may be that takes no time, where no pattern tries back and forth.
const PROMPT_BYTES: usize = 32 * 1024;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct JsonSchema {
    validator: Validator,
    /// Whether one of its patterns may try back and forth.
    backtracks: bool,
}

impl JsonSchema {
    /// Compiles a schema: of the draft that its `$schema` names, and of draft 4 without one, as in WSO2.
    ///
    /// Errors: a sentence that says what is wrong with it; the configuration's. What is elsewhere is never fetched.
    pub(super) fn compile(text: &str) -> Result<JsonSchema, String> {
        let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let options = jsonschema::options().offline();
        let options = options.with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS));
        let options = options.should_validate_formats(true);
        let options = if schema.get("$schema").is_none() { options.with_draft(Draft::Draft4) } else { options };
        let validator = options.build(&schema).map_err(|error| error.to_string())?;
        Ok(JsonSchema { validator, backtracks: backtracks(&schema) })
    }
}

/// Whether a schema has a pattern that is not matched in one pass: one with look-around or back-references.
fn backtracks(schema: &Value) -> bool {
    let is_hard = |pattern: &str| regex::Regex::new(pattern).is_err();
    // A schema nests no deeper than its reader lets it.
    match schema {
        Value::Object(members) => members.iter().any(|(name, value)| match (name.as_str(), value) {
            ("pattern", Value::String(pattern)) => is_hard(pattern),
            ("patternProperties", Value::Object(patterns)) => {
                patterns.iter().any(|(pattern, schema)| is_hard(pattern) || backtracks(schema))
            }
            (_, value) => backtracks(value),
        }),
        Value::Array(items) => items.iter().any(backtracks),
        _ => false,
    }
}

impl Schema for JsonSchema {
    fn check(&self, text: &str) -> Result<Vec<Complaint>, String> {
        let document: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let complaint = |error: jsonschema::ValidationError<'_>| {
            let at = error.instance_path().as_str();
            let at = if at.is_empty() { "/" } else { at };
            Complaint { message: error.to_string(), place: format!("{at} (schema: {})", error.schema_path()) }
        };
        // As in WSO2, the first one is told; the others, of which there may be very many, are not even looked for.
        Ok(self.validator.validate(&document).err().map(complaint).into_iter().collect())
    }

    fn prompt_bytes(&self) -> usize {
        if self.backtracks { 0 } else { PROMPT_BYTES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(schema: &str, text: &str) -> Vec<Complaint> {
        JsonSchema::compile(schema).unwrap().check(text).unwrap()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let schema = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}"#;
        assert_eq!(complaints(schema, r#"{"n":3}"#), []);
        let found = complaints(schema, r#"{"n":0}"#);
        assert!(found[0].message.contains('0') && found[0].place.starts_with("/n "), "{found:?}");
        assert_eq!(complaints(schema, "{}").len(), 1);
    }

    #[test]
    fn without_a_word_it_is_draft_4_and_otherwise_the_one_that_it_names() {
        assert_eq!(complaints(r#"{"const": 1}"#, "2"), []);
        assert_eq!(complaints(r#"{"minimum": 1, "exclusiveMinimum": true}"#, "1").len(), 1);
        let draft7 = r#"{"$schema": "http://json-schema.org/draft-07/schema#", "const": 1}"#;
        assert_eq!(complaints(draft7, "2").len(), 1);
        let draft2020 = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"const": 1}]}"#;
        assert_eq!(complaints(draft2020, "[2]").len(), 1);
    }

    #[test]
    fn what_is_elsewhere_is_refused_and_what_is_inside_is_found() {
        assert!(JsonSchema::compile(r#"{"$ref": "http://localhost:1/other.json"}"#).is_err());
        assert!(JsonSchema::compile(r#"{"$ref": "file:///etc/passwd"}"#).is_err());
        assert!(JsonSchema::compile(r#"{"type": 5}"#).is_err());
        let inside = r##"{"definitions":{"a":{"type":"string"}},"properties":{"b":{"$ref":"#/definitions/a"}}}"##;
        assert_eq!(complaints(inside, r#"{"b":1}"#).len(), 1);
    }

    #[test]
    fn a_pattern_that_would_try_for_ever_gives_up() {
        let schema = r#"{"type":"string","pattern":"^(?=a)(a+)+$"}"#;
        let text = format!("\"{}b\"", "a".repeat(60));
        assert_eq!(complaints(schema, &text).len(), 1);
    }

    #[test]
    fn only_what_is_matched_in_one_pass_counts_as_prompt() {
        let check = |schema: &str, expected: bool| {
            assert_eq!(JsonSchema::compile(schema).unwrap().prompt_bytes() > 0, expected, "{schema}");
        };
        check(r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#, true);
        check(r#"{"properties":{"a":{"pattern":"^(?=a)a+$"}}}"#, false);
        check(r#"{"items":[{"patternProperties":{"(a)\\1":{}}}]}"#, false);
        check(r#"{"patternProperties":{"^a":{"pattern":"(?!b)"}}}"#, false);
    }
}
