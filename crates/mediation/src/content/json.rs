//! A JSON body as a tree over its text.

use std::borrow::Cow;

use myelin_json::{Error, Options, Value};
use myelin_message::Built;

/// A body that was read as JSON.
#[derive(Debug)]
pub(crate) struct Json {
    value: Value,
    changed: bool,
}

impl Json {
    /// Reads a body.
    ///
    /// Errors: the sender's, with the bytes it sent.
    pub(super) fn read(mut bytes: Vec<u8>) -> Result<Json, (Error, Vec<u8>)> {
        match Value::take(&mut bytes, &Options::default()) {
            Ok(value) => Ok(Json { value, changed: false }),
            Err(error) => Err((error, bytes)),
        }
    }

    /// The value to look at.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// The body as it would be sent.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self.changed {
            false => String::from_utf8_lossy(self.value.source()),
            true => Cow::Owned(String::from_utf8_lossy(&self.written()).into_owned()),
        }
    }

    /// The value to change: what came is not what is sent from now on.
    pub(crate) fn change(&mut self) -> &mut Value {
        self.changed = true;
        &mut self.value
    }

    fn written(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.value.source().len());
        self.value.write_document(&mut out);
        out
    }
}

impl Built for Json {
    fn into_bytes(self: Box<Self>) -> Vec<u8> {
        if self.changed { self.written() } else { self.value.into_source() }
    }
}
