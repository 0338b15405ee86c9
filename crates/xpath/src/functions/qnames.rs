//! Functions on names (Functions and Operators §10).

use std::borrow::Cow;

use myelin_xml::Kind;

use super::nodes::lookup;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::lexer::name_length;
use crate::types::AtomicType as T;
use crate::value::number::is_space;
use crate::value::{Atomic, Item, QName, Value};

use Returns::Any;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("QName", 2, 2, Any, qname),
    Function::new("resolve-QName", 2, 2, Any, resolve_qname),
    Function::new("local-name-from-QName", 1, 1, Any, |call| part(call, |name| (name.local, T::NcName))),
    Function::new("prefix-from-QName", 1, 1, Any, |call| part(call, |name| (name.prefix, T::NcName))),
    Function::new("namespace-uri-from-QName", 1, 1, Any, |call| part(call, |name| (name.namespace, T::AnyUri))),
    Function::new("namespace-uri-for-prefix", 2, 2, Any, namespace_for_prefix),
    Function::new("in-scope-prefixes", 1, 1, Any, prefixes),
];

/// A name in two parts; the prefix is empty where there is none.
fn split<'t>(name: &'t str, code: &'static str) -> Result<(&'t str, &'t str), Error> {
    let name = name.trim_matches(is_space);
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    let valid = |part: &str| !part.is_empty() && name_length(part) == part.len();
    if !valid(local) || (name.contains(':') && !valid(prefix)) {
        return Err(Error::value(code, format!("{name:?} is no name")));
    }
    Ok((prefix, local))
}

fn made<'a>(prefix: &str, local: &str, namespace: &str) -> Value<'a> {
    Value::from(Atomic::QName(Box::new(QName {
        prefix: prefix.to_owned(),
        namespace: namespace.to_owned(),
        local: local.to_owned(),
    })))
}

fn qname<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let namespace = call.text(0)?;
    let name = call.required_text(1)?;
    let (prefix, local) = split(&name, "FOCA0002")?;
    if !prefix.is_empty() && namespace.is_empty() {
        return Err(Error::value("FOCA0002", format!("{name:?} has a prefix, and the namespace is empty")));
    }
    Ok(made(prefix, local, &namespace))
}

fn resolve_qname<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(name) = call.optional_text(0)? else { return Ok(Value::EMPTY) };
    let element = call.node(1)?.ok_or_else(super::call::missing)?;
    let (prefix, local) = split(&name, "FOCA0002")?;
    match lookup(element, prefix) {
        Some(namespace) => Ok(made(prefix, local, namespace)),
        None if prefix.is_empty() => Ok(made("", local, "")),
        None => Err(Error::value("FONS0004", format!("the prefix {prefix:?} stands for no namespace there"))),
    }
}

fn part<'a>(call: &Call<'_, 'a>, part: fn(QName) -> (String, T)) -> Result<Value<'a>, Error> {
    let Some(Atomic::QName(name)) = call.typed(0, T::QName)? else { return Ok(Value::EMPTY) };
    let (text, atomic) = part(*name);
    // A name without a prefix has none, but one without a namespace has the empty one.
    if text.is_empty() && atomic == T::NcName {
        return Ok(Value::EMPTY);
    }
    Ok(Value::from(Atomic::Text(text.into(), atomic)))
}

fn namespace_for_prefix<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let prefix = call.text(0)?;
    let element = call.node(1)?.ok_or_else(super::call::missing)?;
    let namespace = lookup(element, &prefix);
    Ok(namespace.map_or(Value::EMPTY, |uri| Value::from(Atomic::Text(Cow::Borrowed(uri), T::AnyUri))))
}

fn prefixes<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(element) = call.node(0)? else { return Err(super::call::missing()) };
    let Some(tree) = element.node.tree().filter(|_| element.kind() == Some(Kind::Element)) else {
        return Err(Error::value("XPTY0004", "in-scope-prefixes() takes an element"));
    };
    let scope = element.document.namespaces_in_scope(tree);
    let items = scope.into_iter().map(|(prefix, _)| {
        let atomic = if prefix.is_empty() { T::String } else { T::NcName };
        Item::Atomic(Atomic::Text(Cow::Borrowed(prefix), atomic))
    });
    Ok(Value::from_items(items.collect()))
}
