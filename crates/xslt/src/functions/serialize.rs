//! `serialize()`: items as the text that a result would be (Functions and Operators §14.2).

use std::collections::HashSet;

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Atomic, Error, FunctionItem, Item, Map, NodeRef, Value};

use super::{Call, Function};
use crate::name::ExpandedName;
use crate::output::{Charset, OutputProperties, values};
use crate::scope::Scope;

pub(super) const FUNCTIONS: &[Function] = &[Function::own("serialize", 1, 2, serialize)];

/// The namespace of parameters that are given as an element.
const OUTPUT: &str = "http://www.w3.org/2010/xslt-xquery-serialization";

/// More than a transformation may write.
const MOST_BYTES: usize = 1 << 30;

fn refused(what: impl Into<String>) -> Error {
    Error::value("SEPM0017", format!("serialize(): {}", what.into()))
}

fn wrong_type(what: impl Into<String>) -> Error {
    Error::value("XPTY0004", format!("serialize(): {}", what.into()))
}

fn serialize<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut properties = OutputProperties::fragment();
    if call.count() == 2 {
        if call.value(1).len() > 1 {
            return Err(wrong_type("parameters are one map or one element"));
        }
        match call.value(1).get(0) {
            None => {}
            Some(Item::Node(node)) => read_element(call, node, &mut properties)?,
            Some(Item::Function(FunctionItem::Map(map))) => read_map(call.scope, &map, &mut properties)?,
            Some(_) => return Err(wrong_type("parameters are a map or an element")),
        }
    }
    // A text is written in no encoding, but for the characters that one does not have.
    if !matches!(properties.encoding, Charset::UsAscii | Charset::Latin1) {
        properties.encoding = Charset::Utf8;
    }
    properties.byte_order_mark = None;
    let mut bytes = Vec::new();
    let written = values::write(call.value(0), &properties, call.version(), MOST_BYTES, &mut bytes);
    written.map_err(|(code, message)| Error::value(code, format!("serialize(): {message}")))?;
    if properties.encoding == Charset::Latin1 {
        return call.built(bytes.into_iter().map(char::from).collect::<String>());
    }
    call.built(String::from_utf8(bytes).map_err(|_| refused("a text is written in UTF-8 only"))?)
}

/// What a parameter takes.
#[derive(Clone, Copy, PartialEq)]
enum Kinds {
    Boolean,
    Text,
    Decimal,
    /// `xml`, or a name of a method of somebody's own.
    Method,
    /// `yes`, `no` or `omit`; as a value true, false or nothing.
    Standalone,
    Names,
    Characters,
}

const PARAMETERS: [(&str, Kinds); 20] = [
    ("allow-duplicate-names", Kinds::Boolean),
    ("byte-order-mark", Kinds::Boolean),
    ("cdata-section-elements", Kinds::Names),
    ("doctype-public", Kinds::Text),
    ("doctype-system", Kinds::Text),
    ("encoding", Kinds::Text),
    ("escape-uri-attributes", Kinds::Boolean),
    ("html-version", Kinds::Decimal),
    ("include-content-type", Kinds::Boolean),
    ("indent", Kinds::Boolean),
    ("item-separator", Kinds::Text),
    ("json-node-output-method", Kinds::Method),
    ("media-type", Kinds::Text),
    ("method", Kinds::Method),
    ("normalization-form", Kinds::Text),
    ("omit-xml-declaration", Kinds::Boolean),
    ("standalone", Kinds::Standalone),
    ("suppress-indentation", Kinds::Names),
    ("undeclare-prefixes", Kinds::Boolean),
    ("version", Kinds::Text),
];

const CHARACTER_MAPS: &str = "use-character-maps";

fn kinds(name: &str) -> Option<Kinds> {
    let known = PARAMETERS.iter().find(|(known, _)| *known == name).map(|(_, kinds)| *kinds);
    known.or((name == CHARACTER_MAPS).then_some(Kinds::Characters))
}

/// Whether attributes are these alone, those of other namespaces apart.
fn has_only(document: &Document, element: NodeId, names: &[&str]) -> bool {
    document.attributes(element).all(|attribute| {
        let name = document.qname(attribute);
        !name.namespace.is_empty() || names.contains(&name.local)
    })
}

/// `<output:serialization-parameters><output:method value="…"/>…` (Serialization 3.1 §3.1)
fn read_element(call: &Call<'_, '_>, element: NodeRef<'_>, properties: &mut OutputProperties) -> Result<(), Error> {
    let document = element.document;
    let top = element.node.tree().filter(|node| document.kind(*node) == Kind::Element);
    let named = |node: &NodeId| document.qname(*node).namespace == OUTPUT;
    let Some(top) = top.filter(|top| named(top) && document.qname(*top).local == "serialization-parameters") else {
        return Err(wrong_type("parameters are a map or output:serialization-parameters"));
    };
    if !has_only(document, top, &[]) {
        return Err(refused("output:serialization-parameters has no attributes"));
    }
    let mut seen = HashSet::new();
    for child in document.children(top).filter(|child| document.kind(*child) == Kind::Element) {
        let name = document.qname(child);
        if !seen.insert((name.namespace, name.local)) {
            return Err(Error::value("SEPM0019", format!("serialize(): the parameter {} comes twice", name.local)));
        }
        if name.namespace.is_empty() {
            return Err(refused(format!("the parameter {} has no namespace", name.local)));
        }
        if !named(&child) {
            continue;
        }
        let local = name.local;
        match kinds(local) {
            None => return Err(refused(format!("there is no parameter {local}"))),
            Some(Kinds::Characters) => {
                if !has_only(document, child, &[]) {
                    return Err(refused("output:use-character-maps has no attributes"));
                }
                read_characters(document, child, properties)?;
            }
            Some(_) => {
                if !has_only(document, child, &["value"]) {
                    return Err(refused(format!("{local} has the attribute value alone")));
                }
                let value = document.attribute(child, "", "value");
                let value = value.ok_or_else(|| refused(format!("{local} has no value")))?;
                let namespaces = document.namespaces_in_scope(child);
                let namespaces =
                    namespaces.iter().map(|(prefix, uri)| ((*prefix).to_owned(), (*uri).to_owned())).collect();
                let scope = Scope { namespaces, base: String::new(), version: call.scope.version };
                set(local, &value, &scope, properties)?;
            }
        }
    }
    Ok(())
}

/// `<output:character-map character="$" map-string="…"/>…`
fn read_characters(document: &Document, maps: NodeId, properties: &mut OutputProperties) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for map in document.children(maps).filter(|map| document.kind(*map) == Kind::Element) {
        let name = document.qname(map);
        if name.namespace != OUTPUT
            || name.local != "character-map"
            || !has_only(document, map, &["character", "map-string"])
        {
            return Err(refused("character maps are output:character-map with character and map-string"));
        }
        let (character, text) = (document.attribute(map, "", "character"), document.attribute(map, "", "map-string"));
        let (Some(character), Some(text)) = (character, text) else {
            return Err(refused("a character map has character and map-string"));
        };
        let mut letters = character.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return Err(refused("a character map is for one character"));
        };
        if !seen.insert(letter) {
            return Err(Error::value("SEPM0018", format!("serialize(): the character {letter:?} is mapped twice")));
        }
        properties.map_character(letter, &text);
    }
    Ok(())
}

/// `map{'method': 'html', 'indent': true()}`; what is none of the parameters is left out of account.
pub(crate) fn read_map(scope: &Scope, map: &Map<'_>, properties: &mut OutputProperties) -> Result<(), Error> {
    for (key, value) in map.entries() {
        let Atomic::Text(name, _) = key else { continue };
        let Some(kinds) = kinds(name) else { continue };
        if value.is_empty() {
            continue;
        }
        let wrong = || wrong_type(format!("the parameter {name} is of another type"));
        if kinds == Kinds::Characters {
            let Some(Item::Function(FunctionItem::Map(characters))) = value.get(0).filter(|_| value.len() == 1) else {
                return Err(wrong());
            };
            for (character, text) in characters.entries() {
                let (Atomic::Text(character, _), Some(Item::Atomic(Atomic::Text(text, of))), 1) =
                    (character, text.get(0), text.len())
                else {
                    return Err(wrong());
                };
                let mut letters = character.chars();
                let (Some(letter), None, true) = (letters.next(), letters.next(), of.is(T::String)) else {
                    return Err(if of.is(T::String) {
                        refused("a character map is for one character")
                    } else {
                        wrong()
                    });
                };
                properties.map_character(letter, &text);
            }
            continue;
        }
        if value.len() > 1 && kinds != Kinds::Names {
            return Err(wrong());
        }
        let mut texts = Vec::new();
        for item in value.items() {
            texts.push(match (kinds, item) {
                (Kinds::Boolean | Kinds::Standalone, Item::Atomic(Atomic::Boolean(yes))) => {
                    if yes { "yes" } else { "no" }.to_owned()
                }
                // A text whose type is not known is what it looks like.
                (Kinds::Boolean | Kinds::Standalone, Item::Atomic(Atomic::Text(text, T::Untyped))) => {
                    match text.trim() {
                        "true" | "1" => "yes".to_owned(),
                        "false" | "0" => "no".to_owned(),
                        _ => return Err(Error::value("FORG0001", format!("serialize(): {name} is true or false"))),
                    }
                }
                (Kinds::Names | Kinds::Method, Item::Atomic(Atomic::QName(name))) => {
                    format!("Q{{{}}}{}", name.namespace, name.local)
                }
                (Kinds::Text | Kinds::Method, Item::Atomic(Atomic::Text(text, of))) if of != T::AnyUri => {
                    text.into_owned()
                }
                (Kinds::Decimal, Item::Atomic(atomic)) if atomic.is_numeric() || atomic.atomic_type() == T::Untyped => {
                    atomic.into_text(scope.rules()).into_owned()
                }
                _ => return Err(wrong()),
            });
        }
        set(name, &texts.join(" "), scope, properties)?;
    }
    Ok(())
}

fn set(name: &str, value: &str, scope: &Scope, properties: &mut OutputProperties) -> Result<(), Error> {
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
        "byte-order-mark" => Ok(()),
        "cdata-section-elements" => {
            names()?.into_iter().for_each(|name| properties.add_cdata_section_element(name));
            Ok(())
        }
        "suppress-indentation" => {
            names()?.into_iter().for_each(|name| properties.add_suppressed_indentation(name));
            Ok(())
        }
        _ => properties.set(name, value).map_err(refused),
    }
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
    fn values_are_shown_as_people_see_them() {
        let adaptive = |value: &str, expected: &str| {
            check(&format!("serialize({value}, map{{'method': 'adaptive', 'item-separator': ';'}})"), expected);
        };
        adaptive("(1, 'a\"b', true(), 1.5, 2e0)", "1;\"a\"\"b\";true();1.5;2.0e0");
        adaptive("map{'a': (1, 2), 'b': [()]}", "map{\"a\":(1,2),\"b\":[()]}");
        adaptive("parse-xml('<a b=\"1\"/>')/a/@b", "b=\"1\"");
        adaptive("xs:date('2026-11-26')", "xs:date(\"2026-11-26\")");
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        fails("serialize(map{})", "SENR0001");
        fails("serialize(parse-xml('<a b=\"\"/>')//@b)", "SENR0001");
        fails("serialize(1, map{'method': 'perhaps'})", "SEPM0017");
        fails("serialize(1, 2)", "XPTY0004");
        fails("serialize(1, map{'indent': 'yes'})", "XPTY0004");
        fails("serialize(1, map{'indent': (true(), true())})", "XPTY0004");
        fails("serialize(map{1: 1, '1': 2}, map{'method': 'json'})", "SERE0022");
    }
}
