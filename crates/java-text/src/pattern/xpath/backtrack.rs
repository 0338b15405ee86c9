//! Patterns with back-references: tried one way after the other, each step paid for.
//!
//! No way is known to match back-references in linear time, so only patterns that have some come here. The ways that
//! are left to try stand in a list, not on the stack.

use regex::{Regex, RegexBuilder};

use super::syntax::{Flags, Node};
use crate::pattern::reason;

/// Counts the steps of a search that tries one way after the other, and ends it with an error.
pub type Pay<'p, E> = &'p mut dyn FnMut(u64) -> Result<(), E>;

/// A search had more ways left to try than are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimit;

/// Begin and end of each group.
pub(super) type Places = Vec<Option<usize>>;

/// Longer programs are refused: repetitions are written out.
const LIMIT_OPERATIONS: usize = 10_000;

/// More ways left to try than this are refused.
const LIMIT_WAYS: usize = 1_000_000;

/// A pattern as operations.
#[derive(Clone, Debug)]
pub(super) struct Program {
    operations: Vec<Operation>,
    /// Classes of characters; each takes one.
    classes: Vec<Regex>,
    caseless: bool,
    multi_line: bool,
    /// How many groups count, the whole match among them.
    pub(super) groups: usize,
    /// How many places are kept: two of each group, then one of each loop.
    places: usize,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Letter(char),
    Class(usize),
    Start,
    End,
    /// The text of a group.
    Back(usize),
    /// Tries the first, and later the second.
    Split(usize, usize),
    Jump(usize),
    /// Keeps where it is.
    Keep(usize),
    /// Goes on only if it is no more where it was: a loop that takes nothing would never end.
    Moved(usize),
    Match,
}

impl Program {
    /// Errors: what is wrong, as a sentence.
    pub(super) fn new(root: &Node, groups: usize, flags: Flags, multi_line: bool) -> Result<Program, String> {
        let groups = groups + 1;
        let mut program = Program {
            operations: Vec::new(),
            classes: Vec::new(),
            caseless: flags.caseless,
            multi_line,
            groups,
            places: 2 * groups,
        };
        program.add(Operation::Keep(0))?;
        program.compile(root)?;
        program.add(Operation::Keep(1))?;
        program.add(Operation::Match)?;
        Ok(program)
    }

    fn add(&mut self, operation: Operation) -> Result<usize, String> {
        if self.operations.len() == LIMIT_OPERATIONS {
            return Err("it repeats too much beside a back-reference".to_owned());
        }
        self.operations.push(operation);
        Ok(self.operations.len() - 1)
    }

    /// The recursion is as deep as groups stand within each other.
    fn compile(&mut self, node: &Node) -> Result<(), String> {
        match node {
            Node::Letter(letter) => self.add(Operation::Letter(*letter)).map(drop),
            Node::Class(class) => {
                let regex = RegexBuilder::new(&format!(r"\A(?:{class})\z")).case_insensitive(self.caseless).build();
                self.classes.push(regex.map_err(|error| reason(&error))?);
                self.add(Operation::Class(self.classes.len() - 1)).map(drop)
            }
            Node::Start => self.add(Operation::Start).map(drop),
            Node::End => self.add(Operation::End).map(drop),
            Node::Back(group) => self.add(Operation::Back(*group)).map(drop),
            Node::Group(None, inside) => self.compile(inside),
            Node::Group(Some(group), inside) => {
                self.add(Operation::Keep(2 * group))?;
                self.compile(inside)?;
                self.add(Operation::Keep(2 * group + 1)).map(drop)
            }
            Node::Row(row) => row.iter().try_for_each(|part| self.compile(part)),
            Node::Either(branches) => self.either(branches),
            Node::Repeat(inside, least, most, greedy) => {
                for _ in 0..*least {
                    self.compile(inside)?;
                }
                match most {
                    None => self.endless(inside, *greedy),
                    Some(most) => (*least..*most).try_for_each(|_| {
                        let split = self.add(Operation::Match)?;
                        self.compile(inside)?;
                        self.split(split, split + 1, self.operations.len(), *greedy);
                        Ok(())
                    }),
                }
            }
        }
    }

    /// Each optional repetition stands behind the one before: where one is left out, the others find nothing to take
    /// either, or take it in its place.
    fn split(&mut self, at: usize, inside: usize, behind: usize, greedy: bool) {
        self.operations[at] = if greedy { Operation::Split(inside, behind) } else { Operation::Split(behind, inside) };
    }

    fn endless(&mut self, inside: &Node, greedy: bool) -> Result<(), String> {
        let place = self.places;
        self.places += 1;
        let split = self.add(Operation::Match)?;
        self.add(Operation::Keep(place))?;
        self.compile(inside)?;
        self.add(Operation::Moved(place))?;
        self.add(Operation::Jump(split))?;
        self.split(split, split + 1, self.operations.len(), greedy);
        Ok(())
    }

    fn either(&mut self, branches: &[Node]) -> Result<(), String> {
        let mut ends = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            if index + 1 == branches.len() {
                self.compile(branch)?;
                break;
            }
            let split = self.add(Operation::Match)?;
            self.compile(branch)?;
            ends.push(self.add(Operation::Match)?);
            self.split(split, split + 1, self.operations.len(), true);
        }
        for end in ends {
            self.operations[end] = Operation::Jump(self.operations.len());
        }
        Ok(())
    }

    /// The first match that begins at `start` or behind it: begin and end of each group.
    ///
    /// Errors: those of `pay`; too many ways to match.
    pub(super) fn find<E: From<SearchLimit>>(
        &self,
        text: &str,
        start: usize,
        pay: Pay<'_, E>,
    ) -> Result<Option<Places>, E> {
        let begins = text[start..].char_indices().map(|(index, _)| start + index).chain([text.len()]);
        for begin in begins {
            if let Some(mut places) = self.at(text, begin, pay)? {
                places.truncate(2 * self.groups);
                return Ok(Some(places));
            }
        }
        Ok(None)
    }

    fn at<E: From<SearchLimit>>(&self, text: &str, begin: usize, pay: Pay<'_, E>) -> Result<Option<Places>, E> {
        let mut places: Places = vec![None; self.places];
        let mut ways = vec![Way::Try(0, begin)];
        while let Some(way) = ways.pop() {
            let (mut next, mut here) = match way {
                Way::Try(next, here) => (next, here),
                Way::Restore(place, before) => {
                    places[place] = before;
                    continue;
                }
            };
            loop {
                pay(1)?;
                if ways.len() > LIMIT_WAYS {
                    return Err(SearchLimit.into());
                }
                next += 1;
                match self.operations[next - 1] {
                    Operation::Match => return Ok(Some(places)),
                    Operation::Jump(to) => next = to,
                    Operation::Split(first, second) => {
                        ways.push(Way::Try(second, here));
                        next = first;
                    }
                    Operation::Keep(place) => {
                        ways.push(Way::Restore(place, places[place]));
                        places[place] = Some(here);
                    }
                    Operation::Moved(place) if places[place] == Some(here) => break,
                    Operation::Moved(_) => {}
                    Operation::Start if here == 0 || (self.multi_line && text[..here].ends_with('\n')) => {}
                    Operation::End if here == text.len() || (self.multi_line && text[here..].starts_with('\n')) => {}
                    Operation::Start | Operation::End => break,
                    Operation::Back(group) => {
                        // A group that took part in no way was nothing.
                        let known = places[2 * group].zip(places[2 * group + 1]);
                        let known = known.map_or("", |(from, to)| &text[from..to]);
                        pay(known.len() as u64)?;
                        match self.starts_with(&text[here..], known) {
                            Some(length) => here += length,
                            None => break,
                        }
                    }
                    Operation::Letter(wanted) => match text[here..].chars().next() {
                        Some(letter) if self.same(letter, wanted) => here += letter.len_utf8(),
                        _ => break,
                    },
                    Operation::Class(class) => match text[here..].chars().next() {
                        Some(letter) if self.classes[class].is_match(letter.encode_utf8(&mut [0; 4])) => {
                            here += letter.len_utf8();
                        }
                        _ => break,
                    },
                }
            }
        }
        Ok(None)
    }

    fn same(&self, one: char, other: char) -> bool {
        one == other
            || (self.caseless
                && (one.to_lowercase().eq(other.to_lowercase()) || one.to_uppercase().eq(other.to_uppercase())))
    }

    /// How much of the text is the same as `known`; `None`: it does not begin with it.
    fn starts_with(&self, text: &str, known: &str) -> Option<usize> {
        let mut letters = text.chars();
        for wanted in known.chars() {
            letters.next().filter(|letter| self.same(*letter, wanted))?;
        }
        Some(text.len() - letters.as_str().len())
    }
}

enum Way {
    /// Goes on with an operation at a place of the text.
    Try(usize, usize),
    /// Forgets what was kept on the way that has been tried.
    Restore(usize, Option<usize>),
}
