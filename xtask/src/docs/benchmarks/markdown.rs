//! Tables, numbers and links of the page.

use myelin_bench::report::digits;

/// A table; the first columns hold words, the others numbers.
pub(super) fn table(words: usize, headings: &[&str], rows: &[Vec<String>]) -> String {
    let line = |entries: &[String]| format!("| {} |\n", entries.join(" | "));
    let headings: Vec<String> = headings.iter().map(|&heading| heading.to_owned()).collect();
    let rule: String = (0..headings.len()).map(|column| if column < words { "---|" } else { "--:|" }).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}|{rule}\n{rows}", line(&headings))
}

/// A link to a heading of this page.
pub(super) fn link(heading: &str) -> String {
    format!("[{heading}](#{})", slug(heading))
}

/// The anchor of a heading, as GitHub makes it: letters and digits in lower case, `-`, `_`, and `-` for spaces.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|&c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A number in three digits, or in all that stand before the point, these in groups of three.
pub(super) fn number(value: f64) -> String {
    if value.abs() < 999.5 { digits(value) } else { grouped(value) }
}

/// A whole number, its digits in groups of three.
pub(super) fn grouped(value: f64) -> String {
    let text = format!("{:.0}", value.abs());
    let groups: Vec<&str> = text.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    format!("{}{}", if value <= -0.5 { "-" } else { "" }, groups.join(","))
}

/// How many times another figure: as a fraction where it is small.
pub(super) fn ratio(value: f64) -> String {
    if value > 0.0 && value < 0.2 { format!("1/{}", digits(1.0 / value)) } else { format!("{} ×", digits(value)) }
}

/// What is shown where there is no figure.
pub(super) fn shown(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}

/// A text from outside that neither ends a table's cell nor begins another line.
pub(super) fn cell(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().replace('|', "\\|")
}
