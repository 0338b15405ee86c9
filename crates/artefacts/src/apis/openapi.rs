//! What `?swagger.json` and `?swagger.yaml` give: the definition somebody wrote, or one made of the resources.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::apis::address::Address;
use crate::apis::resource::{Path, Resource};

/// The definition of an API, both ways of writing it; one of them is missing where the other cannot be made of it.
#[derive(Debug, Default)]
pub struct Definition {
    /// The definition as JSON.
    pub json: Option<String>,
    /// The definition as YAML.
    pub yaml: Option<String>,
}

/// The methods that OpenAPI has a word for.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"];

impl Definition {
    /// A definition made of resources.
    ///
    /// Shape: OpenAPI 3.0, where each resource is a path with its methods, its variables and parameters are texts, and
    /// every answer is possible; its server is a path, which counts from where the definition was found.
    pub fn of(name: &str, address: &Address, resources: &[Resource]) -> Definition {
        let mut paths = Map::new();
        for resource in resources {
            let (path, query) = path_and_query(resource);
            let methods = paths.entry(path.clone()).or_insert_with(|| json!({}));
            let named = METHODS.iter().filter(|method| resource.methods.is_empty() || resource.lists(method));
            for method in named {
                let operation = operation(&path, query, method);
                if let Value::Object(methods) = methods {
                    methods.entry(method.to_lowercase()).or_insert(operation);
                }
            }
        }
        let version = if address.version.is_empty() { "1.0.0" } else { &address.version };
        let server = if address.prefix.is_empty() { "/" } else { &address.prefix };
        Definition::from(&json!({
            "openapi": "3.0.3",
            "info": { "title": name, "version": version },
            "servers": [{ "url": server }],
            "paths": paths,
        }))
    }

    /// A definition that somebody wrote, as it is; from JSON the other form is made, not from YAML.
    ///
    /// Errors: a sentence, where it is no text, or no JSON though it begins like that.
    pub fn written(bytes: &[u8]) -> Result<Definition, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "the definition is not UTF-8".to_owned())?;
        let text = text.trim_start_matches('\u{FEFF}').trim();
        if !text.starts_with('{') {
            return Ok(Definition { json: None, yaml: Some(format!("{text}\n")) });
        }
        let value: Value = serde_json::from_str(text).map_err(|error| format!("the definition is no JSON: {error}"))?;
        Ok(Definition { json: Some(text.to_owned()), ..Definition::from(&value) })
    }

    fn from(value: &Value) -> Definition {
        let mut yaml = String::new();
        write_yaml(value, 0, &mut yaml);
        Definition { json: Some(format!("{value:#}")), yaml: Some(yaml) }
    }
}

/// The path of a resource as OpenAPI writes it, and the parameters of its template's query.
fn path_and_query(resource: &Resource) -> (String, &str) {
    let pattern = resource.pattern();
    let (path, query) = match &resource.path {
        Path::Template(_) => pattern.split_once('?').unwrap_or((pattern, "")),
        _ => (pattern, ""),
    };
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    // An operator, a length and a list say how a template matches, which OpenAPI has no words for.
    let mut plain = String::new();
    let mut rest = path.as_str();
    while let Some((before, (inside, behind))) =
        rest.split_once('{').and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        plain.push_str(before);
        let names = inside.trim_start_matches(['+', '.', '/']).split(',');
        let names = names.map(|name| format!("{{{}}}", name.split(':').next().unwrap_or_default()));
        if inside.starts_with(['.', '/']) {
            plain.push_str(&inside[..1]);
        }
        plain.push_str(&names.collect::<Vec<_>>().join(","));
        rest = behind;
    }
    plain.push_str(rest);
    (plain, query)
}

fn operation(path: &str, query: &str, method: &str) -> Value {
    let parameter = |name: &str, place: &str| json!({ "name": name, "in": place, "required": true, "schema": { "type": "string" } });
    let variables = path.split('{').skip(1).filter_map(|part| part.split_once('}'));
    let mut parameters: Vec<Value> = variables.map(|(name, _)| parameter(name, "path")).collect();
    let named = query.split('&').filter_map(|part| part.split_once('='));
    parameters.extend(named.map(|(name, _)| parameter(name, "query")));
    // Two of one name and place are an error of OpenAPI.
    let mut seen = std::collections::HashSet::new();
    parameters.retain(|parameter| seen.insert(parameter.to_string()));
    let mut operation = json!({ "responses": { "default": { "description": "Default response" } } });
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if matches!(method, "POST" | "PUT" | "PATCH") {
        operation["requestBody"] = json!({ "content": { "*/*": { "schema": {} } } });
    }
    operation
}

/// Writes a value as YAML in blocks; every text is quoted as in JSON, which YAML understands (YAML 1.2 §7.3.1).
fn write_yaml(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let mut entry = |start: String, value: &Value| {
        let is_empty = match value {
            Value::Object(object) => object.is_empty(),
            Value::Array(array) => array.is_empty(),
            _ => true,
        };
        // Writing into a string cannot fail.
        if is_empty {
            let _ = writeln!(out, "{indent}{start} {value}");
        } else {
            let _ = writeln!(out, "{indent}{start}");
            write_yaml(value, depth + 1, out);
        }
    };
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(name, value)| entry(format!("{}:", Value::from(name.as_str())), value));
        }
        Value::Array(array) => array.iter().for_each(|value| entry("-".to_owned(), value)),
        scalar => {
            let _ = writeln!(out, "{indent}{scalar}");
        }
    }
}
