//! SAML assertions: what somebody says of a subject, and how the subject is recognised.
//!
//! Of the statements only the subject is read; what an assertion says of attributes and decisions is for the service.

use std::time::{Duration, SystemTime};

use myelin_xml::{Document, Kind, NodeId};

use super::short_text;
use crate::policy::SamlVersion;
use crate::structure::is;
use crate::vocabulary::{DS, SAML_11, SAML_20};
use crate::{Limits, Refusal, Rule, time};

/// An assertion as it stands in a message.
#[derive(Debug)]
pub(crate) struct Assertion {
    pub(crate) element: NodeId,
    pub(crate) version: SamlVersion,
    pub(crate) id: String,
    pub(crate) issuer: String,
    /// Of whom it speaks; empty where it does not say.
    pub(crate) subject: String,
    /// How the subject is recognised; any of them will do.
    pub(crate) confirmations: Vec<Confirmation>,
    period: Period,
    /// For whom it was made: of each of these lists, one name has to be the receiver's.
    audiences: Vec<Vec<String>>,
    /// Its own signature.
    pub(crate) signature: Option<NodeId>,
}

/// One way to recognise the subject.
#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) method: Method,
    /// `ds:KeyInfo`: the subject's key.
    pub(crate) key_info: Option<NodeId>,
    period: Period,
}

/// How a subject is recognised (SAML Token Profile 1.1 §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Whoever shows the assertion is meant.
    Bearer,
    /// Whoever signs with the key in it is meant.
    HolderOfKey,
    /// Whoever signs the message vouches for it.
    SenderVouches,
}

/// When something is good.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    not_before: Option<SystemTime>,
    not_on_or_after: Option<SystemTime>,
}

impl Assertion {
    /// Which version an element is an assertion of.
    pub(crate) fn version(namespace: &str, local: &str) -> Option<SamlVersion> {
        match (namespace, local) {
            (SAML_11, "Assertion") => Some(SamlVersion::V11),
            (SAML_20, "Assertion") => Some(SamlVersion::V20),
            _ => None,
        }
    }

    /// Reads an assertion.
    ///
    /// Errors: `TokenInvalid` for what is no assertion that is understood, `Limit`; the sender's.
    /// Source: SAML 1.1 core §2.3, SAML 2.0 core §2.3.
    pub(crate) fn read(document: &Document, element: NodeId, limits: &Limits) -> Result<Assertion, Refusal> {
        let name = document.qname(element);
        let version = Assertion::version(name.namespace, name.local).ok_or_else(|| invalid("no assertion"))?;
        let reader = Reader { document, namespace: name.namespace, limits };
        let (id, says_version) = match version {
            SamlVersion::V11 => {
                let said = (reader.attribute(element, "MajorVersion")?, reader.attribute(element, "MinorVersion")?);
                ("AssertionID", said.0 == "1" && said.1 == "1")
            }
            SamlVersion::V20 => ("ID", reader.attribute(element, "Version")? == "2.0"),
        };
        if !says_version {
            return Err(invalid("an assertion of another version than its namespace"));
        }
        let mut assertion = Assertion {
            element,
            version,
            id: reader.attribute(element, id)?,
            issuer: match version {
                SamlVersion::V11 => reader.attribute(element, "Issuer")?,
                SamlVersion::V20 => reader.text(reader.one(element, "Issuer")?)?,
            },
            subject: String::new(),
            confirmations: Vec::new(),
            period: Period::default(),
            audiences: Vec::new(),
            signature: None,
        };
        for child in reader.elements(element) {
            if is(document, child, DS, "Signature") && assertion.signature.replace(child).is_some() {
                return Err(invalid("two signatures of one assertion"));
            }
        }
        if let Some(conditions) = reader.at_most_one(element, "Conditions")? {
            (assertion.period, assertion.audiences) = reader.conditions(conditions)?;
        }
        match version {
            SamlVersion::V11 => reader.subjects_11(&mut assertion)?,
            SamlVersion::V20 => reader.subject_20(&mut assertion)?,
        }
        Ok(assertion)
    }

    /// Checks that it is good now.
    ///
    /// Errors: `TokenInvalid`; the sender's.
    pub(crate) fn check_time(&self, now: SystemTime, skew: Duration) -> Result<(), Refusal> {
        if self.period.holds(now, skew) { Ok(()) } else { Err(invalid("the assertion is not good at this time")) }
    }

    /// Checks that it was made for a receiver of one of these names.
    ///
    /// Errors: `TokenInvalid`; the sender's, or ours where no names are set.
    /// Source: SAML 2.0 core §2.5.1.4.
    pub(crate) fn check_audience(&self, ours: &[String]) -> Result<(), Refusal> {
        match self.audiences.iter().find(|names| !names.iter().any(|name| ours.contains(name))) {
            Some(others) => Err(invalid(format!("the assertion is for {others:?}, which are no audiences of ours"))),
            None => Ok(()),
        }
    }

    /// The ways to recognise the subject that are good now.
    pub(crate) fn confirmations(&self, now: SystemTime, skew: Duration) -> impl Iterator<Item = &Confirmation> {
        self.confirmations.iter().filter(move |confirmation| confirmation.period.holds(now, skew))
    }
}

impl Period {
    fn holds(self, now: SystemTime, skew: Duration) -> bool {
        let begun = |time: SystemTime| now.checked_add(skew).is_none_or(|now| time <= now);
        let goes_on = |time: SystemTime| time.checked_add(skew).is_none_or(|end| now < end);
        self.not_before.is_none_or(begun) && self.not_on_or_after.is_none_or(goes_on)
    }
}

struct Reader<'a> {
    document: &'a Document,
    namespace: &'a str,
    limits: &'a Limits,
}

impl<'a> Reader<'a> {
    fn elements(&self, parent: NodeId) -> impl Iterator<Item = NodeId> + use<'a> {
        let document = self.document;
        document.children(parent).filter(|&child| document.kind(child) == Kind::Element)
    }

    fn named(&self, parent: NodeId, local: &'a str) -> impl Iterator<Item = NodeId> + use<'a> {
        let (document, namespace) = (self.document, self.namespace);
        self.elements(parent).filter(move |&child| is(document, child, namespace, local))
    }

    fn at_most_one(&self, parent: NodeId, local: &'a str) -> Result<Option<NodeId>, Refusal> {
        let mut all = self.named(parent, local);
        let first = all.next();
        if all.next().is_some() {
            return Err(invalid(format!("{local} stands twice in an assertion")));
        }
        Ok(first)
    }

    fn one(&self, parent: NodeId, local: &'a str) -> Result<NodeId, Refusal> {
        self.at_most_one(parent, local)?.ok_or_else(|| invalid(format!("{local} is missing in an assertion")))
    }

    fn text(&self, element: NodeId) -> Result<String, Refusal> {
        short_text(self.document, element, self.limits).map(std::borrow::Cow::into_owned)
    }

    fn attribute(&self, element: NodeId, local: &str) -> Result<String, Refusal> {
        let value = self.document.attribute(element, "", local).filter(|value| value.len() <= self.limits.short_text);
        value.map(std::borrow::Cow::into_owned).ok_or_else(|| invalid(format!("{local} is missing in an assertion")))
    }

    fn period(&self, element: NodeId) -> Result<Period, Refusal> {
        let moment = |local: &str| match self.document.attribute(element, "", local) {
            Some(text) => time::parse(&text).map(Some).ok_or_else(|| invalid(format!("{text:?} is no time"))),
            None => Ok(None),
        };
        Ok(Period { not_before: moment("NotBefore")?, not_on_or_after: moment("NotOnOrAfter")? })
    }

    /// When and for whom an assertion is good; a condition that is not understood makes it good for nothing.
    ///
    /// Source: SAML 2.0 core §2.5.1.1, SAML 1.1 core §2.3.2.1.
    fn conditions(&self, element: NodeId) -> Result<(Period, Vec<Vec<String>>), Refusal> {
        let mut audiences = Vec::new();
        for condition in self.elements(element) {
            let name = self.document.qname(condition);
            match name.local {
                _ if name.namespace != self.namespace => return Err(not_understood(name.local)),
                "AudienceRestriction" | "AudienceRestrictionCondition" => {
                    let names = self.named(condition, "Audience").take(self.limits.tokens);
                    audiences.push(names.map(|audience| self.text(audience)).collect::<Result<_, _>>()?);
                }
                // None of ours is kept, and none is passed on.
                "DoNotCacheCondition" | "OneTimeUse" | "ProxyRestriction" => {}
                local => return Err(not_understood(local)),
            }
            if audiences.len() > self.limits.tokens {
                return Err(Refusal::new(Rule::Limit, format!("more than {} audiences", self.limits.tokens)));
            }
        }
        Ok((self.period(element)?, audiences))
    }

    fn subject_20(&self, assertion: &mut Assertion) -> Result<(), Refusal> {
        let subject = self.one(assertion.element, "Subject")?;
        if let Some(name) = self.at_most_one(subject, "NameID")? {
            assertion.subject = self.text(name)?;
        }
        for element in self.named(subject, "SubjectConfirmation") {
            let method = method(&self.attribute(element, "Method")?)?;
            let data = self.at_most_one(element, "SubjectConfirmationData")?;
            let confirmation = match data {
                Some(data) => Confirmation { method, key_info: self.key_info(data)?, period: self.period(data)? },
                None => Confirmation { method, key_info: None, period: Period::default() },
            };
            self.add(assertion, confirmation)?;
        }
        Ok(())
    }

    /// Each statement says its subject itself; all have to say the same.
    fn subjects_11(&self, assertion: &mut Assertion) -> Result<(), Refusal> {
        let mut subjects = Vec::new();
        for statement in self.elements(assertion.element) {
            if let Some(subject) = self.at_most_one(statement, "Subject")? {
                subjects.push(subject);
            }
        }
        for (number, &subject) in subjects.iter().enumerate() {
            let name = match self.at_most_one(subject, "NameIdentifier")? {
                Some(name) => self.text(name)?,
                None => String::new(),
            };
            if number > 0 && name != assertion.subject {
                return Err(invalid("an assertion of two subjects"));
            }
            assertion.subject = name;
            let Some(element) = self.at_most_one(subject, "SubjectConfirmation")? else { continue };
            let key_info = self.key_info(element)?;
            for named in self.named(element, "ConfirmationMethod") {
                let method = method(&self.text(named)?)?;
                self.add(assertion, Confirmation { method, key_info, period: Period::default() })?;
            }
        }
        if subjects.is_empty() { Err(invalid("an assertion without a subject")) } else { Ok(()) }
    }

    fn add(&self, assertion: &mut Assertion, confirmation: Confirmation) -> Result<(), Refusal> {
        if assertion.confirmations.len() >= self.limits.tokens {
            return Err(Refusal::new(Rule::Limit, format!("more than {} ways to confirm", self.limits.tokens)));
        }
        assertion.confirmations.push(confirmation);
        Ok(())
    }

    fn key_info(&self, parent: NodeId) -> Result<Option<NodeId>, Refusal> {
        let mut all = self.elements(parent).filter(|&child| is(self.document, child, DS, "KeyInfo"));
        let first = all.next();
        if all.next().is_some() { Err(invalid("two keys of one subject")) } else { Ok(first) }
    }
}

fn method(uri: &str) -> Result<Method, Refusal> {
    match uri {
        "urn:oasis:names:tc:SAML:1.0:cm:bearer" | "urn:oasis:names:tc:SAML:2.0:cm:bearer" => Ok(Method::Bearer),
        "urn:oasis:names:tc:SAML:1.0:cm:holder-of-key" | "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key" => {
            Ok(Method::HolderOfKey)
        }
        "urn:oasis:names:tc:SAML:1.0:cm:sender-vouches" | "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches" => {
            Ok(Method::SenderVouches)
        }
        _ => Err(invalid(format!("the subject cannot be confirmed by {uri:?}"))),
    }
}

fn not_understood(condition: &str) -> Refusal {
    invalid(format!("the condition {condition} is not understood"))
}

fn invalid(detail: impl Into<std::borrow::Cow<'static, str>>) -> Refusal {
    Refusal::new(Rule::TokenInvalid, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use myelin_xml::Options;

    /// Reads an assertion of SAML 2.0 with these conditions.
    fn read(conditions: &str) -> Result<Assertion, Refusal> {
        let text = format!(
            r#"<Assertion xmlns="{SAML_20}" ID="a" Version="2.0"><Issuer>i</Issuer><Subject><NameID>s</NameID></Subject>
               <Conditions>{conditions}</Conditions></Assertion>"#
        );
        let document = Document::parse(text.into_bytes(), &Options::default()).expect("it is well-formed");
        let element = document.root_element().expect("a document has a root");
        Assertion::read(&document, element, &Limits::default())
    }

    #[test]
    fn an_assertion_for_somebody_else_is_refused() {
        const ONE: &str =
            "<AudienceRestriction><Audience>urn:a</Audience><Audience> urn:b </Audience></AudienceRestriction>";
        let check = |conditions: &str, ours: &[&str]| {
            let ours: Vec<String> = ours.iter().map(|&name| name.to_owned()).collect();
            read(conditions).and_then(|assertion| assertion.check_audience(&ours)).map_err(|refusal| refusal.rule)
        };
        assert_eq!(check("", &[]), Ok(()));
        assert_eq!(check(ONE, &["urn:b"]), Ok(()));
        assert_eq!(check(ONE, &["urn:c"]), Err(Rule::TokenInvalid));
        // Whoever has set no name is nobody's audience.
        assert_eq!(check(ONE, &[]), Err(Rule::TokenInvalid));
        let two = format!("{ONE}<AudienceRestriction><Audience>urn:c</Audience></AudienceRestriction>");
        assert_eq!(check(&two, &["urn:b"]), Err(Rule::TokenInvalid));
        assert_eq!(check(&two, &["urn:b", "urn:c"]), Ok(()));
        assert_eq!(check("<AudienceRestriction/>", &["urn:b"]), Err(Rule::TokenInvalid));
    }

    #[test]
    fn a_condition_that_is_not_understood_is_not_met() {
        assert!(read("<OneTimeUse/>").is_ok());
        assert!(read("<Elsewhere/>").is_err());
        assert!(read("<Elsewhere xmlns='urn:x'/>").is_err());
    }
}
