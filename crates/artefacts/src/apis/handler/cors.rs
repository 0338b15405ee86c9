//! Cross-origin requests: what browsers are told about who may call an API from where.
//!
//! Source: Fetch §3.2; `CORSRequestHandler` of Micro Integrator. A star in an origin stands for a part of a host here,
//! not for a regular expression that may match anywhere; and answers that depend on the origin say so in `Vary`.

use myelin_message::{Head, Message, StatusCode};

use crate::apis::handler::answer::empty;
use crate::apis::resource::Resource;
use crate::apis::resources::{Choice, Resources};
use crate::apis::visit::Visit;

/// The settings of the handler.
#[derive(Debug, Default)]
pub struct Cors {
    /// `*`, whole origins, and such with stars in them.
    pub allowed_origins: Vec<String>,
    /// Empty where all methods of a resource are allowed.
    pub allowed_methods: Vec<String>,
    /// The list as it is sent; `*` allows what is asked for.
    pub allow_headers: Option<String>,
    /// Whether requests with credentials are allowed.
    pub allow_credentials: bool,
    /// For how many seconds a browser may remember the answer.
    pub max_age: Option<String>,
}

impl Cors {
    /// Collects what the answer has to say; answers a question about what would be allowed itself.
    pub(super) fn handle(
        &self,
        resources: &Resources,
        head: &Head,
        visit: &Visit<'_>,
        lines: &mut Vec<(&'static str, String)>,
    ) -> Option<Message> {
        let wanted = text(head, "Access-Control-Request-Method").filter(|_| visit.method == "OPTIONS");
        let Some(wanted) = wanted else {
            let resource = match resources.choose(visit) {
                Choice::Resource(index, _) => Some(&resources[index]),
                _ => None,
            };
            // A resource that names `OPTIONS` answers browsers itself.
            if visit.method != "OPTIONS" || resource.is_none_or(|resource| !resource.lists("OPTIONS")) {
                self.say(resource, head, lines);
            }
            return None;
        };
        match resources.for_method(visit, wanted) {
            Choice::Resource(index, _) if resources[index].lists("OPTIONS") => None,
            Choice::Resource(index, _) => {
                self.say(Some(&resources[index]), head, lines);
                if let Some(age) = &self.max_age {
                    lines.push(("Access-Control-Max-Age", age.clone()));
                }
                Some(empty(StatusCode::OK))
            }
            Choice::Nowhere => Some(empty(StatusCode::NOT_FOUND)),
            _ => Some(empty(StatusCode::METHOD_NOT_ALLOWED)),
        }
    }

    fn say(&self, resource: Option<&Resource>, head: &Head, lines: &mut Vec<(&'static str, String)>) {
        let origin = self.origin(text(head, "Origin"));
        if !self.allowed_origins.iter().any(|allowed| allowed == "*") {
            lines.push(("Vary", "Origin".to_owned()));
        }
        if let Some(origin) = origin {
            if self.allow_credentials && origin != "*" {
                lines.push(("Access-Control-Allow-Credentials", "true".to_owned()));
            }
            lines.push(("Access-Control-Allow-Origin", origin.to_owned()));
        }
        let methods = self.methods(resource);
        if !methods.is_empty() {
            lines.push(("Access-Control-Allow-Methods", methods));
        }
        let headers = match self.allow_headers.as_deref() {
            Some("*") => text(head, "Access-Control-Request-Headers"),
            headers => headers,
        };
        if let Some(headers) = headers {
            lines.push(("Access-Control-Allow-Headers", headers.to_owned()));
        }
    }

    /// The origin that is told to be allowed, where that of a request is.
    fn origin<'a>(&self, origin: Option<&'a str>) -> Option<&'a str> {
        if self.allowed_origins.iter().any(|allowed| allowed == "*") {
            return Some("*");
        }
        let origin = origin?;
        self.allowed_origins.iter().any(|allowed| stars_match(allowed, origin)).then_some(origin)
    }

    fn methods(&self, resource: Option<&Resource>) -> String {
        let Some(resource) = resource else { return self.allowed_methods.join(",") };
        if resource.methods.is_empty() {
            // One that names none has all that the handler allows, or those that an answer to `OPTIONS` has in `Allow`.
            let all = self.allowed_methods.is_empty();
            return if all { resource.methods() } else { self.allowed_methods.join(",") };
        }
        let is_allowed = |method: &&String| self.allowed_methods.is_empty() || self.allowed_methods.contains(method);
        resource.methods.iter().filter(is_allowed).map(String::as_str).collect::<Vec<_>>().join(",")
    }
}

fn text<'a>(head: &'a Head, name: &str) -> Option<&'a str> {
    std::str::from_utf8(head.first(name)?).ok()
}

/// Whether a text is a pattern whose stars stand for any characters save `/`.
fn stars_match(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        // The last part has to be at the end, each other one is taken where it comes first.
        let at = if parts.peek().is_none() { rest.strip_suffix(part).map(str::len) } else { rest.find(part) };
        let Some(at) = at else { return false };
        if rest[..at].contains('/') {
            return false;
        }
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_a_part_of_a_host() {
        let check = |pattern: &str, origin: &str, expected: bool| {
            assert_eq!(stars_match(pattern, origin), expected, "{pattern} on {origin}");
        };
        check("https://a.example", "https://a.example", true);
        check("https://a.example", "https://a.example.org", false);
        check("https://*.example", "https://a.b.example", true);
        check("https://*.example", "https://a.example.org", false);
        check("https://*.example", "https://evil.org/.example", false);
        check("https://a.example:*", "https://a.example:8443", true);
        check("http*://*.example", "https://a.example", true);
        check("https://aXexample", "https://a.example", false);
    }
}
