//! The loggers that people know from Micro Integrator, and what they are here.

use myelin_spelling::nearest;

use crate::selector::{Selector, selector};

/// A logger of Micro Integrator's.
pub(crate) struct Known {
    /// As `log4j2.properties` and the management API name it.
    pub(crate) name: &'static str,
    /// The Java package or class.
    pub(crate) component: &'static str,
    /// The targets whose lines say here what it says there.
    pub(crate) targets: &'static [&'static str],
}

const fn known(name: &'static str, component: &'static str, targets: &'static [&'static str]) -> Known {
    Known { name, component, targets }
}

/// How everything is called.
pub(crate) const ROOT: &str = "rootLogger";

/// Heads of requests and responses at `debug`, bodies at `trace`.
pub(crate) const WIRE: &str = "myelin::wire";

/// The logger of Synapse that writes bodies at `DEBUG`, where ours does at `trace`.
pub(crate) const SYNAPSE_WIRE: &str = "org.apache.synapse.transport.http.wire";

/// Longer names go before shorter ones that they begin with.
pub(crate) const KNOWN: [Known; 24] = [
    known("synapse-wire", SYNAPSE_WIRE, &[WIRE]),
    known("synapse-headers", "org.apache.synapse.transport.http.headers", &[WIRE]),
    known("org-apache-synapse-transport", "org.apache.synapse.transport", &["myelin_http"]),
    known("org-apache-synapse-transport-vfs", "org.apache.synapse.transport.vfs", &["myelin_file"]),
    known("org-apache-synapse-rest", "org.apache.synapse.rest", &["myelin_artefacts::apis"]),
    known("synapse-rest-api", "org.apache.synapse.rest.API", &["myelin_artefacts::apis"]),
    known(
        "org-apache-synapse-core",
        "org.apache.synapse.core",
        &["myelin_engine", "myelin_flow", "myelin::fault", "myelin::flow"],
    ),
    known("org-apache-synapse-endpoints", "org.apache.synapse.endpoints", &["myelin_artefacts::endpoints"]),
    known(
        "org-apache-synapse-mediators-builtin-LogMediator",
        "org.apache.synapse.mediators.builtin.LogMediator",
        &["myelin::log"],
    ),
    known(
        "org-apache-synapse-mediators",
        "org.apache.synapse.mediators",
        &["myelin_artefacts", "myelin::log", "myelin::enrich", "myelin::property", "myelin::xslt", "myelin::script"],
    ),
    known("org-apache-synapse-config", "org.apache.synapse.config", &["myelin_config", "myelin_server::reload"]),
    known("org-apache-synapse-startup", "org.apache.synapse.startup", &["myelin::task"]),
    known("org-apache-synapse-task", "org.apache.synapse.task", &["myelin::task"]),
    known("org-apache-synapse-deployers", "org.apache.synapse.deployers", &["myelin_server::reload"]),
    known("org-apache-synapse", "org.apache.synapse", &["myelin"]),
    known("org-wso2-carbon-mediation-ntask", "org.wso2.carbon.mediation.ntask", &["myelin::task"]),
    known(
        "org-wso2-carbon-inbound-endpoint",
        "org.wso2.carbon.inbound.endpoint",
        &["myelin_server::inbound", "myelin_file"],
    ),
    known("org-wso2-carbon-mediation", "org.wso2.carbon.mediation", &["myelin_artefacts", "myelin_engine"]),
    known("org-wso2-carbon-mediator", "org.wso2.carbon.mediator", &["myelin_artefacts"]),
    known("org-wso2-micro-integrator", "org.wso2.micro.integrator", &["myelin_server", "myelin_manage"]),
    known("org-wso2-carbon", "org.wso2.carbon", &["myelin_server", "myelin_manage"]),
    known("org-apache-coyote", "org.apache.coyote", &["myelin_http"]),
    known("org-apache-axis2", "org.apache.axis2", &["myelin_content", "myelin_http"]),
    known("org-apache-rampart", "org.apache.rampart", &["myelin_wss"]),
];

/// Our own topics, by the targets of their lines.
pub(crate) const TOPICS: [&str; 10] = [
    "myelin::flow",
    "myelin::log",
    "myelin::fault",
    WIRE,
    "myelin::task",
    "myelin::script",
    "myelin_http",
    "myelin_file",
    "myelin_artefacts::endpoints",
    "myelin_server",
];

/// The logger with a name or a component, dots or dashes between its words.
fn logger(text: &str) -> Option<&'static Known> {
    let same =
        |known: &&Known| text == known.name || text == known.component || text == known.component.replace('.', "-");
    KNOWN.iter().find(same)
}

/// What a name of a logger means here.
///
/// Shape: `rootLogger`, a name or a component of Micro Integrator's, `KIND:NAME`, or a target; a class that is not in
/// the table means what the nearest package around it does.
/// Errors: the sentence that says why it means nothing.
pub fn resolve(text: &str) -> Result<Vec<Selector>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a logger needs a name".to_owned());
    }
    if text.eq_ignore_ascii_case("root") || text == ROOT {
        return Ok(vec![Selector::Root]);
    }
    let dotted = if text.contains('.') { text.to_owned() } else { text.replace('-', ".") };
    let around = || {
        let is_around = |known: &&Known| dotted.strip_prefix(known.component).is_some_and(|rest| rest.starts_with('.'));
        KNOWN.iter().filter(is_around).max_by_key(|known| known.component.len())
    };
    if let Some(known) = logger(text).or_else(around) {
        return Ok(known.targets.iter().map(|target| Selector::Target((*target).to_owned())).collect());
    }
    match selector(text) {
        Ok(Selector::Target(target)) if target.starts_with("myelin") => Ok(vec![Selector::Target(target)]),
        // A library, by its module: `rustls`, `sqlx::query`.
        Ok(Selector::Target(target)) if target.contains("::") => Ok(vec![Selector::Target(target)]),
        Ok(Selector::Target(target)) => {
            let names = KNOWN.iter().flat_map(|known| [known.name, known.component]).chain(TOPICS).chain([ROOT]);
            let hint = nearest(&target, names).map_or_else(String::new, |name| format!("; did you mean {name}?"));
            Err(format!("no part of the bus logs as {target:?}{hint}"))
        }
        Ok(selector) => Ok(vec![selector]),
        Err(error) => Err(error.to_string()),
    }
}

/// The Java class of a logger, where it is one of Micro Integrator's; else its own name.
pub(crate) fn component(text: &str) -> String {
    logger(text).map_or_else(|| text.to_owned(), |known| known.component.to_owned())
}

/// The name under which a logger is listed.
pub(crate) fn listed(text: &str) -> String {
    match logger(text) {
        Some(known) => known.name.to_owned(),
        None if text.eq_ignore_ascii_case("root") => ROOT.to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_micro_integrator_mean_the_targets_that_say_the_same_here() {
        let check = |text: &str, expected: &str| {
            let got = match resolve(text) {
                Ok(selectors) => selectors.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
                Err(error) => error,
            };
            assert_eq!(got, expected, "{text}");
        };
        check("rootLogger", "rootLogger");
        check("org-apache-synapse", "myelin");
        check("org.apache.synapse", "myelin");
        check("org-apache-synapse-transport-http-wire", "myelin::wire");
        check("org.apache.synapse.transport.http.headers", "myelin::wire");
        check("org.apache.synapse.rest.API", "myelin_artefacts::apis");
        check("org.wso2.carbon.mediation.initializer.ServiceBusInitializer", "myelin_artefacts myelin_engine");
        check(
            "org.apache.synapse.mediators.transform.XSLTMediator",
            "myelin_artefacts myelin::log myelin::enrich myelin::property myelin::xslt myelin::script",
        );
        check("myelin::wire", "myelin::wire");
        check("proxy:Orders", "proxy:Orders");
        check("rustls::client", "rustls::client");
        check(
            "org-apache-synaps",
            "no part of the bus logs as \"org-apache-synaps\"; did you mean org-apache-synapse?",
        );
        check("com.example.Foo", "no part of the bus logs as \"com.example.Foo\"");
    }
}
