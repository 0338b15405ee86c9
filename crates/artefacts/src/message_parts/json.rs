//! The parts of JSON.

use myelin_json::{Error, New, NodeId, Options, Path, Rules, Type, Value};

use myelin_flow::fault::{Fault, Outcome};

/// Values in a message, and what surrounds each of them in a message of its own.
#[derive(Default)]
pub(crate) struct Parts(Option<Box<Found>>);

struct Found {
    source: Value,
    items: Vec<NodeId>,
    rest: Option<Rest>,
}

/// What all parts share, and where each of them goes.
struct Rest {
    value: Value,
    path: Path,
    rules: Rules,
}

impl Parts {
    /// The elements of the array that a definite path leads to, or everything that another one finds.
    ///
    /// With `attach_path` the rest of the message stays around each of them; an empty array stands where they were.
    /// Errors: the bus's, where a path does not fit the message.
    pub(crate) fn find(source: &Value, path: &Path, attach_path: Option<&Path>, rules: &Rules) -> Outcome<Parts> {
        let items = match items(source, path, rules) {
            Ok(Some(items)) => items,
            Ok(None) if attach_path.is_some_and(|attach_path| attach_path.as_str() == path.as_str()) => {
                path.nodes(source, rules).map_err(|error| fault(&error))?
            }
            Ok(None) => return Err(not_an_array(path)),
            Err(error) => return Err(fault(&error)),
        };
        let rest = attach_path.map(|attach_path| Rest::of(source, path, attach_path, rules)).transpose();
        let rest = rest.map_err(|error| fault(&error))?;
        Ok(Parts(Some(Box::new(Found { source: source.clone(), items, rest }))))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |found| found.items.len())
    }

    /// The text of the message that the part with this number becomes.
    pub(crate) fn part(&self, number: usize) -> Outcome<Vec<u8>> {
        let mut out = Vec::new();
        let Some(found) = &self.0 else { return Ok(out) };
        let item = found.items[number];
        match &found.rest {
            None => found.source.write_compact(item, &mut out),
            Some(rest) => {
                let mut value = rest.value.clone();
                let new = New::Node(&found.source, item);
                rest.path.set(&mut value, new, &rest.rules).map_err(|error| fault(&error))?;
                value.write_document(&mut out);
            }
        }
        Ok(out)
    }
}

impl Rest {
    fn of(source: &Value, path: &Path, attach_path: &Path, rules: &Rules) -> Result<Rest, Error> {
        let mut left = source.clone();
        path.set(&mut left, New::Json(b"[]"), rules)?;
        let mut text = Vec::new();
        left.write_document(&mut text);
        // Read again, so that it does not hold the text of what was taken out, as it is copied for each part.
        let value = Value::parse(text, &Options::default())?;
        // Whether there is such a place is told before any part is under way.
        attach_path.nodes(&value, rules)?;
        Ok(Rest { value, path: attach_path.clone(), rules: rules.clone() })
    }
}

/// What a path leads to, one by one; `None` where that is one thing that cannot be gone through.
pub(crate) fn items(value: &Value, path: &Path, rules: &Rules) -> Result<Option<Vec<NodeId>>, Error> {
    let nodes = path.nodes(value, rules)?;
    Ok(match nodes.as_slice() {
        [node] if path.is_definite() => match value.kind(*node) {
            Type::Array => Some(value.children(*node).collect()),
            Type::Null => Some(Vec::new()),
            _ => None,
        },
        _ => Some(nodes),
    })
}

pub(crate) fn not_an_array(path: &Path) -> Box<Fault> {
    Fault::bus("Only an array can be gone through element by element")
        .with_detail(format!("json-eval({}) leads to something else", path.as_str()))
}

fn fault(error: &Error) -> Box<Fault> {
    Fault::bus("A path to the parts of a message does not fit it").with_detail(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(message: &str, path: &str, attach_path: Option<&str>) -> Outcome<Vec<String>> {
        let value = Value::parse(message.into(), &Options::default()).unwrap();
        let attach_path = attach_path.map(|path| Path::compile(path).unwrap());
        let parts = Parts::find(&value, &Path::compile(path).unwrap(), attach_path.as_ref(), &Rules::default())?;
        (0..parts.count()).map(|number| Ok(String::from_utf8(parts.part(number)?).unwrap())).collect()
    }

    #[test]
    fn the_elements_of_an_array_are_parts() {
        let check = |message: &str, path: &str, expected: &[&str]| {
            assert_eq!(parts(message, path, None).unwrap(), expected, "{path}");
        };
        check(r#"{"a": [{"b": 1}, "c", 2]}"#, "$.a", &[r#"{"b":1}"#, r#""c""#, "2"]);
        check(r#"{"a": [{"b": 1}, {"b": 2}]}"#, "$.a[*].b", &["1", "2"]);
        check(r#"{"a": [[1], [2]]}"#, "$..a", &["[[1],[2]]"]);
        check("[1, 2]", "$", &["1", "2"]);
        check(r#"{"a": null}"#, "$.a", &[]);
        check(r#"{"a": []}"#, "$.a[*]", &[]);
    }

    #[test]
    fn the_rest_of_the_message_stays_around_a_part_where_it_is_wanted() {
        let check = |path: &str, attach_path: &str, expected: &[&str]| {
            let message = r#"{"s": {"l": [{"n": 1}, {"n": 2}]}, "p": 0}"#;
            assert_eq!(parts(message, path, Some(attach_path)).unwrap(), expected, "{path} {attach_path}");
        };
        check("$.s.l", "$.p", &[r#"{"s":{"l":[]},"p":{"n": 1}}"#, r#"{"s":{"l":[]},"p":{"n": 2}}"#]);
        check("$.s.l", "$.s.l", &[r#"{"s":{"l":{"n": 1}},"p":0}"#, r#"{"s":{"l":{"n": 2}},"p":0}"#]);
        check("$.s.l", "$", &[r#"{"n": 1}"#, r#"{"n": 2}"#]);
        check("$.s", "$.s", &[r#"{"s":{"l": [{"n": 1}, {"n": 2}]},"p":0}"#]);
    }

    #[test]
    fn what_does_not_fit_the_message_is_a_fault() {
        assert!(parts(r#"{"a": {"b": 1}}"#, "$.a", None).unwrap_err().message.contains("array"));
        assert!(parts(r#"{"a": 1}"#, "$.b", None).is_err());
        assert!(parts(r#"{"a": [1]}"#, "$.a", Some("$.b")).is_err());
    }
}
