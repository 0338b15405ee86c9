//! The difference of two bodies, line by line.

use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

use super::layout::lines;

/// What one asks for must not wait longer for a difference; it is a coarser one then.
const DEADLINE: Duration = Duration::from_millis(200);

/// So many lines around a changed one are shown.
const CONTEXT: usize = 2;

/// So many lines of a difference are shown.
const LINES: usize = 2_000;

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// `-` was there before, `+` is there afterwards, ` ` is in both, `…` stands for lines that are.
    pub(super) sign: char,
    pub(super) text: String,
}

/// The lines that are not the same, with some around them.
pub(super) fn difference(before: &str, after: &str) -> Vec<Line> {
    let (before, after) = (lines(before), lines(after));
    let diff = TextDiff::configure().deadline(Instant::now() + DEADLINE).diff_lines(&*before, &*after);
    let mut out = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            out.push(Line { sign: '…', text: String::new() });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            out.push(Line { sign, text: change.value().trim_end_matches(['\n', '\r']).to_owned() });
            if out.len() >= LINES {
                out.push(Line { sign: '…', text: format!("(more than {LINES} lines)") });
                return out;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_lines_that_changed_and_those_around_them() {
        let before = "<a><b>1</b><c>2</c><d>3</d><e>4</e><f>5</f></a>";
        let after = "<a><b>1</b><c>2</c><d>3</d><e>9</e><f>5</f></a>";
        let shown: Vec<String> =
            difference(before, after).iter().map(|line| format!("{}{}", line.sign, line.text)).collect();
        assert_eq!(shown, ["   <c>2</c>", "   <d>3</d>", "-  <e>4</e>", "+  <e>9</e>", "   <f>5</f>", " </a>"]);
        assert_eq!(difference(before, before), []);
    }
}
