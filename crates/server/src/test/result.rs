//! What a unit test gave, as WSO2's test server tells it: its Maven plugin and its extension for VS Code read these names.
//!
//! Source: `org.apache.synapse.unittest.RequestHandler` of WSO2's Synapse.

use myelin_testkit::unit_test::{Case, FailedAssertion, Suite};
use serde_json::{Map, Value, json};

const PASSED: &str = "PASSED";
const FAILED: &str = "FAILED";
const SKIPPED: &str = "SKIPPED";

/// The result of a suite. As Gson does, it has `null` for what there is nothing to say of.
pub(super) fn result(suite: &Suite) -> Value {
    let broken = suite.cases.iter().rev().find(|case| !case.is_mediated);
    let is_deployed = suite.error.is_none();
    json!({
        "deploymentStatus": if is_deployed { PASSED } else { FAILED },
        "deploymentException": suite.error,
        "deploymentDescription": suite.error.as_ref().map(|_| "the artefacts of the unit test cannot run"),
        // Whether the tests could be run at all: the extension looks at single tests only then.
        "mediationStatus": if is_deployed { PASSED } else { SKIPPED },
        "currentTestCase": suite.cases.last().map(|case| &case.name),
        "mediationException": broken.map(explanation),
        "testCases": suite.cases.iter().map(case).collect::<Vec<_>>(),
    })
}

fn case(case: &Case) -> Value {
    let failures: Vec<&FailedAssertion> =
        case.failures.iter().filter_map(|failure| failure.assertion.as_ref()).collect();
    let mut out = Map::new();
    out.insert("testCaseName".into(), case.name.clone().into());
    out.insert("mediationStatus".into(), if case.is_mediated { PASSED } else { FAILED }.into());
    let status = match (case.is_mediated, case.failures.is_empty()) {
        (false, _) => SKIPPED,
        (true, true) => PASSED,
        (true, false) => FAILED,
    };
    out.insert("assertionStatus".into(), status.into());
    out.insert("exception".into(), Some(explanation(case)).filter(|text| !text.is_empty()).into());
    if status == FAILED {
        // There is always a list then: the extension takes it for granted.
        out.insert("failureAssertions".into(), failures.into_iter().map(assertion).collect());
    }
    out.into()
}

/// What explains failures and is no assertion itself: a fault, a request that no service answers.
fn explanation(case: &Case) -> String {
    let others = case.failures.iter().filter(|failure| failure.assertion.is_none());
    others.map(|failure| failure.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn assertion(failed: &FailedAssertion) -> Value {
    let FailedAssertion { expression, expected, actual, message } = failed;
    json!({
        "assertionType": if expected.is_some() { "assertEquals" } else { "assertNotNull" },
        "assertionExpression": expression,
        // WSO2's server says so of what is not there.
        "actual": actual.as_deref().unwrap_or("null"),
        "expected": expected,
        "assertionDescription": Value::Null,
        "message": message,
    })
}

/// The result where no suite could be run.
pub(super) fn refusal(reason: &str) -> Value {
    json!({
        "deploymentStatus": SKIPPED,
        "deploymentException": reason,
        "deploymentDescription": "the unit test could not be read",
        "mediationStatus": SKIPPED,
        "currentTestCase": null,
        "mediationException": null,
        "testCases": [],
    })
}

#[cfg(test)]
mod tests {
    use myelin_testkit::unit_test::run_message;

    use super::*;

    fn ran(cases: &str) -> Value {
        let test = format!(
            "<unit-test><artifacts><test-artifact><artifact><sequence xmlns='http://ws.apache.org/ns/synapse' name='S'>\
             <property name='seen' expression='$axis2:mark'/></sequence></artifact></test-artifact></artifacts>\
             <test-cases>{cases}</test-cases></unit-test>"
        );
        result(&run_message("test", test.as_bytes()))
    }

    fn test_case(name: &str, expected: &str) -> String {
        format!(
            "<test-case name='{name}'><input><payload>&lt;a/></payload><properties>\
             <property name='mark' scope='axis2' value='m'/></properties></input><assertions><assertEquals>\
             <actual>$ctx:seen</actual><expected>{expected}</expected><message>of the mark</message>\
             </assertEquals></assertions></test-case>"
        )
    }

    #[test]
    fn a_result_has_the_names_that_the_extension_reads() {
        let result = ran(&(test_case("good", "m") + &test_case("bad", "n")));
        let expected = json!({
            "deploymentStatus": "PASSED", "deploymentException": null, "deploymentDescription": null,
            "mediationStatus": "PASSED", "currentTestCase": "bad", "mediationException": null,
            "testCases": [
                {"testCaseName": "good", "mediationStatus": "PASSED", "assertionStatus": "PASSED", "exception": null},
                {"testCaseName": "bad", "mediationStatus": "PASSED", "assertionStatus": "FAILED", "exception": null,
                 "failureAssertions": [
                    {"assertionType": "assertEquals", "assertionExpression": "$ctx:seen", "actual": "m",
                     "expected": "n", "assertionDescription": null, "message": "of the mark"}]},
            ],
        });
        assert_eq!(result, expected, "{result:#}");
    }

    #[test]
    fn a_test_that_cannot_ask_its_assertions_is_skipped_with_the_reason() {
        let wrong = test_case("wrong", "m").replace("$ctx:seen", "$unknown");
        let result = ran(&wrong);
        let case = &result["testCases"][0];
        assert_eq!((&case["mediationStatus"], &case["assertionStatus"]), (&"FAILED".into(), &"SKIPPED".into()));
        assert!(case["exception"].as_str().is_some_and(|text| text.contains("$unknown")), "{result:#}");
        assert_eq!(result["mediationException"], case["exception"]);
    }

    #[test]
    fn artefacts_that_cannot_run_are_a_failed_deployment() {
        let result = ran("<test-case name='empty'/>");
        assert_eq!(result["deploymentStatus"], "FAILED");
        assert!(result["deploymentException"].as_str().is_some_and(|text| text.contains("no assertion")), "{result:#}");
        assert_eq!(result["testCases"], json!([]));
    }
}
