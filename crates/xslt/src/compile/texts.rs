//! Texts of a stylesheet: those between its elements, with expressions in them or without (XSLT 1.0 §7.2, 3.0 §5.6.2).

use std::rc::Rc;

use super::compiler::Compiler;
use super::element::Attribute;
use super::here::Here;
use crate::program::{Avt, AvtPart, Block, Content, Instruction, Kind};
use crate::scope::At;

/// Instructions that are being put together.
pub(super) type Instructions = Vec<Instruction>;

impl<'s> Compiler<'s> {
    /// A text, in which expressions may stand between braces.
    pub(super) fn text(&mut self, text: &Attribute<'s>, here: &Rc<Here>, made: &mut Instructions) {
        let at = text.at();
        if !here.expand_text {
            return push_text(made, at, &text.value);
        }
        match self.avt(text, here) {
            Ok(Avt::Constant(constant)) => push_text(made, at, &constant),
            Ok(Avt::Parts(parts)) => {
                let part = |part| match part {
                    AvtPart::Text(text) => Kind::Text(text, false),
                    AvtPart::Value(source) => Kind::ValueOf(Content::Select(source, None), false),
                };
                let parts: Block = parts.into_iter().map(|one| Instruction { at, kind: part(one) }).collect();
                // All of it is one text.
                let between = Some(Avt::Constant(Box::default()));
                made.push(Instruction { at, kind: Kind::ValueOf(Content::Block(parts, between), false) });
            }
            Err(_) => {}
        }
    }
}

fn push_text(made: &mut Instructions, at: At, text: &str) {
    if !text.is_empty() {
        made.push(Instruction { at, kind: Kind::Text(text.into(), false) });
    }
}

/// Makes one text of those beside each other, and of the parts of a text its neighbours: for content of a node, where
/// nobody can tell them apart.
pub(super) fn join_texts(block: Block) -> Block {
    let mut joined = Joined::default();
    for instruction in block {
        match instruction.kind {
            Kind::ValueOf(Content::Block(parts, Some(Avt::Constant(between))), false)
                if between.is_empty() && parts.iter().all(is_plain_text) =>
            {
                parts.into_iter().for_each(|part| joined.push(part));
            }
            _ => joined.push(instruction),
        }
    }
    joined.flush();
    joined.made.into()
}

/// Instructions with the text that ends them so far.
#[derive(Default)]
struct Joined {
    made: Instructions,
    text: Option<(At, String)>,
}

impl Joined {
    fn push(&mut self, instruction: Instruction) {
        match instruction.kind {
            Kind::Text(text, false) => {
                self.text.get_or_insert_with(|| (instruction.at, String::new())).1.push_str(&text);
            }
            _ => {
                self.flush();
                self.made.push(instruction);
            }
        }
    }

    fn flush(&mut self) {
        let text = self.text.take();
        self.made.extend(text.map(|(at, text)| Instruction { at, kind: Kind::Text(text.into(), false) }));
    }
}

/// Whether an instruction makes a text and nothing else.
fn is_plain_text(instruction: &Instruction) -> bool {
    matches!(instruction.kind, Kind::Text(_, false) | Kind::ValueOf(Content::Select(..), false))
}
