//! EXSLT's strings.

use std::borrow::Cow;

use myelin_java_text::percent::{Plus, decoded_bytes, encoded};
use myelin_xml::{Arena, Document, TreeBuilder};
use myelin_xpath::{Error, Item, NodeRef, Value};

use super::STRINGS;
use super::common::text_node;
use crate::functions::call::unmade;
use crate::functions::function::Body;
use crate::functions::{Call, Function};

const fn function(name: &'static str, least: u8, most: u8, run: Body) -> Function {
    Function { namespace: STRINGS, name, least, most, run }
}

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    function("align", 2, 3, align),
    function("concat", 1, 1, concat),
    function("decode-uri", 1, 2, decode_uri),
    function("encode-uri", 2, 3, encode_uri),
    function("padding", 1, 2, padding),
    function("replace", 3, 3, replace),
    function("split", 1, 2, split),
    function("tokenize", 1, 2, tokenize),
];

/// Elements of one name – prefix, local name, namespace – each with a text.
pub(super) fn elements<'a, 't>(
    call: &Call<'_, 'a>,
    name: (&str, &str, &str),
    texts: impl Iterator<Item = &'t str>,
) -> Result<Value<'a>, Error> {
    /// Nodes made between two looks at the memory they take.
    const SOME: usize = 4_096;
    let mut tree = TreeBuilder::new(Arena::default());
    let name = tree.names().intern(name.0, name.1, name.2);
    let mut counted = 0;
    for (index, text) in texts.enumerate() {
        tree.start(name).map_err(unmade)?;
        tree.text(text).map_err(unmade)?;
        tree.end();
        if index % SOME == SOME - 1 {
            let size = tree.size_bytes();
            call.machine.build(size - counted)?;
            counted = size;
        }
    }
    let document = call.machine.keep(tree.finish())?;
    Ok(children(document))
}

fn children(document: &Document) -> Value<'_> {
    let children = document.children(document.document_node());
    Value::from_items(children.map(|child| Item::Node(NodeRef::new(document, child))).collect())
}

fn tokens<'a, 't>(call: &Call<'_, 'a>, texts: impl Iterator<Item = &'t str>) -> Result<Value<'a>, Error> {
    elements(call, ("", "token", ""), texts.filter(|text| !text.is_empty()))
}

/// The characters of a text, each as a text.
fn characters(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, letter)| &text[at..at + letter.len_utf8()])
}

/// What stands between any of some characters; each character alone where there are none.
fn tokenize<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.any_text(0);
    let delimiters = if call.count() == 2 { call.any_text(1) } else { Cow::Borrowed("\t\r\n ") };
    if delimiters.is_empty() {
        return tokens(call, characters(&text));
    }
    // Sorted, so that a long text and many delimiters do not multiply.
    let mut delimiters: Vec<char> = delimiters.chars().collect();
    delimiters.sort_unstable();
    tokens(call, text.split(|letter| delimiters.binary_search(&letter).is_ok()))
}

/// What stands between the places where a text occurs.
fn split<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.any_text(0);
    let pattern = if call.count() == 2 { call.any_text(1) } else { Cow::Borrowed(" ") };
    match pattern.is_empty() {
        true => tokens(call, characters(&text)),
        false => tokens(call, text.split(&*pattern)),
    }
}

fn concat<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut joined = String::new();
    for node in call.nodes(0)? {
        let text = node.string_value();
        call.machine.build(text.len())?;
        joined.push_str(&text);
    }
    Ok(Value::from(joined))
}

/// So many characters of a text repeated; a space where there is no text.
fn padding<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let length = call.any_number(0);
    let unit = if call.count() == 2 { call.any_text(1) } else { Cow::Borrowed(" ") };
    if length.is_nan() || length < 1.0 || unit.is_empty() {
        return Ok(Value::from(""));
    }
    // Counted before it is built: the length may be anything.
    let length = length as usize;
    call.machine.build(length.saturating_mul(unit.len().div_ceil(unit.chars().count())))?;
    Ok(Value::from(unit.chars().cycle().take(length).collect::<String>()))
}

/// A text on a padding: at its left, its right or its middle; cut to the padding's length.
fn align<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (text, padding) = (call.any_text(0), call.any_text(1));
    let alignment = if call.count() == 3 { call.any_text(2) } else { Cow::Borrowed("left") };
    let (length, room) = (text.chars().count(), padding.chars().count());
    if length >= room {
        return call.built(text.chars().take(room).collect::<String>());
    }
    let before = match &*alignment {
        "right" => room - length,
        "center" => (room - length) / 2,
        _ => 0,
    };
    let left = padding.chars().take(before);
    let right = padding.chars().skip(before + length);
    call.built(left.chain(text.chars()).chain(right).collect::<String>())
}

/// The texts of an argument: of nodes each one's, otherwise the only one.
fn texts<'a>(call: &Call<'_, 'a>, index: usize) -> Vec<Cow<'a, str>> {
    match call.value(index).is_nodes() {
        true => call.value(index).items().map(|item| item.into_text(call.version())).collect(),
        false => vec![call.any_text(index)],
    }
}

/// Each place where one of some texts stands gets the text of the same number, or nothing where there are not so many;
/// of several that stand there the longest counts. An empty text stands between any two characters.
fn replace<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.any_text(0);
    let (searches, replacements) = (texts(call, 1), texts(call, 2));
    let replacements = replacements.iter().map(|text| &**text).chain(std::iter::repeat(""));
    let mut pairs: Vec<(&str, &str)> = searches.iter().map(|search| &**search).zip(replacements).collect();
    pairs.sort_by_key(|(search, _)| std::cmp::Reverse(search.len()));
    let between = pairs.iter().find(|(search, _)| search.is_empty()).map(|(_, replacement)| *replacement);
    // A search for each character and each text.
    call.machine.step((text.len() as u64).saturating_mul(pairs.len() as u64))?;
    let mut result = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(letter) = rest.chars().next() {
        let found = pairs.iter().find(|(search, _)| !search.is_empty() && rest.starts_with(search));
        let before = result.len();
        if let Some((search, replacement)) = found {
            result.push_str(replacement);
            rest = &rest[search.len()..];
        } else {
            result.push(letter);
            rest = &rest[letter.len_utf8()..];
            if let Some(between) = between
                && !rest.is_empty()
            {
                result.push_str(between);
            }
        }
        call.machine.build(result.len() - before)?;
    }
    text_node(call, &result)
}

/// Characters that an address may hold, and those that have a meaning there (RFC 2396 §2.2 and §2.3); `@` is kept in
/// either case, as libxslt has it.
const PLAIN: &[u8] = b"-_.!~*'()@";
const RESERVED: &[u8] = b";/?:&=+$,[]";

fn is_utf8(call: &Call<'_, '_>, index: usize) -> bool {
    call.count() <= index || matches!(call.any_text(index).to_ascii_uppercase().as_str(), "UTF-8" | "UTF8" | "US-ASCII")
}

/// Characters that cannot stand in an address as `%` and digits; reserved ones too, if that is asked for. Nothing for
/// an encoding other than UTF-8.
fn encode_uri<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    if !is_utf8(call, 2) {
        return Ok(Value::from(""));
    }
    let escape_reserved = call.value(1).boolean();
    let is_kept = |byte: u8| {
        byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) || (!escape_reserved && RESERVED.contains(&byte))
    };
    call.built(encoded(&call.any_text(0), is_kept).into_owned())
}

/// The opposite; nothing where the bytes are no text in UTF-8.
fn decode_uri<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    if !is_utf8(call, 1) {
        return Ok(Value::from(""));
    }
    let text = call.any_text(0);
    let decoded = decoded_bytes(&text, Plus::Itself).into_owned();
    call.built(String::from_utf8(decoded).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{check, check_in};

    #[test]
    fn texts_fall_into_tokens() {
        check("string-join(str:tokenize('2001-06-03T11:40:23', '-T:'), '|')", "2001|06|03|11|40|23");
        check("count(str:tokenize('//foo/bar', '/'))", "2");
        check("string-join(str:tokenize('a b', ''), '|')", "a| |b");
        check("name(str:tokenize('date math str')[3])", "token");
        check("string-join(str:split('a, simple, list', ', '), '|')", "a|simple|list");
        check("string-join(str:split('-*- hello -*-', '-'), '|')", "*| hello |*");
        check("count(str:split('foobar', ''))", "6");
        check("count(str:tokenize('', ','))", "0");
    }

    #[test]
    fn texts_are_padded_and_aligned() {
        check("str:padding(5)", "     ");
        check("str:padding(10, 'abc')", "abcabcabca");
        check("str:padding(-1, 'abc')", "");
        check("str:padding(3, '')", "");
        check("str:align('déja vu', '–––––––––––––', 'center')", "–––déja vu–––");
        check("str:align('déja vu', '–––––––––––––', 'right')", "––––––déja vu");
        check("str:align('déja vu', '––––')", "déja");
    }

    #[test]
    fn texts_are_replaced_the_longest_first() {
        check("str:replace('a, simple, list', ', ', '-')", "a-simple-list");
        check("str:replace('foo', '', 'baz')", "fbazobazo");
        check("count(str:replace('a', 'b', 'c'))", "1");
        let xml = "<x><s>a</s><s>ab</s><r>1</r><r>2</r></x>";
        check_in(xml, "str:replace('ab a b', //s, //r)", "2 1 b");
        check_in(xml, "str:replace('ab a b', //s, 'z')", " z b");
        check_in(xml, "str:replace('ab a b', //s, //none)", "  b");
        check_in(xml, "str:concat(//s)", "aab");
    }

    #[test]
    fn texts_go_into_addresses_and_back() {
        check("str:encode-uri(';/?:&=[]+$,', true())", "%3B%2F%3F%3A%26%3D%5B%5D%2B%24%2C");
        check("str:encode-uri(';/?:&=[]+$, %', false())", ";/?:&=[]+$,%20%25");
        check("str:decode-uri(str:encode-uri('👌 @', true()))", "👌 @");
        check("str:decode-uri('100%')", "100%");
        check("str:encode-uri('é', true(), 'latin1')", "");
    }
}
