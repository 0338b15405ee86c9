//! A text cut at its holes: `$1`, `$2` … for the arguments, and `${…}` for Synapse expressions.

use crate::loader::Loader;
use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_expression::{Expression, InlinePart, InlineText};
use myelin_flow::fault::{Fault, Outcome};

use crate::placeholders::{ContextTracker, PlaceholderContext, TextFormat};

/// A text with holes.
#[derive(Debug)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Hole(Hole),
}

/// A place for a value.
#[derive(Debug)]
pub(super) struct Hole {
    pub(super) filling: Filling,
    pub(super) position: PlaceholderContext,
}

/// What goes into a hole.
#[derive(Debug)]
pub(super) enum Filling {
    /// The argument of that number, counted from 0.
    Argument(usize),
    Expression(Expression),
}

impl Template {
    /// Cuts a format into what stands between its holes, and tells the first number without an argument, if any.
    ///
    /// From such a number on all numbers stay as they are written, as in Synapse.
    /// Errors: as [`InlineText::compile`].
    pub(super) fn compile(
        text: Text<'_>,
        arguments: usize,
        format: TextFormat,
        loader: &mut Loader,
    ) -> Result<(Template, Option<String>), Problem> {
        let mut cutter = Cutter::new(arguments, format);
        for piece in InlineText::compile(text, loader)?.into_pieces() {
            match piece {
                InlinePart::Text(text) => cutter.cut(&text),
                InlinePart::Hole(expression) => cutter.hole(Filling::Expression(expression)),
            }
        }
        Ok((Template { parts: cutter.parts }, cutter.missing))
    }

    /// Cuts a format that came up while serving; what looks like a Synapse expression stays as it is written.
    pub(super) fn cut(text: &str, arguments: usize, format: TextFormat) -> Template {
        let mut cutter = Cutter::new(arguments, format);
        cutter.cut(text);
        Template { parts: cutter.parts }
    }

    /// The Synapse expressions in it.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(Hole { filling: Filling::Expression(expression), .. }) => Some(expression),
            _ => None,
        })
    }

    /// The beginning of the text that is the same whatever fills the holes, and whether it is the whole text: it ends at
    /// the first hole outside of quotes, and leaves out holes in quotes, whose values cannot end the quotes.
    pub(super) fn known(&self) -> (String, bool) {
        let mut known = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => known.push_str(text),
                Part::Hole(Hole { position: PlaceholderContext::Quoted, .. }) => {}
                Part::Hole(_) => return (known, false),
            }
        }
        (known, true)
    }

    /// The text with `value` in each hole, and a letter in those in quotes.
    pub(super) fn with(&self, value: &str) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Hole(Hole { position: PlaceholderContext::Quoted, .. }) => "a",
            Part::Hole(_) => value,
        });
        parts.collect()
    }

    /// The text with what `write` writes into each hole, without white space around it.
    ///
    /// Errors: those of `write`, and the bus's, where it would be longer than `limit_bytes`.
    pub(super) fn filled(
        &self,
        limit_bytes: u64,
        write: impl FnMut(&Hole, &mut Vec<u8>) -> Outcome<()>,
    ) -> Outcome<Vec<u8>> {
        let mut out = self.whole(limit_bytes, write)?;
        out.truncate(out.trim_ascii_end().len());
        out.drain(..out.len() - out.trim_ascii_start().len());
        Ok(out)
    }

    /// The hole in or behind which a byte of the filled text stands, with what was written into it.
    ///
    /// Errors: as [`Template::filled`].
    pub(super) fn hole_before(
        &self,
        offset: usize,
        limit_bytes: u64,
        mut write: impl FnMut(&Hole, &mut Vec<u8>) -> Outcome<()>,
    ) -> Outcome<Option<(String, Vec<u8>)>> {
        let mut holes = Vec::new();
        let out = self.whole(limit_bytes, |hole, out| {
            let start = out.len();
            write(hole, out)?;
            holes.push((start..out.len(), hole.name()));
            Ok(())
        })?;
        let offset = offset + (out.len() - out.trim_ascii_start().len());
        let found = holes.into_iter().rev().find(|(range, _)| range.start <= offset);
        Ok(found.map(|(range, name)| (name, out[range].to_vec())))
    }

    /// The text with what `write` writes into each hole.
    fn whole(&self, limit_bytes: u64, mut write: impl FnMut(&Hole, &mut Vec<u8>) -> Outcome<()>) -> Outcome<Vec<u8>> {
        let mut out = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Hole(hole) => write(hole, &mut out)?,
            }
            if out.len() as u64 > limit_bytes {
                let detail = format!("it is longer than {limit_bytes} bytes");
                return Err(Fault::bus("What <payloadFactory> made is larger than a body may be").with_detail(detail));
            }
        }
        Ok(out)
    }
}

impl Hole {
    /// What its author would call it.
    fn name(&self) -> String {
        match self.filling {
            Filling::Argument(index) => format!("argument ${}", index + 1),
            Filling::Expression(_) => "a ${…}".to_owned(),
        }
    }
}

/// Cuts text at numbers, and watches what the holes stand in.
struct Cutter {
    arguments: usize,
    tracker: ContextTracker,
    parts: Vec<Part>,
    missing: Option<String>,
}

impl Cutter {
    fn new(arguments: usize, format: TextFormat) -> Cutter {
        Cutter { arguments, tracker: ContextTracker::new(format), parts: Vec::new(), missing: None }
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.tracker.pass(text);
            self.parts.push(Part::Text(text.to_owned()));
        }
    }

    fn hole(&mut self, filling: Filling) {
        self.parts.push(Part::Hole(Hole { filling, position: self.tracker.context() }));
    }

    fn cut(&mut self, text: &str) {
        let (mut done, mut at) = (0, 0);
        while let Some(found) = memchr::memchr(b'$', &text.as_bytes()[at..]).filter(|_| self.missing.is_none()) {
            let start = at + found;
            let digits = text[start + 1..].bytes().take_while(u8::is_ascii_digit).count();
            at = start + 1 + digits;
            if digits == 0 {
                continue;
            }
            // A number too large for this type has no argument either.
            let number = text[start + 1..at].parse::<usize>().ok();
            match number.and_then(|number| number.checked_sub(1)).filter(|&index| index < self.arguments) {
                Some(argument) => {
                    self.text(&text[done..start]);
                    self.hole(Filling::Argument(argument));
                    done = at;
                }
                None => self.missing = Some(text[start..at].to_owned()),
            }
        }
        self.text(&text[done..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, arguments: &[&str], limit_bytes: u64) -> Outcome<String> {
        let bytes = Template::cut(text, arguments.len(), TextFormat::Text).filled(limit_bytes, |hole, out| {
            let Filling::Argument(argument) = hole.filling else { panic!("there are no expressions") };
            out.extend_from_slice(arguments[argument].as_bytes());
            Ok(())
        })?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn each_number_is_a_hole_until_one_has_no_argument() {
        let check = |text: &str, expected: &str| {
            assert_eq!(filled(text, &["a", "é"], 100).unwrap(), expected, "{text}");
        };
        check("$1", "a");
        check(" é$2é\n", "ééé");
        check("$$1 $ $x $1$2", "$a $ $x aé");
        check("$1 $3 $1", "a $3 $1");
        check("$1 $12", "a $12");
        check("$0", "$0");
        check("$99999999999999999999999", "$99999999999999999999999");
        check("$01", "a");
        check("", "");
    }

    #[test]
    fn the_hole_at_an_offset_is_told_with_what_it_holds() {
        let given = ["x", "", "{1}"];
        let template = Template::cut(" {\"a\":\"$1\",\"b\":$2,\"c\":$3} ", 3, TextFormat::Json);
        let at = |offset: usize| {
            let hole = template.hole_before(offset, 100, |hole, out| {
                let Filling::Argument(argument) = hole.filling else { panic!("there are no expressions") };
                out.extend_from_slice(given[argument].as_bytes());
                Ok(())
            });
            hole.unwrap().map(|(name, text)| format!("{name}: {}", String::from_utf8(text).unwrap()))
        };
        assert_eq!(at(2), None);
        assert_eq!(at(7).as_deref(), Some("argument $1: x"));
        assert_eq!(at(13).as_deref(), Some("argument $2: "));
        assert_eq!(at(21).as_deref(), Some("argument $3: {1}"));
    }

    #[test]
    fn a_body_that_would_be_too_large_is_not_made() {
        assert_eq!(filled("$1", &["1234"], 4).unwrap(), "1234");
        assert!(filled("$1", &["12345"], 4).is_err());
        assert!(filled("12345", &[], 4).is_err());
        // Whoever fills holes without end stops at the first that is too much.
        let template = Template::cut(&"$1".repeat(1000), 1, TextFormat::Text);
        let mut calls = 0;
        let outcome = template.filled(100, |_, out| {
            calls += 1;
            out.extend_from_slice(&[b'x'; 60]);
            Ok(())
        });
        assert!(outcome.is_err() && calls == 2);
    }
}
