//! What a rule does to an address.

use crate::loader::Loader;
use crate::mediators::rewrite::no_address;
use crate::mediators::rewrite::uri::{LIMIT_BYTES, Uri};
use crate::uri_parts::UriPart;
use crate::values::ConfiguredValue;
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_java_text::pattern::Finder;

/// A change, and the text it is made with.
pub(super) struct Action {
    change: Change,
    /// Empty to remove something.
    text: ConfiguredValue,
}

enum Change {
    /// Another address takes the place of the present one.
    Whole,
    Set(UriPart),
    Append(UriPart),
    Prepend(UriPart),
    Replace(UriPart, Finder),
}

impl Action {
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Action, Problem> {
        if let Some(resolve) = element.attribute("resolve")
            && resolve.value.trim().eq_ignore_ascii_case("true")
        {
            return Err(resolve.problem("resolve=\"true\" is not offered: xpath works a value out"));
        }
        let word = element.attribute("type").map_or("set", |word| word.value);
        let text = match word {
            "remove" => ConfiguredValue::Fixed(String::new()),
            _ => text(element, loader)?,
        };
        let action = Action { change: Change::read(element, word, loader)?, text };
        if let ConfiguredValue::Fixed(text) = &action.text {
            action.check(text).map_err(|reason| element.problem(format!("<action>: {reason}")))?;
        }
        Ok(action)
    }

    /// Tells when loading what would be a fault each time.
    fn check(&self, text: &str) -> Result<(), String> {
        match &self.change {
            Change::Whole | Change::Set(_) => self.apply(&mut Uri::default(), text),
            Change::Replace(_, finder) => finder.check(text),
            Change::Append(_) | Change::Prepend(_) => Ok(()),
        }
    }

    /// The expression, if there is one.
    pub(super) fn expression(&self) -> Option<&Expression> {
        self.text.expression()
    }

    /// Changes an address.
    ///
    /// Errors: as [`Expression::text`]; the bus's, where what comes out can be no such part.
    pub(super) fn run(&self, uri: &mut Uri, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        let text = self.text.text(exchange, context)?.unwrap_or_default();
        self.apply(uri, &text).map_err(no_address)
    }

    fn apply(&self, uri: &mut Uri, text: &str) -> Result<(), String> {
        match &self.change {
            Change::Whole => *uri = Uri::read(text)?,
            Change::Set(part) => uri.set(*part, text)?,
            Change::Append(part) => uri.extend(*part, "", text)?,
            Change::Prepend(part) => uri.extend(*part, text, "")?,
            Change::Replace(part, finder) => {
                let replaced = finder.replace_all(&uri.text(*part), text, LIMIT_BYTES)?;
                uri.set(*part, &replaced)?;
            }
        }
        Ok(())
    }
}

/// The text that an action works with; as in Synapse, `xpath` counts where there is also a value.
fn text(element: &Element, loader: &mut Loader) -> Result<ConfiguredValue, Problem> {
    if let Some(path) = element.attribute("xpath") {
        return Expression::compile(path, ResultType::Text, loader).map(ConfiguredValue::Computed);
    }
    match element.attribute("value") {
        Some(value) => Ok(ConfiguredValue::Fixed(value.value.to_owned())),
        None => Err(element.lacks("<action> needs value or xpath")),
    }
}

impl Change {
    fn read(element: &Element, word: &str, loader: &mut Loader) -> Result<Change, Problem> {
        let part = match element.attribute("fragment") {
            Some(word) if word.value != "full" => Some(UriPart::named(word)?),
            _ => None,
        };
        Ok(match (word, part) {
            ("append" | "prepend" | "replace", None | Some(UriPart::Port)) => {
                element.attribute("regex");
                let message = format!("type {word:?} sets the port or the full address, as in Synapse");
                loader.warning(element.problem(message));
                part.map_or(Change::Whole, Change::Set)
            }
            ("set" | "remove", part) => part.map_or(Change::Whole, Change::Set),
            ("append", Some(part)) => Change::Append(part),
            ("prepend", Some(part)) => Change::Prepend(part),
            ("replace", Some(part)) => {
                let regex = element.required("regex")?;
                Change::Replace(part, Finder::compile(regex.value).map_err(|message| regex.problem(message))?)
            }
            ("remove-query-param", _) => {
                let message = format!("type {word:?} is not offered: \"replace\" with a regex does it");
                return Err(element.problem(message));
            }
            _ => {
                let known = ["set", "append", "prepend", "replace", "remove"];
                return Err(element.problem(unknown_word("type", word, &known)));
            }
        })
    }
}
