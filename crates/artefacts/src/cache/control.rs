//! What a response says of how it may be kept, and a request of what it takes (RFC 9111 §5.2), and what a request knows
//! already (RFC 9110 §13.1.2).

use std::time::Duration;

use myelin_message::Head;

/// The directives of `Cache-Control` that a cache heeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Control {
    /// It may not be kept: `no-store`, or `private` to one client.
    pub(super) no_store: bool,
    /// It may be used after its sender was asked only: `no-cache`, or `Pragma` in the place of `Cache-Control`.
    pub(super) no_cache: bool,
    /// It is for others than who asked, too, even if that one said who it is (RFC 9111 §3.5).
    pub(super) is_public: bool,
    /// How old it may be: `s-maxage`, else `max-age`.
    pub(super) max_age: Option<Duration>,
}

impl Control {
    pub(super) fn of(head: &Head) -> Control {
        let mut control = Control::default();
        let mut shared = None;
        let lines = head.all("Cache-Control").filter_map(|value| std::str::from_utf8(value).ok());
        for directive in lines.flat_map(|value| value.split(',')) {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            // A number that is none means: not at all (RFC 9111 §4.2.1 lets a cache take it for stale).
            let age = || Some(Duration::from_secs(value.trim().trim_matches('"').parse().unwrap_or(0)));
            match name.trim().to_ascii_lowercase().as_str() {
                "no-store" | "private" => control.no_store = true,
                "no-cache" => control.no_cache = true,
                "public" | "must-revalidate" => control.is_public = true,
                "max-age" => control.max_age = age(),
                "s-maxage" => shared = age(),
                _ => {}
            }
        }
        control.is_public |= shared.is_some();
        control.max_age = shared.or(control.max_age);
        let is_pragma = |value: &[u8]| value.trim_ascii().eq_ignore_ascii_case(b"no-cache");
        control.no_cache |= head.first("Cache-Control").is_none() && head.all("Pragma").any(is_pragma);
        control
    }
}

/// Whether an `If-None-Match` names the `ETag` of a response, weak or strong.
pub(super) fn knows(if_none_match: &[u8], tag: &[u8]) -> bool {
    let opaque = |tag: &[u8]| -> Vec<u8> {
        let tag = tag.trim_ascii();
        tag.strip_prefix(b"W/").unwrap_or(tag).to_vec()
    };
    let wanted = opaque(tag);
    // No server makes tags with commas in them; one that does is not recognised, and gets the whole answer.
    if_none_match.split(|&byte| byte == b',').map(opaque).any(|known| known == wanted || known == b"*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directives_of_all_lines_are_read_in_any_case() {
        let check = |lines: &[&str], no_store, no_cache, max_age: Option<u64>| {
            let mut head = Head::default();
            lines.iter().for_each(|line| head.append("cache-control", line.as_bytes()).unwrap());
            let found = Control { is_public: false, ..Control::of(&head) };
            let expected = Control { no_store, no_cache, is_public: false, max_age: max_age.map(Duration::from_secs) };
            assert_eq!(found, expected, "{lines:?}");
        };
        check(&[], false, false, None);
        check(&["public, Max-Age=60"], false, false, Some(60));
        check(&["max-age=60, s-maxage=\"5\""], false, false, Some(5));
        check(&["NO-CACHE", "private"], true, true, None);
        check(&["no-store,max-age = soon"], true, false, Some(0));
        check(&["x-no-store, only-if-cached"], false, false, None);
    }

    #[test]
    fn an_old_word_counts_where_no_new_one_is_there() {
        let check = |lines: &[(&str, &str)], no_cache, is_public| {
            let mut head = Head::default();
            lines.iter().for_each(|(name, value)| head.append(name, value.as_bytes()).unwrap());
            let found = Control::of(&head);
            assert_eq!((found.no_cache, found.is_public), (no_cache, is_public), "{lines:?}");
        };
        check(&[("Pragma", "No-Cache")], true, false);
        check(&[("Pragma", "no-cache"), ("Cache-Control", "public")], false, true);
        check(&[("Cache-Control", "s-maxage=1")], false, true);
    }

    #[test]
    fn a_tag_is_known_however_weak() {
        let check = |list: &str, tag: &str, expected| {
            assert_eq!(knows(list.as_bytes(), tag.as_bytes()), expected, "{list} {tag}");
        };
        check("\"a\"", "\"a\"", true);
        check("\"b\", W/\"a\"", "\"a\"", true);
        check("*", "\"a\"", true);
        check("\"b\"", "\"a\"", false);
        check("", "\"a\"", false);
    }
}
