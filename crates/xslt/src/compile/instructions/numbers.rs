//! `xsl:number` (XSLT 1.0 §7.7).

use std::rc::Rc;

use super::super::element::Element;
use super::super::here::Here;
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::pattern::Pattern;
use crate::program::{Avt, Expr, Kind, Number, NumberLevel};

pub(in crate::compile) fn number<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    compiler.check_empty(element, here);
    let value = compiler.optional_expression(element, "value", here);
    let select = compiler.optional_expression(element, "select", here);
    let count = compiler.optional_patterns(element, "count", here);
    let from = compiler.optional_patterns(element, "from", here);
    if !matches!(value, Ok(None)) {
        let beside = ["select", "level", "count", "from"].into_iter().find(|local| element.attribute(local).is_some());
        // 1.0 has nothing against them: `value` makes them idle.
        if let Some(local) = beside.filter(|_| !here.is_backwards()) {
            let message = format!("<xsl:number> has both value=\"…\" and {local}=\"…\": one of them has to go");
            compiler.problems.error(element.at(), "XTSE0975", message);
        }
    }
    let mut template = |local| compiler.template(element, local, here);
    let (format, letter_value) = (template("format"), template("letter-value"));
    // Words are English in whatever language they are asked for; the value is checked all the same.
    template("lang")?;
    let (ordinal, start_at) = (template("ordinal"), template("start-at"));
    let (grouping_separator, grouping_size) = (template("grouping-separator"), template("grouping-size"));
    Ok(Kind::Number(Box::new(Number {
        level: level(compiler, element)?,
        value: value?,
        select: select?,
        count: count?,
        from: from?,
        format: format?.unwrap_or_else(|| Avt::Constant("1".into())),
        letter_value: letter_value?,
        ordinal: ordinal?,
        grouping_separator: grouping_separator?,
        grouping_size: grouping_size?,
        start_at: start_at?,
        backwards: here.is_backwards(),
    })))
}

fn level<'s>(compiler: &mut Compiler<'s>, element: Element<'s>) -> Made<NumberLevel> {
    let Some(attribute) = element.attribute("level") else { return Ok(NumberLevel::Single) };
    match attribute.trimmed() {
        "single" => Ok(NumberLevel::Single),
        "multiple" => Ok(NumberLevel::Multiple),
        "any" => Ok(NumberLevel::Any),
        other => {
            let message = format!("level={other:?} is none of single, multiple and any");
            Err(compiler.problems.error(attribute.at(), "XTSE0020", message))
        }
    }
}

impl<'s> Compiler<'s> {
    fn optional_expression(&mut self, element: Element<'s>, local: &str, here: &Rc<Here>) -> Made<Option<Expr>> {
        element.attribute(local).map(|attribute| self.expression(&attribute, here)).transpose()
    }

    fn optional_patterns(&mut self, element: Element<'s>, local: &str, here: &Rc<Here>) -> Made<Option<Vec<Pattern>>> {
        element.attribute(local).map(|attribute| self.patterns(&attribute, here)).transpose()
    }
}
