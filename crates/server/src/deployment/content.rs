//! What `[mediation]` and `[synapse_properties]` say of content: how JSON and XML stand for each other.

use anyhow::bail;
use myelin_mediation::Settings;

use super::wso2::File;
use super::{Table, Value};

/// The keys of `[mediation]`, and the properties of Synapse's that Micro Integrator makes of them.
///
/// Source: Micro Integrator 4's `key-mappings.json`.
const KEYS: [(&str, &str); 8] = [
    ("synapse.preserve_namespace_on_xml_to_json", "synapse.commons.json.preserve.namespace"),
    ("synapse.enable_auto_primitive", "synapse.commons.json.output.autoPrimitive"),
    ("synapse.enable_xml_nil", "synapse.commons.enableXmlNilReadWrite"),
    ("synapse.enable_namespace_declaration", "synapse.commons.json.output.enableNSDeclarations"),
    ("synapse.build_valid_nc_name", "synapse.commons.json.buildValidNCNames"),
    ("synapse.disable_auto_primitive_regex", "synapse.commons.json.output.disableAutoPrimitive.regex"),
    (
        "synapse.disable_custom_replace_regex",
        "synapse.commons.json.json.output.disableAutoPrimitive.customReplaceRegex",
    ),
    ("synapse.json_out_auto_array", "synapse.commons.json.output.jsonoutAutoArray"),
];

/// How the properties of Synapse's begin that may be about conversions.
const BEGINNINGS: [&str; 3] = ["synapse.commons.", "synapse.json.", "PRESERVE_SPACES"];

/// The switches that a file sets, by the names of Synapse's properties.
pub(super) type Switches = Vec<(String, String)>;

impl File {
    /// What the file sets of them.
    ///
    /// Errors: a value refers to what is not there, or is a table.
    pub(super) fn switches(&self) -> anyhow::Result<Switches> {
        let mut switches = Vec::new();
        for (key, property) in KEYS {
            if let Some(text) = self.scalar(&format!("mediation.{key}"))? {
                switches.push((property.to_owned(), text));
            }
        }
        let Some(Value::Table(properties)) = self.table().get("synapse_properties") else { return Ok(switches) };
        for name in names(properties, "") {
            if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
                && let Some(text) = self.scalar(&format!("synapse_properties.{name}"))?
            {
                switches.push((name, text));
            }
        }
        Ok(switches)
    }

    /// A value of any kind as text.
    fn scalar(&self, path: &str) -> anyhow::Result<Option<String>> {
        Ok(match self.value(path)? {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ (Value::Boolean(_) | Value::Integer(_))) => Some(value.to_string()),
            Some(other) => bail!("{path} = {other}: a text or true or false is needed"),
        })
    }
}

/// The dotted names of all values in a table.
fn names(table: &Table, above: &str) -> Vec<String> {
    let name = |key: &str| if above.is_empty() { key.to_owned() } else { format!("{above}.{key}") };
    let inside = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => names(inner, &name(key)),
        _ => vec![name(key)],
    };
    table.iter().flat_map(inside).collect()
}

/// Puts what a file says into the settings of mediation.
///
/// Errors: a regular expression is none.
pub(super) fn apply(switches: &Switches, settings: &mut Settings) -> anyhow::Result<()> {
    for (name, value) in switches {
        if let Err(message) = settings.set_json(name, value) {
            bail!("{name} = {value:?}: {message}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> anyhow::Result<Settings> {
        let mut settings = Settings::default();
        let file = File::new(text.parse()?, &|_| None);
        apply(&file.switches()?, &mut settings)?;
        Ok(settings)
    }

    #[test]
    fn conversions_are_as_both_tables_say() {
        let text = "[mediation]\nsynapse.enable_auto_primitive = 'false'\nsynapse.enable_xml_nil = true\n\
                    [synapse_properties]\n'synapse.commons.json.output.namespaceSepChar' = '|'\n\
                    'synapse.commons.json.output.disableAutoPrimitive.regex' = '0\\d+'\nunrelated = 1\n";
        let json = settings(text).unwrap().json;
        assert!(!json.primitives && json.nil && json.arrays);
        assert_eq!(json.separator, '|');
        assert!(json.text_pattern.as_ref().is_some_and(|pattern| pattern.is_match("007")));
        assert!(settings("").unwrap().json.primitives);
    }

    #[test]
    fn what_is_no_regular_expression_is_told() {
        let error = settings("[mediation]\nsynapse.disable_auto_primitive_regex = '('").unwrap_err();
        assert!(error.to_string().contains("disableAutoPrimitive.regex"), "{error}");
    }
}
