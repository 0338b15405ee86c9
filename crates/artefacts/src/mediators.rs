//! The mediators, one file each. To add one: its file, and one line in [`MEDIATORS`].

mod aggregate;
mod builder;
mod cache;
mod call;
mod call_template;
mod callout;
mod clone;
mod conditional_router;
pub mod connector;
mod dblookup;
mod dbreport;
mod direction;
mod drop;
mod enrich;
mod fast_xslt;
mod filter;
mod foreach;
mod header;
mod iterate;
mod jsontransform;
mod log;
mod loopback;
mod makefault;
mod payload_factory;
mod property;
mod property_group;
mod respond;
mod rewrite;
mod scatter_gather;
mod script;
mod send;
mod sequence;
mod switch;
mod throttle;
mod throw_error;
mod validate;
mod variable;
mod xslt;

use std::fmt::Write;

use crate::spec::{Mediators, Spec};

/// Every mediator this bus runs, in alphabetical order.
pub const MEDIATORS: &[Spec] = &[
    aggregate::SPEC,
    builder::SPEC,
    cache::SPEC,
    call::SPEC,
    call_template::SPEC,
    callout::SPEC,
    clone::SPEC,
    conditional_router::SPEC,
    dblookup::SPEC,
    dbreport::SPEC,
    drop::SPEC,
    enrich::SPEC,
    fast_xslt::SPEC,
    filter::SPEC,
    foreach::SPEC,
    header::SPEC,
    direction::IN,
    iterate::SPEC,
    jsontransform::SPEC,
    log::SPEC,
    loopback::SPEC,
    makefault::SPEC,
    direction::OUT,
    payload_factory::SPEC,
    property::SPEC,
    property_group::SPEC,
    respond::SPEC,
    rewrite::SPEC,
    scatter_gather::SPEC,
    script::SPEC,
    send::SPEC,
    sequence::SPEC,
    switch::SPEC,
    throttle::SPEC,
    throw_error::SPEC,
    validate::SPEC,
    variable::SPEC,
    xslt::SPEC,
];

/// All mediators that a configuration may use, for its loader.
pub static ALL: Mediators = Mediators {
    table: MEDIATORS,
    operations: connector::OPERATIONS,
    archived_operation: &connector::ARCHIVED_OPERATION,
};

/// The reference of all mediators in Markdown: `docs/mediators.md`.
pub fn mediators_markdown() -> String {
    let mut out = String::from(
        "# Mediators\n\n\
         Generated from the code by `cargo xtask docs`; every example in it is loaded by a test.\n\
         All mediators take `description`, `trace` and `statistics`, which change nothing: of a proxy, an API, a sequence or an endpoint \
         `trace` does ([tracing.md](tracing.md)).\n",
    );
    for spec in MEDIATORS {
        // Writing into a string cannot fail.
        let _ = write!(out, "\n## `<{}>`\n\n{}\n", spec.element, spec.doc.trim());
    }
    out
}

/// What the tests of the mediators share.
#[cfg(test)]
pub mod tests {
    use super::*;
    use myelin_config::problem::Problem;
    use myelin_config::report::Report;
    use myelin_engine::load;
    use myelin_flow::settings::Settings;

    fn report(artefacts: &str) -> Report {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("example.xml");
        let configuration =
            format!("<definitions xmlns='{}'>{artefacts}</definitions>", myelin_config::element::SYNAPSE);
        std::fs::write(&path, configuration).unwrap();
        let settings = Settings { databases: crate::databases::fake::settings(), ..Settings::default() };
        load(&[path], &settings).report
    }

    /// Asserts that a mediator has a problem that says `part`, in its own line; or nothing to tell, for an empty part.
    pub fn check(mediator: &str, part: &str) {
        let report = report(&in_sequence(mediator));
        let problem = report.artefacts.iter().flat_map(|artefact| &artefact.problems).next();
        if part.is_empty() {
            let latent = report.artefacts.iter().flat_map(|artefact| &artefact.latent).next();
            assert!(problem.or(latent).is_none(), "{mediator}: {}", report.to_text());
        } else {
            assert_says(mediator, problem, part);
        }
    }

    /// Asserts that a mediator runs, and will fail when it is reached, for a reason that says `part`, in its own line.
    pub fn check_missing(mediator: &str, part: &str) {
        let report = report(&in_sequence(mediator));
        assert_eq!(report.faulty(), 0, "{}", report.to_text());
        assert_says(mediator, report.artefacts.iter().flat_map(|artefact| &artefact.latent).next(), part);
    }

    fn in_sequence(mediator: &str) -> String {
        format!("<sequence name='s'>\n{mediator}</sequence>")
    }

    fn assert_says(mediator: &str, problem: Option<&Problem>, part: &str) {
        let Some(problem) = problem else { panic!("{mediator}: nothing is told, not {part:?}") };
        assert!(problem.message.contains(part), "{mediator}: {problem}, not {part:?}");
        assert_eq!(problem.place.line, 2, "{mediator}: {problem}");
    }

    #[test]
    fn every_example_in_the_documentation_loads_without_a_word() {
        for spec in MEDIATORS {
            let examples: Vec<&str> = spec.doc.lines().filter_map(|line| line.strip_prefix("    ")).collect();
            assert!(!examples.is_empty(), "<{}> has no example", spec.element);
            let artefacts = format!(
                "<sequence name='audit'/>\
                 <template name='note'><parameter name='text'/><parameter name='what'/><sequence/></template><endpoint name='quotes'><default/></endpoint>\
                 <localEntry key='totals'>function add(mc) {{}}</localEntry>\
                 <localEntry key='order-types'><xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/></localEntry>\
                 <localEntry key='order-schema'>{{\"type\": \"object\"}}</localEntry>\
                 <localEntry key='greeting'><hello xmlns=''/></localEntry>\
                 <localEntry key='quote'><a xsl:version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'/></localEntry>\
                 <sequence name='example'>{}</sequence>",
                // Each blank-line group of a document is one example; sent messages must not meet in one sequence.
                spec.doc
                    .split("\n\n")
                    .filter(|part| part.starts_with("    "))
                    .map(|part| { format!("<sequence>{part}</sequence>") })
                    .collect::<String>(),
            );
            let report = report(&artefacts);
            assert_eq!(report.faulty(), 0, "<{}>: {}", spec.element, report.to_text());
            assert!(report.artefacts.iter().all(|artefact| artefact.warnings.is_empty()), "{}", report.to_text());
        }
    }

    #[test]
    fn mediators_are_listed_once_and_in_order() {
        assert!(MEDIATORS.windows(2).all(|pair| pair[0].element < pair[1].element));
        assert!(mediators_markdown().contains("## `<switch>`"));
    }
}
