//! `<rewrite>`: rules that change where a message is addressed, or an address in a property.

mod action;
mod uri;

use std::borrow::Cow;

use crate::conditions::Condition;
use crate::loader::Loader;
use crate::mediators::rewrite::action::Action;
use crate::mediators::rewrite::uri::Uri;
use crate::spec::{Built, Spec, once_ready};
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Immediate;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Flow;
use myelin_flow::property::{Scope, Slot, Value, slot};

pub(super) const SPEC: Spec = Spec::new("rewrite", DOC, build);

const DOC: &str = r#"
Changes the address in `To`, which a `send` without an endpoint goes to, or an address in a property.

- `inProperty`: the property to start from, `To` by default; without it, rules start with nothing.
- `outProperty`: the property to put the result in, `To` by default.
- `rewriterule`: its actions run one after the other where its `condition` holds, or where it has none.
  A condition is one of those of `conditionalRouter`; its `url` and `param` ask the address as the rules before have left it.
- `action`: changes a part of the address.
  - `fragment`: `protocol`, `user`, `host`, `port`, `path`, `query`, `ref`, or `full` (default) for all of it.
  - `type`: `set` (default), `append`, `prepend`, `replace` what matches `regex` in it, or `remove`.
    The port and the full address can be set and removed only, and the other types set them, as in Synapse.
  - `value` or `xpath` (for all but `remove`): the text; `$1` stands for a group in `replace`, as in Java.
    An expression that finds nothing is an empty text, and a part that becomes empty goes.

A text is encoded where it must be, the percent sign always.
What no action changes stays as it came; `replace` sees its part decoded.
What makes no address in the end is a fault: a port of letters, or a host with a path that has no slash in front.

    <rewrite>
        <rewriterule>
            <condition>
                <match type="url" source="path" regex="/services/v1/.*"/>
            </condition>
            <action fragment="path" type="replace" regex="/services/v1/" value="/quotes/"/>
            <action fragment="query" type="remove"/>
        </rewriterule>
        <rewriterule>
            <action fragment="protocol" value="http"/>
            <action fragment="host" xpath="get-property('quotes.host')"/>
            <action fragment="port" value="9000"/>
        </rewriterule>
    </rewrite>
"#;

struct Rewrite {
    /// The properties to read and to set; `None` is `To`.
    from: Option<Slot>,
    into: Option<Slot>,
    rules: Vec<Rule>,
}

struct Rule {
    condition: Option<Condition>,
    actions: Vec<Action>,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let from = element.attribute("inProperty").map(|name| loader.names().slot(name.value));
    let into = element.attribute("outProperty").map(|name| loader.names().slot(name.value));
    let rules = element.children.iter().filter(|child| !child.is("description"));
    let rules = rules.map(|rule| Rule::read(rule, loader)).collect::<Result<Vec<Rule>, Problem>>()?;
    let need = if from.is_some() { Need::default() } else { Need::addressee() };
    let need = rules.iter().fold(need, |need, rule| rule.add_to(need));
    once_ready(need, Rewrite { from, into, rules })
}

impl Rule {
    fn read(element: &Element, loader: &mut Loader) -> Result<Rule, Problem> {
        if !element.is("rewriterule") {
            return Err(element.problem(format!("<rewrite> holds <rewriterule>, not {}", element.tag())));
        }
        let mut rule = Rule { condition: None, actions: Vec::new() };
        for child in &element.children {
            match child.name.as_str() {
                "condition" => rule.condition = Some(Condition::inside(child, loader)?),
                "action" => rule.actions.push(Action::read(child, loader)?),
                _ => {
                    let message = format!("<rewriterule> holds <condition> and <action>, not {}", child.tag());
                    return Err(child.misnamed(message, &["condition", "action"]));
                }
            }
        }
        if rule.actions.is_empty() {
            loader.warning(element.problem("<rewriterule> without an <action> changes nothing"));
        }
        Ok(rule)
    }

    fn add_to(&self, need: Need) -> Need {
        let need = self.condition.iter().fold(need, |need, condition| condition.add_to(need));
        self.actions.iter().filter_map(Action::expression).fold(need, Need::and)
    }

    fn applies(&self, uri: &Uri, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<bool> {
        match &self.condition {
            Some(condition) => condition.holds(Some(&uri.write().map_err(no_address)?), exchange, context),
            None => Ok(true),
        }
    }
}

/// The fault where there is no address.
fn no_address(reason: String) -> Box<Fault> {
    Fault::bus("An address could not be rewritten").with_detail(reason)
}

impl Immediate for Rewrite {
    fn mediate(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        let address = match self.from {
            Some(slot) => exchange.properties.get(Scope::Default, slot).map(Value::text),
            None => exchange.to(),
        };
        let mut uri = Uri::read(&address.unwrap_or(Cow::Borrowed(""))).map_err(no_address)?;
        for rule in &self.rules {
            if rule.applies(&uri, exchange, context)? {
                for action in &rule.actions {
                    action.run(&mut uri, exchange, context)?;
                }
            }
        }
        let address = uri.write().map_err(no_address)?;
        let (scope, slot) = match self.into {
            Some(slot) => (Scope::Default, slot),
            None => (Scope::Addressing, slot::TO),
        };
        exchange.properties.put(scope, slot, Some(Value::Text(address.into())));
        Ok(Flow::Next)
    }
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::check;

    #[test]
    fn a_rule_is_a_condition_and_actions() {
        let rule = |inside: &str| format!("<rewrite><rewriterule>{inside}</rewriterule></rewrite>");
        let action = |attributes: &str| rule(&format!("<action {attributes}/>"));
        check("<rewrite/>", "");
        check(&rule("<condition><equal type='url' value='/'/></condition><action value='/'/>"), "");
        check(&action("fragment='path' type='replace' regex='a' value='$0'"), "");
        check(&action("type='remove'"), "");
        check("<rewrite><rule/></rewrite>", "not <rule>");
        check(&rule("<actions/>"), "not <actions>");
        check(&rule("<condition/><action value='/'/>"), "holds one condition");
        check(&action("fragment='scheme' value='a'"), "no part of an address");
        check(&action("type='delete' value='a'"), "unknown: set, append");
        check(&action("fragment='query' type='remove-query-param' value='a'"), "is not offered");
        check(&action("fragment='path' resolve='true' value='a'"), "is not offered");
        check(&action("fragment='path'"), "needs value or xpath");
        check(&action("fragment='path' xpath='('"), "expression");
        check(&action("fragment='path' type='replace' value='a'"), "\"regex\" is missing");
        check(&action("fragment='path' type='replace' regex='(' value='a'"), "regular expression");
        check(&action("fragment='path' type='replace' regex='(a)' value='$2'"), "group 2");
        check(&action("fragment='port' value='http'"), "cannot be the port");
        check(&action("value='http://a b/'"), "no address can hold");
        check(&action("fragment='host' value='a b'"), "cannot be the host");
    }
}
