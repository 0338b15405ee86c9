//! `.env` files: `NAME=value`, a line each, as shells and the tools of containers read them.

use std::collections::HashMap;

/// The variables in a text; of one that is there twice the last. Quotes around a value are left out.
pub fn parse(text: &str) -> HashMap<String, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let variables = lines.filter_map(|line| line.strip_prefix("export ").unwrap_or(line).split_once('='));
    variables.map(|(name, value)| (name.trim().to_owned(), unquoted(value.trim()).to_owned())).collect()
}

/// The text between quotes, or what stands before a comment where there are none.
fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some((inside, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inside;
        }
    }
    value.split_once(" #").map_or(value, |(value, _)| value.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_lines_with_or_without_quotes() {
        let found = parse("# a\nURL=http://h/?a=b # where\nexport B = \"x # y\" # z\nC='it'\n\nD\nE=\n");
        let expected = [("URL", "http://h/?a=b"), ("B", "x # y"), ("C", "it"), ("E", "")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }
}
