//! A text cut at its holes, `$1`, `$2` …

use crate::fault::{Fault, Outcome};

/// A text with holes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// What stands before each hole.
    pieces: Vec<(String, Hole)>,
    /// What stands behind the last one.
    rest: String,
}

/// A place for an argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// Which argument, counted from 0.
    pub(super) argument: usize,
    /// Whether it stands in the value of an XML attribute.
    pub(super) in_attribute: bool,
}

impl Template {
    /// Cuts a text into what stands between its holes, and tells the first number without an argument, if any.
    ///
    /// From such a number on all stays as it is written, as in Synapse.
    pub(super) fn cut(
        text: &str,
        arguments: usize,
        is_in_attribute: impl Fn(usize) -> bool,
    ) -> (Template, Option<&str>) {
        let mut pieces = Vec::new();
        let (mut done, mut at) = (0, 0);
        let mut missing = None;
        while let Some(found) = memchr::memchr(b'$', &text.as_bytes()[at..]) {
            let start = at + found;
            let digits = text[start + 1..].bytes().take_while(u8::is_ascii_digit).count();
            at = start + 1 + digits;
            if digits == 0 {
                continue;
            }
            // A number too large for this type has no argument either.
            let number = text[start + 1..at].parse::<usize>().ok();
            let Some(argument) = number.and_then(|number| number.checked_sub(1)).filter(|&index| index < arguments)
            else {
                missing = Some(&text[start..at]);
                break;
            };
            pieces.push((text[done..start].to_owned(), Hole { argument, in_attribute: is_in_attribute(start) }));
            done = at;
        }
        (Template { pieces, rest: text[done..].to_owned() }, missing)
    }

    /// The text with what `write` writes into each hole, without white space around it.
    ///
    /// Errors: those of `write`, and the bus's, where it would be longer than `limit_bytes`.
    pub(super) fn filled(
        &self,
        limit_bytes: u64,
        mut write: impl FnMut(&Hole, &mut Vec<u8>) -> Outcome<()>,
    ) -> Outcome<Vec<u8>> {
        let mut out = Vec::new();
        for (before, hole) in &self.pieces {
            out.extend_from_slice(before.as_bytes());
            write(hole, &mut out)?;
            if out.len() as u64 > limit_bytes {
                break;
            }
        }
        out.extend_from_slice(self.rest.as_bytes());
        if out.len() as u64 > limit_bytes {
            let detail = format!("it is longer than {limit_bytes} bytes");
            return Err(Fault::bus("What <payloadFactory> made is larger than a body may be").with_detail(detail));
        }
        out.truncate(out.trim_ascii_end().len());
        out.drain(..out.len() - out.trim_ascii_start().len());
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, arguments: &[&str], limit_bytes: u64) -> Outcome<String> {
        let (template, _) = Template::cut(text, arguments.len(), |_| false);
        let bytes = template.filled(limit_bytes, |hole, out| {
            out.extend_from_slice(arguments[hole.argument].as_bytes());
            Ok(())
        })?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn each_number_is_a_hole_until_one_has_no_argument() {
        let check = |text: &str, expected: &str, missing: Option<&str>| {
            assert_eq!(filled(text, &["a", "é"], 100).unwrap(), expected, "{text}");
            assert_eq!(Template::cut(text, 2, |_| false).1, missing, "{text}");
        };
        check("$1", "a", None);
        check(" é$2é\n", "ééé", None);
        check("$$1 $ $x $1$2", "$a $ $x aé", None);
        check("$1 $3 $1", "a $3 $1", Some("$3"));
        check("$1 $12", "a $12", Some("$12"));
        check("$0", "$0", Some("$0"));
        check("$99999999999999999999999", "$99999999999999999999999", Some("$99999999999999999999999"));
        check("$01", "a", None);
        check("", "", None);
    }

    #[test]
    fn a_body_that_would_be_too_large_is_not_made() {
        assert_eq!(filled("$1", &["1234"], 4).unwrap(), "1234");
        assert!(filled("$1", &["12345"], 4).is_err());
        assert!(filled("12345", &[], 4).is_err());
        // Whoever fills holes without end stops at the first that is too much.
        let (template, _) = Template::cut(&"$1".repeat(1000), 1, |_| false);
        let mut calls = 0;
        let outcome = template.filled(100, |_, out| {
            calls += 1;
            out.extend_from_slice(&[b'x'; 60]);
            Ok(())
        });
        assert!(outcome.is_err() && calls == 2);
    }
}
