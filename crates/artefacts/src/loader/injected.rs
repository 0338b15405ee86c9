//! Values that the environment of the bus gives: `$SYSTEM:NAME` and `$FILE:NAME` in the place of a value or text.
//!
//! Compare Synapse `ResolverFactory`. They are resolved once, before an artefact is built.

use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;

/// The element with the values in their places, and a [`Problem`] at each name without a value, which stays as it is;
/// `None` where nothing is injected.
pub fn injected(element: &Element, loader: &Loader) -> Option<(Element, Vec<Problem>)> {
    if !element.source().contains("$SYSTEM:") && !element.source().contains("$FILE:") {
        return None;
    }
    let mut problems = Vec::new();
    check(element, loader, &mut problems);
    Some((element.filled(&|text| value(text, loader).and_then(Result::ok)), problems))
}

fn check(element: &Element, loader: &Loader, problems: &mut Vec<Problem>) {
    for text in element.texts() {
        if let Some(Err(message)) = value(text.value, loader) {
            problems.push(text.problem(message).latent());
        }
    }
    element.children.iter().for_each(|child| check(child, loader, problems));
}

/// The value that a text stands for; `None` where it stands for itself.
fn value(text: &str, loader: &Loader) -> Option<Result<String, String>> {
    let text = text.trim();
    match (text.strip_prefix("$SYSTEM:"), text.strip_prefix("$FILE:")) {
        (Some(name), _) => {
            let value = loader.environment.variable(name.trim()).map(str::to_owned);
            Some(value.ok_or_else(|| format!("the environment has no variable {name:?}")))
        }
        (_, Some(name)) => {
            let value = loader.properties.get(name.trim()).cloned();
            Some(value.ok_or_else(|| format!("file.properties has no {name:?}")))
        }
        _ => None,
    }
}
