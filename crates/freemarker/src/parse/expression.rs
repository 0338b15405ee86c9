//! Reads expressions: by FreeMarker's grammar, one function for each level of precedence.

mod primary;

use std::ops::Range;
use std::sync::Arc;

use super::token::{Token, token};
use crate::error::{ErrorKind, Refusal};
use crate::names::{Names, Symbol};
use crate::stack::with_enough;
use crate::syntax::{Comparison, Expression, ExpressionKind as Is, RangeKind, Sign};

/// How many operators and brackets one expression may have: whoever evaluates it goes as deep.
const LINKS: usize = 500;

/// Reads the expressions in a part of a text.
pub(crate) struct Parser<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    /// Where everything is said to stand: set where the text is one inside of another.
    fixed: Option<u32>,
    names: &'a mut Names,
    links: usize,
    /// Whether `name=` may follow an expression: in the tag of a call.
    in_call: bool,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str, range: Range<usize>, names: &'a mut Names) -> Parser<'a> {
        Parser { text, at: range.start, end: range.end, fixed: None, names, links: 0, in_call: false }
    }

    /// The same, of a text that stands at one place of another.
    pub(crate) fn inside(
        text: &'a str,
        range: Range<usize>,
        at: u32,
        links: usize,
        names: &'a mut Names,
    ) -> Parser<'a> {
        Parser { fixed: Some(at), links, ..Parser::new(text, range, names) }
    }

    /// The same, of the arguments of a macro.
    pub(crate) fn of_call(text: &'a str, range: Range<usize>, names: &'a mut Names) -> Parser<'a> {
        Parser { in_call: true, ..Parser::new(text, range, names) }
    }

    /// Says that names may come up which are not written in the template.
    pub(crate) fn reach_all(&mut self) {
        self.names.reach_all();
    }

    /// Where the next word stands.
    pub(crate) fn place(&mut self) -> u32 {
        self.skip();
        self.fixed.unwrap_or(self.at as u32)
    }

    pub(crate) fn refuse(&mut self, message: impl Into<String>) -> Refusal {
        (ErrorKind::Syntax, self.place() as usize, message.into())
    }

    fn unsupported(&mut self, message: impl Into<String>) -> Refusal {
        (ErrorKind::Unsupported, self.place() as usize, message.into())
    }

    /// Goes behind white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..self.end];
            let trimmed = rest.trim_start();
            self.at = self.end - trimmed.len();
            match trimmed.strip_prefix("<#--").and_then(|inside| inside.find("-->")) {
                Some(length) => self.at += "<#--".len() + length + "-->".len(),
                None => return,
            }
        }
    }

    fn peek(&mut self) -> Result<(Token, usize), Refusal> {
        self.skip();
        token(&self.text[self.at..self.end]).map_err(|message| self.refuse(message))
    }

    fn next(&mut self) -> Result<Token, Refusal> {
        let (token, length) = self.peek()?;
        self.at += length;
        Ok(token)
    }

    /// Goes behind a sign, if it is the next word.
    pub(crate) fn take(&mut self, sign: &str) -> Result<bool, Refusal> {
        let (token, length) = self.peek()?;
        let is_it = matches!(token, Token::Sign(found) if found == sign);
        self.at += if is_it { length } else { 0 };
        Ok(is_it)
    }

    /// Goes behind a word, if it is the next one.
    pub(crate) fn take_word(&mut self, word: &str) -> Result<bool, Refusal> {
        let (token, length) = self.peek()?;
        let is_it = matches!(token, Token::Name(found) if found == word);
        self.at += if is_it { length } else { 0 };
        Ok(is_it)
    }

    fn expect(&mut self, sign: &str) -> Result<(), Refusal> {
        if self.take(sign)? { Ok(()) } else { Err(self.refuse(format!("{sign:?} is missing here"))) }
    }

    /// Whether nothing is left.
    pub(crate) fn is_done(&mut self) -> bool {
        self.skip();
        self.at == self.end
    }

    /// Refuses anything that is left.
    pub(crate) fn finish(mut self) -> Result<(), Refusal> {
        if self.is_done() {
            return Ok(());
        }
        let rest: String = self.text[self.at..self.end].chars().take(20).collect();
        Err(self.refuse(format!("{rest:?} is not expected here")))
    }

    /// A name, also in quotes.
    pub(crate) fn name(&mut self) -> Result<Symbol, Refusal> {
        let place = self.at;
        match self.next()? {
            Token::Name(name) | Token::Text(name, _) => Ok(self.names.symbol(&name)),
            _ => {
                self.at = place;
                Err(self.refuse("a name is missing here"))
            }
        }
    }

    /// A name, if it and a sign behind it follow, and how it goes on; only the name is taken.
    pub(crate) fn name_before(&mut self, signs: &[&str]) -> Result<Option<Symbol>, Refusal> {
        let start = self.at;
        if let Token::Name(name) | Token::Text(name, _) = self.next()? {
            let behind = self.at;
            let follows = matches!(self.peek()?.0, Token::Sign(sign) if signs.contains(&sign));
            if follows {
                self.at = behind;
                return Ok(Some(self.names.symbol(&name)));
            }
        }
        self.at = start;
        Ok(None)
    }

    /// One more operator or bracket of this expression.
    fn link(&mut self) -> Result<(), Refusal> {
        self.links += 1;
        if self.links > LINKS {
            return Err(self.refuse(format!("an expression has more than {LINKS} operators and brackets")));
        }
        Ok(())
    }

    /// A whole expression; the next one is counted anew.
    pub(crate) fn expression(&mut self) -> Result<Expression, Refusal> {
        if self.fixed.is_none() {
            self.links = 0;
        }
        self.or()
    }

    fn or(&mut self) -> Result<Expression, Refusal> {
        self.link()?;
        with_enough(|| {
            let mut left = self.and()?;
            while self.take("||")? {
                self.link()?;
                left = made(left.at, Is::Or(left.into(), self.and()?.into()));
            }
            Ok(left)
        })
    }

    fn and(&mut self) -> Result<Expression, Refusal> {
        let mut left = self.equality()?;
        while self.take("&&")? {
            self.link()?;
            left = made(left.at, Is::And(left.into(), self.equality()?.into()));
        }
        Ok(left)
    }

    fn equality(&mut self) -> Result<Expression, Refusal> {
        let left = self.relation()?;
        let comparison = match self.peek()?.0 {
            Token::Sign("=" | "==") => Comparison::Equal,
            Token::Sign("!=") => Comparison::NotEqual,
            _ => return Ok(left),
        };
        self.next()?;
        Ok(made(left.at, Is::Compare(comparison, left.into(), self.relation()?.into())))
    }

    fn relation(&mut self) -> Result<Expression, Refusal> {
        let left = self.range()?;
        let comparison = match self.peek()?.0 {
            Token::Sign("<") => Comparison::Less,
            Token::Sign("<=") => Comparison::LessOrEqual,
            Token::Sign(">") => Comparison::Greater,
            Token::Sign(">=") => Comparison::GreaterOrEqual,
            _ => return Ok(left),
        };
        self.next()?;
        Ok(made(left.at, Is::Compare(comparison, left.into(), self.range()?.into())))
    }

    fn range(&mut self) -> Result<Expression, Refusal> {
        let left = self.sum()?;
        let kind = match self.peek()?.0 {
            Token::Sign("..") => RangeKind::Inclusive,
            Token::Sign("..<") => RangeKind::Exclusive,
            Token::Sign("..*") => RangeKind::Length,
            _ => return Ok(left),
        };
        self.next()?;
        let end =
            if kind != RangeKind::Inclusive || self.begins_expression()? { Some(self.sum()?.into()) } else { None };
        Ok(made(left.at, Is::Range(left.into(), end, kind)))
    }

    fn sum(&mut self) -> Result<Expression, Refusal> {
        let mut left = self.product()?;
        loop {
            let sign = match self.peek()?.0 {
                Token::Sign("+") => Sign::Add,
                Token::Sign("-") => Sign::Subtract,
                _ => return Ok(left),
            };
            self.next()?;
            self.link()?;
            left = made(left.at, Is::Reckon(sign, left.into(), self.product()?.into()));
        }
    }

    fn product(&mut self) -> Result<Expression, Refusal> {
        let mut left = self.unary()?;
        loop {
            let sign = match self.peek()?.0 {
                Token::Sign("*") => Sign::Multiply,
                Token::Sign("/") => Sign::Divide,
                Token::Sign("%") => Sign::Remainder,
                _ => return Ok(left),
            };
            self.next()?;
            self.link()?;
            left = made(left.at, Is::Reckon(sign, left.into(), self.unary()?.into()));
        }
    }

    fn unary(&mut self) -> Result<Expression, Refusal> {
        let at = self.place();
        let wrap = match self.peek()?.0 {
            Token::Sign("!") => Is::Not,
            Token::Sign("-") => Is::Negate,
            Token::Sign("+") => Is::Plus,
            _ => return self.postfix(),
        };
        self.next()?;
        self.link()?;
        Ok(made(at, wrap(with_enough(|| self.unary())?.into())))
    }

    fn begins_expression(&mut self) -> Result<bool, Refusal> {
        Ok(match self.peek()?.0 {
            Token::Name(name) => !matches!(name.as_str(), "as" | "in" | "using"),
            Token::Number(_) | Token::Text(..) => true,
            Token::Sign(sign) => matches!(sign, "(" | "[" | "{" | "-" | "+" | "!" | "."),
            Token::End => false,
        })
    }

    fn postfix(&mut self) -> Result<Expression, Refusal> {
        let mut left = self.primary()?;
        loop {
            let at = self.place();
            let (Token::Sign(sign), length) = self.peek()? else { return Ok(left) };
            let start = left.at;
            match sign {
                "." | "[" | "(" | "?" | "??" | "!" => {
                    self.at += length;
                    self.link()?;
                }
                _ => return Ok(left),
            }
            left = match sign {
                "." => {
                    let name = self.member_name()?;
                    made(at, Is::Member(left.into(), self.names.member(name)))
                }
                "[" => {
                    let index = self.or()?;
                    self.expect("]")?;
                    match &index.kind {
                        Is::Text(name) => drop(self.names.member(Arc::clone(name))),
                        Is::Number(_) | Is::Range(..) => {}
                        _ => self.names.reach_all(),
                    }
                    made(at, Is::Index(left.into(), index.into()))
                }
                "(" => {
                    let arguments = self.arguments(false)?;
                    made(start, Is::Call(left.into(), arguments))
                }
                "?" => self.builtin(left)?,
                "??" => made(start, Is::Exists(left.into())),
                _ => {
                    // `<@m a=x! b=y>`: what follows is the next argument, not the default.
                    let behind = self.at;
                    let is_next = self.in_call && self.name_before(&["="])?.is_some();
                    self.at = behind;
                    let has_default = !is_next && self.begins_expression()?;
                    let default = if has_default { Some(with_enough(|| self.or())?.into()) } else { None };
                    made(start, Is::Default(left.into(), default))
                }
            };
        }
    }

    fn member_name(&mut self) -> Result<Arc<str>, Refusal> {
        // What is a word elsewhere is a name here.
        self.skip();
        let rest = &self.text[self.at..self.end];
        for word in ["lte", "lt", "gte", "gt", "**", "*"] {
            let behind = rest.strip_prefix(word).map(|behind| behind.chars().next());
            if behind.is_some_and(|next| !next.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')) {
                self.at += word.len();
                return Ok(word.into());
            }
        }
        let place = self.at;
        match self.next()? {
            Token::Name(name) => Ok(name.into()),
            _ => {
                self.at = place;
                Err(self.refuse("the name of a member is missing here"))
            }
        }
    }
}

fn made(at: u32, kind: Is) -> Expression {
    Expression { at, kind }
}
