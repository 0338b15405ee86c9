//! What mediators find out about a REST request: `uri.var.…`, `query.param.…`, `REST_METHOD` and their kind.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::apis::{Api, Resource, Visit};
use myelin_flow::property::{Names, Properties, Scope, Slot, Value};
use myelin_java_text::percent::{Plus, decoded};

/// The slots of the properties that a request brings; of those that the configuration never names there is none,
/// and they are not set.
#[derive(Default)]
pub struct Brought {
    full_path: Option<Slot>,
    sub_path: Option<Slot>,
    context: Option<Slot>,
    method: Option<Slot>,
    prefix: Option<Slot>,
    api: Option<Slot>,
    version: Option<Slot>,
    resource: Option<Slot>,
    pattern: Option<Slot>,
    queries: HashMap<String, Slot>,
}

/// How the names of query parameters begin.
const QUERY: &str = "query.param.";

impl Brought {
    /// The slots among the names of a configuration.
    pub fn of(names: &Names) -> Brought {
        Brought {
            full_path: names.find("REST_FULL_REQUEST_PATH"),
            sub_path: names.find("REST_SUB_REQUEST_PATH"),
            context: names.find("REST_API_CONTEXT"),
            method: names.find("REST_METHOD"),
            prefix: names.find("REST_URL_PREFIX"),
            api: names.find("SYNAPSE_REST_API"),
            version: names.find("SYNAPSE_REST_API_VERSION"),
            resource: names.find("SYNAPSE_RESOURCE"),
            pattern: names.find("rest.url.pattern"),
            queries: names.below(QUERY).map(|(name, slot)| (name.to_owned(), slot)).collect(),
        }
    }

    /// What the properties are of a request for an API.
    pub fn of_request(&self, api: &Api, visit: &Visit<'_>) -> Properties {
        let mut properties = Properties::default();
        let mut put = |slot: Option<Slot>, value: &dyn Fn() -> Arc<str>| {
            if let Some(slot) = slot {
                properties.put(Scope::Default, slot, Some(Value::Text(value())));
            }
        };
        put(self.full_path, &|| visit.path.into());
        put(self.sub_path, &|| visit.sub_path().into());
        put(self.method, &|| visit.method.into());
        put(self.context, &|| api.context.clone());
        put(self.api, &|| api.identity.name.clone());
        put(self.version, &|| api.version.clone());
        if let Some(host) = visit.host {
            let scheme = if visit.secure { "https" } else { "http" };
            put(self.prefix, &|| format!("{scheme}://{host}").into());
        }
        properties
    }

    /// Adds what is known once its resource is found.
    pub fn add_resource(
        &self,
        properties: &mut Properties,
        resource: &Resource,
        found: &[(Slot, Cow<'_, str>)],
        visit: &Visit<'_>,
    ) {
        let mut put = |slot: Slot, value: &str| properties.put(Scope::Default, slot, Some(Value::Text(value.into())));
        found.iter().for_each(|(slot, value)| put(*slot, value));
        for slot in self.resource.iter().chain(&self.pattern) {
            put(*slot, resource.pattern());
        }
        if self.queries.is_empty() {
            return;
        }
        let (_, query) = visit.path.split_once('?').unwrap_or_default();
        parameters(query, |name, value| {
            if let Some(slot) = self.queries.get(name) {
                put(*slot, &value);
            }
        });
    }
}

/// Tells the parameters of a query, decoded, in their order.
///
/// As in Synapse, what has no name of its own belongs to the value before it: in `a=1&2`, `a` is `1&2`.
fn parameters<'a>(query: &'a str, mut tell: impl FnMut(&'a str, Cow<'a, str>)) {
    let mut parameters = query.split('&').filter(|parameter| !parameter.is_empty()).peekable();
    while let Some(parameter) = parameters.next() {
        let Some((name, value)) = parameter.split_once('=') else { continue };
        let mut value = decoded(value, Plus::Blank);
        while let Some(rest) = parameters.next_if(|next| !next.contains('=')) {
            value.to_mut().push('&');
            value.to_mut().push_str(rest);
        }
        tell(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_belongs_to_the_parameter_before() {
        let check = |query: &str, expected: &[(&str, &str)]| {
            let mut told = Vec::new();
            parameters(query, |name, value| told.push((name, value.into_owned())));
            let told: Vec<(&str, &str)> = told.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(told, expected, "{query}");
        };
        check("q=a", &[("q", "a")]);
        check("q=a%20b+c", &[("q", "a b c")]);
        check("q=1&q=2", &[("q", "1"), ("q", "2")]);
        check("q=1&2&r=3", &[("q", "1&2"), ("r", "3")]);
        check("q=1&", &[("q", "1")]);
        check("q=", &[("q", "")]);
        check("q&r=1", &[("r", "1")]);
        check("q", &[]);
        check("", &[]);
    }
}
