//! The lines around a place in a text.

use serde_json::{Value, json};

/// How many lines are told before and behind it, and how long each may be.
const AROUND: u32 = 2;
const CHARACTERS: usize = 400;

/// Lines around `line` of a text that starts at the line `first`; empty where the text has no such line.
pub(super) fn around(text: &str, first: u32, line: u32) -> Vec<Value> {
    let Some(at) = line.checked_sub(first) else { return Vec::new() };
    let lines: Vec<&str> =
        text.lines().skip(at.saturating_sub(AROUND) as usize).take((2 * AROUND + 1) as usize).collect();
    let start = first + at.saturating_sub(AROUND);
    if start + (lines.len() as u32) <= line {
        return Vec::new();
    }
    let told = lines.into_iter().zip(start..).filter(|(_, number)| *number <= line + AROUND);
    told.map(|(text, number)| json!({ "line": number, "text": text.chars().take(CHARACTERS).collect::<String>() }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_stand_on_either_side() {
        let numbers = |first, line| -> Vec<u64> {
            around("a\nb\nc\nd\ne\nf", first, line).iter().filter_map(|it| it["line"].as_u64()).collect()
        };
        assert_eq!(numbers(1, 1), [1, 2, 3]);
        assert_eq!(numbers(10, 13), [11, 12, 13, 14, 15]);
        assert_eq!(numbers(10, 15), [13, 14, 15]);
        assert_eq!((numbers(10, 9), numbers(10, 16)), (vec![], vec![]));
        assert_eq!(around("a\nb", 1, 2)[1], json!({ "line": 2, "text": "b" }));
    }
}
