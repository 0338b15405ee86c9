//! `instance of`, `treat as`, `cast as`, `castable as`.

use crate::ast::Expr;
use crate::error::Error;
use crate::run::{Focus, Run};
use crate::types::{AtomicType, SequenceType};
use crate::value::Value;
use crate::value::cast::cast;
use crate::value::instance::Check;

impl<'a> Run<'_, 'a> {
    /// Whether a value is of a type.
    pub(super) fn instance(&self, value: &Value<'a>, wanted: &SequenceType) -> Result<bool, Error> {
        let before = self.steps_left();
        let check = Check::new(&self.names, before);
        let fits = check.value(value, wanted);
        self.step(before - check.left())?;
        // Whoever has used up everything does not know.
        if check.left() == 0 { self.step(1).map(|()| fits) } else { Ok(fits) }
    }

    pub(super) fn treat(
        &self,
        inside: &'a Expr,
        wanted: &SequenceType,
        focus: &Focus<'_, 'a>,
    ) -> Result<Value<'a>, Error> {
        let value = self.value(inside, focus)?;
        if self.instance(&value, wanted)? {
            return Ok(value);
        }
        Err(Error::value("XPDY0050", "the value is not of the type it is treated as"))
    }

    pub(super) fn cast(
        &self,
        inside: &'a Expr,
        target: AtomicType,
        optional: bool,
        focus: &Focus<'_, 'a>,
    ) -> Result<Value<'a>, Error> {
        match self.operand(inside, focus)? {
            Some(atomic) => cast(atomic, target, self.version).map(Value::from),
            None if optional => Ok(Value::EMPTY),
            None => Err(Error::value("XPTY0004", format!("nothing cannot be cast to {target}"))),
        }
    }

    pub(super) fn castable(
        &self,
        inside: &'a Expr,
        target: AtomicType,
        optional: bool,
        focus: &Focus<'_, 'a>,
    ) -> Result<bool, Error> {
        let atomics = self.atomics(&self.value(inside, focus)?)?;
        match <[_; 1]>::try_from(atomics) {
            Ok([atomic]) => Ok(cast(atomic, target, self.version).is_ok()),
            Err(others) => Ok(optional && others.is_empty()),
        }
    }
}
