//! Expressions of each type, as deep as they are allowed to be.

use super::{ATTRIBUTES, Chance, NAMES, WORDS};

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Nodes,
    Number,
    Text,
    Boolean,
    /// A result tree fragment: good as a text only.
    Fragment,
}

/// Where a path may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Anywhere,
    /// At what may be copied behind a child: no attribute.
    InTree,
    /// At children of the context node and below, so that applying templates comes to an end.
    Below,
}

/// What an expression can refer to.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) variables: Vec<(String, Type)>,
    /// Whether there is a key `k`.
    pub(super) key: bool,
    /// Patterns and what a key uses have no current node.
    pub(super) no_current: bool,
}

impl Scope {
    /// A variable of the type, if there is one.
    fn variable(&self, chance: &mut Chance, wanted: Type) -> Option<String> {
        let fitting: Vec<&str> =
            self.variables.iter().filter(|(_, held)| *held == wanted).map(|(name, _)| name.as_str()).collect();
        (!fitting.is_empty()).then(|| format!("${}", chance.pick(&fitting)))
    }

    pub(super) fn any(&self, chance: &mut Chance, depth: usize) -> (String, Type) {
        match chance.below(6) {
            0 => (self.number(chance, depth), Type::Number),
            1 => (self.boolean(chance, depth), Type::Boolean),
            2 | 3 => (self.text(chance, depth), Type::Text),
            _ => (self.nodes(chance, depth, End::Anywhere), Type::Nodes),
        }
    }

    /// Nodes that may be all of a document, or none.
    pub(super) fn nodes(&self, chance: &mut Chance, depth: usize, end: End) -> String {
        if end == End::Anywhere && depth > 0 {
            match chance.below(12) {
                0 => {
                    if let Some(variable) = self.variable(chance, Type::Nodes) {
                        return variable;
                    }
                }
                1 => {
                    let (one, other) = (self.nodes(chance, depth - 1, end), self.nodes(chance, depth - 1, end));
                    return format!("{one} | {other}");
                }
                2 if self.key => return format!("key('k', {})", self.text(chance, depth - 1)),
                3 => {
                    let inside = self.nodes(chance, depth - 1, end);
                    return format!("({inside}){}", self.predicate(chance, depth - 1));
                }
                _ => {}
            }
        }
        if end == End::Anywhere && chance.one_in(8) {
            return chance.pick(&[".", "..", "@*", "/", "//@x"]).to_owned();
        }
        let start = match end {
            End::Below => "",
            _ if self.no_current => chance.pick(&["", "", "//"]),
            _ => chance.pick(&["", "", "", "", "/", "//", ".//", "../", "current()/"]),
        };
        let steps = 1 + chance.below(2);
        let path: Vec<String> = (0..steps)
            .map(|step| {
                self.step(chance, depth, if step + 1 == steps || end == End::Below { end } else { End::Anywhere })
            })
            .collect();
        format!("{start}{}", path.join(chance.pick(&["/", "/", "//"])))
    }

    fn step(&self, chance: &mut Chance, depth: usize, end: End) -> String {
        const EVERYWHERE: [&str; 9] = [
            "attribute::",
            "@",
            "self::",
            "parent::",
            "ancestor::",
            "ancestor-or-self::",
            "descendant-or-self::",
            "preceding::",
            "following::",
        ];
        const IN_TREE: [&str; 5] = ["", "child::", "descendant::", "preceding-sibling::", "following-sibling::"];
        let axis = match end {
            End::Below => chance.pick(&["", "", "child::", "descendant::"]),
            End::Anywhere if chance.one_in(2) => chance.pick(&EVERYWHERE),
            _ => chance.pick(&IN_TREE),
        };
        let test = match (axis, chance.below(8)) {
            ("attribute::" | "@", 0..5) => chance.pick(&ATTRIBUTES),
            ("attribute::" | "@", _) | (_, 0..4) => "*",
            (_, 4) => chance.pick(&["text()", "node()", "comment()", "processing-instruction()", "p:*"]),
            _ => chance.pick(&NAMES),
        };
        let predicate = if depth > 0 && chance.one_in(4) { self.predicate(chance, depth - 1) } else { String::new() };
        format!("{axis}{test}{predicate}")
    }

    pub(super) fn predicate(&self, chance: &mut Chance, depth: usize) -> String {
        match chance.below(7) {
            0 => format!("[{}]", 1 + chance.below(3)),
            1 => "[last()]".to_owned(),
            2 => format!("[position() {} {}]", chance.pick(&["<", ">=", "!=", "mod 2 ="]), 1 + chance.below(2))
                .replace('<', "&lt;"),
            3 => format!("[@{}]", chance.pick(&ATTRIBUTES)),
            4 => format!("[@{} = '{}']", chance.pick(&ATTRIBUTES), chance.pick(&WORDS)),
            _ => format!("[{}]", self.boolean(chance, depth)),
        }
    }

    pub(super) fn number(&self, chance: &mut Chance, depth: usize) -> String {
        if depth == 0 {
            return chance.pick(&["0", "1", "2", "3", "10", "-4", "1.5", "position()", "last()"]).to_owned();
        }
        let below = depth - 1;
        match chance.below(12) {
            0 | 1 => format!("count({})", self.nodes(chance, below, End::Anywhere)),
            2 => format!("string-length({})", self.text(chance, below)),
            3 => format!("sum({})", self.nodes(chance, below, End::Anywhere)),
            4 => format!("number({})", self.any(chance, below).0),
            5 => {
                format!("({} {} {})", self.number(chance, below), chance.pick(&["+", "-"]), self.number(chance, below))
            }
            6 => format!("({} * {})", self.number(chance, below), chance.pick(&["2", "3", "0.5"])),
            7 => format!(
                "({} {} {})",
                self.number(chance, below),
                chance.pick(&["div", "mod"]),
                chance.pick(&["2", "4"])
            ),
            8 => format!("{}({})", chance.pick(&["floor", "ceiling", "round"]), self.number(chance, below)),
            9 => format!("-{}", self.number(chance, 0)),
            _ => self.variable(chance, Type::Number).unwrap_or_else(|| self.number(chance, 0)),
        }
    }

    pub(super) fn boolean(&self, chance: &mut Chance, depth: usize) -> String {
        if depth == 0 {
            return chance.pick(&["true()", "false()", "@x", "*", "text()", "self::a"]).to_owned();
        }
        let below = depth - 1;
        match chance.below(10) {
            0 => format!("not({})", self.boolean(chance, below)),
            1 => format!(
                "({} {} {})",
                self.boolean(chance, below),
                chance.pick(&["and", "or"]),
                self.boolean(chance, below)
            ),
            2 | 3 => {
                let operator = chance.pick(&["=", "!=", "&lt;", "&lt;=", ">", ">="]);
                format!("({} {operator} {})", self.any(chance, below).0, self.any(chance, below).0)
            }
            4 => format!("contains({}, {})", self.text(chance, below), self.text(chance, 0)),
            5 => format!("starts-with({}, {})", self.text(chance, below), self.text(chance, 0)),
            6 => format!("lang('{}')", chance.pick(&["en", "de"])),
            7 => format!("boolean({})", self.any(chance, below).0),
            8 if !self.no_current => "generate-id() = generate-id(current())".to_owned(),
            _ => self.variable(chance, Type::Boolean).unwrap_or_else(|| self.boolean(chance, 0)),
        }
    }

    pub(super) fn text(&self, chance: &mut Chance, depth: usize) -> String {
        if depth == 0 {
            return match chance.below(4) {
                0 => chance.pick(&[".", "@x", "name()", "local-name()", "namespace-uri()", "''"]).to_owned(),
                _ => format!("'{}'", chance.pick(&WORDS)),
            };
        }
        let below = depth - 1;
        match chance.below(14) {
            0 | 1 => format!("string({})", self.any(chance, below).0),
            2 => format!("concat({}, '-', {})", self.text(chance, below), self.text(chance, below)),
            3 => format!(
                "substring({}, {}, {})",
                self.text(chance, below),
                self.number(chance, below),
                self.number(chance, 0)
            ),
            4 => format!("substring-before({}, {})", self.text(chance, below), self.text(chance, 0)),
            5 => format!("substring-after({}, {})", self.text(chance, below), self.text(chance, 0)),
            6 => format!("normalize-space({})", self.text(chance, below)),
            7 => format!("translate({}, 'aeio7', 'AEI')", self.text(chance, below)),
            8 => {
                let function = chance.pick(&["name", "local-name", "namespace-uri"]);
                format!("{function}({})", self.nodes(chance, below, End::Anywhere))
            }
            9 => {
                let picture = chance.pick(&["0.00", "#,##0.00", "0.0###", "00.00", "#,##0.00;(#,##0.00)"]);
                format!("format-number({}, '{picture}')", self.number(chance, below))
            }
            10 | 11 => self
                .variable(chance, Type::Text)
                .or_else(|| self.variable(chance, Type::Fragment).map(|name| format!("string({name})")))
                .unwrap_or_else(|| self.text(chance, 0)),
            _ => self.text(chance, 0),
        }
    }

    /// What a template or a key is for; `attributes` says whether it matches attributes, or only what is no attribute.
    pub(super) fn pattern(&self, chance: &mut Chance, attributes: bool) -> String {
        let inner = Scope { no_current: true, variables: Vec::new(), key: false };
        if attributes {
            let name = chance.pick(&ATTRIBUTES);
            return match chance.below(4) {
                0 => "@*".to_owned(),
                1 => format!("{}/@{name}", chance.pick(&NAMES)),
                _ => format!("@{name}"),
            };
        }
        let name = chance.pick(&NAMES);
        match chance.below(14) {
            0 => "*".to_owned(),
            1 => "text()".to_owned(),
            2 => chance
                .pick(&["node()", "comment()", "processing-instruction()", "processing-instruction('target')"])
                .to_owned(),
            3 => format!("{}/{name}", chance.pick(&NAMES)),
            4 => format!("{}//{name}", chance.pick(&NAMES)),
            5 => format!("{name} | {}", chance.pick(&NAMES)),
            6 | 7 => format!("{name}{}", inner.predicate(chance, 1)),
            8 => format!("/a/{name}"),
            9 => "p:*".to_owned(),
            10 => format!("{}[@{}]/{name}", chance.pick(&NAMES), chance.pick(&ATTRIBUTES)),
            11 if self.key => format!("key('k', '{}')", chance.pick(&WORDS)),
            _ => name.to_owned(),
        }
    }
}
