//! `analyze-string()`: where a pattern matches, as XML (Functions and Operators §5.6.5).

use std::borrow::Cow;

use myelin_xml::{Arena, TreeBuilder};
use myelin_xpath::{Error, Pattern, Segment, Value};

use super::call::unmade;
use super::{Call, Function};

pub(super) const FUNCTIONS: &[Function] = &[Function::own("analyze-string", 2, 3, analyze_string)];

const NAMESPACE: &str = "http://www.w3.org/2005/xpath-functions";

fn analyze_string<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.optional_text(0)?.unwrap_or_default();
    let flags = if call.count() == 3 { call.text(2)? } else { Cow::Borrowed("") };
    let pattern = Pattern::new(&call.text(1)?, &flags)?;
    if pattern.matches_empty() {
        return Err(Error::value("FORX0003", "analyze-string(): the pattern matches the empty text"));
    }
    let mut tree = TreeBuilder::new(Arena::default());
    start(&mut tree, "analyze-string-result")?;
    let (prefix, namespace) = (tree.names().atom("fn"), tree.names().atom(NAMESPACE));
    tree.declare(prefix, namespace).map_err(unmade)?;
    for segment in pattern.segments(&text) {
        match segment? {
            Segment::Between(text) => {
                start(&mut tree, "non-match")?;
                tree.text(text).map_err(unmade)?;
            }
            Segment::Match(groups) => {
                start(&mut tree, "match")?;
                write_groups(&mut tree, &groups)?;
            }
        }
        tree.end();
        // A node is made of two bytes at least.
        call.machine.build(2)?;
    }
    let document = call.machine.keep(tree.finish())?;
    Ok(document.root_element().map_or(Value::EMPTY, |root| Value::node(document, root)))
}

fn start(tree: &mut TreeBuilder, local: &str) -> Result<(), Error> {
    let name = tree.names().intern("fn", local, NAMESPACE);
    tree.start(name).map_err(unmade)
}

/// The whole match with its groups as elements, those within others inside.
fn write_groups(tree: &mut TreeBuilder, groups: &[&str]) -> Result<(), Error> {
    let [whole, groups @ ..] = groups else { return Ok(()) };
    let begin = whole.as_ptr().addr();
    // Where the groups that are open end, and how far the match has been written.
    let mut open: Vec<usize> = Vec::new();
    let mut written = 0;
    for (index, group) in groups.iter().enumerate() {
        // A group that took part in no way, or in an earlier round of a repetition, stands nowhere here.
        let Some(from) = group.as_ptr().addr().checked_sub(begin).filter(|from| *from >= written) else { continue };
        let to = from + group.len();
        if to > whole.len() {
            continue;
        }
        while let Some(end) = open.pop_if(|end| *end <= from) {
            tree.text(&whole[written..end]).map_err(unmade)?;
            tree.end();
            written = end;
        }
        tree.text(&whole[written..from]).map_err(unmade)?;
        start(tree, "group")?;
        let name = tree.names().intern("", "nr", "");
        tree.attribute(name, &(index + 1).to_string()).map_err(unmade)?;
        written = from;
        // What stands within another ends with it at the latest.
        open.push(open.last().map_or(to, |end| to.min(*end)));
    }
    while let Some(end) = open.pop() {
        tree.text(&whole[written..end]).map_err(unmade)?;
        tree.end();
        written = end;
    }
    tree.text(&whole[written..]).map_err(unmade)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, fails};

    #[test]
    fn texts_are_cut_into_matches_and_the_rest() {
        let check = |text: &str, pattern: &str, expected: &str| {
            check(
                &format!("replace(serialize(analyze-string('{text}', '{pattern}')/*), ' xmlns:fn=\"[^\"]*\"', '')"),
                expected,
            );
        };
        check("The cat", "\\w+", "<fn:match>The</fn:match><fn:non-match> </fn:non-match><fn:match>cat</fn:match>");
        check(
            "08-12-03",
            "^(\\d+)-((\\d+)-)",
            "<fn:match><fn:group nr=\"1\">08</fn:group>-<fn:group nr=\"2\"><fn:group nr=\"3\">12</fn:group>-</fn:group>\
             </fn:match><fn:non-match>03</fn:non-match>",
        );
        check(
            "ab",
            "(x)?(a)|(b)",
            "<fn:match><fn:group nr=\"2\">a</fn:group></fn:match><fn:match><fn:group nr=\"3\">b</fn:group></fn:match>",
        );
        check("", "a", "");
    }

    #[test]
    fn patterns_that_match_nothing_at_all_are_refused() {
        fails("analyze-string('a', 'x*')", "FORX0003");
        fails("analyze-string('a', '(')", "FORX0002");
    }
}
