//! What can be chosen of a conversion, and what Synapse calls it.

use regex::Regex;

/// The choices of both directions; the defaults are those of WSO2's Micro Integrator.
#[derive(Clone, Debug)]
pub struct Switches {
    /// To XML: `<?xml-multiple key?>` stands before the elements of each array, so that an array of one element or none is not lost.
    pub instructions: bool,
    /// To XML: a colon in a key is never that of a prefix, even where the prefix is declared.
    pub plain_names: bool,
    /// Both ways: `null` is an element with `nil="true"`, and an empty element is `""`.
    pub nil: bool,
    /// To JSON: a text that is a number, `true`, `false` or `null` stands without quotes.
    pub primitives: bool,
    /// To JSON: a text in which this is found stays a text, even if it is a number; [`Switches::set`] sees to it that all of the text is matched.
    pub text_pattern: Option<Regex>,
    /// To JSON: of a text in which this is found, what was found is replaced, and it stays a text; [`Switches::set`] sees to it that it is found at the start. Nothing happens while there is a `text_pattern`.
    pub replaced_pattern: Option<Regex>,
    /// To JSON: what stands for what `replaced_pattern` matched; `$1` is its first group, as in Java.
    pub replacement: String,
    /// To JSON: an empty element is `null`, else `""`.
    pub empty_is_null: bool,
    /// To JSON: siblings of one name behind each other are an array.
    pub arrays: bool,
    /// To JSON: `<?xml-multiple key?>` begins an array.
    pub read_instructions: bool,
    /// To JSON: prefixes stay part of the keys.
    pub prefixes: bool,
    /// To JSON: namespace declarations are kept as `@xmlns`, if prefixes are.
    pub declarations: bool,
    /// To JSON: what stands between prefix and name.
    pub separator: char,
    /// To JSON: white space that is all an element holds is its text.
    pub spaces: bool,
}

impl Default for Switches {
    fn default() -> Switches {
        Switches {
            instructions: false,
            plain_names: false,
            nil: false,
            primitives: true,
            text_pattern: None,
            replaced_pattern: None,
            replacement: String::new(),
            empty_is_null: true,
            arrays: true,
            read_instructions: true,
            prefixes: false,
            declarations: false,
            separator: '_',
            spaces: false,
        }
    }
}

/// What Synapse reads but does not act upon.
const WITHOUT_EFFECT: [&str; 2] =
    ["synapse.commons.json.output.xmloutAutoArray", "synapse.commons.json.output.emptyXmlElemToEmptyStr"];

impl Switches {
    /// Sets what Synapse calls `name` in `synapse.properties`, or in the properties of a message.
    ///
    /// Shape: whether there is such a switch; those that have no effect in Synapse have none here. `compile` makes one of ours of a Java pattern.
    /// Errors: what `compile` says of a pattern: its author's.
    /// Source: `org.apache.synapse.commons.json.Constants`.
    pub fn set<E>(
        &mut self,
        name: &str,
        value: &str,
        compile: impl FnOnce(&str) -> Result<Regex, E>,
    ) -> Result<bool, E> {
        let on = value.trim().eq_ignore_ascii_case("true");
        match name {
            "synapse.json.to.xml.processing.instruction.enabled" | "synapse.commons.json.output.xmloutMultiplePI" => {
                self.instructions |= on;
            }
            "synapse.commons.json.buildValidNCNames" => self.plain_names = on,
            "synapse.commons.enableXmlNilReadWrite" => self.nil = on,
            "synapse.commons.json.output.autoPrimitive" => self.primitives = on,
            "synapse.commons.json.output.disableAutoPrimitive.regex" => {
                self.text_pattern = Some(compile(&format!("^(?:{value})$"))?);
            }
            "synapse.commons.json.json.output.disableAutoPrimitive.customReplaceRegex" => {
                self.replaced_pattern = Some(compile(&format!("^(?:{value})"))?);
            }
            "synapse.commons.json.json.output.disableAutoPrimitive.customReplaceSequence" => {
                value.clone_into(&mut self.replacement);
            }
            "synapse.commons.enableXmlNullForEmptyElement" => self.empty_is_null = on,
            "synapse.commons.json.output.jsonoutAutoArray" => self.arrays = on,
            "synapse.commons.json.output.jsonoutMultiplePI" => self.read_instructions = on,
            "synapse.commons.json.preserve.namespace" => self.prefixes = on,
            "synapse.commons.json.output.enableNSDeclarations" => self.declarations = on,
            "synapse.commons.json.output.namespaceSepChar" => {
                self.separator = value.trim().chars().next().unwrap_or('_');
            }
            "PRESERVE_SPACES" => self.spaces = on,
            _ => return Ok(WITHOUT_EFFECT.contains(&name)),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_go_by_the_names_that_synapse_gives_them() {
        let mut switches = Switches::default();
        let mut set = |name: &str, value: &str| switches.set(name, value, Regex::new).unwrap();
        assert!(set("synapse.commons.json.output.autoPrimitive", " FALSE "));
        assert!(set("synapse.commons.json.output.namespaceSepChar", ":"));
        assert!(set("synapse.commons.json.output.disableAutoPrimitive.regex", "^0.*"));
        assert!(set("synapse.commons.json.output.xmloutMultiplePI", "true"));
        // Each of the two asks for instructions; the other cannot take them away again.
        assert!(set("synapse.json.to.xml.processing.instruction.enabled", "false"));
        assert!(set("synapse.commons.json.output.xmloutAutoArray", "false"));
        assert!(!set("synapse.commons.json.output.unheardOf", "true"));
        assert!(!switches.primitives && switches.instructions);
        assert_eq!(switches.separator, ':');
        assert!(switches.text_pattern.is_some());
        assert!(
            Switches::default().set("synapse.commons.json.output.disableAutoPrimitive.regex", "(", Regex::new).is_err()
        );
    }
}
