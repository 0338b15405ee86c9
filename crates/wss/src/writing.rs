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
///
/// Source: Canonical XML 1.0 §2.3.
pub(crate) fn escape(out: &mut Vec<u8>, value: &str) {
    for byte in value.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\t' => out.extend_from_slice(b"&#x9;"),
            b'\n' => out.extend_from_slice(b"&#xA;"),
            b'\r' => out.extend_from_slice(b"&#xD;"),
            other => out.push(other),
        }
    }
}

/// Writes a text.
///
/// Source: Canonical XML 1.0 §2.3.
pub(crate) fn escape_text(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'\r' => out.extend_from_slice(b"&#xD;"),
            other => out.push(other),
        }
    }
}
