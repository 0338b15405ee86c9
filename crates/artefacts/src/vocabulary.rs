//! The words of the language that this bus knows but does not run, and what is said of each.

use myelin_config::element::{Element, Structure};
use myelin_config::problem::Problem;
use myelin_spelling::nearest;

/// The names without which messages take another way: a misspelling of one is a problem.
pub const STRUCTURE: Structure = Structure { attributes: ATTRIBUTES, synonyms: SYNONYMS };

/// Attributes of one element that stand in others by mistake, and what these call them.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("errorSequence", &["faultSequence", "onError"]),
    ("faultSequence", &["onError"]),
    ("onError", &["faultSequence"]),
    ("onFault", &["faultSequence", "onError"]),
];

/// Elements that hold a part of the flow: in another parent than theirs, what they hold would be lost.
pub(crate) const FLOW_ELEMENTS: &[&str] = &[
    "case",
    "default",
    "else",
    "faultSequence",
    "inSequence",
    "onAccept",
    "onComplete",
    "onReject",
    "outSequence",
    "resource",
    "target",
    "then",
];

const ATTRIBUTES: &[&str] = &[
    "context",
    "continueParent",
    "endpoint",
    "endpointKey",
    "errorSequence",
    "faultSequence",
    "inSequence",
    "key",
    "key-expression",
    "method",
    "methods",
    "name",
    "onAccept",
    "onError",
    "onReject",
    "outSequence",
    "receive",
    "sequence",
    "serviceURL",
    "src",
    "target",
    "uri-template",
    "url-mapping",
    "version",
    "version-type",
];

/// Mediators that come later.
const MEDIATORS_LATER: &[&str] = &[
    "dataServiceCall",
    "datamapper",
    "enqueue",
    "entitlementService",
    "eventPublisher",
    "oauthService",
    "opa",
    "publishEvent",
    "sampler",
    "smooks",
    "store",
    "xquery",
];

/// Mediators that do not come at all, each with the reason, and what does the same.
const MEDIATORS_NEVER: &[(&str, &str)] = &[
    (
        "NTLM",
        "it ties a login to one connection, and connections are shared here; \
         basicAuth and oauth in the endpoint's <authentication> log in with each request",
    ),
    ("annotatedCommand", OF_THE_JVM),
    ("bean", OF_THE_JVM),
    ("detach", "it was an experiment of Synapse; <enrich> with action=\"remove\" takes something out of a message"),
    ("ejb", OF_THE_JVM),
    ("pojoCommand", OF_THE_JVM),
    ("replace", "it was an experiment of Synapse; <enrich> puts something in the place of something else"),
    ("router", "WSO2 took it out of its products, too; <switch>, <filter> or <conditionalRouter> does the same"),
    ("rule", OF_THE_JVM),
    ("spring", OF_THE_JVM),
    (
        "transaction",
        "it steers transactions of a JVM (JTA), of which a native program has none; what belongs together can be one \
         <dbreport useTransaction=\"true\">, or one request to the service that owns the data",
    ),
];

/// What is said of what names a class or bean.
const OF_THE_JVM: &str = "it names a JVM class, which cannot run in a native program; \
                          what it does can be a service of its own that <call> asks, or other mediators";

/// Classes that many configurations name, by the end of their names, and what does the same.
const CLASSES: &[(&str, &str)] = &[
    (
        ".RestURLBuilder",
        "the http connector is built in; an <http> endpoint with uri-template and method does the same",
    ),
    (".relay.mediators.builder.BuilderMediator", "<builder/> does the same"),
    (".CalloutMediator", "<callout> or <call> does the same"),
    (".URLRewriteMediator", "<rewrite> does the same"),
    (".CORSRequestHandler", "it is a handler of an <api>, not a mediator"),
];

/// Artefacts that come later.
const ARTEFACTS_LATER: &[&str] = &["eventSource", "messageProcessor", "messageStore", "priorityExecutor"];

/// Artefacts of tools that mean nothing while serving.
const ARTEFACTS_OF_TOOLS: &[&str] = &["executor", "metadata", "taskManager"];

/// Why a mediator cannot be built that is none of those with these names.
pub(crate) fn mediator(element: &Element, known: impl Iterator<Item = &'static str> + Clone) -> Problem {
    let name = element.name.as_str();
    let problem = |message| element.problem(message);
    let never = MEDIATORS_NEVER.iter().find(|(known, _)| *known == name);
    if MEDIATORS_LATER.contains(&name) {
        problem(format!("mediator <{name}> is not offered yet"))
    } else if name == "class" {
        problem(class(element.attribute("name").map_or("", |name| name.value.trim()), known))
    } else if let Some((_, reason)) = never {
        problem(format!("mediator <{name}> is not offered: {reason}"))
    } else if name.contains('.') {
        problem(format!("connector operation <{name}>: there is no archive of a connector of that name"))
            .suggesting(nearest(name, known.filter(|known| known.contains('.'))))
    } else {
        problem(format!("unknown mediator <{name}>")).suggesting(nearest(name, known))
    }
}

/// What is said of a mediator in Java, by the name of its class.
///
/// Synapse's own mediators are classes, too, and some configurations name them: `LogMediator` is `<log>`.
fn class(name: &str, mut mediators: impl Iterator<Item = &'static str>) -> String {
    let own = name.strip_prefix("org.apache.synapse.").and_then(|name| name.rsplit('.').next());
    let own = own.and_then(|own| own.strip_suffix("Mediator"));
    let same = mediators.find(|element| own.is_some_and(|own| element.eq_ignore_ascii_case(own)));
    let known = CLASSES.iter().find(|(end, _)| name.ends_with(end)).map(|(_, instead)| (*instead).to_owned());
    match known.or_else(|| same.map(|element| format!("<{element}> does the same"))) {
        Some(instead) => {
            format!("mediator <class>: {name} is a JVM class, which cannot run in a native program; {instead}")
        }
        None => format!("mediator <class> is not offered: {OF_THE_JVM}"),
    }
}

/// How this bus treats an artefact that it does not build.
pub enum Standing {
    /// It cannot run, for this reason; and what was meant, where its name is misspelt.
    Problem(String, Option<&'static str>),
    /// It runs without, with this remark.
    Warning(String),
}

/// How this bus treats an artefact of that name, which is none of the `known` that it builds.
pub fn artefact(name: &str, known: &[&'static str]) -> Standing {
    if ARTEFACTS_LATER.contains(&name) {
        Standing::Problem(format!("<{name}> is not offered yet"), None)
    } else if ARTEFACTS_OF_TOOLS.contains(&name) {
        Standing::Warning(format!("<{name}> has no effect in this bus"))
    } else {
        Standing::Problem(
            format!("unknown artefact <{name}>"),
            nearest(name, known.iter().copied().chain(["definitions"])),
        )
    }
}

/// Whether an element is an artefact of one of the kinds, or one that is not offered, or perhaps a misspelt one.
pub fn may_be_artefact(element: &Element, kinds: &[&'static str]) -> bool {
    element.is_synapse() && may_be_name(&element.name, kinds)
}

/// The same of the name of an element in a file that cannot be read.
pub fn may_be_name(name: &str, kinds: &[&'static str]) -> bool {
    let known = kinds.iter().chain(ARTEFACTS_LATER).chain(ARTEFACTS_OF_TOOLS).copied();
    nearest(name, known.chain(["definitions"])).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mediators::MEDIATORS;

    #[test]
    fn a_class_is_refused_with_what_does_the_same() {
        let class = |name: &str| class(name, MEDIATORS.iter().map(|spec| spec.element));
        let check = |name: &str, part: &str| assert!(class(name).contains(part), "{}", class(name));
        check("org.wso2.carbon.connector.RestURLBuilder", "<http> endpoint");
        check("org.apache.synapse.mediators.builtin.LogMediator", "<log> does the same");
        check("org.apache.synapse.mediators.Mediator", "that <call> asks");
        check("com.example.LogMediator", "that <call> asks");
        check("", "JVM class");
    }

    #[test]
    fn nothing_is_said_to_be_missing_that_is_there() {
        let names = MEDIATORS_LATER.iter().chain(MEDIATORS_NEVER.iter().map(|(name, _)| name));
        let there: Vec<_> = names.filter(|name| MEDIATORS.iter().any(|spec| spec.element == **name)).collect();
        assert!(there.is_empty(), "{there:?}");
    }
}
