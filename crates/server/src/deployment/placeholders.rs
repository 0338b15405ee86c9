//! `$env{NAME}`, `$sys{NAME}`, `$ref{KEY}` and `$secret{ALIAS}` in the texts of a `deployment.toml`.
//!
//! Source: WSO2's configuration tool. `$sys` means the system properties of a JVM there; here it means `[myelin.system]`.

use std::collections::HashMap;

use toml::{Table, Value};

use super::values::find;

/// A text refers to one that refers to another, this often at most.
const DEPTH: usize = 8;

/// Where values come from apart from the file.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Replaces what texts refer to, in all tables but those of `[myelin]`, whose passwords say themselves where they are.
///
/// What cannot be replaced stays as it is: the keys of such texts, with a sentence for each.
pub(super) fn replace(table: &mut Table, environment: Environment<'_>) -> HashMap<String, String> {
    let sources = Sources { table: table.clone(), environment };
    let mut unknown = HashMap::new();
    for (key, value) in table.iter_mut().filter(|(key, _)| *key != "myelin") {
        sources.value(key, value, &mut unknown);
    }
    unknown
}

struct Sources<'a> {
    table: Table,
    environment: Environment<'a>,
}

impl Sources<'_> {
    fn value(&self, path: &str, value: &mut Value, unknown: &mut HashMap<String, String>) {
        match value {
            Value::String(text) => match self.text(text, 0) {
                Ok(replaced) => *text = replaced,
                Err(message) => drop(unknown.insert(path.to_owned(), message)),
            },
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(path, item, unknown)),
            Value::Table(table) => {
                table.iter_mut().for_each(|(key, value)| self.value(&format!("{path}.{key}"), value, unknown));
            }
            _ => {}
        }
    }

    fn text(&self, text: &str, depth: usize) -> Result<String, String> {
        let mut result = String::new();
        let mut rest = text;
        while let Some((before, kind, name, behind)) = placeholder(rest) {
            result.push_str(before);
            result.push_str(&self.meaning(kind, name, depth)?);
            rest = behind;
        }
        result.push_str(rest);
        Ok(result)
    }

    fn meaning(&self, kind: &str, name: &str, depth: usize) -> Result<String, String> {
        if depth == DEPTH {
            return Err(format!("${kind}{{{name}}} refers to itself, or to more than {DEPTH} others in a row"));
        }
        let plain = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match kind {
            "env" => (self.environment)(name).ok_or_else(|| format!("the environment has no {name}")),
            "sys" => {
                let value = find(&self.table, &format!("myelin.system.{name}")).map(plain);
                value.ok_or_else(|| format!("$sys{{{name}}} is a property of a JVM: say what it is in [myelin.system]"))
            }
            "ref" => {
                let value = find(&self.table, name).ok_or_else(|| format!("there is no {name}"))?;
                self.text(&plain(value), depth + 1)
            }
            _ => {
                let secret = find(&self.table, &format!("secrets.{name}")).and_then(Value::as_str);
                let secret = secret.ok_or_else(|| format!("[secrets] has no {name}"))?;
                match secret.strip_prefix('[').and_then(|secret| secret.strip_suffix(']')) {
                    Some(secret) => Ok(secret.to_owned()),
                    None if secret.starts_with('$') => self.text(secret, depth + 1),
                    None => Err(format!(
                        "the secret {name} was encrypted by WSO2's cipher tool: write it as \"[text]\" or \"$env{{NAME}}\""
                    )),
                }
            }
        }
    }
}

/// The first placeholder of a text: what is before it, its kind, its name, and what is behind it.
fn placeholder(text: &str) -> Option<(&str, &str, &str, &str)> {
    ["env", "sys", "ref", "secret"]
        .iter()
        .filter_map(|kind| {
            let start = text.find(&format!("${kind}{{"))?;
            let name = start + kind.len() + 2;
            let end = name + text[name..].find('}')?;
            Some((start, (&text[..start], *kind, &text[name..end], &text[end + 1..])))
        })
        .min_by_key(|(start, _)| *start)
        .map(|(_, found)| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_get_what_they_refer_to_and_what_is_not_there_is_told() {
        let text = "[server]\nhostname = 'a$env{HOST}b'\nurl = 'https://$ref{server.hostname}:$ref{server.offset}/'\n\
                    offset = 3\nhome = '$sys{carbon.home}/x'\nmissing = '$env{NONE}'\nround = '$ref{server.round}'\n\
                    [keystore.primary]\npassword = '$secret{store}'\nother = '$secret{cipher}'\n\
                    [secrets]\nstore = '[hush]'\ncipher = 'aGVsbG8='\n\
                    [myelin.system]\n'carbon.home' = '/opt'\n[myelin.security.users]\nalice = '$env{NONE}'";
        let mut table: Table = text.parse().unwrap();
        let unknown = replace(&mut table, &|name| (name == "HOST").then(|| "host".to_owned()));
        let at = |path: &str| find(&table, path).and_then(Value::as_str).unwrap().to_owned();
        assert_eq!(at("server.hostname"), "ahostb");
        assert_eq!(at("server.url"), "https://ahostb:3/");
        assert_eq!(at("server.home"), "/opt/x");
        assert_eq!(at("keystore.primary.password"), "hush");
        assert_eq!(at("myelin.security.users.alice"), "$env{NONE}");
        let mut keys: Vec<&str> = unknown.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["keystore.primary.other", "server.missing", "server.round"]);
        assert!(unknown["server.round"].contains("itself"));
        assert!(unknown["keystore.primary.other"].contains("cipher tool"));
    }
}
