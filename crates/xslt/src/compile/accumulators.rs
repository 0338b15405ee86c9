//! `xsl:accumulator` (XSLT 3.0 §18.2).

use std::rc::Rc;

use super::compiler::Compiler;
use super::element::Element;
use super::frame::Frame;
use super::here::Here;
use super::index::Declaration;
use super::problems::Made;
use crate::name::ExpandedName;
use crate::program::{Accumulator, AccumulatorRule, UsedAccumulators};

impl<'s> Compiler<'s> {
    pub(super) fn accumulator(&mut self, name: &ExpandedName, declaration: &Declaration<'s>) -> Made<Accumulator> {
        let Declaration { element, here, .. } = declaration;
        self.frame = Frame::default();
        let initial = self.required(*element, "initial-value").and_then(|value| self.expression(&value, here));
        let kind = self.kind(*element, here);
        self.flag(*element, "streamable")?;
        // Within the rules, `$value` is what it was before.
        self.frame.declare(ExpandedName::new("", "value"));
        let (parts, rest) = self.split(*element, here, |local| local == "accumulator-rule");
        self.refuse_rest(*element, &rest);
        if parts.is_empty() {
            let message = "<xsl:accumulator> needs an <xsl:accumulator-rule>";
            self.problems.error(element.at(), "XTSE0010", message);
        }
        let rules: Vec<_> = parts.iter().map(|(part, inner)| self.accumulator_rule(*part, inner)).collect();
        Ok(Accumulator {
            name: name.clone(),
            initial: initial?,
            kind: kind?,
            rules: rules.into_iter().collect::<Made<_>>()?,
            frame: self.frame.size(),
            at: element.at(),
        })
    }

    fn accumulator_rule(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<AccumulatorRule> {
        let patterns = self.required(element, "match").and_then(|pattern| self.patterns(&pattern, here));
        let at_end = match element.attribute("phase") {
            None => false,
            Some(phase) => match phase.trimmed() {
                "start" => false,
                "end" => true,
                other => {
                    let message = format!("phase={other:?} is neither start nor end");
                    return Err(self.problems.error(phase.at(), "XTSE0020", message));
                }
            },
        };
        let value = self.sequence(element, here, "XTSE0010");
        Ok(AccumulatorRule { patterns: patterns?, at_end, value: value?, at: element.at() })
    }

    /// `use-accumulators`; none where it is not written.
    pub(super) fn used_accumulators(&mut self, element: Element<'s>, here: &Here) -> Made<UsedAccumulators> {
        let Some(attribute) = element.attribute("use-accumulators") else {
            return Ok(UsedAccumulators::These(Box::default()));
        };
        if attribute.trimmed() == "#all" {
            return Ok(UsedAccumulators::All);
        }
        let mut numbers = Vec::new();
        for name in self.qnames(&attribute, here)? {
            match self.index.accumulators.get(&name) {
                Some(&number) if numbers.contains(&number) => {
                    let message = format!("use-accumulators names {name} twice");
                    return Err(self.problems.error(attribute.at(), "XTSE3300", message));
                }
                Some(&number) => numbers.push(number),
                None => {
                    let message = format!("there is no accumulator with the name {name}");
                    return Err(self.problems.error(attribute.at(), "XTSE3300", message));
                }
            }
        }
        Ok(UsedAccumulators::These(numbers.into()))
    }
}
