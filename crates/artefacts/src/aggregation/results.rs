//! What the results of several flows become together: an array of JSON, or an element with all of them in it.

use std::sync::Arc;

use crate::aggregation::merge::{MergeMode, merged_json};
use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::Fragment;
use myelin_content::utf8;
use myelin_flow::branches::{Contribution, too_large};
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, Slot, Value};

/// What becomes of the results.
pub(crate) enum ResultFormat {
    Json,
    /// Elements in this one.
    Xml(Fragment),
}

impl ResultFormat {
    /// Reads `result-content-type` and `result-enclosing-element`.
    pub(crate) fn read(element: &Element) -> Result<ResultFormat, Problem> {
        match element.required("result-content-type")? {
            text if text.value == "JSON" => Ok(ResultFormat::Json),
            text if text.value == "XML" => {
                enclosing(element.required("result-enclosing-element")?).map(ResultFormat::Xml)
            }
            text => Err(text.problem(format!("result-content-type {:?} is neither JSON nor XML", text.value))),
        }
    }

    /// The element around XML.
    pub(crate) fn enclosing(&self) -> Option<&Fragment> {
        match self {
            ResultFormat::Json => None,
            ResultFormat::Xml(element) => Some(element),
        }
    }

    /// The result, where it is of this form.
    ///
    /// Errors: the bus's, where it is not.
    pub(crate) fn of(&self, piece: Contribution) -> Outcome<Contribution> {
        match (self, &piece) {
            (ResultFormat::Json, Contribution::Json(_)) | (ResultFormat::Xml(_), Contribution::Xml(_)) => Ok(piece),
            _ => Err(Fault::bus("What a sequence made is not of the result-content-type")),
        }
    }

    /// Puts results of this form into a variable.
    ///
    /// Errors: the bus's, where they are more than so many bytes, or than properties may hold.
    pub(crate) fn keep(
        &self,
        pieces: Vec<Contribution>,
        variable: Slot,
        limit_bytes: usize,
        exchange: &mut Exchange,
    ) -> Outcome<()> {
        let value = match self {
            ResultFormat::Json => {
                let texts = pieces.into_iter().filter_map(|piece| match piece {
                    Contribution::Json(text) => Some(text),
                    Contribution::Xml(_) => None,
                });
                let text = merged_json(&texts.collect::<Vec<_>>(), MergeMode::Root, None)?;
                Value::json(&utf8(&text))
            }
            ResultFormat::Xml(enclosing) => {
                let mut document = Arc::unwrap_or_clone(Arc::clone(&enclosing.document));
                for piece in pieces {
                    let Contribution::Xml(elements) = piece else { continue };
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
pub(crate) fn target_variable(element: &Element, loader: &mut Loader) -> Result<Slot, Problem> {
    let name = element.required("target-variable")?.value.trim();
    Ok(loader.names().slot(name))
}

/// The element of that name.
fn enclosing(name: Text<'_>) -> Result<Fragment, Problem> {
    let element = Fragment::parse(&format!("<{}/>", name.value.trim()));
    let element = element.filter(|element| element.document.qname(element.node).local == name.value.trim());
    element.ok_or_else(|| name.problem(format!("{:?} cannot be the name of an element", name.value)))
}
