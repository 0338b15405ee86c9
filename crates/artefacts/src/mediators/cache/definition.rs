//! What a `<cache>` says, in the grammar of Apache Synapse or that of WSO2.
//!
//! Source: `CacheMediatorFactory` of both.

use std::time::Duration;

use crate::cache::{Bounds, Generator, Headers, Rules};
use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_java_text::pattern::Pattern;

/// What the `<protocol>` of a cache may hold.
const PROTOCOL_PARTS: [&str; 7] = [
    "methods",
    "headersToIncludeInHash",
    "headersToExcludeInHash",
    "responseCodes",
    "enableCacheControl",
    "includeAgeHeader",
    "hashGenerator",
];

/// How long an answer is given where nothing is said.
const TIMEOUT_SECONDS: u64 = 5000;

/// One answer takes no more than this part of the memory for all.
const PART: usize = 8;

/// What a cache that looks for answers says.
pub(super) struct Definition {
    /// The methods whose requests are answered; none stands for all.
    pub(super) methods: Vec<String>,
    pub(super) rules: Rules,
    pub(super) bounds: Bounds,
}

/// What `<protocol>` says of header lines.
#[derive(Default)]
struct Names {
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Definition {
    /// Reads all but what runs.
    ///
    /// Errors: a [`Problem`] at what it cannot mean.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Definition, Problem> {
        if let Some(scope) = element.attribute("scope")
            && !["per-host", "per-mediator"].contains(&scope.value.trim())
        {
            loader.warning(scope.problem("scope has no effect: a cache is that of its id, or of its own"));
        }
        let bounds = bounds(element, loader)?;
        let any = |text: &str| Pattern::compile(text);
        let mut methods = Vec::new();
        let mut names = Names::default();
        let mut statuses = None;
        let (mut control, mut age) = (false, false);
        let mut generator = element.attribute("hashGenerator");
        if let Some(protocol) = element.child("protocol") {
            match protocol.attribute("type").map(|kind| (kind.value.trim().to_uppercase(), kind)) {
                Some((kind, _)) if kind == "HTTP" => {}
                Some((_, kind)) => return Err(kind.problem("the protocol of a cache is HTTP")),
                None => {
                    let message = "type=\"HTTP\" is missing: WSO2 passes over what stands in this element";
                    loader.warning(protocol.problem(message));
                }
            }
            for child in &protocol.children {
                let text = child.text();
                match child.name.as_str() {
                    "methods" => methods = list(text).into_iter().map(|method| method.to_uppercase()).collect(),
                    "headersToIncludeInHash" => names.include = list(text),
                    "headersToExcludeInHash" => names.exclude = list(text),
                    "responseCodes" if !text.value.is_empty() => {
                        statuses = Some(any(text.value).map_err(|message| text.problem(message))?);
                    }
                    "responseCodes" => {}
                    "enableCacheControl" => control = text.value.eq_ignore_ascii_case("true"),
                    "includeAgeHeader" => age = text.value.eq_ignore_ascii_case("true"),
                    "hashGenerator" => generator = Some(text),
                    _ => {
                        let message = format!("<protocol> of a cache does not hold {}", child.tag());
                        return Err(child.misnamed(message, &PROTOCOL_PARTS));
                    }
                }
            }
        }
        if let Some(wrong) = methods.iter().find(|method| !myelin_message::is_token(method.as_bytes())) {
            return Err(element.problem(format!("{wrong:?} is no method of HTTP")));
        }
        if methods.iter().any(|method| method == "*") {
            methods.clear();
        }
        let statuses = match statuses {
            Some(statuses) => statuses,
            None => any(".*").map_err(|message| element.problem(message))?,
        };
        let generator = names.generator(generator)?;
        Ok(Definition { methods, rules: Rules { generator, statuses, control, age }, bounds })
    }
}

impl Names {
    /// What requests are known by, by the class that is named.
    fn generator(self, class: Option<Text<'_>>) -> Result<Generator, Problem> {
        match class.map(|class| (class.value.trim().rsplit('.').next().unwrap_or_default(), class)) {
            Some(("DOMHASHGenerator", _)) => Ok(Generator::Body),
            Some(("REQUESTHASHGenerator", _)) => Ok(Generator::Request),
            None | Some(("" | "HttpRequestHashGenerator", _)) => Ok(Generator::Http(self.headers())),
            Some((_, class)) => Err(class.problem(format!(
                "{} is a JVM class, which cannot run in a native program; HttpRequestHashGenerator, \
                 REQUESTHASHGenerator and DOMHASHGenerator are offered",
                class.value.trim()
            ))),
        }
    }

    /// Which header lines count; an asterisk comes first where it stands for all.
    fn headers(self) -> Headers {
        let is_all = |names: &[String]| names.first().is_some_and(|name| name == "*");
        match self {
            Names { include, .. } if is_all(&include) => Headers::All,
            Names { include, .. } if !include.is_empty() => Headers::Only(include),
            Names { exclude, .. } if is_all(&exclude) => Headers::None,
            Names { exclude, .. } if !exclude.is_empty() => Headers::AllBut(exclude),
            _ => Headers::All,
        }
    }
}

fn bounds(element: &Element, loader: &mut Loader) -> Result<Bounds, Problem> {
    let timeout = match element.attribute("timeout") {
        Some(text) => number(text)?,
        None => Some(TIMEOUT_SECONDS),
    };
    let Some(timeout) = timeout else {
        return Err(element.problem("timeout is how many seconds an answer is given: no negative number"));
    };
    if timeout == 0 {
        loader.warning(element.problem("timeout is 0: no answer is given twice"));
    }
    let own_largest = (loader.settings.cache_bytes / PART) as u64;
    let largest_bytes = match element.attribute("maxMessageSize").map(|text| Ok((number(text)?, text))).transpose()? {
        Some((Some(largest), text)) if largest > own_largest => {
            let message = format!(
                "answers of more than {own_largest} bytes are not kept: an eighth of [myelin.content] cache_bytes"
            );
            loader.warning(text.problem(message));
            own_largest
        }
        Some((Some(largest), _)) => largest,
        _ => own_largest,
    };
    let mut most = None;
    if let Some(implementation) = element.child("implementation") {
        if let Some(kind) = implementation.attribute("type")
            && kind.value.trim() != "memory"
        {
            loader.warning(kind.problem("answers are kept in memory, whatever the type"));
        }
        most = match implementation.attribute("maxSize") {
            Some(text) => number(text)?,
            None => None,
        };
        if most == Some(0) {
            loader.warning(implementation.problem("maxSize is 0: no answer is kept"));
        }
    }
    let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    Ok(Bounds { timeout: Duration::from_secs(timeout), most, largest_bytes })
}

/// A number; as in WSO2 a negative one stands for none.
fn number(text: Text<'_>) -> Result<Option<u64>, Problem> {
    let number: i64 = text.value.trim().parse().map_err(|_| text.problem(format!("{:?} is no number", text.value)))?;
    Ok(u64::try_from(number).ok())
}

/// What stands between commas.
fn list(text: Text<'_>) -> Vec<String> {
    text.value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
