//! The code of a fault: a name that stands in the configuration, or the text of an expression.

use myelin_soap::{self as soap, Version, escaped};

use crate::loader::Loader;
use crate::mediators::makefault::{Form, readable};
use crate::values::ConfiguredValue;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;

/// The prefix that our envelopes bind to their SOAP.
const OWN: &str = "soapenv";

/// The codes of SOAP 1.2, which has no others (SOAP 1.2 part 1 §5.4.6).
const SOAP12: [&str; 5] = ["DataEncodingUnknown", "MustUnderstand", "Receiver", "Sender", "VersionMismatch"];

pub(super) enum Code {
    Fixed(Name),
    Computed {
        expression: Expression,
        /// What prefixes stand for where the expression is written.
        namespaces: Vec<(String, String)>,
    },
}

/// A name with the namespace its prefix stands for; `None` for the fault's own SOAP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    prefix: String,
    local: String,
    namespace: Option<String>,
    /// Of the fault that it is written in.
    version: Version,
}

impl Code {
    /// Reads `<code>` of a fault that is to have that form.
    ///
    /// Errors: a name that such a fault cannot have.
    pub(super) fn read(element: &Element, form: Option<Form>, loader: &mut Loader) -> Result<Code, Problem> {
        let (text, name) = match (ConfiguredValue::read(element, loader)?, element.attribute("value")) {
            (Some(ConfiguredValue::Fixed(_)), Some(text)) => (text, text.value.trim()),
            (Some(ConfiguredValue::Computed(expression)), _) => {
                let owned = |(prefix, namespace): (&str, &str)| (prefix.to_owned(), namespace.to_owned());
                return Ok(Code::Computed {
                    expression,
                    namespaces: element.namespaces().into_iter().map(owned).collect(),
                });
            }
            _ => return Err(element.lacks("<code> needs value or expression")),
        };
        let name = Name::resolve(name, |prefix| text.namespace(prefix).map(str::to_owned))
            .ok_or_else(|| text.problem(format!("{name:?}: the prefix stands for no namespace here")))?;
        if !myelin_xml::is_ncname(&name.local) {
            return Err(text.problem(format!("{:?} cannot be a fault code", text.value)));
        }
        let is_soap12 = name.namespace.as_deref().is_none_or(|namespace| namespace == Version::Soap12.namespace())
            && SOAP12.contains(&name.local.as_str());
        if form == Some(Form::Soap(Version::Soap12)) && !is_soap12 {
            return Err(text.problem(format!("{:?} is no fault code of SOAP 1.2: its own are {SOAP12:?}", text.value)));
        }
        Ok(Code::Fixed(name))
    }

    pub(super) fn expression(&self) -> Option<&Expression> {
        match self {
            Code::Fixed(_) => None,
            Code::Computed { expression, .. } => Some(expression),
        }
    }

    /// The name for a fault of that version; with `translated`, a code of the other SOAP becomes the same of this.
    pub(super) fn name(
        &self,
        version: Version,
        translated: bool,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Name {
        let name = match self {
            Code::Fixed(name) => name.clone(),
            Code::Computed { expression, namespaces } => {
                let text = readable(expression.text(exchange, context));
                let find = |prefix: &str| namespaces.iter().find(|(known, _)| known == prefix);
                let find = |prefix: &str| find(prefix).map(|(_, namespace)| namespace.clone());
                let known = Name::resolve(text.trim(), find);
                known.unwrap_or_else(|| Name::own(text.trim().rsplit(':').next().unwrap_or_default()))
            }
        };
        name.for_version(version, translated)
    }
}

impl Name {
    /// A name of the fault's own SOAP.
    fn own(local: &str) -> Name {
        Name { prefix: OWN.to_owned(), local: local.to_owned(), namespace: None, version: Version::Soap11 }
    }

    /// Reads `prefix:local`; `None` where the prefix stands for nothing. Without a prefix it is one of SOAP's own.
    fn resolve(text: &str, namespace: impl Fn(&str) -> Option<String>) -> Option<Name> {
        let Some((prefix, local)) = text.split_once(':') else { return Some(Name::own(text)) };
        let namespace = Some(namespace(prefix)?);
        Some(Name { prefix: prefix.to_owned(), namespace, ..Name::own(local) })
    }

    fn for_version(mut self, version: Version, translated: bool) -> Name {
        self.version = version;
        let other = self.namespace.as_deref().and_then(Version::of_namespace).filter(|&other| other != version);
        if translated && other.is_some() {
            let same = match self.local.as_str() {
                "Client" => "Sender",
                "Server" => "Receiver",
                "Sender" if version == Version::Soap11 => "Client",
                "Receiver" if version == Version::Soap11 => "Server",
                same => same,
            };
            return Name { version, ..Name::own(same) };
        }
        if self.local.is_empty() {
            return Name { local: soap::Code::standard(version, soap::Who::Receiver).local.to_owned(), ..self };
        }
        // The envelope's own prefix cannot mean something else inside it.
        if self.prefix == OWN && self.namespace.as_deref().is_some_and(|namespace| namespace != version.namespace()) {
            self.prefix = "code".to_owned();
        }
        // Only what an expression gave can hold what needs it.
        self.local = escaped(&self.local);
        self
    }

    pub(super) fn as_code(&self) -> soap::Code<'_> {
        let own = self.version.namespace();
        soap::Code { prefix: &self.prefix, local: &self.local, namespace: self.namespace.as_deref().unwrap_or(own) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_means_the_same_in_the_other_soap() {
        let check = |code: &str, version: Version, translated, expected: &str| {
            let namespace = |prefix: &str| match prefix {
                "a" | "soapenv" => Some(Version::Soap11.namespace().to_owned()),
                "b" => Some(Version::Soap12.namespace().to_owned()),
                "o" => Some("urn:o".to_owned()),
                _ => None,
            };
            let name = Name::resolve(code, namespace).unwrap().for_version(version, translated);
            assert_eq!(format!("{}:{}", name.prefix, name.local), expected);
        };
        let (soap11, soap12) = (Version::Soap11, Version::Soap12);
        check("a:Server", soap11, true, "a:Server");
        check("a:Server", soap12, true, "soapenv:Receiver");
        check("b:Sender", soap11, true, "soapenv:Client");
        check("b:Sender", soap11, false, "b:Sender");
        check("b:VersionMismatch", soap11, true, "soapenv:VersionMismatch");
        check("o:Own", soap12, true, "o:Own");
        check("101503", soap11, true, "soapenv:101503");
        check("", soap12, true, "soapenv:Receiver");
        check("a<b", soap11, true, "soapenv:a&lt;b");
        check("soapenv:Client", soap12, false, "code:Client");
        assert_eq!(Name::resolve("x:y", namespace_of_nothing), None);
    }

    fn namespace_of_nothing(_: &str) -> Option<String> {
        None
    }
}
