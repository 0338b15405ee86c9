//! Documents and expressions made of bytes: near each other, so that most expressions nearly match.

use std::fmt::Write;

/// Bytes that decide; when they are used up, every choice is the first one.
pub(crate) struct Choices<'b>(pub(crate) &'b [u8]);

impl Choices<'_> {
    /// One of `count`, from 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        match self.0.split_first() {
            Some((&byte, rest)) => {
                self.0 = rest;
                usize::from(byte) % count
            }
            None => 0,
        }
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// Once in `count`.
    fn rarely(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }
}

/// Which names a document has: the fewer, the more often an expression finds some of them.
pub(crate) const MANY: &[&str] = &["a", "b", "c", "m:a", "m:b", "d"];
pub(crate) const FEW: &[&str] = &["a", "b", "c"];

const TEXTS: [&str; 8] = ["1", "2", "5", "x", " ", "xy", "1&#x30;", "<![CDATA[x]]>"];

/// A whole document; the prefix `m` is bound to `urn:m` everywhere.
pub(crate) fn document(choices: &mut Choices<'_>, names: &[&str]) -> String {
    let mut out = String::new();
    if choices.rarely(6) {
        out.push_str("<!--x--><?p x?>");
    }
    element(choices, names, &mut out, 0, true);
    if choices.rarely(6) {
        out.push_str("<!--x-->");
    }
    out
}

fn element(choices: &mut Choices<'_>, names: &[&str], out: &mut String, depth: usize, root: bool) {
    let name = choices.of(names);
    out.push('<');
    out.push_str(name);
    if root {
        out.push_str(" xmlns:m='urn:m'");
    } else if choices.rarely(12) {
        out.push_str(" xmlns='urn:m'");
    }
    for attribute in ["x", "y", "m:x"] {
        if choices.rarely(4) {
            let value = choices.of(&["1", "2", "x", ""]);
            let _ = write!(out, " {attribute}='{value}'");
        }
    }
    let children = if depth > 6 { 0 } else { choices.below(5) };
    if children == 0 && choices.below(2) == 0 {
        out.push_str("/>");
        return;
    }
    out.push('>');
    content(choices, names, out, depth, children);
    let _ = write!(out, "</{name}>");
}

/// So many children, of any kind.
pub(crate) fn content(choices: &mut Choices<'_>, names: &[&str], out: &mut String, depth: usize, children: usize) {
    for _ in 0..children {
        match choices.below(10) {
            0..5 => element(choices, names, out, depth + 1, false),
            5..9 => out.push_str(choices.of(&TEXTS)),
            _ => out.push_str(choices.of(&["<!--x-->", "<?p x?>"])),
        }
    }
}

/// Any expression, of those that configurations hold and some they do not.
pub(crate) fn expression(choices: &mut Choices<'_>) -> String {
    match choices.below(10) {
        0..6 => condition(choices, 3),
        6..8 => path(choices, 2),
        _ => value(choices, 2),
    }
}

/// A path with predicates on what elements hold, for documents of few names.
pub(crate) fn conditional(choices: &mut Choices<'_>) -> String {
    let mut path = choices.of(&["//", "//", "/*/", "/*/*/"]).to_owned();
    for index in 0..=choices.below(3) {
        if index > 0 {
            path.push_str(choices.of(&["/", "/", "//"]));
        }
        path.push_str(choices.of(FEW));
        if choices.below(3) > 0 {
            let _ = write!(path, "[{}]", held(choices, 2));
        }
    }
    path.push_str(choices.of(&["", "", "", "", "/@x", "/text()"]));
    match choices.below(6) {
        0..3 => path,
        3 => format!("count({path})"),
        4 => format!("{path} = {}", constant(choices)),
        _ => format!("count({path}) > 1"),
    }
}

/// A condition on what an element holds.
fn held(choices: &mut Choices<'_>, depth: usize) -> String {
    let name = choices.of(FEW);
    match choices.below(if depth == 0 { 6 } else { 10 }) {
        0 => format!("not({name})"),
        1 => format!("{name} = 'x'"),
        2 => format!("not({name} = '1')"),
        3 => format!(".//{name}"),
        4 => format!("count({name}) < 2"),
        5 => format!("@x or {name}"),
        6 => format!("{name}[{}]", held(choices, depth - 1)),
        7 => format!("not(.//{name}[{}])", held(choices, depth - 1)),
        8 => format!("{} or {}", held(choices, depth - 1), held(choices, depth - 1)),
        _ => format!("{} and {}", held(choices, depth - 1), held(choices, depth - 1)),
    }
}

fn condition(choices: &mut Choices<'_>, depth: usize) -> String {
    if depth > 0 && choices.rarely(3) {
        let (one, other) = (condition(choices, depth - 1), condition(choices, depth - 1));
        return match choices.below(4) {
            0 => format!("({one} and {other})"),
            1 => format!("({one} or {other})"),
            2 => format!("not({one})"),
            _ => format!("(if ({one}) then {other} else {})", condition(choices, depth - 1)),
        };
    }
    let path = path(choices, depth);
    let operator = choices.of(&["=", "=", "=", "!=", "<", "<=", ">", ">="]);
    let number = choices.below(4);
    match choices.below(14) {
        0..4 => format!("{path} {operator} {}", constant(choices)),
        4 => format!("{} {operator} {path}", constant(choices)),
        5 => path,
        6 => format!("count({path}) {operator} {number}"),
        7 => format!("{number} {operator} count({path})"),
        8 => format!("exists({path})"),
        9 => format!("empty({path})"),
        10 => format!("contains({path}, 'x')"),
        11 => format!("starts-with({path}, '1')"),
        12 => format!("{} {operator} {}", value(choices, depth), constant(choices)),
        _ => format!("({path} | {}) {operator} {}", self::path(choices, depth), constant(choices)),
    }
}

fn constant(choices: &mut Choices<'_>) -> &'static str {
    choices.of(&[
        "'1'", "'x'", "1", "2", "''", "'x1'", "10", "true()", "false()", "$text", "$number", "$truth", "1 + 1",
        "('1', 5)",
    ])
}

fn value(choices: &mut Choices<'_>, depth: usize) -> String {
    let path = path(choices, depth);
    match choices.below(14) {
        0 => format!("string({path})"),
        1 => format!("string-length({path})"),
        2 => format!("concat({path}, '-', {})", self::path(choices, depth)),
        3 => format!("normalize-space({path})"),
        4 => format!("number({path})"),
        5 => format!("{path} + 1"),
        6 => format!("-{path}"),
        7 => format!("count({path}) * 2"),
        8 => format!("local-name({path})"),
        9 => format!("name({path})"),
        10 => format!("namespace-uri({path})"),
        11 => format!("translate({path}, 'x', 'z')"),
        12 => format!("substring({path}, 2)"),
        _ => format!("upper-case({path})"),
    }
}

fn path(choices: &mut Choices<'_>, depth: usize) -> String {
    let mut out = match choices.below(8) {
        0..3 => "//".to_owned(),
        3 => "/".to_owned(),
        4 => String::new(),
        5 => "/*/".to_owned(),
        6 => choices.of(&["$anchor/", "$anchor//"]).to_owned(),
        _ if depth > 0 => {
            let inside = path(choices, depth - 1);
            format!("({inside})[{}]{}", choices.of(&["1", "2", "position() < 3", "@x"]), choices.of(&["/", "//"]))
        }
        _ => "//".to_owned(),
    };
    for index in 0..=choices.below(3) {
        if index > 0 {
            out.push_str(choices.of(&["/", "/", "//"]));
        }
        out.push_str(choices.of(&["", "", "", "", "", "", "", "descendant::"]));
        out.push_str(choices.of(&["a", "b", "c", "m:a", "*", "m:*", "m:b", "*[local-name() = 'a']", "node()"]));
        for _ in 0..3 {
            if choices.rarely(3) {
                let _ = write!(out, "[{}]", predicate(choices, depth));
            }
        }
    }
    match choices.below(12) {
        8 => out.push_str("/@x"),
        9 => out.push_str("/text()"),
        10 => {
            out.push_str(choices.of(&[
                "/@*",
                "//@x",
                "/node()",
                "/comment()",
                "/text()[2]",
                "/@m:x",
                "/.",
                "//text()",
            ]));
        }
        _ => {}
    }
    out
}

fn predicate(choices: &mut Choices<'_>, depth: usize) -> String {
    if depth == 0 {
        return choices.of(&["1", "2", "@x"]).to_owned();
    }
    match choices.below(16) {
        0..3 => choices.of(&["1", "2", "3", "position() < 3", "position() = 2", "last()"]).to_owned(),
        3..5 => choices.of(&["@x", "@x = '1'", "@x = 1 or @y", "not(@x)", "@* = 'x'"]).to_owned(),
        5..7 => {
            choices.of(&["local-name() = 'a'", "name() = 'm:a'", "self::b", "namespace-uri() = 'urn:m'"]).to_owned()
        }
        7 => choices.of(&[". = '1'", "string() = 'x'", "contains(., 'x')", "string-length() > 1", ". > 1"]).to_owned(),
        8..12 => {
            choices.of(&["a", "b = '1'", "not(c)", "count(b) = 1", "count(*) > 1", "text() = 'x'", "b/@x"]).to_owned()
        }
        12 => choices.of(&["starts-with(name(), 'm:')", "count(@*) = 1", "string(b) = '1'", "../b"]).to_owned(),
        13 => format!("{}{}", choices.of(&["", ".//"]), relative(choices, depth - 1)),
        14 => format!("{} = {}", relative(choices, depth - 1), constant(choices)),
        _ => format!("{} and not({})", relative(choices, depth - 1), relative(choices, depth - 1)),
    }
}

fn relative(choices: &mut Choices<'_>, depth: usize) -> String {
    let mut out = choices.of(&["a", "b", "c", "*", "m:a"]).to_owned();
    if choices.rarely(3) {
        let _ = write!(out, "[{}]", predicate(choices, depth));
    }
    if choices.rarely(3) {
        out.push_str(choices.of(&["/a", "//b", "/@x", "/text()"]));
    }
    out
}
