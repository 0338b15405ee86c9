//! What `xsl:output` says (XSLT 1.0 §16, XSLT 3.0 §26).

use std::borrow::Cow;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use myelin_xml::is_ncname;

use crate::name::ExpandedName;

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// As XML.
    Xml,
    /// As HTML.
    Html,
    /// As XHTML.
    Xhtml,
    /// Its text alone.
    Text,
    /// As JSON: one map, array, text, number or truth value, or nothing.
    Json,
    /// As values are shown to people, one on a line.
    Adaptive,
}

/// A form of Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Unicode has these names")]
pub enum Normalization {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Normalization {
    /// A text in this form.
    pub(crate) fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Normalization::Nfc => ComposingNormalizerBorrowed::new_nfc().normalize(text),
            Normalization::Nfd => DecomposingNormalizerBorrowed::new_nfd().normalize(text),
            Normalization::Nfkc => ComposingNormalizerBorrowed::new_nfkc().normalize(text),
            Normalization::Nfkd => DecomposingNormalizerBorrowed::new_nfkd().normalize(text),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Normalization::Nfc => "NFC",
            Normalization::Nfd => "NFD",
            Normalization::Nfkc => "NFKC",
            Normalization::Nfkd => "NFKD",
        }
    }
}

/// The encoding of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8.
    #[default]
    Utf8,
    /// UTF-16, the higher byte first, with a byte order mark.
    Utf16,
    /// UTF-16, the higher byte first.
    Utf16Be,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// ISO-8859-1; other characters are written by their numbers.
    Latin1,
    /// US-ASCII, or an encoding that holds it, of which no more is used; other characters are written by their numbers.
    UsAscii,
}

impl Charset {
    /// Whether the encoding has a character.
    pub(crate) fn has(self, character: char) -> bool {
        match self {
            Charset::Utf8 | Charset::Utf16 | Charset::Utf16Be | Charset::Utf16Le => true,
            Charset::Latin1 => u32::from(character) < 0x100,
            Charset::UsAscii => character.is_ascii(),
        }
    }
}

/// What an XML declaration says of `standalone`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standalone {
    /// Nothing.
    #[default]
    Omit,
    /// `yes`
    Yes,
    /// `no`
    No,
}

/// What `xsl:output` says; where it says nothing, the default of the method holds.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputProperties {
    /// `None`: HTML if the first element is `html` in no namespace, XHTML if it is XHTML's and the stylesheet is of
    /// version 2.0 or later, otherwise XML.
    pub method: Option<Method>,
    /// The version of XML, or of HTML where `html_version` says none.
    pub version: Option<String>,
    /// The version of HTML.
    pub html_version: Option<String>,
    /// How the result is encoded.
    pub encoding: Charset,
    /// The name of the encoding, as the stylesheet has it.
    pub encoding_name: Option<String>,
    /// Whether the XML declaration is left out.
    pub omit_xml_declaration: bool,
    /// What the XML declaration says of `standalone`.
    pub standalone: Standalone,
    /// The public identifier of the document type.
    pub doctype_public: Option<String>,
    /// The system identifier of the document type.
    pub doctype_system: Option<String>,
    /// Whether elements are put on lines of their own; `None`: yes for HTML and XHTML.
    pub indent: Option<bool>,
    /// The media type of the result, where the stylesheet names one.
    pub media_type: Option<String>,
    /// Whether a byte order mark comes first; `None`: for UTF-16 alone.
    pub byte_order_mark: Option<bool>,
    /// HTML and XHTML: whether characters of URIs that are not ASCII are written as their bytes in hexadecimal.
    pub escape_uri_attributes: bool,
    /// HTML and XHTML: whether `head` gets a `meta` that says media type and encoding.
    pub include_content_type: bool,
    /// Whether the items of the result are put together to a tree first; `None`: for methods of markup and text.
    pub build_tree: Option<bool>,
    /// What stands between items of the result.
    pub item_separator: Option<String>,
    /// The form of Unicode that texts are brought into.
    pub normalization: Option<Normalization>,
    /// JSON: whether one object may have two members of one name.
    pub allow_duplicate_names: bool,
    /// JSON: how nodes are written; `None`: as XML.
    pub json_node_method: Option<Method>,
    /// Why nothing can be written: a code and a sentence.
    pub(crate) unwritable: Option<(&'static str, String)>,
    /// Elements whose text is written in CDATA sections.
    pub(crate) cdata_section_elements: Vec<ExpandedName>,
    /// Elements whose content is not indented (XSLT 3.0).
    pub(crate) suppress_indentation: Vec<ExpandedName>,
    /// Characters that are written as something else, unescaped; sorted by character.
    pub(crate) character_map: Vec<(char, Box<str>)>,
    /// Whether prefixes are undeclared, which XML 1.1 alone can say.
    pub(crate) undeclare_prefixes: bool,
    /// The version of the stylesheet, which defaults hang on.
    pub(crate) stylesheet_version: f64,
}

impl Default for OutputProperties {
    fn default() -> OutputProperties {
        OutputProperties {
            method: None,
            version: None,
            html_version: None,
            encoding: Charset::Utf8,
            encoding_name: None,
            omit_xml_declaration: false,
            standalone: Standalone::Omit,
            doctype_public: None,
            doctype_system: None,
            indent: None,
            media_type: None,
            byte_order_mark: None,
            escape_uri_attributes: true,
            include_content_type: true,
            build_tree: None,
            item_separator: None,
            normalization: None,
            allow_duplicate_names: false,
            json_node_method: None,
            unwritable: None,
            cdata_section_elements: Vec::new(),
            suppress_indentation: Vec::new(),
            character_map: Vec::new(),
            undeclare_prefixes: false,
            stylesheet_version: 1.0,
        }
    }
}

impl OutputProperties {
    /// XML without a declaration.
    pub(crate) fn fragment() -> OutputProperties {
        OutputProperties { method: Some(Method::Xml), omit_xml_declaration: true, ..OutputProperties::default() }
    }

    /// Whether a result of elements is written by nothing but the rules of XML in UTF-8, with at most a declaration in
    /// front.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.method, Some(Method::Xml) | None)
            && self.encoding == Charset::Utf8
            && self.doctype_system.is_none()
            && self.indent != Some(true)
            && self.byte_order_mark != Some(true)
            && self.normalization.is_none()
            && self.is_direct()
            && self.cdata_section_elements.is_empty()
            && self.character_map.is_empty()
    }

    /// The XML declaration; the version of XHTML is another than that of XML.
    pub(crate) fn declaration(&self, xml: bool) -> String {
        let version = self.version.as_deref().filter(|_| xml).unwrap_or("1.0");
        let standalone = match self.standalone {
            Standalone::Omit => "",
            Standalone::Yes => r#" standalone="yes""#,
            Standalone::No => r#" standalone="no""#,
        };
        let charset = self.charset();
        format!(r#"<?xml version="{version}" encoding="{charset}"{standalone}?>"#)
    }

    /// The media type of the result: what the stylesheet says, or what its method has.
    pub fn media_type(&self) -> &str {
        let default = match self.method {
            Some(Method::Html) => "text/html",
            Some(Method::Text | Method::Adaptive) => "text/plain",
            Some(Method::Json) => "application/json",
            // An XHTML result may be read by those who only know HTML.
            Some(Method::Xhtml) => "application/xhtml+xml",
            Some(Method::Xml) | None => "text/xml",
        };
        self.media_type.as_deref().unwrap_or(default)
    }

    /// The name of the encoding.
    pub fn charset(&self) -> &str {
        self.encoding_name.as_deref().unwrap_or("UTF-8")
    }

    /// Sets what an attribute of `xsl:output` says, save for those that hold names.
    ///
    /// Shape: `name` is the attribute's, without namespace; a later value replaces an earlier one.
    /// Errors: a sentence for the author, where the attribute is unknown or its value is not one of those it can have.
    /// Source: XSLT 3.0 §26.2.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let text = value;
        let value = value.trim();
        match name {
            "method" => {
                self.method = Some(match value {
                    "xml" => Method::Xml,
                    "html" => Method::Html,
                    "xhtml" => Method::Xhtml,
                    "text" => Method::Text,
                    "json" => Method::Json,
                    "adaptive" => Method::Adaptive,
                    _ => {
                        return Err(format!(
                            "method {value:?} is not offered, expected xml, html, xhtml, text, json or adaptive"
                        ));
                    }
                });
            }
            "version" => self.version = Some(value.to_owned()),
            "html-version" if value.parse::<f64>().is_ok() => self.html_version = Some(value.to_owned()),
            "html-version" => return Err(format!("html-version is {value:?}, expected a number such as 5.0")),
            "encoding" if !value.starts_with(|first: char| first.is_ascii_alphabetic()) || !is_ncname(value) => {
                return Err(format!("encoding {value:?} is no name of an encoding"));
            }
            "encoding" => {
                match charset(value) {
                    Ok(charset) => self.encoding = charset,
                    Err(message) => self.unwritable = Some(("SESU0007", message)),
                }
                self.encoding_name = Some(value.to_owned());
            }
            "omit-xml-declaration" => self.omit_xml_declaration = yes(name, value)?,
            "standalone" => {
                self.standalone = match value {
                    "omit" => Standalone::Omit,
                    _ if yes(name, value)? => Standalone::Yes,
                    _ => Standalone::No,
                }
            }
            "doctype-public" => self.doctype_public = identifier(text),
            "doctype-system" => self.doctype_system = identifier(text),
            "indent" => self.indent = Some(yes(name, value)?),
            "media-type" => self.media_type = Some(value.to_owned()),
            "byte-order-mark" => self.byte_order_mark = Some(yes(name, value)?),
            "escape-uri-attributes" => self.escape_uri_attributes = yes(name, value)?,
            "include-content-type" => self.include_content_type = yes(name, value)?,
            "undeclare-prefixes" => self.undeclare_prefixes = yes(name, value)?,
            "allow-duplicate-names" => self.allow_duplicate_names = yes(name, value)?,
            "build-tree" => self.build_tree = Some(yes(name, value)?),
            "item-separator" => self.item_separator = (text != "#absent").then(|| text.to_owned()),
            "json-node-output-method" => {
                self.json_node_method = Some(match value {
                    "xml" => Method::Xml,
                    "html" => Method::Html,
                    "xhtml" => Method::Xhtml,
                    "text" => Method::Text,
                    _ => return Err(format!("json-node-output-method {value:?} is none of xml, html, xhtml and text")),
                });
            }
            "normalization-form" => {
                self.normalization = match value {
                    "none" => None,
                    "NFC" => Some(Normalization::Nfc),
                    "NFD" => Some(Normalization::Nfd),
                    "NFKC" => Some(Normalization::Nfkc),
                    "NFKD" => Some(Normalization::Nfkd),
                    _ if value.is_empty()
                        || !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') =>
                    {
                        return Err(format!("normalization-form {value:?} is none of NFC, NFD, NFKC, NFKD and none"));
                    }
                    other => {
                        let message = format!("normalization-form {other:?} is none of NFC, NFD, NFKC, NFKD and none");
                        self.unwritable = Some(("SESU0011", message));
                        None
                    }
                };
            }
            _ => return Err(format!("{name} is not an attribute of xsl:output")),
        }
        Ok(())
    }

    /// Sets what an attribute of `xsl:output` says that holds names of elements; false: it is no such attribute.
    pub(crate) fn add_names(&mut self, name: &str, names: Vec<ExpandedName>) -> bool {
        let list = match name {
            "cdata-section-elements" => &mut self.cdata_section_elements,
            "suppress-indentation" => &mut self.suppress_indentation,
            _ => return false,
        };
        names.into_iter().for_each(|name| add(list, name));
        true
    }

    /// Whether the result is written as it is made, and not item by item at its end.
    pub(crate) fn is_direct(&self) -> bool {
        let by_item = matches!(self.method, Some(Method::Json | Method::Adaptive));
        !by_item && self.build_tree != Some(false) && self.item_separator.is_none()
    }

    /// Why a result cannot be written so: a code and a sentence.
    ///
    /// Source: XSLT and XQuery Serialization 3.1 §5.1.5, §5.1.6, §7.4.5.
    pub(crate) fn refusal(&self) -> Option<(&'static str, String)> {
        let markup = matches!(self.method, Some(Method::Xml | Method::Xhtml) | None);
        let newer = self.version.as_deref().is_some_and(|version| version != "1.0");
        let says = self.standalone != Standalone::Omit || (newer && self.doctype_system.is_some());
        if let Some(refusal) = &self.unwritable {
            return Some(refusal.clone());
        }
        if markup && self.omit_xml_declaration && says {
            let message = "there is no XML declaration that could say standalone or version";
            return Some(("SEPM0009", message.to_owned()));
        }
        if self.method == Some(Method::Xml) && self.undeclare_prefixes && !newer {
            return Some(("SEPM0010", "prefixes can be undeclared in XML 1.1 alone".to_owned()));
        }
        None
    }

    /// Adds an element whose text is written in CDATA sections.
    pub(crate) fn add_cdata_section_element(&mut self, name: ExpandedName) {
        add(&mut self.cdata_section_elements, name);
    }

    /// Adds an element whose content is not indented.
    pub(crate) fn add_suppressed_indentation(&mut self, name: ExpandedName) {
        add(&mut self.suppress_indentation, name);
    }

    /// Lets a character be written as `text`, unescaped; a later one replaces an earlier one.
    pub(crate) fn map_character(&mut self, character: char, text: &str) {
        match self.character_map.binary_search_by_key(&character, |&(known, _)| known) {
            Ok(place) => self.character_map[place].1 = text.into(),
            Err(place) => self.character_map.insert(place, (character, text.into())),
        }
    }

    /// Says which version the stylesheet is of: in 2.0 XHTML became a method and a default, in 3.0 HTML 5 the default.
    pub(crate) fn set_stylesheet_version(&mut self, version: f64) {
        self.stylesheet_version = version;
    }

    /// Whether the stylesheet is of version 2.0 or later.
    pub(super) fn is_modern(&self) -> bool {
        self.stylesheet_version >= 2.0
    }

    /// Whether HTML is written by the rules of HTML 5.
    pub(super) fn is_html5(&self) -> bool {
        let own = if self.method == Some(Method::Xhtml) { None } else { self.version.as_ref() };
        let version = self.html_version.as_ref().or(own).and_then(|version| version.parse::<f64>().ok());
        version.map_or(self.stylesheet_version >= 3.0, |version| version >= 5.0)
    }
}

fn add(names: &mut Vec<ExpandedName>, name: ExpandedName) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// An identifier of a document type; an empty one is none (XSLT 3.0 §26.2).
fn identifier(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

fn yes(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "yes" | "true" | "1" => Ok(true),
        "no" | "false" | "0" => Ok(false),
        _ => Err(format!("{name} is {value:?}, expected yes or no")),
    }
}

/// Beginnings of the names of encodings that hold US-ASCII.
const WITH_ASCII: [&str; 10] =
    ["ISO-8859-", "ISO8859-", "WINDOWS-125", "CP125", "KOI8-", "EUC-", "GB", "BIG5", "SHIFT_JIS", "TIS-620"];

fn charset(name: &str) -> Result<Charset, String> {
    let upper = name.to_ascii_uppercase();
    Ok(match upper.as_str() {
        "UTF-8" | "UTF8" => Charset::Utf8,
        "UTF-16" => Charset::Utf16,
        "UTF-16BE" => Charset::Utf16Be,
        "UTF-16LE" => Charset::Utf16Le,
        "ISO-8859-1" | "ISO8859-1" | "ISO_8859-1" | "LATIN1" => Charset::Latin1,
        "US-ASCII" | "ASCII" => Charset::UsAscii,
        _ if is_ncname(name) && WITH_ASCII.iter().any(|begin| upper.starts_with(begin)) => Charset::UsAscii,
        _ => return Err(format!("encoding {name:?} is not written, expected UTF-8, UTF-16, ISO-8859-1 or US-ASCII")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_set_and_what_cannot_be_said_is_refused() {
        let mut properties = OutputProperties::default();
        for (name, value) in [("method", "html"), ("indent", " yes "), ("encoding", "iso-8859-1"), ("standalone", "no")]
        {
            properties.set(name, value).unwrap();
        }
        let expected = OutputProperties {
            method: Some(Method::Html),
            indent: Some(true),
            encoding: Charset::Latin1,
            encoding_name: Some("iso-8859-1".to_owned()),
            standalone: Standalone::No,
            ..OutputProperties::default()
        };
        assert_eq!(properties, expected);
        assert_eq!((properties.media_type(), properties.charset()), ("text/html", "iso-8859-1"));
        for (name, value) in [
            ("method", "pdf"),
            ("indent", "maybe"),
            ("encoding", "GB <"),
            ("normalization-form", "of mine"),
            ("speed", "high"),
        ] {
            let message = properties.set(name, value).unwrap_err();
            assert!(message.contains(value) || message.contains(name), "{message}");
        }
    }

    #[test]
    fn the_last_of_several_maps_of_a_character_counts() {
        let mut properties = OutputProperties::default();
        for (character, text) in [('b', "1"), ('a', "2"), ('b', "3")] {
            properties.map_character(character, text);
        }
        assert_eq!(properties.character_map, [('a', "2".into()), ('b', "3".into())]);
    }
}
