//! What the results of several flows become together: an array of JSON, or an element with all of them in it.

use std::sync::Arc;

use super::aggregate::{Kept, merged_json};
use crate::branch::{Piece, too_large};
use crate::config::{Element, Loader, Problem, Text};
use crate::content::utf8;
use crate::exchange::Exchange;
use crate::fault::{Fault, Outcome};
use crate::property::{Fragment, Scope, Slot, Value};

/// What becomes of the results.
pub(super) enum Form {
    Json,
    /// Elements in this one.
    Xml(Fragment),
}

impl Form {
    /// Reads `result-content-type` and `result-enclosing-element`.
    pub(super) fn read(element: &Element) -> Result<Form, Problem> {
        match element.required("result-content-type")? {
            text if text.value == "JSON" => Ok(Form::Json),
            text if text.value == "XML" => enclosing(element.required("result-enclosing-element")?).map(Form::Xml),
            text => Err(text.problem(format!("result-content-type {:?} is neither JSON nor XML", text.value))),
        }
    }

    /// The element around XML.
    pub(super) fn enclosing(&self) -> Option<&Fragment> {
        match self {
            Form::Json => None,
            Form::Xml(element) => Some(element),
        }
    }

    /// The result, where it is of this form.
    ///
    /// Errors: the bus's, where it is not.
    pub(super) fn of(&self, piece: Piece) -> Outcome<Piece> {
        match (self, &piece) {
            (Form::Json, Piece::Json(_)) | (Form::Xml(_), Piece::Xml(_)) => Ok(piece),
            _ => Err(Fault::bus("What a sequence made is not of the result-content-type")),
        }
    }

    /// Puts results of this form into a variable.
    ///
    /// Errors: the bus's, where they are more than so many bytes, or than properties may hold.
    pub(super) fn keep(
        &self,
        pieces: Vec<Piece>,
        variable: Slot,
        limit_bytes: usize,
        exchange: &mut Exchange,
    ) -> Outcome<()> {
        let value = match self {
            Form::Json => {
                let texts = pieces.into_iter().filter_map(|piece| match piece {
                    Piece::Json(text) => Some(text),
                    Piece::Xml(_) => None,
                });
                let text = merged_json(&texts.collect::<Vec<_>>(), Kept::Root, None)?;
                Value::json(&utf8(&text))
            }
            Form::Xml(enclosing) => {
                let mut document = Arc::unwrap_or_clone(Arc::clone(&enclosing.document));
                for piece in pieces {
                    let Piece::Xml(elements) = piece else { continue };
                    if !elements.append_to(&mut document, enclosing.node, limit_bytes)? {
                        return Err(too_large(limit_bytes));
                    }
                }
                Some(Value::Xml(Fragment { document: Arc::new(document), node: enclosing.node }))
            }
        };
        if let Some(value) = &value {
            exchange.properties.check_room(value)?;
        }
        exchange.properties.put(Scope::Variable, variable, value);
        Ok(())
    }
}

/// The variable that `target-variable` names.
pub(super) fn variable(element: &Element, loader: &mut Loader) -> Result<Slot, Problem> {
    let name = element.required("target-variable")?.value.trim();
    Ok(loader.names().slot(name))
}

/// The element of that name.
fn enclosing(name: Text<'_>) -> Result<Fragment, Problem> {
    let element = Fragment::parse(&format!("<{}/>", name.value.trim()));
    let element = element.filter(|element| element.document.qname(element.node).local == name.value.trim());
    element.ok_or_else(|| name.problem(format!("{:?} cannot be the name of an element", name.value)))
}
