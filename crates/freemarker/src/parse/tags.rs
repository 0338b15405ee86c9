//! Tags that hold more than one expression.

use std::ops::Range;

use super::{Parser, Reader};
use crate::error::{ErrorKind, Refusal};
use crate::escape;
use crate::names::Symbol;
use crate::syntax::{
    Block, Call, Callable, Expression, ExpressionKind, Instruction, List, Operator, Setting, Sign, Target,
};

impl Reader<'_> {
    pub(super) fn conditional(&mut self, rest: Range<usize>) -> Result<Instruction, Refusal> {
        let mut arms = Vec::new();
        let mut condition = self.whole(rest)?;
        loop {
            let (block, end) = self.block("if", &["elseif", "elseIf", "else"])?;
            arms.push((condition, block));
            match end {
                None => return Ok(Instruction::If { arms, otherwise: Block::new() }),
                Some((tag, rest)) if tag == "else" => {
                    self.nothing("else", &rest)?;
                    let otherwise = self.block("if", &[])?.0;
                    return Ok(Instruction::If { arms, otherwise });
                }
                Some((_, rest)) => condition = self.whole(rest)?,
            }
        }
    }

    pub(super) fn list(&mut self, rest: Range<usize>) -> Result<Instruction, Refusal> {
        let mut parser = self.parser(rest);
        let sequence = parser.expression()?;
        let variables = if parser.is_done() { Vec::new() } else { loop_variables(&mut parser)? };
        parser.finish()?;
        let (block, end) = self.block("list", &["else"])?;
        let otherwise = match end {
            Some((_, rest)) => {
                self.nothing("else", &rest)?;
                self.block("list", &[])?.0
            }
            None => Block::new(),
        };
        Ok(Instruction::List(Box::new(List { sequence, variables, block, otherwise })))
    }

    pub(super) fn switch(&mut self, rest: Range<usize>, start: usize) -> Result<Instruction, Refusal> {
        let value = self.whole(rest)?;
        let mut cases = Vec::new();
        let (before, mut end) = self.block("switch", &["case", "default"])?;
        let is_blank =
            |instruction: &Instruction| matches!(instruction, Instruction::Text { text, .. } if text.trim().is_empty());
        if !before.iter().all(is_blank) {
            return Err((ErrorKind::Syntax, start, "<#switch> holds <#case> and <#default>".to_owned()));
        }
        while let Some((tag, rest)) = end {
            let case = if tag == "case" { Some(self.whole(rest)?) } else { None };
            let (block, next) = self.block("switch", &["case", "default"])?;
            cases.push((case, block));
            end = next;
        }
        if cases.iter().filter(|(case, _)| case.is_none()).count() > 1 {
            return Err((ErrorKind::Syntax, start, "<#switch> has one <#default>".to_owned()));
        }
        Ok(Instruction::Switch { value, cases })
    }

    pub(super) fn assign(
        &mut self,
        tag: &str,
        rest: Range<usize>,
        is_closed: bool,
        start: usize,
    ) -> Result<Instruction, Refusal> {
        let (target, block_name) = match tag {
            "assign" => (Target::Assign, "assign"),
            "global" => (Target::Global, "global"),
            _ => (Target::Local, "local"),
        };
        if target == Target::Local && !self.open.iter().any(|block| matches!(*block, "macro" | "function")) {
            return Err((ErrorKind::Syntax, start, "<#local> stands in a macro or function".to_owned()));
        }
        let mut parser = self.parser(rest);
        let mut assignments = Vec::new();
        loop {
            let symbol = parser.name()?;
            let at = parser.place();
            let number = |number: i64| Expression { at, kind: ExpressionKind::Number(number.into()) };
            let signs = [("+=", Sign::Add), ("-=", Sign::Subtract), ("*=", Sign::Multiply), ("/=", Sign::Divide)];
            let mut found = None;
            for (written, sign) in signs.into_iter().chain([("%=", Sign::Remainder)]) {
                if parser.take(written)? {
                    found = Some((Operator::Reckon(sign), parser.expression()?));
                    break;
                }
            }
            let (operator, value) = match found {
                Some(found) => found,
                None if parser.take("=")? => (Operator::Set, parser.expression()?),
                None if parser.take("++")? => (Operator::Reckon(Sign::Add), number(1)),
                None if parser.take("--")? => (Operator::Reckon(Sign::Subtract), number(1)),
                None if assignments.is_empty() && parser.is_done() && !is_closed => {
                    let format = self.format;
                    let block = self.block(block_name, &[])?.0;
                    return Ok(Instruction::Capture { target, symbol, block, format });
                }
                None => return Err(parser.refuse("\"=\" is missing here")),
            };
            assignments.push(Instruction::Assign { target, symbol, operator, value });
            parser.take(",")?;
            if parser.is_done() {
                break;
            }
        }
        Ok(match (assignments.pop(), assignments.is_empty()) {
            (Some(only), true) => only,
            (last, _) => Instruction::Block(assignments.into_iter().chain(last).collect()),
        })
    }

    pub(super) fn callable(&mut self, tag: &str, rest: Range<usize>, start: usize) -> Result<(), Refusal> {
        if !self.open.iter().all(|block| block.is_empty()) {
            let message = format!("a <#{tag}> inside of another tag is not offered: write it at the top");
            return Err((ErrorKind::Unsupported, start, message));
        }
        let block_name = if tag == "function" { "function" } else { "macro" };
        let mut parser = self.parser(rest);
        let name = parser.name()?;
        let in_brackets = parser.take("(")?;
        let (mut parameters, mut last) = (Vec::new(), None);
        while !(parser.is_done() || in_brackets && parser.take(")")?) {
            if last.is_some() {
                return Err(parser.refuse("nothing follows the parameter that takes the rest"));
            }
            let parameter = parser.name()?;
            if parser.take("...")? {
                last = Some(parameter);
            } else {
                let default = if parser.take("=")? { Some(parser.expression()?) } else { None };
                parameters.push((parameter, default));
            }
            parser.take(",")?;
        }
        parser.finish()?;
        let body = self.block(block_name, &[])?.0;
        self.callables.push(Callable { name, is_function: tag == "function", parameters, rest: last, body });
        Ok(())
    }

    /// `<@callee …>`
    pub(super) fn call(&mut self, rest: Range<usize>, is_closed: bool) -> Result<Instruction, Refusal> {
        let mut parser = Parser::of_call(self.text, rest, &mut self.names);
        let at = parser.place();
        // The name of a macro ends before what could be an argument, and is no expression with operators.
        let symbol = parser.name()?;
        let callee = Expression { at, kind: ExpressionKind::Variable(symbol) };
        let (mut positional, mut named, mut variables) = (Vec::new(), Vec::new(), Vec::new());
        while !parser.is_done() {
            if parser.take(";")? {
                while !parser.is_done() {
                    variables.push(parser.name()?);
                    parser.take(",")?;
                }
                break;
            }
            match parser.name_before(&["="])? {
                Some(name) if positional.is_empty() => {
                    parser.take("=")?;
                    named.push((name, parser.expression()?));
                }
                None if named.is_empty() => positional.push(parser.expression()?),
                _ => return Err(parser.refuse("arguments have names, all of them or none")),
            }
            parser.take(",")?;
        }
        parser.finish()?;
        let body = if is_closed { None } else { Some(self.block("@", &[])?.0) };
        Ok(Instruction::Call(Box::new(Call { callee, positional, named, variables, body })))
    }

    pub(super) fn escaping(&mut self, tag: &str, rest: Range<usize>, start: usize) -> Result<Instruction, Refusal> {
        let (format, language) = (self.format, self.language);
        let block_name = match tag {
            "outputformat" => {
                let expression = self.whole(rest)?;
                let ExpressionKind::Text(name) = &expression.kind else {
                    return Err((ErrorKind::Syntax, start, "<#outputformat> names a format in quotes".to_owned()));
                };
                let message = || (ErrorKind::Unsupported, start, format!("output format {name:?} is not offered"));
                self.language = escape::format(name).ok_or_else(message)?;
                self.format = self.language;
                "outputformat"
            }
            "autoesc" => {
                self.nothing(tag, &rest)?;
                if self.language.is_none() {
                    let message = "<#autoesc> stands in an output format that has something to escape".to_owned();
                    return Err((ErrorKind::Syntax, start, message));
                }
                self.format = self.language;
                "autoesc"
            }
            _ => {
                self.nothing(tag, &rest)?;
                self.format = None;
                "noautoesc"
            }
        };
        let block = self.block(block_name, &[])?.0;
        (self.format, self.language) = (format, language);
        Ok(Instruction::Block(block))
    }

    pub(super) fn setting(&mut self, rest: Range<usize>) -> Result<Instruction, Refusal> {
        let start = rest.start;
        let mut parser = self.parser(rest);
        let symbol = parser.name()?;
        if !parser.take("=")? {
            return Err(parser.refuse("\"=\" is missing here"));
        }
        let value = parser.expression()?;
        parser.finish()?;
        let name = match self.names.name(symbol) {
            "number_format" | "numberFormat" => Setting::NumberFormat,
            "boolean_format" | "booleanFormat" => Setting::BooleanFormat,
            "date_format" | "dateFormat" => Setting::DateFormat,
            "time_format" | "timeFormat" => Setting::TimeFormat,
            "datetime_format" | "datetimeFormat" => Setting::DateTimeFormat,
            "output_encoding" | "outputEncoding" | "url_escaping_charset" | "urlEscapingCharset" => Setting::Ignored,
            name => return Err((ErrorKind::Unsupported, start, format!("the setting {name} is not offered"))),
        };
        Ok(Instruction::Setting { name, value })
    }
}

/// `as x`, or `as x, y`.
pub(super) fn loop_variables(parser: &mut Parser<'_>) -> Result<Vec<Symbol>, Refusal> {
    if !parser.take_word("as")? {
        return Err(parser.refuse("\"as\" is missing here"));
    }
    let mut variables = vec![parser.name()?];
    if parser.take(",")? {
        parser.reach_all();
        variables.push(parser.name()?);
    }
    Ok(variables)
}
