//! How values become text.

use std::borrow::Cow;

use crate::error::{Error, Trouble};
use crate::escape::Format;
use crate::machine::Run;
use crate::syntax::Expression;
use crate::value::{Text, Value, expected};

impl<'m> Run<'_, 'm> {
    /// The text of a value, as it is joined with others.
    pub(crate) fn text(&self, value: &Value<'m>) -> Result<Text<'m>, Trouble> {
        Ok(match value {
            Value::Text(text) => text.clone(),
            Value::Number(number) => Cow::Owned::<str>(self.formats.number.write(*number)).into(),
            Value::Boolean(boolean) => match &self.formats.boolean {
                Some((yes, no)) => Text::Shared((if *boolean { yes } else { no }).as_str().into()),
                None => return Err(Trouble::wrong("a boolean has no text of its own: write ?c, or ?string(yes, no)")),
            },
            Value::Moment(moment) => Cow::Owned::<str>(self.formats.moment(*moment)?).into(),
            Value::Markup(text, _) => Text::Shared(text.clone()),
            Value::Nothing => Text::Borrowed(""),
            Value::Object(object) => match object.text() {
                Ok(Some(text)) => text,
                Ok(None) => return Err(expected("a text", value)),
                Err(message) => return Err(Trouble::wrong(message)),
            },
            other => return Err(expected("a text", other)),
        })
    }

    /// The text of a value as it is printed, escaped for the language of the output.
    pub(super) fn printed(&self, value: &Value<'m>, format: Option<Format>) -> Result<Text<'m>, Trouble> {
        let text = self.text(value)?;
        Ok(match (format, value) {
            (None, _) | (Some(_), Value::Markup(..)) => text,
            (Some(format), _) => {
                let mut out = String::with_capacity(text.len() + 16);
                format.escape(&text, &mut out);
                Text::Shared(out.into())
            }
        })
    }

    /// The text of an expression.
    pub(crate) fn text_of(&mut self, expression: &Expression) -> Result<Text<'m>, Box<Error>> {
        let value = self.value(expression)?;
        self.text(&value).or_else(|trouble| self.fail(expression, trouble))
    }

    /// The text of an expression, or the word for a boolean.
    pub(super) fn text_or_boolean(&mut self, expression: &Expression) -> Result<Text<'m>, Box<Error>> {
        match self.value(expression)? {
            Value::Boolean(boolean) => Ok(Text::Borrowed(if boolean { "true" } else { "false" })),
            value => self.text(&value).or_else(|trouble| self.fail(expression, trouble)),
        }
    }
}
