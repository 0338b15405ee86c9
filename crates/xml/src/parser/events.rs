//! The events that tokens become.

use std::ops::Range;

use super::Parser;
use super::markup::instruction_parts;
use super::token::Token;
use crate::event::{Comment, Doctype, End, Event, Instruction, Start, Text, XmlDeclaration};
use crate::value;

impl Parser {
    #[inline(always)]
    pub(super) fn event<'a>(&'a self, token: Token, input: &'a [u8]) -> Event<'a> {
        let absolute = |range: &Range<usize>| self.base + range.start..self.base + range.end;
        match token {
            Token::Start { name, range, empty } => Event::Start(Start {
                name,
                empty,
                range: absolute(&range),
                input,
                base: self.base,
                parts: &self.parts,
                names: &self.names,
            }),
            Token::End { name, range } => Event::End(End { name, range: absolute(&range) }),
            Token::Text { range, verbatim } => {
                Event::Text(Text { cdata: false, verbatim, range: absolute(&range), bytes: &input[range] })
            }
            Token::Cdata { range, verbatim } => {
                let bytes = &input[range.start + "<![CDATA[".len()..range.end - "]]>".len()];
                Event::Text(Text { cdata: true, verbatim, range: absolute(&range), bytes })
            }
            Token::Comment { range } => Event::Comment(Comment {
                range: absolute(&range),
                raw: value::text(&input[range.start + "<!--".len()..range.end - "-->".len()]),
            }),
            Token::Instruction { range } => {
                let (target, raw) = instruction_parts(&input[range.start + "<?".len()..range.end - "?>".len()]);
                Event::Instruction(Instruction {
                    range: absolute(&range),
                    target: value::text(target),
                    raw: value::text(raw),
                })
            }
            Token::Doctype { range } => {
                Event::Doctype(Doctype { range: absolute(&range), raw: value::text(&input[range]) })
            }
            Token::Declaration { range } => Event::Declaration(XmlDeclaration {
                range: absolute(&range),
                version: &self.declaration.version,
                encoding: self.declaration.encoding.as_deref(),
                standalone: self.declaration.standalone,
            }),
        }
    }
}
