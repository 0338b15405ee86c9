//! What this processor is and what it offers (XSLT 1.0 §15 and §12.4, 3.0 §20).

use myelin_xpath::types::AtomicType;
use myelin_xpath::{Atomic, Error, Item, QName, Value, Version};

use super::exslt::{COMMON, SAXON};
use super::{Call, Function};
use crate::name::ExpandedName;

const XSLT: &str = "http://www.w3.org/1999/XSL/Transform";
const FUNCTIONS_OF_EXSLT: &str = "http://exslt.org/functions";
const SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("system-property", 1, 1, system_property),
    Function::own("available-system-properties", 0, 0, available_system_properties),
    Function::own("element-available", 1, 1, element_available),
    Function::own("function-available", 1, 2, function_available),
    Function::own("type-available", 1, 1, type_available),
    Function::own("current-output-uri", 0, 0, |call| match call.machine.output_uri() {
        Some(uri) => Atomic::from(uri).cast(AtomicType::AnyUri, Version::V3).map(Value::from),
        None => Ok(Value::EMPTY),
    }),
    Function::own("stream-available", 1, 1, |_| Ok(Value::from(false))),
    Function::own("load-xquery-module", 1, 2, |_| {
        Err(Error::value("FOQM0006", "load-xquery-module(): there is no processor of XQuery"))
    }),
    Function::own("environment-variable", 1, 1, |_| Ok(Value::EMPTY)),
    Function::own("available-environment-variables", 0, 0, |_| Ok(Value::EMPTY)),
];

/// The properties in the namespace of XSLT but for its version, which depends on who asks.
const PROPERTIES: [(&str, &str); 13] = [
    ("vendor", "Myelin"),
    ("vendor-url", env!("CARGO_PKG_REPOSITORY")),
    ("product-name", "Myelin"),
    ("product-version", env!("CARGO_PKG_VERSION")),
    ("is-schema-aware", "no"),
    ("supports-serialization", "yes"),
    ("supports-backwards-compatibility", "yes"),
    ("supports-namespace-axis", "yes"),
    ("supports-streaming", "no"),
    ("supports-dynamic-evaluation", "yes"),
    ("supports-higher-order-functions", "yes"),
    ("xpath-version", "3.1"),
    ("xsd-version", "1.1"),
];

fn system_property<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let written = call.text(0)?;
    let name = call.scope.expand(&written).ok_or_else(|| {
        Error::value("XTDE1390", format!("{written:?} is no name, or its prefix stands for no namespace"))
    })?;
    Ok(Value::from(property(&name.namespace, &name.local, call.version())))
}

/// What this processor says of itself; nothing where it has nothing to say.
pub(crate) fn property(namespace: &str, local: &str, version: Version) -> &'static str {
    match (namespace, local) {
        // A stylesheet of 1.0 asks this to find out whether it may use what came later, or has to do without.
        (XSLT, "version") if version == Version::V1 => "1.0",
        (XSLT, "version") => "3.0",
        (XSLT, _) => PROPERTIES.iter().find(|(known, _)| *known == local).map_or("", |(_, value)| *value),
        _ => "",
    }
}

fn available_system_properties<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let names = PROPERTIES.iter().map(|(property, _)| *property).chain(["version"]);
    let name = |local| {
        let namespace = XSLT.to_owned();
        Item::Atomic(Atomic::QName(Box::new(QName { prefix: "xsl".to_owned(), namespace, local: String::from(local) })))
    };
    call.machine.build(PROPERTIES.len() * size_of::<QName>())?;
    Ok(Value::from_items(names.map(name).collect()))
}

fn element_available<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let written = call.text(0)?;
    let name = match written.contains([':', '{']) {
        true => call.scope.expand(&written),
        false => Some(ExpandedName::new(call.scope.namespace("").unwrap_or(""), written.trim())),
    };
    let Some(name) = name.filter(|name| myelin_xml::is_ncname(&name.local)) else {
        return Err(Error::value("XTDE1440", format!("{written:?} is no name, or its prefix stands for no namespace")));
    };
    Ok(Value::from(match name.namespace.as_str() {
        XSLT => call.machine.has_element(&name.local),
        FUNCTIONS_OF_EXSLT => name.local == "result",
        COMMON => name.local == "document",
        // Stylesheets of DocBook ask for it to find out whether folders are put before the names of results.
        SAXON => name.local == "output",
        _ => false,
    }))
}

fn function_available<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let written = call.text(0)?;
    let name = match written.contains([':', '{']) {
        true => call.scope.expand(&written),
        false => ExpandedName::parse(written.trim()),
    };
    let Some(name) = name else {
        return Err(Error::value("XTDE1400", format!("{written:?} is no name, or its prefix stands for no namespace")));
    };
    // A name in no namespace, written with braces, is the name of nothing.
    if written.trim().starts_with("Q{}") {
        return Ok(Value::from(false));
    }
    let count = match call.count() {
        2 => Some(call.value(1).number()),
        _ => None,
    };
    Ok(Value::from(call.machine.has_function(&name, count)))
}

fn type_available<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let written = call.text(0)?;
    let name = call.scope.expand(&written).ok_or_else(|| {
        Error::value("XTDE1428", format!("{written:?} is no name, or its prefix stands for no namespace"))
    })?;
    Ok(Value::from(name.namespace == SCHEMA && AtomicType::find(&name.local).is_some()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_v1, fails};

    #[test]
    fn the_processor_says_what_it_is() {
        check("system-property('xsl:vendor')", "Myelin");
        check("system-property('xsl:version')", "3.0");
        check_v1("system-property('xsl:version')", "1.0");
        check("system-property('xsl:nothing')", "");
        check("system-property('java.version')", "");
        check("count(available-system-properties()) > 5", "true");
        fails("system-property('nowhere:version')", "XTDE1390");
    }

    #[test]
    fn what_is_offered_is_said_to_be_available() {
        check("element-available('xsl:for-each-group')", "true");
        check("element-available('xsl:result-document')", "true");
        check("element-available('xsl:import-schema')", "false");
        check("element-available('exsl:document')", "true");
        check("element-available('exsl:nothing')", "false");
        check("element-available('nothing')", "false");
        check("function-available('key')", "true");
        check("function-available('key', 1)", "false");
        check("function-available('concat', 7)", "true");
        check("function-available('xs:date')", "true");
        check("function-available('exsl:node-set', 1)", "true");
        check("function-available('exsl:nothing')", "false");
        check("function-available('Q{http://www.w3.org/2005/xpath-functions}count')", "true");
        check("type-available('xs:integer') and not(type-available('xs:nothing'))", "true");
        fails("function-available('nowhere:f')", "XTDE1400");
        fails("element-available('a b')", "XTDE1440");
    }
}
