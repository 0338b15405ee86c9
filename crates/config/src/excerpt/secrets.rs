//! Where secrets stand in a text that may be XML, well formed or not.
//!
//! The text is searched by its marks alone, so that a file is searched that no parser reads. More is taken for a secret
//! than is one: what is shown to people may be pasted into a ticket.

use std::ops::Range;

use myelin_spelling::nearest;

/// What a name of a secret holds.
const PARTS: &[&str] = &[
    "accesskey",
    "apikey",
    "authorization",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "token",
];

/// Words that a misspelt name of a secret is close to.
const WORDS: &[&str] =
    &["authorization", "credential", "credentials", "passphrase", "passwd", "password", "secret", "token"];

/// Elements that hold a value under a name.
const HOLDERS: &[&str] = &[
    "arg",
    "argument",
    "attribute",
    "entry",
    "header",
    "key",
    "localEntry",
    "param",
    "parameter",
    "property",
    "variable",
    "with-param",
];

/// A longer text is no name.
const NAME_BYTES: usize = 80;

/// The secrets, in their order, none in another.
pub(super) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    marked_up(text, &mut found);
    assigned(text, &mut found);
    in_urls(text, &mut found);
    found.retain(|range| range.start < range.end && !is_reference(&text[range.clone()]));
    found.sort_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// Whether a name is one that secrets have, or close to one.
fn is_secret(name: &str) -> bool {
    if name.len() > NAME_BYTES {
        return false;
    }
    let plain: String = name.chars().filter(|it| it.is_alphanumeric()).collect::<String>().to_lowercase();
    if plain.ends_with("pass") || PARTS.iter().any(|part| plain.contains(part)) {
        return true;
    }
    words(name).any(|word| nearest(&word, WORDS.iter().copied()).is_some())
}

/// The words that a name consists of: `trustPasswrd` is `trust` and `passwrd`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = character.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words.into_iter().filter(|word| word.len() > 2)
}

/// Whether a value says where a secret is, and is none itself.
fn is_reference(value: &str) -> bool {
    let value = value.trim();
    let inside = ["$secret{", "$env{"].iter().find_map(|begin| value.strip_prefix(begin)?.strip_suffix('}'));
    value.is_empty() || inside.is_some_and(|name| !name.contains(['{', '}', '$']))
}

/// What is secret of the text in an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    /// The text directly in it.
    Text,
    /// Everything in it.
    All,
}

/// Finds the values of attributes and the texts of elements that have names of secrets, or stand beside one.
fn marked_up(text: &str, found: &mut Vec<Range<usize>>) {
    let mut open: Vec<Holds> = Vec::new();
    let mut next = 0;
    while next < text.len() {
        let tag = memchr::memchr(b'<', &text.as_bytes()[next..]).map_or(text.len(), |length| next + length);
        if open.last().is_some_and(|holds| *holds != Holds::Nothing) {
            let inside = &text[next..tag];
            let start = next + (inside.len() - inside.trim_start().len());
            found.push(start..start.max(next + inside.trim_end().len()));
        }
        let rest = text.get(tag + 1..).unwrap_or_default();
        next = tag + 1;
        if rest.starts_with('/') {
            open.pop();
            next += memchr::memchr(b'>', rest.as_bytes()).map_or(0, |length| length + 1);
        } else if let Some(data) = rest.strip_prefix("![CDATA[") {
            next = text.len() - data.len();
        } else if rest.starts_with(|it: char| it.is_alphabetic() || it == '_') {
            let outer = open.last().copied().unwrap_or(Holds::Nothing);
            let tag = Tag::read(text, next);
            let holds = tag.secrets(text, outer, found);
            next = tag.end;
            if !tag.is_closed {
                open.push(holds);
            }
        }
    }
}

/// A start tag.
struct Tag {
    name: Range<usize>,
    /// The names and values of its attributes.
    attributes: Vec<(Range<usize>, Range<usize>)>,
    is_closed: bool,
    end: usize,
}

impl Tag {
    /// Reads the tag whose name begins at an offset; what is no attribute in it is passed over.
    fn read(text: &str, start: usize) -> Tag {
        let bytes = text.as_bytes();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"-_.:".contains(&byte);
        let name_from =
            |at: usize| bytes[at..].iter().position(|&byte| !is_name(byte)).map_or(bytes.len(), |it| at + it);
        let blanks_from = |at: usize| {
            bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace()).map_or(bytes.len(), |it| at + it)
        };
        let mut at = name_from(start);
        let mut tag = Tag { name: start..at, attributes: Vec::new(), is_closed: false, end: text.len() };
        while at < bytes.len() {
            match bytes[at] {
                b'>' => {
                    (tag.is_closed, tag.end) = (bytes[at - 1] == b'/', at + 1);
                    return tag;
                }
                // The tag was never closed.
                b'<' => {
                    (tag.is_closed, tag.end) = (true, at);
                    return tag;
                }
                byte if is_name(byte) => {
                    let name = at..name_from(at);
                    at = blanks_from(name.end);
                    if bytes.get(at) != Some(&b'=') {
                        continue;
                    }
                    at = blanks_from(at + 1);
                    let Some(&quote @ (b'"' | b'\'')) = bytes.get(at) else { continue };
                    let end = memchr::memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |length| at + 1 + length);
                    tag.attributes.push((name, at + 1..end));
                    at = end + 1;
                }
                _ => at += 1,
            }
        }
        tag
    }

    /// Notes the secrets among its attributes; what is secret of the text that follows it.
    fn secrets(&self, text: &str, outer: Holds, found: &mut Vec<Range<usize>>) -> Holds {
        let local = |name: &Range<usize>| text[name.clone()].rsplit(':').next().unwrap_or_default();
        let is_holder = nearest(local(&self.name), HOLDERS.iter().copied()).is_some();
        let marks = |(_, value): &&(Range<usize>, Range<usize>)| is_holder && is_secret(&text[value.clone()]);
        let mark = self.attributes.iter().find(marks).map(|(_, value)| value.clone());
        let is_named = is_secret(local(&self.name)) || outer == Holds::All;
        for (name, value) in &self.attributes {
            if Some(value) != mark.as_ref() && (mark.is_some() || is_secret(local(name))) {
                found.push(value.clone());
            }
        }
        match (is_named, mark) {
            (true, _) => Holds::All,
            (false, Some(_)) => Holds::Text,
            (false, None) => Holds::Nothing,
        }
    }
}

/// Finds `password=hush`, `"token": "hush"` and the like, in URLs, JSON and tables.
fn assigned(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    for at in memchr::memchr2_iter(b'=', b':', bytes) {
        let before = text[..at].trim_end();
        let (before, is_quoted) = match before.strip_suffix(['"', '\'']) {
            Some(inside) => (inside, true),
            None => (before, false),
        };
        let name = before.bytes().rev().take(NAME_BYTES).take_while(is_name).count();
        if name == 0 || !is_secret(&before[before.len() - name..]) {
            continue;
        }
        let rest = &text[at + 1..];
        // A line of a table, or of JSON, is one; what follows a colon in a name with a prefix is no value.
        if bytes[at] == b':' && !is_quoted && !rest.starts_with([' ', '\t', '"', '\'']) {
            continue;
        }
        let value = rest.trim_start();
        let start = text.len() - value.len();
        let length = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].find([quote, '\n']).map_or(value.len(), |end| end + 1),
            _ => value.find(|it: char| it.is_whitespace() || "&;,<>\"'}]".contains(it)).unwrap_or(value.len()),
        };
        let quote = usize::from(value.starts_with(['"', '\'']));
        found.push(start + quote..start + length.max(quote));
    }
}

/// Finds the password in `http://user:password@host/`.
fn in_urls(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, begin) in text.match_indices("://") {
        let start = at + begin.len();
        let authority = &text[start..];
        let end = authority.find(|it: char| it.is_whitespace() || "/?#\"'<>".contains(it)).unwrap_or(authority.len());
        let Some((user, _)) = authority[..end].rsplit_once('@') else { continue };
        if let Some(colon) = user.find(':') {
            found.push(start + colon + 1..start + user.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that is not secret stays, and nothing else.
    fn check(text: &str, expected: &str) {
        let mut shown = String::new();
        let mut next = 0;
        for range in ranges(text) {
            shown.push_str(&text[next..range.start]);
            shown.push('*');
            next = range.end;
        }
        shown.push_str(&text[next..]);
        assert_eq!(shown, expected);
    }

    #[test]
    fn values_of_attributes_and_texts_with_names_of_secrets_are_found() {
        check("<a password='hush' b='1'/>", "<a password='*' b='1'/>");
        check("<a trustStorePass = \"hush\"/>", "<a trustStorePass = \"*\"/>");
        check("<c:KeyPassword>hush</c:KeyPassword>b", "<c:KeyPassword>*</c:KeyPassword>b");
        check("<password><![CDATA[hu<sh]]></password>", "<password><![CDATA[*<sh]]></password>");
        check("<clientSecret>\n  hush\n</clientSecret>", "<clientSecret>\n  *\n</clientSecret>");
        check("<!-- <password>hush</password> -->", "<!-- <password>*</password> -->");
        check("<token><v a='1'>hush</v></token>", "<token><v a='1'>*</v></token>");
    }

    #[test]
    fn a_value_under_the_name_of_a_secret_is_one() {
        check(
            "<parameter name='transport.vfs.Password'>hush</parameter>",
            "<parameter name='transport.vfs.Password'>*</parameter>",
        );
        check(
            "<property name='Authorization' value='Basic x' scope='s'/>",
            "<property name='Authorization' value='*' scope='*'/>",
        );
        check("<parameter name='p'>free</parameter>", "<parameter name='p'>free</parameter>");
        check("<proxy name='TokenService' a='b'><c>d</c></proxy>", "<proxy name='TokenService' a='b'><c>d</c></proxy>");
        check("<sequence key='getToken'/>", "<sequence key='getToken'/>");
    }

    #[test]
    fn a_misspelt_name_of_a_secret_counts_as_one() {
        check("<basicAuth><pasword>hush</pasword></basicAuth>", "<basicAuth><pasword>*</pasword></basicAuth>");
        check("<a clientSecrte='hush'/>", "<a clientSecrte='*'/>");
        check("<paramter nmae='my.passwrod'>hush</paramter>", "<paramter nmae='my.passwrod'>*</paramter>");
        check("<property name='password' valeu='hush'/>", "<property name='password' valeu='*'/>");
    }

    #[test]
    fn urls_json_and_tables_are_searched_as_well() {
        check("<u>jdbc:a://h/d;user=sa;password=hush;x=1</u>", "<u>jdbc:a://h/d;user=sa;password=*;x=1</u>");
        check("http://h/?access_token=hush&amp;b=1", "http://h/?access_token=*&amp;b=1");
        check("{\"a\": 1, \"password\": \"hu sh\", \"b\": 2}", "{\"a\": 1, \"password\": \"*\", \"b\": 2}");
        check("password = \"hush\"\nport = 1", "password = \"*\"\nport = 1");
        check("http://me:hush@host/a:b@c", "http://me:*@host/a:b@c");
        check("<token:b c='1'>d</token:b>", "<token:b c='1'>d</token:b>");
    }

    #[test]
    fn what_says_where_a_secret_is_stays() {
        check("<a password='$secret{store}'/>", "<a password='$secret{store}'/>");
        check("<a password='$secret{a}hush{}'/>", "<a password='*'/>");
    }

    #[test]
    fn text_that_is_not_well_formed_is_searched_to_its_end() {
        check("<a password='hush", "<a password='*");
        check("<a><password>hush<b></a>", "<a><password>*<b></a>");
        check("<a <password>hush", "<a <password>*");
        check("<", "<");
        check("</", "</");
        check("<a b=>c", "<a b=>c");
    }
}
