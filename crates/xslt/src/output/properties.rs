//! What `xsl:output` says (XSLT 1.0 §16, XSLT 3.0 §26).

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
    /// Elements whose text is written in CDATA sections.
    pub(crate) cdata_section_elements: Vec<ExpandedName>,
    /// Elements whose content is not indented (XSLT 3.0).
    pub(crate) suppress_indentation: Vec<ExpandedName>,
    /// Characters that are written as something else, unescaped; sorted by character.
    pub(crate) character_map: Vec<(char, Box<str>)>,
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
            cdata_section_elements: Vec::new(),
            suppress_indentation: Vec::new(),
            character_map: Vec::new(),
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
            Some(Method::Text) => "text/plain",
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
                    _ => return Err(format!("method {value:?} is not offered, expected xml, html, xhtml or text")),
                });
            }
            "version" => self.version = Some(value.to_owned()),
            "html-version" if value.parse::<f64>().is_ok() => self.html_version = Some(value.to_owned()),
            "html-version" => return Err(format!("html-version is {value:?}, expected a number such as 5.0")),
            "encoding" => {
                self.encoding = charset(value)?;
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
            // What they ask for is about versions of XML that are not written here, or what is allowed anyway.
            "undeclare-prefixes" | "allow-duplicate-names" => {
                yes(name, value)?;
            }
            "normalization-form" if value == "none" => {}
            "normalization-form" => {
                return Err(format!("normalization-form {value:?} is not offered, expected none"));
            }
            _ => return Err(format!("{name} is not an attribute of xsl:output")),
        }
        Ok(())
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
            ("encoding", "EBCDIC"),
            ("encoding", "GB <"),
            ("normalization-form", "NFC"),
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
