//! Two texts, and where they part.

/// Longer texts are not aligned line by line; the first line that differs is shown instead.
const ALIGNED_LINES: usize = 400;

/// What differs between two texts, as lines that start with `-` (expected), `+` (got) or a space (both).
///
/// Shape: empty when they are the same; control characters are written out, as they may be what differs.
pub(super) fn between(expected: &[u8], got: &[u8]) -> String {
    if expected == got {
        return String::new();
    }
    let (old, new) = (lines(expected), lines(got));
    if old.len() > ALIGNED_LINES || new.len() > ALIGNED_LINES {
        let at = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_else(|| "(the end)".to_owned());
        return format!("line {}:\n-{}\n+{}\n", at + 1, line(&old), line(&new));
    }
    aligned(&old, &new)
}

/// The number of the first line that differs, from 1.
pub(super) fn first_line(expected: &[u8], got: &[u8]) -> usize {
    let same = expected.split(|&byte| byte == b'\n').zip(got.split(|&byte| byte == b'\n'));
    same.take_while(|(old, new)| old == new).count() + 1
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> =
        bytes.split(|&byte| byte == b'\n').map(|line| shown(&String::from_utf8_lossy(line))).collect();
    match lines.pop() {
        // A last line that is ended leaves an empty piece behind; one that is not must look different.
        Some(last) if !last.is_empty() => lines.push(format!("{last}\u{2425}")),
        _ => {}
    }
    lines
}

fn shown(line: &str) -> String {
    line.chars()
        .map(|c| match c {
            '\t' => c.to_string(),
            c if c.is_control() => c.escape_default().to_string(),
            c => c.to_string(),
        })
        .collect()
}

/// The classic table of longest common subsequences: small texts, no cleverness.
fn aligned(old: &[String], new: &[String]) -> String {
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = String::new();
    let mut push = |mark: char, line: &str| {
        out.push(mark);
        out.push_str(line);
        out.push('\n');
    };
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            push(' ', &old[i]);
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            push('-', &old[i]);
            i += 1;
        } else {
            push('+', &new[j]);
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, got: &str, difference: &str) {
        assert_eq!(between(expected.as_bytes(), got.as_bytes()), difference);
    }

    #[test]
    fn what_is_the_same_stays_and_the_rest_is_marked() {
        check("a\nb\nc\n", "a\nb\nc\n", "");
        check("a\nb\nc\n", "a\nx\nc\nd\n", " a\n-b\n+x\n c\n+d\n");
        check("", "a\n", "+a\n");
    }

    #[test]
    fn a_missing_last_line_end_and_a_carriage_return_are_seen() {
        check("a\n", "a", "-a\n+a\u{2425}\n");
        check("a\r\n", "a\n", "-a\\r\n+a\n");
    }

    #[test]
    fn long_texts_show_the_first_line_that_differs() {
        let long = "x\n".repeat(1000);
        check(&format!("{long}a\n"), &format!("{long}b\n"), "line 1001:\n-a\n+b\n");
    }

    #[test]
    fn the_first_line_that_differs_has_a_number() {
        assert_eq!(first_line(b"a\nb\n", b"a\nc\n"), 2);
        assert_eq!(first_line(b"a\n", b"a\nc\n"), 2);
    }
}
