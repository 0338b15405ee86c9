//! What HTML says about its elements and attributes.
//!
//! Source: HTML 4.01, the HTML standard, XSLT and XQuery Serialization 3.1 §7.

use myelin_java_text::percent::encoded;

/// What HTML knows of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    /// It has no end tag.
    pub(super) const VOID: Traits = Traits(1);
    /// Its text is not escaped.
    pub(super) const RAW: Traits = Traits(2);
    /// It stands within lines of text, so that white space around it is seen.
    pub(super) const INLINE: Traits = Traits(4);
    /// White space in it is kept.
    pub(super) const PREFORMATTED: Traits = Traits(8);
    /// `head`
    pub(super) const HEAD: Traits = Traits(16);
    /// `meta`
    pub(super) const META: Traits = Traits(32);
    /// `html`
    pub(super) const ROOT: Traits = Traits(64);
    /// HTML 5 does not have it any more.
    const OBSOLETE: Traits = Traits(128);

    /// Whether any of `traits` is there.
    #[inline]
    pub(super) fn any(self, traits: Traits) -> bool {
        self.0 & traits.0 != 0
    }

    /// What is known of the element with that local name, in letters of any case.
    pub(super) fn of(local: &str) -> Traits {
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..local.len()) else { return Traits::default() };
        lower.copy_from_slice(local.as_bytes());
        lower.make_ascii_lowercase();
        ELEMENTS.iter().find(|(name, _)| name.as_bytes() == lower).map_or(Traits::default(), |&(_, traits)| traits)
    }

    /// What XHTML 5 knows of the element: what it does not have can hold anything.
    pub(super) fn of_xhtml5(self) -> Traits {
        if self.any(Traits::OBSOLETE) { Traits(self.0 & !Traits::VOID.0) } else { self }
    }

    const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}

/// Letters of the longest name below.
const LONGEST: usize = 10;

const VOID: Traits = Traits::VOID;
const INLINE: Traits = Traits::INLINE;
const VOID_INLINE: Traits = VOID.and(INLINE);
const RAW: Traits = Traits::RAW.and(Traits::PREFORMATTED);

static ELEMENTS: [(&str, Traits); 78] = [
    ("a", INLINE),
    ("abbr", INLINE),
    ("acronym", INLINE),
    ("applet", INLINE),
    ("area", VOID),
    ("b", INLINE),
    ("base", VOID),
    ("basefont", VOID_INLINE.and(Traits::OBSOLETE)),
    ("bdi", INLINE),
    ("bdo", INLINE),
    ("big", INLINE),
    ("br", VOID_INLINE),
    ("button", INLINE),
    ("cite", INLINE),
    ("code", INLINE),
    ("col", VOID),
    ("data", INLINE),
    ("del", INLINE),
    ("dfn", INLINE),
    ("em", INLINE),
    ("embed", VOID_INLINE),
    ("font", INLINE),
    ("frame", VOID.and(Traits::OBSOLETE)),
    ("head", Traits::HEAD),
    ("hr", VOID),
    ("html", Traits::ROOT),
    ("i", INLINE),
    ("iframe", INLINE),
    ("img", VOID_INLINE),
    ("input", VOID_INLINE),
    ("ins", INLINE),
    ("isindex", VOID.and(Traits::OBSOLETE)),
    ("kbd", INLINE),
    ("keygen", VOID_INLINE),
    ("label", INLINE),
    ("link", VOID),
    ("map", INLINE),
    ("mark", INLINE),
    ("meta", VOID.and(Traits::META)),
    ("meter", INLINE),
    ("noscript", INLINE),
    ("object", INLINE),
    ("output", INLINE),
    ("param", VOID),
    ("picture", INLINE),
    ("pre", Traits::PREFORMATTED),
    ("progress", INLINE),
    ("q", INLINE),
    ("ruby", INLINE),
    ("s", INLINE),
    ("samp", INLINE),
    ("script", RAW),
    ("select", INLINE),
    ("small", INLINE),
    ("source", VOID),
    ("span", INLINE),
    ("strike", INLINE),
    ("strong", INLINE),
    ("style", RAW),
    ("sub", INLINE),
    ("sup", INLINE),
    ("svg", INLINE),
    ("template", INLINE),
    ("textarea", INLINE.and(Traits::PREFORMATTED)),
    ("time", INLINE),
    ("track", VOID),
    ("tt", INLINE),
    ("u", INLINE),
    ("var", INLINE),
    ("video", INLINE),
    ("wbr", VOID_INLINE),
    ("audio", INLINE),
    ("canvas", INLINE),
    ("datalist", INLINE),
    ("math", INLINE),
    ("slot", INLINE),
    ("rt", INLINE),
    ("rp", INLINE),
];

/// Attributes whose presence alone says something, so that their value is left out where it is their name.
static BOOLEAN: [&str; 30] = [
    "allowfullscreen",
    "async",
    "autofocus",
    "autoplay",
    "checked",
    "compact",
    "controls",
    "declare",
    "default",
    "defer",
    "disabled",
    "formnovalidate",
    "hidden",
    "ismap",
    "itemscope",
    "loop",
    "multiple",
    "muted",
    "nohref",
    "nomodule",
    "noresize",
    "noshade",
    "novalidate",
    "nowrap",
    "open",
    "playsinline",
    "readonly",
    "required",
    "reversed",
    "selected",
];

/// Attributes that hold a URI, each with the elements that have it; none: all.
static URIS: [(&str, &[&str]); 16] = [
    ("action", &["form"]),
    ("archive", &["object"]),
    ("background", &["body"]),
    ("cite", &["blockquote", "del", "ins", "q"]),
    ("classid", &["object"]),
    ("codebase", &["applet", "object"]),
    ("data", &["object"]),
    ("datasrc", &["button", "div", "input", "object", "select", "span", "table", "textarea"]),
    ("for", &["script"]),
    ("formaction", &["button", "input"]),
    ("href", &[]),
    ("icon", &["command"]),
    ("longdesc", &["frame", "iframe", "img"]),
    ("manifest", &["html"]),
    ("poster", &["video"]),
    ("profile", &["head"]),
];

/// Whether an attribute with that local name and value says no more than that it is there.
pub(super) fn is_minimised(attribute: &str, value: &str) -> bool {
    attribute.eq_ignore_ascii_case(value) && BOOLEAN.iter().any(|known| known.eq_ignore_ascii_case(attribute))
}

/// Whether an attribute of that element holds a URI.
pub(super) fn is_uri(element: &str, attribute: &str) -> bool {
    let everywhere = ["src", "usemap"].iter().any(|known| known.eq_ignore_ascii_case(attribute));
    let listed = URIS.iter().find(|(known, _)| known.eq_ignore_ascii_case(attribute));
    let fits =
        |elements: &[&str]| elements.is_empty() || elements.iter().any(|known| known.eq_ignore_ascii_case(element));
    everywhere || listed.is_some_and(|(_, elements)| fits(elements))
}

/// A URI with each byte of a character that is not printable ASCII as `%` and two digits.
///
/// Source: XPath and XQuery Functions 3.1 §6.4, fn:escape-html-uri.
pub(super) fn escape_uri(value: &str) -> std::borrow::Cow<'_, str> {
    let plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    if value.is_ascii() {
        return encoded(value, plain);
    }
    // Composed first, so that equal characters have equal bytes (XSLT and XQuery Serialization 3.1 §7.2).
    let composed = super::Normalization::Nfc.apply(value);
    encoded(&composed, plain).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_known_in_any_case() {
        assert!(Traits::of("BR").any(Traits::VOID) && Traits::of("br").any(Traits::INLINE));
        assert!(Traits::of("Script").any(Traits::RAW) && !Traits::of("div").any(Traits::RAW));
        assert_eq!((Traits::of(""), Traits::of("blockquotes"), Traits::of("brr")), Default::default());
        assert!(ELEMENTS.iter().all(|(name, _)| name.len() <= LONGEST));
    }

    #[test]
    fn attributes_are_minimised_and_uris_known_by_their_elements() {
        assert!(is_minimised("checked", "CHECKED") && !is_minimised("checked", "yes") && !is_minimised("a", "a"));
        assert!(is_uri("a", "href") && is_uri("IMG", "SRC") && is_uri("q", "cite") && !is_uri("p", "cite"));
        assert_eq!(escape_uri("a b?c=ä%20\t"), "a b?c=%C3%A4%20%09");
    }
}
