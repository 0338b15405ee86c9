//! What a throttle allows: the policy, read from its XML.
//!
//! Three ways of writing are understood: `MediatorThrottleAssertion`, the older `ThrottleAssertion`, and those for
//! services, modules and operations, which are written like the first.
//! Source: `ThrottleFactory` and `ThrottlePolicyProcessor` of WSO2's `commons.throttle`.

use std::time::Duration;

use crate::throttle::rules::{Addresses, Domains};
use crate::throttle::window::Rate;
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_config::problem::Problem;

/// The namespace of the assertions.
const THROTTLE: &str = "http://www.wso2.org/products/wso2commons/throttle";

/// The attribute that says by what callers are known.
const TYPE: &str = "{http://www.wso2.org/products/wso2commons/throttle}type";

/// The namespaces of WS-Policy 1.2 and 1.5.
const POLICY: [&str; 2] = ["http://schemas.xmlsoap.org/ws/2004/09/policy", "http://www.w3.org/ns/ws-policy"];

/// The assertions that Synapse's mediator asks for.
const OF_MEDIATORS: [&str; 2] = ["MediatorThrottleAssertion", "ThrottleAssertion"];

/// Those that it does not.
const OF_OTHERS: [&str; 3] = ["ServiceThrottleAssertion", "ModuleThrottleAssertion", "OperationThrottleAssertion"];

/// What is allowed.
#[derive(Debug, Default)]
pub(super) struct Policy {
    /// `MaximumConcurrentAccess`: how many requests may be under way at once; `None` for any number.
    pub(super) at_once: Option<u32>,
    /// What holds for some callers.
    pub(super) rules: Vec<Access>,
    pub(super) addresses: Addresses,
    pub(super) domains: Domains,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Allowed,
    Denied,
    Controlled(Rate),
}

impl Policy {
    /// Reads a policy; what has no effect in it goes to `warnings`.
    ///
    /// Errors: a [`Problem`] at what it cannot mean.
    pub(super) fn read(root: &Element, warnings: &mut Vec<Problem>) -> Result<Policy, Problem> {
        let mut policy = Policy::default();
        match assertion(root) {
            Some(assertion) => {
                if OF_OTHERS.contains(&assertion.name.as_str()) {
                    let message = format!(
                        "{} counts here as MediatorThrottleAssertion does; Synapse's mediator would pass it over",
                        assertion.name
                    );
                    warnings.push(assertion.problem(message));
                }
                policy.fill(assertion, warnings)?;
            }
            None => {
                let message = format!("nothing is throttled: the policy holds no ThrottleAssertion of {THROTTLE}");
                warnings.push(root.problem(message));
            }
        }
        Ok(policy)
    }

    fn fill(&mut self, assertion: &Element, warnings: &mut Vec<Problem>) -> Result<(), Problem> {
        for child in &assertion.children {
            if is_throttle(child, "MaximumConcurrentAccess") {
                // As in Synapse, none and less stand for any number.
                self.at_once = Some(number::<u32>(child)?).filter(|&at_once| at_once > 0);
            } else if is_policy(child) {
                self.rule(child, warnings)?;
            } else {
                let message = format!("{} is no part of a throttle's policy", child.tag());
                return Err(child.problem(message));
            }
        }
        Ok(())
    }

    /// Reads what holds for the callers of one ID.
    fn rule(&mut self, group: &Element, warnings: &mut Vec<Problem>) -> Result<(), Problem> {
        let Some(id) = group.children.iter().find(|child| is_throttle(child, "ID")) else {
            return Err(group.problem("a rule of a throttle needs an ID, which says for whom it is"));
        };
        let mut inside = group.children.iter().filter(|child| is_policy(child));
        let access = match inside.find_map(|child| access(child).transpose()) {
            Some(access) => access?,
            None => return Err(group.problem("a rule of a throttle needs Control, Allow or Deny")),
        };
        let number = self.rules.len();
        match id.attribute(TYPE).map(|kind| (kind.value.trim(), kind)) {
            Some(("IP", _)) => {
                self.addresses.add(id.text().value, number).map_err(|message| id.problem(message))?;
            }
            Some(("DOMAIN", _)) if !id.text().value.is_empty() => self.domains.add(id.text().value, number),
            Some(("DOMAIN", _)) => return Err(id.problem("a rule of a throttle needs the name of a domain")),
            Some(("ROLE", _)) => {
                let message =
                    "a rule by ROLE has no effect: as in Synapse, the mediator knows callers by IP and DOMAIN";
                warnings.push(id.problem(message));
                return Ok(());
            }
            Some((other, kind)) => return Err(kind.problem(unknown_word("type", other, &["IP", "DOMAIN", "ROLE"]))),
            None => return Err(id.problem("the ID needs throttle:type: IP or DOMAIN")),
        }
        self.rules.push(access);
        Ok(())
    }
}

/// The assertion in a policy, whatever operators of WS-Policy stand around it.
fn assertion(element: &Element) -> Option<&Element> {
    let is_assertion = |element: &Element| OF_MEDIATORS.iter().chain(&OF_OTHERS).any(|name| is_throttle(element, name));
    if is_assertion(element) {
        return Some(element);
    }
    element.children.iter().filter(|child| is_policy(child) || is_assertion(child)).find_map(assertion)
}

/// What a part of a rule says; `None` where it holds nothing.
///
/// Of alternatives the first counts, as in Synapse.
fn access(part: &Element) -> Result<Option<Access>, Problem> {
    let Some(first) = part.children.first() else { return Ok(None) };
    if first.namespace.as_deref() != Some(THROTTLE) {
        return access(first);
    }
    match first.name.as_str() {
        "Allow" => Ok(Some(Access::Allowed)),
        "Deny" => Ok(Some(Access::Denied)),
        "IsAllow" => match first.text().value {
            "true" => Ok(Some(Access::Allowed)),
            "false" => Ok(Some(Access::Denied)),
            other => Err(first.problem(format!("IsAllow {other:?} is neither true nor false"))),
        },
        "Control" => match first.children.first() {
            Some(control) if is_policy(control) => rate(control).map(Some),
            _ => Err(first.problem("Control needs a wsp:Policy, which holds MaximumCount and UnitTime")),
        },
        _ => rate(part).map(Some),
    }
}

fn rate(control: &Element) -> Result<Access, Problem> {
    let (mut maximum, mut unit, mut prohibition) = (None, None, Duration::ZERO);
    for child in &control.children {
        if is_throttle(child, "MaximumCount") {
            maximum = Some(number(child)?);
        } else if is_throttle(child, "UnitTime") {
            unit = Some(Duration::from_millis(number(child)?)).filter(|unit| !unit.is_zero());
        } else if is_throttle(child, "ProhibitTimePeriod") {
            if !child.text().value.is_empty() {
                prohibition = Duration::from_millis(number(child)?);
            }
        } else {
            return Err(child.problem(format!("{} is no part of what controls callers", child.tag())));
        }
    }
    match (maximum, unit) {
        (Some(maximum), Some(unit)) => Ok(Access::Controlled(Rate { maximum, unit, prohibition })),
        _ => {
            Err(control.problem("a throttle that controls callers needs MaximumCount, and a UnitTime of 1 ms or more"))
        }
    }
}

fn is_throttle(element: &Element, name: &str) -> bool {
    element.name == name && element.namespace.as_deref() == Some(THROTTLE)
}

fn is_policy(element: &Element) -> bool {
    element.namespace.as_deref().is_some_and(|namespace| POLICY.contains(&namespace))
}

fn number<T: std::str::FromStr>(element: &Element) -> Result<T, Problem> {
    let text = element.text().value;
    text.parse().map_err(|_| element.problem(format!("{} {text:?} is no number from 0 on", element.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inside: &str) -> Result<(Policy, Vec<Problem>), Problem> {
        let text =
            format!("<p:Policy xmlns:p='{}' xmlns:t='{THROTTLE}' xmlns='{THROTTLE}'>{inside}</p:Policy>", POLICY[0]);
        let mut warnings = Vec::new();
        let policy = Policy::read(&Element::parse(&"p.xml".into(), text)?, &mut warnings)?;
        Ok((policy, warnings))
    }

    fn controlled(maximum: u32, unit: u64, prohibition: u64) -> Access {
        let [unit, prohibition] = [unit, prohibition].map(Duration::from_millis);
        Access::Controlled(Rate { maximum, unit, prohibition })
    }

    const CONTROL: &str = "<p:Policy><t:Control><p:Policy><t:MaximumCount>4</t:MaximumCount>\
         <t:UnitTime> 800000 </t:UnitTime><t:ProhibitTimePeriod p:Optional='true'>1000</t:ProhibitTimePeriod>\
         </p:Policy></t:Control></p:Policy>";

    #[test]
    fn a_policy_of_a_mediator_is_read() {
        let deny = "<p:Policy><t:ID t:type='DOMAIN'>example.com</t:ID><p:Policy><t:Deny/></p:Policy></p:Policy>";
        let (policy, warnings) = read(&format!(
            "<t:MediatorThrottleAssertion><t:MaximumConcurrentAccess>10</t:MaximumConcurrentAccess>\
             <p:Policy><t:ID t:type='IP'>other</t:ID>{CONTROL}</p:Policy>{deny}</t:MediatorThrottleAssertion>"
        ))
        .unwrap();
        assert!(warnings.is_empty());
        assert_eq!(policy.at_once, Some(10));
        assert_eq!(policy.rules, [controlled(4, 800_000, 1000), Access::Denied]);
        assert_eq!((policy.addresses.find(None), policy.domains.find("www.example.com")), (Some(0), Some(1)));
    }

    #[test]
    fn a_policy_of_the_older_form_is_read_and_its_first_alternative_counts() {
        let rule = |id: &str, inside: &str| {
            format!("<p:All><ID t:type='IP'>{id}</ID><p:ExactlyOne>{inside}</p:ExactlyOne></p:All>")
        };
        let count = "<p:All><MaximumCount>5</MaximumCount><UnitTime>9</UnitTime><ProhibitTimePeriod/></p:All>";
        let inside = [
            rule("other", &format!("{count}<IsAllow>true</IsAllow>")),
            rule("10.0.0.1-10.0.0.9", "<IsAllow>false</IsAllow>"),
            "<MaximumConcurrentAccess>0</MaximumConcurrentAccess>".to_owned(),
        ];
        let (policy, _) = read(&format!("<ThrottleAssertion>{}</ThrottleAssertion>", inside.concat())).unwrap();
        assert_eq!(policy.rules, [controlled(5, 9, 0), Access::Denied]);
        assert_eq!(policy.at_once, None);
        assert_eq!(policy.addresses.find("10.0.0.7".parse().ok()), Some(1));
    }

    #[test]
    fn what_has_no_effect_is_a_warning() {
        let check = |inside: &str, part: &str| {
            let (policy, warnings) = read(inside).unwrap();
            assert!(policy.rules.is_empty() && warnings.len() == 1, "{warnings:?}");
            assert!(warnings[0].message.contains(part), "{}", warnings[0]);
        };
        check("<x:ThrottleAssertion xmlns:x='urn:x'/>", "nothing is throttled");
        check("<ServiceThrottleAssertion/>", "counts here as MediatorThrottleAssertion does");
        let role = format!("<p:Policy><ID t:type='ROLE'>gold</ID>{CONTROL}</p:Policy>");
        check(&format!("<MediatorThrottleAssertion>{role}</MediatorThrottleAssertion>"), "ROLE has no effect");
    }

    #[test]
    fn what_a_policy_cannot_mean_is_a_problem() {
        let check = |inside: &str, part: &str| {
            let problem = read(&format!("<ThrottleAssertion>{inside}</ThrottleAssertion>")).unwrap_err();
            assert!(problem.message.contains(part), "{problem}");
        };
        check("<MaximumConcurrentAccess>many</MaximumConcurrentAccess>", "is no number from 0 on");
        check("<Maximum/>", "is no part of a throttle's policy");
        check("<p:All/>", "needs an ID");
        check("<p:All><ID t:type='IP'>other</ID></p:All>", "needs Control, Allow or Deny");
        let rule = |id: &str, inside: &str| format!("<p:All>{id}<p:All>{inside}</p:All></p:All>");
        check(&rule("<ID>other</ID>", "<Allow/>"), "needs throttle:type");
        check(&rule("<ID t:type='KEY'>other</ID>", "<Allow/>"), "IP, DOMAIN and ROLE are known");
        check(&rule("<ID t:type='IP'>all</ID>", "<Allow/>"), "is no address");
        let other = "<ID t:type='IP'>other</ID>";
        check(&rule(other, "<IsAllow>no</IsAllow>"), "neither true nor false");
        check(&rule(other, "<Control/>"), "needs a wsp:Policy");
        check(&rule(other, "<MaximumCount>1</MaximumCount>"), "needs MaximumCount, and a UnitTime");
        check(&rule(other, "<MaximumCount>-1</MaximumCount>"), "is no number from 0 on");
        check(&rule(other, "<MaximumCount>1</MaximumCount><Unit/>"), "is no part of what controls callers");
    }
}
