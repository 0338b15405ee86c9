//! `serialize()`: items as the text that a result would be (Functions and Operators §14.2).

use myelin_xml::{Kind, NodeId};
use myelin_xpath::{Atomic, Error, FunctionItem, Item, Map, NodeRef, Value};

use super::json::escape;
use super::{Call, Function};
use crate::name::ExpandedName;
use crate::output::{Method, Output, OutputError, OutputProperties, values};
use crate::scope::Scope;

pub(super) const FUNCTIONS: &[Function] = &[Function::own("serialize", 1, 2, serialize)];

/// The namespace of parameters that are given as an element.
const OUTPUT: &str = "http://www.w3.org/2010/xslt-xquery-serialization";

/// How items are written.
struct Parameters {
    properties: OutputProperties,
    json: bool,
    /// What stands between items; `None`: a space between two that are no nodes.
    separator: Option<String>,
}

fn refused(what: impl Into<String>) -> Error {
    Error::value("SEPM0017", format!("serialize(): {}", what.into()))
}

fn unwritable(what: impl Into<String>) -> Error {
    Error::value("SENR0001", format!("serialize(): {}", what.into()))
}

fn serialize<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut parameters = Parameters { properties: OutputProperties::fragment(), json: false, separator: None };
    if call.count() == 2 {
        match call.value(1).get(0) {
            None => {}
            Some(Item::Node(node)) => parameters.read_element(call, node)?,
            Some(Item::Function(FunctionItem::Map(map))) => parameters.read_map(call, &map)?,
            Some(_) => return Err(Error::value("XPTY0004", "serialize(): parameters are a map or an element")),
        }
    }
    let mut text = String::new();
    if parameters.properties.method == Some(Method::Adaptive) {
        let properties = OutputProperties { item_separator: parameters.separator, ..parameters.properties };
        let mut bytes = Vec::new();
        values::write(call.value(0), &properties, call.version(), usize::MAX, &mut bytes)
            .map_err(|(code, message)| Error::value(code, format!("serialize(): {message}")))?;
        call.machine.build(bytes.len())?;
        return Ok(Value::from(String::from_utf8_lossy(&bytes).into_owned()));
    }
    if parameters.json {
        if call.value(0).len() > 1 {
            return Err(Error::value("SERE0023", "serialize(): JSON is one value, and there are several"));
        }
        parameters.json_value(call, call.value(0), &mut text)?;
        return Ok(Value::from(text));
    }
    let mut after_atomic = false;
    for (index, item) in call.value(0).items().enumerate() {
        let atomic = matches!(item, Item::Atomic(_));
        match &parameters.separator {
            Some(separator) if index > 0 => text.push_str(separator),
            None if atomic && after_atomic => text.push(' '),
            _ => {}
        }
        after_atomic = atomic;
        let written = parameters.item(call, &item)?;
        call.machine.build(written.len())?;
        text.push_str(&written);
        // A declaration stands at the beginning alone.
        parameters.properties.omit_xml_declaration = true;
    }
    Ok(Value::from(text))
}

impl Parameters {
    /// One item in the method that was asked for.
    fn item(&self, call: &Call<'_, '_>, item: &Item<'_>) -> Result<String, Error> {
        let mut bytes = Vec::new();
        let mut output = Output::bytes(&self.properties, None, usize::MAX, &mut bytes);
        let text;
        let put = match item {
            Item::Node(node) => match (node.node.tree(), node.kind()) {
                (Some(_), Some(Kind::Attribute)) | (None, _) | (_, None) => {
                    return Err(unwritable("an attribute or namespace alone cannot be written"));
                }
                (Some(tree), _) => output.copy(node.document, tree, true),
            },
            Item::Atomic(atomic) => {
                text = atomic.text(call.version());
                output.text(&text)
            }
            _ => return Err(unwritable("a function cannot be written")),
        };
        let written = put.and_then(|()| output.finish());
        written.map_err(|error: OutputError| Error::value("SERE0006", error.to_string()))?;
        String::from_utf8(bytes).map_err(|_| refused("a text is written in UTF-8 only"))
    }

    /// `<output:serialization-parameters><output:method value="…"/>…`
    fn read_element(&mut self, call: &Call<'_, '_>, element: NodeRef<'_>) -> Result<(), Error> {
        let document = element.document;
        let top = element.node.tree().filter(|node| document.kind(*node) == Kind::Element);
        let named = |node: &NodeId| document.qname(*node).namespace == OUTPUT;
        let Some(top) = top.filter(|top| named(top) && document.qname(*top).local == "serialization-parameters") else {
            return Err(Error::value(
                "XPTY0004",
                "serialize(): parameters are a map or output:serialization-parameters",
            ));
        };
        for child in document.children(top).filter(|child| document.kind(*child) == Kind::Element) {
            let local = document.qname(child).local;
            if !named(&child) {
                continue;
            }
            if local == "use-character-maps" {
                for map in document.children(child).filter(|map| document.kind(*map) == Kind::Element) {
                    let character = document.attribute(map, "", "character").unwrap_or_default();
                    let text = document.attribute(map, "", "map-string").unwrap_or_default();
                    let mut letters = character.chars();
                    let (Some(character), None) = (letters.next(), letters.next()) else {
                        return Err(refused("a character map is for one character"));
                    };
                    self.properties.map_character(character, &text);
                }
                continue;
            }
            let value =
                document.attribute(child, "", "value").ok_or_else(|| refused(format!("{local} has no value")))?;
            let namespaces = document.namespaces_in_scope(child);
            let namespaces = namespaces.iter().map(|(prefix, uri)| ((*prefix).to_owned(), (*uri).to_owned())).collect();
            let scope = Scope { namespaces, base: String::new(), version: call.scope.version };
            self.set(local, &value, &scope)?;
        }
        Ok(())
    }

    /// `map{'method': 'html', 'indent': true()}`
    fn read_map(&mut self, call: &Call<'_, '_>, map: &Map<'_>) -> Result<(), Error> {
        for (key, value) in map.entries() {
            let Atomic::Text(name, _) = key else { continue };
            if value.is_empty() {
                continue;
            }
            let text = |item: Item<'_>| match item {
                Item::Atomic(Atomic::Boolean(yes)) => Ok(if yes { "yes" } else { "no" }.to_owned()),
                Item::Atomic(Atomic::QName(name)) => Ok(format!("Q{{{}}}{}", name.namespace, name.local)),
                Item::Atomic(atomic) => Ok(atomic.into_text(call.version()).into_owned()),
                _ => Err(Error::value("XPTY0004", format!("serialize(): the parameter {name} is no text"))),
            };
            if let (Some(Item::Function(FunctionItem::Map(characters))), "use-character-maps") = (value.get(0), &**name)
            {
                for (character, text) in characters.entries() {
                    let character = character.text(call.version());
                    let Some(character) = character.chars().next() else { continue };
                    self.properties.map_character(character, &text.clone().string());
                }
                continue;
            }
            let texts: Result<Vec<String>, Error> = value.items().map(text).collect();
            self.set(name, &texts?.join(" "), call.scope)?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str, scope: &Scope) -> Result<(), Error> {
        let names = || {
            let words = value.split_whitespace();
            let expand = |word: &str| match word.contains([':', '{']) {
                true => scope.expand(word),
                false => Some(ExpandedName::new(scope.namespace("").unwrap_or(""), word)),
            };
            let names: Option<Vec<ExpandedName>> = words.map(expand).collect();
            names.ok_or_else(|| refused(format!("{name}: a prefix stands for no namespace")))
        };
        match name {
            "method" if value.trim() == "json" => self.json = true,
            "item-separator" => self.separator = Some(value.to_owned()),
            // A text is written in no encoding.
            "encoding" | "byte-order-mark" | "json-node-output-method" => {}
            "cdata-section-elements" => {
                names()?.into_iter().for_each(|name| self.properties.add_cdata_section_element(name));
            }
            "suppress-indentation" => {
                names()?.into_iter().for_each(|name| self.properties.add_suppressed_indentation(name));
            }
            _ => self.properties.set(name, value).map_err(refused)?,
        }
        Ok(())
    }

    /// Maps and arrays as objects and arrays of JSON, nodes as the text of their XML; both are bounded in how deep they
    /// stand within each other.
    fn json_value(&self, call: &Call<'_, '_>, value: &Value<'_>, out: &mut String) -> Result<(), Error> {
        let before = out.len();
        match value.get(0) {
            None => out.push_str("null"),
            Some(_) if value.len() > 1 => {
                return Err(Error::value("SERE0023", "serialize(): a sequence is no value of JSON, an array is"));
            }
            Some(Item::Function(FunctionItem::Map(map))) => {
                out.push('{');
                for (index, (key, value)) in map.entries().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    string(&key.text(call.version()), out);
                    out.push(':');
                    self.json_value(call, value, out)?;
                }
                out.push('}');
            }
            Some(Item::Function(FunctionItem::Array(array))) => {
                out.push('[');
                for (index, member) in array.members().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    self.json_value(call, member, out)?;
                }
                out.push(']');
            }
            Some(Item::Atomic(Atomic::Boolean(yes))) => out.push_str(if yes { "true" } else { "false" }),
            Some(Item::Atomic(atomic)) => match atomic.as_double() {
                Some(number) if !number.is_finite() => {
                    return Err(Error::value("SERE0020", "serialize(): JSON has no such number"));
                }
                Some(_) => out.push_str(&atomic.text(call.version())),
                None => string(&atomic.text(call.version()), out),
            },
            Some(node @ Item::Node(_)) => {
                let xml = Parameters { properties: self.properties.clone(), json: false, separator: None };
                string(&xml.item(call, &node)?, out);
            }
            Some(_) => return Err(Error::value("SERE0021", "serialize(): JSON has no functions")),
        }
        call.machine.build(out.len() - before)
    }
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' | '/' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => escape(letter, out),
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_in, fails};

    const XML: &str = "<a b=\"1\"><c>x &lt; y</c></a>";

    #[test]
    fn items_become_the_text_of_a_result() {
        check_in(XML, "serialize(/)", "<a b=\"1\"><c>x &lt; y</c></a>");
        check_in(XML, "serialize(//c/text())", "x &lt; y");
        check_in(XML, "serialize((1, 2, //c, 'z'))", "1 2<c>x &lt; y</c>z");
        check_in(XML, "serialize((1, 2), map{'item-separator': '|'})", "1|2");
        check_in(XML, "serialize(/, map{'method': 'text'})", "x < y");
        check_in(XML, "serialize(//c, map{'cdata-section-elements': QName('', 'c')})", "<c><![CDATA[x < y]]></c>");
        check_in(XML, "starts-with(serialize(/, map{'omit-xml-declaration': false()}), '<?xml')", "true");
        check_in(
            XML,
            "serialize((//c, //c), map{'use-character-maps': map{'x': '<x>'}})",
            "<c><x> &lt; y</c><c><x> &lt; y</c>",
        );
    }

    #[test]
    fn parameters_may_be_an_element() {
        let parameters = "<o:serialization-parameters xmlns:o='http://www.w3.org/2010/xslt-xquery-serialization'>\
            <o:method value='html'/><o:indent value='no'/></o:serialization-parameters>";
        check_in(parameters, "serialize(parse-xml('<br/>'), /*)", "<br>");
    }

    #[test]
    fn values_become_json() {
        check(
            "serialize(map{'a': [1, 'x/y', true(), ()], 'b': map{}}, map{'method': 'json'})",
            r#"{"a":[1,"x\/y",true,null],"b":{}}"#,
        );
        check("serialize((), map{'method': 'json'})", "null");
        check_in(XML, "serialize(//c, map{'method': 'json'})", r#""<c>x &lt; y<\/c>""#);
        fails("serialize((1, 2), map{'method': 'json'})", "SERE0023");
        fails("serialize(1 div 0e0, map{'method': 'json'})", "SERE0020");
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        fails("serialize(map{})", "SENR0001");
        fails("serialize(parse-xml('<a b=\"\"/>')//@b)", "SENR0001");
        fails("serialize(1, map{'indent': 'perhaps'})", "SEPM0017");
        fails("serialize(1, 2)", "XPTY0004");
    }
}
