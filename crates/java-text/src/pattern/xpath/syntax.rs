//! The regular expressions of XPath: XML Schema's, with anchors, groups that count, and back-references.
//!
//! Source: Functions and Operators §5.6.1, XML Schema part 2 appendix F.

use std::iter::Peekable;
use std::str::Chars;

use super::classes;

/// Groups within each other deeper than this are refused.
const DEPTH_LIMIT: u32 = 50;

/// A regular expression or a part of one.
#[derive(Debug)]
pub(super) enum Node {
    /// One character, itself.
    Letter(char),
    /// One character of a class, as the `regex` crate writes it.
    Class(String),
    /// `^`
    Start,
    /// `$`
    End,
    /// `(…)` with its number, or `(?:…)`.
    Group(Option<usize>, Box<Node>),
    /// `a|b`
    Either(Vec<Node>),
    /// One after the other.
    Row(Vec<Node>),
    /// At least so often, at most so often; true: as often as possible.
    Repeat(Box<Node>, u32, Option<u32>, bool),
    /// `\1`: the same text as that group.
    Back(usize),
}

/// What was parsed.
pub(super) struct Parsed {
    pub(super) root: Node,
    /// How many groups count.
    pub(super) groups: usize,
    /// Whether there is a back-reference.
    pub(super) refers_back: bool,
}

/// What flags say about the syntax.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    /// `s`: the dot takes ends of lines, too.
    pub(super) dot_all: bool,
    /// `x`: white space means nothing.
    pub(super) spaced: bool,
    /// `i`: letters are the same in upper and lower case.
    pub(super) caseless: bool,
}

/// Parses a pattern.
///
/// Errors: what is wrong, as a sentence.
pub(super) fn parse(source: &str, flags: Flags) -> Result<Parsed, String> {
    let mut parser =
        Parser { rest: source.chars().peekable(), flags, groups: 0, closed: Vec::new(), depth: 0, refers_back: false };
    let root = parser.either()?;
    match parser.rest.next() {
        None => Ok(Parsed { root, groups: parser.groups, refers_back: parser.refers_back }),
        // Nothing else ends a regular expression.
        Some(_) => Err("a `)` closes what nothing has opened".to_owned()),
    }
}

pub(super) struct Parser<'s> {
    pub(super) rest: Peekable<Chars<'s>>,
    pub(super) flags: Flags,
    groups: usize,
    /// The groups that have ended: only they can be referred back to.
    closed: Vec<usize>,
    depth: u32,
    refers_back: bool,
}

impl Parser<'_> {
    fn either(&mut self) -> Result<Node, String> {
        let first = self.row()?;
        if self.rest.peek() != Some(&'|') {
            return Ok(first);
        }
        let mut branches = vec![first];
        while self.rest.next_if_eq(&'|').is_some() {
            branches.push(self.row()?);
        }
        Ok(Node::Either(branches))
    }

    fn row(&mut self) -> Result<Node, String> {
        let mut row = Vec::new();
        loop {
            self.skip_space();
            match self.rest.peek() {
                None | Some('|' | ')') => return Ok(Node::Row(row)),
                Some(_) => {
                    let atom = self.atom()?;
                    row.push(self.quantified(atom)?);
                }
            }
        }
    }

    fn skip_space(&mut self) {
        if self.flags.spaced {
            while self.rest.next_if(|letter| matches!(letter, ' ' | '\t' | '\r' | '\n')).is_some() {}
        }
    }

    fn atom(&mut self) -> Result<Node, String> {
        match self.rest.next() {
            Some('(') => self.group(),
            Some('[') => classes::group(self).map(Node::Class),
            Some('\\') => self.escape(),
            Some('.') => Ok(Node::Class(if self.flags.dot_all { r"[\s\S]" } else { r"[^\n\r]" }.to_owned())),
            Some('^') => Ok(Node::Start),
            Some('$') => Ok(Node::End),
            Some(letter @ ('?' | '*' | '+')) => Err(format!("`{letter}` stands behind what may be repeated")),
            Some(letter @ ('{' | '}' | ']')) => Err(format!("a `{letter}` that means itself is written `\\{letter}`")),
            Some(letter) => Ok(Node::Letter(letter)),
            None => Err("something is missing at its end".to_owned()),
        }
    }

    fn group(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(format!("groups stand within each other deeper than {DEPTH_LIMIT}"));
        }
        let counts = self.rest.next_if_eq(&'?').is_none();
        if !counts && self.rest.next_if_eq(&':').is_none() {
            return Err("behind `(?` only `:` is offered".to_owned());
        }
        self.groups += usize::from(counts);
        let number = counts.then_some(self.groups);
        let inside = self.either()?;
        if self.rest.next_if_eq(&')').is_none() {
            return Err("a `)` is missing".to_owned());
        }
        self.depth -= 1;
        self.closed.extend(number);
        Ok(Node::Group(number, Box::new(inside)))
    }

    fn escape(&mut self) -> Result<Node, String> {
        let Some(first) = self.rest.peek().and_then(|letter| letter.to_digit(10)).filter(|digit| *digit > 0) else {
            return classes::escape(self).map(|class| match class {
                classes::Escape::Letter(letter) => Node::Letter(letter),
                // A category says which case it means, whatever the flag `i` says.
                classes::Escape::Class(class) if self.flags.caseless => Node::Class(format!("(?-i:{class})")),
                classes::Escape::Class(class) => Node::Class(class),
            });
        };
        self.rest.next();
        // As many digits count as there are groups for.
        let mut group = first as usize;
        while let Some(digit) = self.rest.peek().and_then(|letter| letter.to_digit(10)) {
            let longer = group * 10 + digit as usize;
            if longer > self.groups {
                break;
            }
            group = longer;
            self.rest.next();
        }
        if !self.closed.contains(&group) {
            return Err(format!("`\\{group}` stands before the end of the group it means"));
        }
        self.refers_back = true;
        Ok(Node::Back(group))
    }

    fn quantified(&mut self, atom: Node) -> Result<Node, String> {
        self.skip_space();
        let (least, most) = match self.rest.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => {
                self.rest.next();
                return self.counted(atom);
            }
            _ => return Ok(atom),
        };
        self.rest.next();
        self.repeated(atom, least, most)
    }

    /// `{2}`, `{2,}` or `{2,3}`; the `{` has been read.
    fn counted(&mut self, atom: Node) -> Result<Node, String> {
        let least = self.number()?.ok_or("a `{` stands before a number of times")?;
        let most = match self.rest.next_if_eq(&',') {
            None => Some(least),
            Some(_) => self.number()?,
        };
        if self.rest.next_if_eq(&'}').is_none() {
            return Err("a `}` is missing".to_owned());
        }
        if most.is_some_and(|most| most < least) {
            return Err(format!("{{{least},…}} asks for more at least than at most"));
        }
        self.repeated(atom, least, most)
    }

    fn number(&mut self) -> Result<Option<u32>, String> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        match digits.as_str() {
            "" => Ok(None),
            digits => digits.parse().map(Some).map_err(|_| format!("{digits} is too often")),
        }
    }

    fn repeated(&mut self, atom: Node, least: u32, most: Option<u32>) -> Result<Node, String> {
        let greedy = self.rest.next_if_eq(&'?').is_none();
        self.skip_space();
        if let Some(letter @ ('?' | '*' | '+' | '{')) = self.rest.peek() {
            return Err(format!("a second number of times, `{letter}`, stands behind the first"));
        }
        Ok(Node::Repeat(Box::new(atom), least, most, greedy))
    }
}

/// Writes a pattern without back-references as the `regex` crate reads it.
pub(super) fn write(node: &Node, out: &mut String) {
    match node {
        Node::Letter(letter) => classes::write_letter(*letter, out),
        Node::Class(class) => out.push_str(class),
        Node::Start => out.push('^'),
        Node::End => out.push('$'),
        Node::Group(number, inside) => {
            out.push_str(if number.is_some() { "(" } else { "(?:" });
            write(inside, out);
            out.push(')');
        }
        Node::Either(branches) => {
            for (index, branch) in branches.iter().enumerate() {
                if index > 0 {
                    out.push('|');
                }
                write(branch, out);
            }
        }
        Node::Row(row) => row.iter().for_each(|part| write(part, out)),
        Node::Repeat(inside, least, most, greedy) => {
            write(inside, out);
            match (least, most) {
                (0, None) => out.push('*'),
                (1, None) => out.push('+'),
                (0, Some(1)) => out.push('?'),
                (least, None) => out.push_str(&format!("{{{least},}}")),
                (least, Some(most)) => out.push_str(&format!("{{{least},{most}}}")),
            }
            if !greedy {
                out.push('?');
            }
        }
        // Whoever has one of these is not written.
        Node::Back(_) => {}
    }
}
