//! What `xsl:output` says (XSLT 1.0 §16).

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

/// What `xsl:output` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputProperties {
    /// `None`: HTML if the first element is `html` in no namespace, otherwise XML.
    pub method: Option<Method>,
}
