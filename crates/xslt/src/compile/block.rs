//! Sequence constructors: what stands inside an instruction, a template or a variable (XSLT 2.0 §5.7).

use std::rc::Rc;

use super::compiler::Compiler;
use super::element::{Child, EXSLT, Element};
use super::here::Here;
use super::instructions::documents;
use super::problems::Made;
use super::specs::{self, Role};
use super::texts::{Instructions, join_texts};
use crate::name::{EXSLT_COMMON, SAXON};
use crate::program::{Avt, Block, Content, Instruction, Kind, Part};
use crate::scope::At;
use crate::stack;

impl<'s> Compiler<'s> {
    /// All that stands inside an element.
    pub(super) fn block(&mut self, element: Element<'s>, here: &Rc<Here>) -> Block {
        self.block_of(element.children(here), here)
    }

    /// What stands inside an element, apart: some elements, which come first, and the rest.
    ///
    /// White space between the parts is left out.
    pub(super) fn split(
        &mut self,
        element: Element<'s>,
        here: &Rc<Here>,
        is_part: impl Fn(&str) -> bool,
    ) -> (Vec<(Element<'s>, Rc<Here>)>, Vec<Child<'s>>) {
        let mut parts = Vec::new();
        let mut rest = Vec::new();
        for child in element.children(here) {
            match child {
                Child::Element(part) if part.xslt().is_some_and(&is_part) => {
                    let inner = here.enter(part, &mut self.problems);
                    if !self.is_used(part, &inner) {
                        continue;
                    }
                    if !rest.is_empty() {
                        let message = format!("<{}> has to come first in <{}>", part.written(), element.written());
                        self.problems.error(part.at(), "XTSE0010", message);
                    }
                    self.check_attributes(part, &inner);
                    parts.push((part, inner));
                }
                Child::Text(text) if !here.keeps(&text.value) => {}
                other => rest.push(other),
            }
        }
        (parts, rest)
    }

    /// What stands inside an element, or the rest of it; variables that are declared in it are known in it only.
    pub(super) fn block_of(&mut self, children: Vec<Child<'s>>, here: &Rc<Here>) -> Block {
        let mark = self.frame.open();
        let mut made = Instructions::new();
        // What stands before parts that depend on the rest.
        let mut parts = Vec::new();
        let mut depends_at = At::default();
        // A loop can be ended only by the last thing it does.
        let last = children.iter().rposition(|child| match child {
            Child::Text(text) => here.keeps(&text.value),
            Child::Element(element) => !element.is("fallback"),
        });
        let last_in = self.last_in.take();
        for (index, child) in children.into_iter().enumerate() {
            match child {
                Child::Text(text) if here.keeps(&text.value) => self.text(&text, here, &mut made),
                Child::Text(_) => {}
                Child::Element(element) => {
                    let inner = here.enter(element, &mut self.problems);
                    if self.is_used(element, &inner) && matches!(element.xslt(), Some("on-empty" | "on-non-empty")) {
                        depends_at = element.at();
                        parts.push(Part::Always(std::mem::take(&mut made).into()));
                        // What is wrong with it has been told.
                        parts.extend(self.depending(element, &inner, Some(index) == last));
                    } else if self.is_used(element, &inner) {
                        let passes_on = matches!(
                            element.xslt(),
                            Some("if" | "choose" | "try" | "break" | "next-iteration" | "sequence")
                        );
                        self.last_in = last_in.clone().filter(|_| passes_on && Some(index) == last);
                        stack::with_enough(|| self.instruction(element, &inner, &mut made));
                        self.last_in = None;
                    }
                }
            }
        }
        self.last_in = last_in;
        self.frame.close(mark);
        if parts.is_empty() {
            // In 1.0 there are no sequences in which texts would be told apart.
            return if here.is_backwards() { join_texts(made.into()) } else { made.into() };
        }
        parts.push(Part::Always(made.into()));
        [Instruction { at: depends_at, kind: Kind::Depending(parts.into()) }].into()
    }

    /// Whether `use-when` lets the element be there.
    pub(super) fn is_used(&mut self, element: Element<'s>, here: &Rc<Here>) -> bool {
        self.statics.use_when(element, here, &mut self.problems).unwrap_or(false)
    }

    /// Compiles one instruction, or whatever stands where there should be one.
    fn instruction(&mut self, element: Element<'s>, here: &Rc<Here>, made: &mut Instructions) {
        let at = element.at();
        let known = self.problems.mark();
        let kind = match element.xslt() {
            Some(local) => match specs::find(local).map(|spec| &spec.role) {
                Some(Role::Instruction(build)) => {
                    self.check_attributes(element, here);
                    build(self, element, here)
                }
                // What is in place of an instruction that is known says nothing.
                Some(Role::Part) if local == "fallback" => return self.check_attributes(element, here),
                Some(Role::Declaration | Role::Part) => {
                    let message = format!("<{}> cannot stand here", element.written());
                    Err(self.problems.error(at, "XTSE0010", message))
                }
                None if here.is_forwards() => {
                    let message = format!("<{}> is no instruction of XSLT", element.written());
                    return self.fall_back(element, here, "XTSE0010", message, made);
                }
                None => {
                    let message = format!("<{}> is no instruction of XSLT", element.written());
                    Err(self.problems.error(at, "XTSE0010", message))
                }
            },
            None if here.extensions.iter().any(|known| known == element.name().namespace) => {
                return self.extension(element, here, made);
            }
            None => self.literal(element, here),
        };
        match kind {
            Ok(kind) => made.push(Instruction { at, kind }),
            // What is wrong by the rules known here may be right by those of a later version, so it is an error only
            // when it is come to (XSLT 3.0 §3.9).
            Err(_) if here.is_forwards() => {
                if let Some(problem) = self.problems.take_back(known) {
                    made.push(Instruction { at, kind: Kind::Fail(problem.code, problem.message.into()) });
                }
            }
            Err(_) => {}
        }
    }

    /// An instruction that is not known: its `xsl:fallback`, or an error when it is come to.
    fn fall_back(
        &mut self,
        element: Element<'s>,
        here: &Rc<Here>,
        code: &'static str,
        message: String,
        made: &mut Instructions,
    ) {
        let fallbacks: Vec<_> = element.elements().filter(|child| child.is("fallback")).collect();
        for &fallback in &fallbacks {
            let inner = here.enter(fallback, &mut self.problems);
            if self.is_used(fallback, &inner) {
                made.extend(self.block(fallback, &inner));
            }
        }
        if !fallbacks.is_empty() {
            return;
        }
        // Extension elements are another's, and may be guarded by element-available() at any version.
        if here.is_forwards() || code == "XTDE1450" {
            let at = element.at();
            self.problems.warning(at, code, format!("{message}: coming to it will be an error"));
            made.push(Instruction { at, kind: Kind::Fail(code, message.into()) });
        } else {
            self.problems.error(element.at(), code, message);
        }
    }

    fn extension(&mut self, element: Element<'s>, here: &Rc<Here>, made: &mut Instructions) {
        let name = element.name();
        let known = match (name.namespace, name.local) {
            (EXSLT, "result") => Some(self.function_result(element, here)),
            (EXSLT_COMMON, "document") | (SAXON, "output") => Some(documents::exslt_document(self, element, here)),
            _ => None,
        };
        if let Some(kind) = known {
            made.extend(kind.ok().map(|kind| Instruction { at: element.at(), kind }));
            return;
        }
        let message = format!("the extension element <{}> is not known", element.written());
        self.fall_back(element, here, "XTDE1450", message, made);
    }

    /// Refuses attributes that an element of XSLT does not have.
    pub(super) fn check_attributes(&mut self, element: Element<'s>, here: &Here) {
        specs::check_attributes(element, here, &mut self.problems);
    }

    /// Refuses content where there has to be none.
    pub(super) fn check_empty(&mut self, element: Element<'s>, here: &Rc<Here>) {
        if self.has_content(element, here) {
            let message = format!("<{}> has to be empty", element.written());
            self.problems.error(element.at(), "XTSE0260", message);
        }
    }

    /// Whether anything stands inside that says something.
    pub(super) fn has_content(&mut self, element: Element<'s>, here: &Rc<Here>) -> bool {
        element.children(here).iter().any(|child| match child {
            Child::Text(text) => here.keeps(&text.value),
            Child::Element(inner) if inner.is("fallback") => false,
            Child::Element(inner) => {
                let inside = here.enter(*inner, &mut self.problems);
                self.is_used(*inner, &inside)
            }
        })
    }

    /// The text of an instruction that may be made by `select` or by what stands inside (XSLT 2.0 §5.7.2).
    ///
    /// `between` is what stands between items that are made inside, if the instruction does not say.
    pub(super) fn content(&mut self, element: Element<'s>, here: &Rc<Here>, between: &str) -> Made<Content> {
        let separator = self.template(element, "separator", here);
        let Some(select) = element.attribute("select") else {
            let block = self.block(element, here);
            let between = (!here.is_backwards()).then(|| Avt::Constant(between.into()));
            return Ok(Content::Block(block, separator?.or(between)));
        };
        let code = match element.xslt() {
            Some("attribute") => "XTSE0840",
            Some("processing-instruction") => "XTSE0880",
            Some("namespace") => "XTSE0910",
            Some("comment") => "XTSE0940",
            _ => "XTSE0870",
        };
        self.refuse_content(element, here, code);
        Ok(Content::Select(self.text_source(&select, here)?, separator?))
    }

    /// Refuses content beside `select`.
    pub(super) fn refuse_content(&mut self, element: Element<'s>, here: &Rc<Here>, code: &'static str) {
        if self.has_content(element, here) {
            let message = format!("<{}> has both select=\"…\" and content: one of them has to go", element.written());
            self.problems.error(element.at(), code, message);
        }
    }
}
