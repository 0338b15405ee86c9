//! `xsl:for-each-group` (XSLT 2.0 §14).

use std::rc::Rc;

use super::super::element::Element;
use super::super::here::Here;
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::program::{ForEachGroup, GroupBy, Kind};

pub(in crate::compile) fn for_each_group<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let select = compiler.required_select(element, here);
    let by = group_by(compiler, element, here);
    let collation = compiler.template(element, "collation", here);
    let (parts, rest) = compiler.split(element, here, |local| local == "sort");
    let sorts = compiler.sorts(&parts);
    let body = compiler.block_of(rest, here);
    let group = ForEachGroup { select: select?, by: by?, collation: collation?, sorts: sorts?, body };
    Ok(Kind::ForEachGroup(Box::new(group)))
}

fn group_by<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<GroupBy> {
    let composite = compiler.flag(element, "composite")?;
    let forms = ["group-by", "group-adjacent", "group-starting-with", "group-ending-with"];
    let mut written = forms.into_iter().filter_map(|form| Some((form, element.attribute(form)?)));
    let (first, second) = (written.next(), written.next());
    let Some((form, attribute)) = first.filter(|_| second.is_none()) else {
        let message = "<xsl:for-each-group> needs one of group-by, group-adjacent, group-starting-with and \
                       group-ending-with";
        return Err(compiler.problems.error(element.at(), "XTSE1080", message));
    };
    if form.ends_with("-with")
        && let Some(beside) = ["composite", "collation"].into_iter().find_map(|local| element.attribute(local))
    {
        let message = format!("{} is for groups by a value, and says nothing beside {form}", beside.written());
        return Err(compiler.problems.error(beside.at(), "XTSE1090", message));
    }
    match form {
        "group-by" => Ok(GroupBy::Value(compiler.expression(&attribute, here)?, composite)),
        "group-adjacent" => Ok(GroupBy::Adjacent(compiler.expression(&attribute, here)?, composite)),
        "group-starting-with" => compiler.patterns(&attribute, here).map(GroupBy::StartingWith),
        _ => compiler.patterns(&attribute, here).map(GroupBy::EndingWith),
    }
}
