//! Percent-encoding, undone.

use std::borrow::Cow;

/// What a plus stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plus {
    /// For itself, as in a path.
    Itself,
    /// For a blank, as in the parameters of a form and, with Java, of a query.
    Blank,
}

/// The text as it was before it was put into a URI; broken escapes stay, and what is not UTF-8 then is replaced.
pub(crate) fn decoded(text: &str, plus: Plus) -> Cow<'_, str> {
    match decoded_bytes(text, plus) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// The same for a text in any character set.
pub(crate) fn decoded_bytes(text: &str, plus: Plus) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'%', b'+', text.as_bytes()).is_none() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let digit = |at: usize| behind.get(at).and_then(|&digit| char::from(digit).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &behind[2..];
            }
            (b'+', ..) if plus == Plus::Blank => bytes.push(b' '),
            _ => bytes.push(byte),
        }
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_broken_escapes_stay() {
        let check = |text: &str, expected: &str| assert_eq!(decoded(text, Plus::Blank), expected);
        check("a%20b+c", "a b c");
        check("100%", "100%");
        check("%zz%4", "%zz%4");
        check("%c3%a9", "é");
        check("%FF", "\u{FFFD}");
        check("plain", "plain");
        assert_eq!(decoded("a%2Bb+c", Plus::Itself), "a+b+c");
    }
}
