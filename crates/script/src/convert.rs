//! Between the values of the engine and ours.

use rquickjs::{Array, Ctx, Exception, IntoJs, Object, Result};

use crate::error::Place;
use crate::facts::{Effect, Facts, Header, Known, Scope, Value};

/// The facts as `prelude.js` reads them.
pub(crate) fn facts_object<'js>(ctx: &Ctx<'js>, facts: &Facts) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, text) in [("json", &facts.json), ("xml", &facts.xml), ("envelope", &facts.envelope)] {
        if let Some(text) = text {
            object.set(name, text.as_str())?;
        }
    }
    let headers = Object::new(ctx.clone())?;
    for (header, text) in &facts.headers {
        headers.set(header.word(), text.as_str())?;
    }
    object.set("headers", headers)?;
    object.set("isResponse", facts.is_response)?;
    object.set("isSoap11", facts.is_soap11)?;
    let properties = Array::new(ctx.clone())?;
    for (at, (Known { scope, name }, value)) in facts.properties.iter().enumerate() {
        let pair = Array::new(ctx.clone())?;
        pair.set(0, format!("{}\n{name}", scope.word()))?;
        pair.set(1, value.as_ref().map(|value| property(ctx, value)).transpose()?)?;
        properties.set(at, pair)?;
    }
    object.set("properties", properties)?;
    Ok(object)
}

fn property<'js>(ctx: &Ctx<'js>, value: &Value) -> Result<rquickjs::Value<'js>> {
    /// Beyond, a number of JavaScript is not exact.
    const EXACT: std::ops::RangeInclusive<i64> = -((1 << 53) - 1)..=(1 << 53) - 1;
    let wrapped = |name: &str, text: &str| {
        let object = Object::new(ctx.clone())?;
        object.set(name, text)?;
        Ok(object.into_value())
    };
    match value {
        Value::Text(text) => text.as_str().into_js(ctx),
        Value::Boolean(boolean) => boolean.into_js(ctx),
        Value::Integer(number) if EXACT.contains(number) => (*number as f64).into_js(ctx),
        Value::Integer(number) => number.to_string().into_js(ctx),
        Value::Double(number) => number.into_js(ctx),
        Value::Xml(text) => wrapped("xml", text),
        Value::Json(text) => wrapped("json", text),
    }
}

/// An effect as `prelude.js` writes it: its word, and what belongs to it; `locate` finds the place that a stack names.
pub(crate) fn effect(list: &Array<'_>, locate: impl Fn(&str) -> Option<Place>) -> Result<Effect> {
    let text = |at| list.get::<String>(at);
    Ok(match text(0)?.as_str() {
        "property" => Effect::Property(known(list, 1)?, value(list)?),
        "xml" => Effect::Xml(text(1)?),
        "json" => Effect::Json(text(1)?),
        "block" => Effect::Block { xml: text(1)?, must_understand: list.get(2)? },
        "header" => {
            let header = Header::of(&text(1)?).ok_or_else(|| foreign(list))?;
            Effect::Header(header, text(2)?)
        }
        "log" => Effect::Log { level: text(1)?, text: text(2)?, place: locate(&text(3)?) },
        "pause" => Effect::Pause(list.get::<f64>(1)? as u64),
        _ => return Err(foreign(list)),
    })
}

/// A name in its scope, which two texts of a list are.
pub(crate) fn known(list: &Array<'_>, at: usize) -> Result<Known> {
    let scope = Scope::of(&list.get::<String>(at)?).ok_or_else(|| foreign(list))?;
    Ok(Known { scope, name: list.get(at + 1)? })
}

fn value(list: &Array<'_>) -> Result<Option<Value>> {
    Ok(Some(match list.get::<String>(3)?.as_str() {
        "null" => return Ok(None),
        "text" => Value::Text(list.get(4)?),
        "boolean" => Value::Boolean(list.get(4)?),
        "integer" => Value::Integer(list.get::<f64>(4)? as i64),
        "double" => Value::Double(list.get(4)?),
        "xml" => Value::Xml(list.get(4)?),
        "json" => Value::Json(list.get(4)?),
        _ => return Err(foreign(list)),
    }))
}

/// What `prelude.js` never writes.
fn foreign(list: &Array<'_>) -> rquickjs::Error {
    Exception::throw_type(list.ctx(), "the script changed what mc is made of")
}
