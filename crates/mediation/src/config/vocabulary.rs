//! The words of the language that this bus knows but does not run, and what is said of each.

/// Mediators that come later.
const MEDIATORS_LATER: &[&str] = &[
    "NTLM",
    "aggregate",
    "cache",
    "call-template",
    "callout",
    "clone",
    "conditionalRouter",
    "dataServiceCall",
    "datamapper",
    "dblookup",
    "dbreport",
    "enqueue",
    "entitlementService",
    "eventPublisher",
    "foreach",
    "iterate",
    "jsontransform",
    "loopback",
    "oauthService",
    "opa",
    "payloadFactory",
    "publishEvent",
    "rewrite",
    "router",
    "sampler",
    "scatter-gather",
    "script",
    "smooks",
    "store",
    "throttle",
    "throwError",
    "transaction",
    "validate",
    "variable",
    "xquery",
];

/// Mediators that name a JVM class or bean.
const MEDIATORS_OF_THE_JVM: &[&str] =
    &["annotatedCommand", "bean", "class", "detach", "ejb", "pojoCommand", "replace", "rule", "spring"];

/// Artefacts that come later.
const ARTEFACTS_LATER: &[&str] = &[
    "api",
    "eventSource",
    "import",
    "inboundEndpoint",
    "messageProcessor",
    "messageStore",
    "priorityExecutor",
    "task",
    "template",
];

/// Artefacts of tools that mean nothing while serving.
const ARTEFACTS_OF_TOOLS: &[&str] = &["executor", "metadata", "taskManager"];

/// Why a mediator of that name cannot be built.
pub(super) fn mediator(name: &str) -> String {
    if MEDIATORS_LATER.contains(&name) {
        format!("mediator <{name}> is not offered yet")
    } else if MEDIATORS_OF_THE_JVM.contains(&name) {
        format!("mediator <{name}> names a JVM class, which cannot run in a native program")
    } else if name.contains('.') {
        format!("connector operation <{name}> is not offered yet")
    } else {
        format!("unknown mediator <{name}>")
    }
}

/// What an artefact of that name is to this bus.
pub(super) enum Standing {
    /// It cannot run, for this reason.
    Problem(String),
    /// It runs without, with this remark.
    Warning(String),
}

/// What is said of an artefact this bus does not build.
pub(super) fn artefact(name: &str) -> Standing {
    if ARTEFACTS_LATER.contains(&name) {
        Standing::Problem(format!("<{name}> is not offered yet"))
    } else if ARTEFACTS_OF_TOOLS.contains(&name) {
        Standing::Warning(format!("<{name}> has no effect in this bus"))
    } else {
        Standing::Problem(format!("unknown artefact <{name}>"))
    }
}
