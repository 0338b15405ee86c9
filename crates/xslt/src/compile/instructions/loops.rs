//! `xsl:for-each`, `xsl:perform-sort` and `xsl:sort` (XSLT 1.0 §8 and §10, 2.0 §13).

use std::rc::Rc;

use super::super::element::{Child, Element};
use super::super::here::{Here, truth};
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::program::{Avt, Binding, ForEach, Kind, Sort};

pub(in crate::compile) fn for_each<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let select = compiler.required_select(element, here);
    let (parts, rest) = compiler.split(element, here, |local| local == "sort");
    let sorts = compiler.sorts(&parts);
    let body = compiler.block_of(rest, here);
    Ok(Kind::ForEach(Box::new(ForEach { select: select?, sorts: sorts?, body })))
}

pub(in crate::compile) fn perform_sort<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let (parts, rest) = compiler.split(element, here, |local| local == "sort");
    if parts.is_empty() {
        let message = "<xsl:perform-sort> needs an <xsl:sort>";
        compiler.problems.error(element.at(), "XTSE0010", message);
    }
    let sorts = compiler.sorts(&parts);
    let items = match element.attribute("select") {
        Some(select) => {
            let content = |child: &Child<'_>| !matches!(child, Child::Element(inner) if inner.is("fallback"));
            if rest.iter().any(content) {
                let message = "<xsl:perform-sort> has both select=\"…\" and content: one of them has to go";
                compiler.problems.error(element.at(), "XTSE1040", message);
            }
            compiler.select(&select, here).map(Binding::Select)
        }
        None => Ok(Binding::Sequence(compiler.block_of(rest, here))),
    };
    Ok(Kind::PerformSort(Box::new((items?, sorts?))))
}

impl<'s> Compiler<'s> {
    /// `xsl:sort`, the most important first.
    pub(in crate::compile) fn sorts(&mut self, elements: &[(Element<'s>, Rc<Here>)]) -> Made<Vec<Sort>> {
        let mut sorts = Vec::with_capacity(elements.len());
        for (index, (element, here)) in elements.iter().enumerate() {
            if let Some(stable) = element.attribute("stable") {
                if index > 0 {
                    let message = "stable=\"…\" says something only at the first <xsl:sort>";
                    self.problems.error(stable.at(), "XTSE1017", message);
                }
                if !stable.value.contains('{') {
                    truth(&stable, &mut self.problems)?;
                }
            }
            sorts.push(self.sort(*element, here, "XTSE1015"));
        }
        sorts.into_iter().collect()
    }

    /// `xsl:sort` or `xsl:merge-key`; `code` is the error of a key that is said twice.
    pub(in crate::compile) fn sort(&mut self, element: Element<'s>, here: &Rc<Here>, code: &'static str) -> Made<Sort> {
        let key = match element.attribute("select") {
            Some(select) => {
                self.refuse_content(element, here, code);
                self.select(&select, here).map(Binding::Select)
            }
            None if self.has_content(element, here) => Ok(Binding::Sequence(self.block(element, here))),
            None => self.context_item(element, here).map(Binding::Select),
        };
        let order = self.choice(element, "order", &["ascending", "descending"], here);
        let data_type = self.choice(element, "data-type", &["text", "number"], here);
        let lang = self.language(element, here);
        let case_order = self.choice(element, "case-order", &["upper-first", "lower-first"], here);
        let collation = self.template(element, "collation", here);
        Ok(Sort {
            key: key?,
            order: order?,
            data_type: data_type?,
            lang: lang?,
            case_order: case_order?,
            collation: collation?,
            compatible: here.is_backwards(),
        })
    }

    /// `lang`
    fn language(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Option<Avt>> {
        let lang = self.template(element, "lang", here)?;
        if let Some(Avt::Constant(word)) = &lang
            && !word.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            let message = format!("lang={word:?} is no language such as en or pt-BR");
            return Err(self.problems.error(element.at(), "XTDE0030", message));
        }
        Ok(lang)
    }

    /// A value template that gives one of some words; a name with a prefix may mean something to others.
    fn choice(&mut self, element: Element<'s>, local: &str, words: &[&str], here: &Rc<Here>) -> Made<Option<Avt>> {
        let Some(attribute) = element.attribute(local) else { return Ok(None) };
        let avt = self.avt(&attribute, here)?;
        if let Avt::Constant(word) = &avt
            && !words.contains(&word.trim())
            && !word.contains(':')
        {
            let message = format!("{local}={word:?} is none of {}", words.join(" and "));
            return Err(self.problems.error(attribute.at(), "XTDE0030", message));
        }
        Ok(Some(avt))
    }
}
