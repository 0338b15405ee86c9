//! Writing elements in the form that Exclusive Canonical XML would give them.
//!
//! Each element has an end tag, attributes stand in the canonical order that the caller gives them in, declarations
//! first, and characters are escaped as in canonical attributes.

/// Writes an element; what `content` writes stands in it.
///
/// Shape: names and attributes are the caller's own texts, in canonical order.
pub(crate) fn element(out: &mut Vec<u8>, name: &str, attributes: &[(&str, &str)], content: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    for (name, value) in attributes {
        attribute(out, name, value);
    }
    out.push(b'>');
    content(out);
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

/// Writes an attribute with the space in front of it; nothing where the value is empty.
pub(crate) fn attribute(out: &mut Vec<u8>, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    escape(out, value);
    out.push(b'"');
}

/// Writes the value of an attribute.
pub(crate) fn escape(out: &mut Vec<u8>, value: &str) {
    myelin_xml::escape_attribute(value, out);
}

/// Writes a text.
pub(crate) fn escape_text(out: &mut Vec<u8>, text: &str) {
    myelin_xml::escape_text(text, out);
}
