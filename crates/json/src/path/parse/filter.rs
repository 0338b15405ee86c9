//! The grammar of a filter: `||` of `&&` of comparisons, existence tests and what stands in parentheses.

use myelin_java_text::decimal;

use super::super::ast::{Expression, Operand, Operator};
use super::{Parser, Surroundings};
use crate::error::Error;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expression, Error> {
        self.chain("||", Parser::conjunction, Expression::Or)
    }

    fn conjunction(&mut self) -> Result<Expression, Error> {
        self.chain("&&", Parser::condition, Expression::And)
    }

    fn chain(
        &mut self,
        between: &str,
        mut part: impl FnMut(&mut Self) -> Result<Expression, Error>,
        whole: fn(Vec<Expression>) -> Expression,
    ) -> Result<Expression, Error> {
        let mut parts = vec![part(self)?];
        loop {
            self.skip_blanks();
            if !self.text[self.at..].starts_with(between) {
                break;
            }
            self.at += between.len();
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { whole(parts) })
    }

    fn condition(&mut self) -> Result<Expression, Error> {
        self.skip_blanks();
        match self.peek() {
            Some(b'!') => {
                self.at += 1;
                self.skip_blanks();
                let negated = matches!(self.peek(), Some(b'$' | b'@'));
                let inner = self.nested(Parser::condition)?;
                if negated && !matches!(inner, Expression::Exists(_)) {
                    return self.fail("what `!` negates stands in parentheses, if it is a comparison");
                }
                Ok(Expression::Not(Box::new(inner)))
            }
            Some(b'(') => {
                self.at += 1;
                let inner = self.nested(Parser::expression)?;
                self.expect(b')')?;
                Ok(inner)
            }
            _ => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Result<Expression, Error> {
        let left = self.operand()?;
        self.skip_blanks();
        match (left, self.operator()?) {
            (Operand::Path(path), None) => Ok(Expression::Exists(path)),
            (_, None) => self.fail("expected an operator"),
            (left, Some(operator)) => {
                let right = self.operand()?;
                match (operator, &left, &right) {
                    (Operator::Size, _, Operand::Number(_) | Operand::Path(_))
                    | (Operator::Empty, _, Operand::Boolean(_) | Operand::Path(_))
                    | (Operator::Match, Operand::Pattern(_), _)
                    | (Operator::Match, _, Operand::Pattern(_)) => {}
                    (Operator::Size, ..) => return self.fail("`size` is compared with a number"),
                    (Operator::Empty, ..) => return self.fail("`empty` is compared with `true` or `false`"),
                    (Operator::Match, ..) => return self.fail("`=~` wants a pattern such as `/a.*/i`"),
                    (_, Operand::Pattern(_), _) | (_, _, Operand::Pattern(_)) => {
                        return self.fail("a pattern goes with `=~`");
                    }
                    _ => {}
                }
                Ok(Expression::Compare(left, operator, right))
            }
        }
    }

    /// The operator that stands here; `None` where the condition ends.
    fn operator(&mut self) -> Result<Option<Operator>, Error> {
        let rest = &self.text[self.at..];
        let symbol = rest.bytes().take_while(|byte| b"=<>!~".contains(byte)).count();
        let length = if symbol > 0 { symbol } else { rest.bytes().take_while(u8::is_ascii_alphabetic).count() };
        if length == 0 {
            return Ok(None);
        }
        match Operator::named(&rest[..length]) {
            Some(operator) => {
                self.at += length;
                Ok(Some(operator))
            }
            None => self.fail(format!("`{}` is no operator here", &rest[..length])),
        }
    }

    fn operand(&mut self) -> Result<Operand, Error> {
        self.skip_blanks();
        if let Some(hole) = self.hole()? {
            return Ok(Operand::Hole(hole));
        }
        let rest = &self.text[self.at..];
        match self.peek() {
            Some(b'$' | b'@') => {
                Ok(Operand::Path(Box::new(self.nested(|parser| parser.path(Surroundings::Expression))?)))
            }
            Some(quote @ (b'\'' | b'"')) => Ok(Operand::Text(self.quoted(quote)?)),
            Some(b'[' | b'{') => Ok(Operand::Json(Box::new(self.relaxed_json()?))),
            Some(b'/') => Ok(Operand::Pattern(Box::new(self.pattern()?))),
            Some(b'-' | b'.' | b'0'..=b'9') => {
                let length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || b"-.eE".contains(byte)).count();
                if decimal::compare(&rest[..length], "0").is_none() {
                    return self.fail("expected a number");
                }
                self.at += length;
                Ok(Operand::Number(rest[..length].to_owned()))
            }
            _ => {
                for (word, operand) in
                    [("true", Operand::Boolean(true)), ("false", Operand::Boolean(false)), ("null", Operand::Null)]
                {
                    let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
                    if rest.strip_prefix(word).is_some_and(ends) {
                        self.at += word.len();
                        return Ok(operand);
                    }
                }
                self.fail("expected a path, a string in quotes, a number, `true`, `false`, `null`, JSON or a pattern")
            }
        }
    }
}
