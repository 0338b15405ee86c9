//! What the file says of content: how JSON and XML stand for each other, and what bodies of which type are read as.

use std::sync::Arc;

use anyhow::bail;
use myelin_engine::{ContentTypes, Settings};
use toml::{Table, Value};

use super::file_text::KeyProblem;
use super::wso2::File;

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

/// The keys of `[message_builders]` and `[message_formatters]`, and the content types that they are about.
///
/// Source: Micro Integrator 4's `default.json` and its template of `axis2.xml`.
pub(super) const BUILDERS: [(&str, &str); 11] = [
    ("application_xml", "application/xml"),
    ("text_xml", "text/xml"),
    ("soap_xml", "application/soap+xml"),
    ("form_urlencoded", "application/x-www-form-urlencoded"),
    ("multipart_form_data", "multipart/form-data"),
    ("text_plain", "text/plain"),
    ("application_json", "application/json"),
    ("json_badgerfish", "application/json/badgerfish"),
    ("text_javascript", "text/javascript"),
    ("octet_stream", "application/octet-stream"),
    ("application_binary", "application/binary"),
];

/// Java's builders and formatters by the ends of their names, and a content type that is read and written as they do.
const CLASSES: [(&str, &str); 18] = [
    ("ApplicationXMLBuilder", "application/xml"),
    ("ApplicationXMLFormatter", "application/xml"),
    ("SOAPBuilder", "text/xml"),
    ("SOAPMessageFormatter", "text/xml"),
    ("XFormURLEncodedBuilder", "application/x-www-form-urlencoded"),
    ("XFormURLEncodedFormatter", "application/x-www-form-urlencoded"),
    ("MultipartFormDataBuilder", "multipart/form-data"),
    ("MultipartFormDataFormatter", "multipart/form-data"),
    ("MIMEBuilder", "multipart/related"),
    ("PlainTextBuilder", "text/plain"),
    ("PlainTextFormatter", "text/plain"),
    ("BinaryBuilder", "application/octet-stream"),
    ("BinaryFormatter", "application/octet-stream"),
    ("BinaryRelayBuilder", "application/octet-stream"),
    ("ExpandingMessageFormatter", "application/octet-stream"),
    ("JsonStreamBuilder", "application/json"),
    ("JsonStreamFormatter", "application/json"),
    ("JSONStreamBuilder", "application/json"),
];

/// The switches that a file sets, by the names of Synapse's properties, and what it says of content types.
#[derive(Debug, Default)]
pub(super) struct Content {
    switches: Vec<(String, String)>,
    types: ContentTypes,
    /// What of it has no effect.
    pub(super) remarks: Vec<KeyProblem>,
}

impl File {
    /// What the file says of content.
    ///
    /// Errors: a value refers to what is not there, or is a table.
    pub(super) fn content(&self) -> anyhow::Result<Content> {
        let mut content = Content { switches: self.switches()?, ..Content::default() };
        // How a body is read says how it is written; a formatter counts where there is no builder.
        for table in ["message_formatters", "message_builders"] {
            for (key, content_type) in BUILDERS {
                if let Some(class) = self.text(&format!("{table}.{key}"))? {
                    content.insert(table, &format!("{table}.{key}"), content_type, &class);
                }
            }
            let custom = format!("custom_{table}");
            let Some(Value::Array(entries)) = self.table().get(&custom) else { continue };
            for (number, entry) in entries.iter().enumerate() {
                let place = format!("{custom}[{number}]");
                let text = |key: &str| entry.get(key).and_then(Value::as_str);
                match (text("content_type"), text("class")) {
                    (Some(content_type), Some(class)) => {
                        content.insert(&custom, &format!("{place}.class"), content_type, class);
                    }
                    _ => content.remarks.push(KeyProblem::new(
                        place,
                        format!("[[{custom}]] without content_type and class has no effect"),
                    )),
                }
            }
        }
        Ok(content)
    }

    /// What the file sets of conversions.
    fn switches(&self) -> anyhow::Result<Vec<(String, String)>> {
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
            Some(other) => {
                bail!(KeyProblem::new(path, format!("{path} = {other}: a text or true or false is needed")))
            }
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

impl Content {
    fn insert(&mut self, table: &str, key: &str, content_type: &str, class: &str) {
        let name = class.rsplit('.').next().unwrap_or_default().trim();
        match CLASSES.iter().find(|(known, _)| *known == name) {
            Some((_, like)) => self.types.insert(content_type, like),
            // The bus has its own ways for these.
            None if name.starts_with("JSON") || name.starts_with("Json") => {
                self.types.insert(content_type, "application/json");
            }
            None => {
                let message = format!(
                    "{table}: {class} for {content_type} has no effect: it is a Java class, and none of those that this \
                     bus stands in for"
                );
                self.remarks.push(KeyProblem::new(key, message));
            }
        }
    }

    /// Puts it into the settings of mediation.
    ///
    /// Errors: a regular expression is none.
    pub(super) fn apply(&self, settings: &mut Settings) -> anyhow::Result<()> {
        for (name, value) in &self.switches {
            if let Err(message) = settings.set_json(name, value) {
                bail!("{name} = {value:?}: {message}");
            }
        }
        settings.content_types = (!self.types.is_empty()).then(|| Arc::new(self.types.clone()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> anyhow::Result<Settings> {
        let mut settings = Settings::default();
        let file = File::new(text.parse()?, &|_| None);
        file.content()?.apply(&mut settings)?;
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

    #[test]
    fn content_types_are_read_as_the_well_known_classes_read_them() {
        let text = "[message_builders]\napplication_json = 'org.wso2.carbon.relay.BinaryRelayBuilder'\n\
                    [[custom_message_builders]]\nclass = 'org.apache.axis2.builder.ApplicationXMLBuilder'\n\
                    content_type = 'Text/HTML'\n[[custom_message_formatters]]\nclass = 'a.Mine'\ncontent_type = 'x/y'\n";
        let content = File::new(text.parse().unwrap(), &|_| None).content().unwrap();
        let mut expected = ContentTypes::default();
        expected.insert("text/html", "application/xml");
        expected.insert("application/json", "application/octet-stream");
        assert_eq!(content.types, expected);
        assert_eq!(content.remarks.len(), 1);
        assert!(content.remarks[0].to_string().contains("a.Mine for x/y"), "{:?}", content.remarks);
    }
}
