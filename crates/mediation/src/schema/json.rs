//! JSON Schema, of draft 4 and later.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::{Complaint, Schema};

/// How often a pattern of a schema may try again on one text.
const BACKTRACKS: usize = 100_000;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct JsonSchema {
    validator: Validator,
}

impl JsonSchema {
    /// Compiles a schema: of the draft that its `$schema` names, and of draft 4 without one, as in WSO2.
    ///
    /// Errors: a sentence that says what is wrong with it; the configuration's. What is elsewhere is never fetched.
    pub(crate) fn compile(text: &str) -> Result<JsonSchema, String> {
        let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let options = jsonschema::options().offline();
        let options = options.with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS));
        let options = options.should_validate_formats(true);
        let options = if schema.get("$schema").is_none() { options.with_draft(Draft::Draft4) } else { options };
        let validator = options.build(&schema).map_err(|error| error.to_string())?;
        Ok(JsonSchema { validator })
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
        // As in WSO2, the first one is told.
        Ok(self.validator.iter_errors(&document).next().map(complaint).into_iter().collect())
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
}
