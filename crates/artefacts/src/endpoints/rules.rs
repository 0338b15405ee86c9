//! What an endpoint's element says about errors: `suspendOnFailure`, `markForSuspension`, `retryConfig`.

use std::str::FromStr;

use crate::endpoints::state::{Codes, Rules};
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_flow::settings::EndpointSettings;

/// The names of the elements that [`read`] reads.
pub(super) const ELEMENTS: [&str; 4] =
    ["suspendOnFailure", "markForSuspension", "retryConfig", "suspendDurationOnFailure"];

/// The elements in them.
const RULES: [&str; 8] = [
    "errorCodes",
    "initialDuration",
    "progressionFactor",
    "maximumDuration",
    "retriesBeforeSuspension",
    "retryDelay",
    "disabledErrorCodes",
    "enabledErrorCodes",
];

/// Reads the rules that stand in the element of an endpoint's kind; problems are the loader's.
pub(super) fn read(kind: &Element, loader: &mut Loader) -> Rules {
    let settings = loader.settings.endpoints.clone();
    let mut rules = default(&settings);
    for element in kind.children.iter().filter(|element| ELEMENTS.contains(&element.name.as_str())) {
        match element.name.as_str() {
            // Of Synapse 1.2, in seconds.
            "suspendDurationOnFailure" => {
                let seconds: Option<i64> = number(element, loader);
                rules.initial_ms = seconds.map_or(rules.initial_ms, |seconds| seconds.saturating_mul(1000));
                rules.factor = 1.0;
            }
            _ => element.children.iter().for_each(|child| rule(element, child, &mut rules, loader)),
        }
    }
    if settings.override_suspension {
        rules.initial_ms = settings.suspension_ms;
        rules.factor = settings.progression_factor;
    }
    rules
}

/// The rules of an endpoint that has none of its own.
pub(super) fn default(settings: &EndpointSettings) -> Rules {
    Rules {
        initial_ms: settings.suspension_ms,
        factor: settings.progression_factor,
        failure_limit: settings.failure_limit,
        ..Rules::default()
    }
}

fn rule(parent: &Element, child: &Element, rules: &mut Rules, loader: &mut Loader) {
    match (parent.name.as_str(), child.name.as_str()) {
        ("suspendOnFailure", "errorCodes") => rules.suspend_codes = codes(child, loader),
        ("suspendOnFailure", "initialDuration") => set(&mut rules.initial_ms, child, loader),
        ("suspendOnFailure", "progressionFactor") => set(&mut rules.factor, child, loader),
        ("suspendOnFailure", "maximumDuration") => set(&mut rules.maximum_ms, child, loader),
        ("markForSuspension", "errorCodes") => rules.timeout_codes = codes(child, loader),
        ("markForSuspension", "retriesBeforeSuspension") => set(&mut rules.retries, child, loader),
        ("markForSuspension", "retryDelay") => set(&mut rules.retry_delay_ms, child, loader),
        ("retryConfig", "disabledErrorCodes") => rules.retry_disabled = codes(child, loader),
        ("retryConfig", "enabledErrorCodes") => rules.retry_enabled = codes(child, loader),
        _ => loader.no_effect(child, &parent.tag(), &RULES),
    }
}

fn set<T: FromStr>(field: &mut T, element: &Element, loader: &mut Loader) {
    if let Some(value) = number(element, loader) {
        *field = value;
    }
}

fn number<T: FromStr>(element: &Element, loader: &mut Loader) -> Option<T> {
    let text = element.text().value;
    let parsed = text.parse().ok();
    if parsed.is_none() {
        loader.problem(element.problem(format!("{}: {text:?} is no number", element.tag())));
    }
    parsed
}

/// Codes with commas or blanks between them.
fn codes(element: &Element, loader: &mut Loader) -> Codes {
    let text = element.text().value;
    let words = text.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
    match words.map(str::parse).collect() {
        Ok(codes) => Codes(codes),
        Err(_) => {
            loader.problem(element.problem(format!("{}: {text:?} is no list of error codes", element.tag())));
            Codes::default()
        }
    }
}
