//! The table of all routes, and how a request finds its own.

use super::route::Route;
use super::{
    apis, applications, configs, connectors, data, endpoints, inbound, local_entries, log, logging, login, observed,
    openapi, problems, proxies, registry, reloads, roles, sequences, server, sources, steps, stores, tasks, templates,
    traces, transactions, user_accounts,
};

/// All routes, by resource.
pub(crate) const ROUTES: &[&[Route]] = &[
    login::ROUTES,
    user_accounts::ROUTES,
    roles::ROUTES,
    proxies::ROUTES,
    apis::ROUTES,
    sequences::ROUTES,
    endpoints::ROUTES,
    local_entries::ROUTES,
    tasks::ROUTES,
    stores::ROUTES,
    inbound::ROUTES,
    connectors::ROUTES,
    templates::ROUTES,
    data::ROUTES,
    applications::ROUTES,
    server::ROUTES,
    logging::ROUTES,
    configs::ROUTES,
    transactions::ROUTES,
    registry::ROUTES,
    observed::ROUTES,
    steps::ROUTES,
    problems::ROUTES,
    sources::ROUTES,
    reloads::ROUTES,
    log::ROUTES,
    traces::ROUTES,
    openapi::ROUTES,
];

/// The route of a path below the prefix, and what stands there for its part in braces.
///
/// Errors: the methods that the path offers, in the form of `Allow`; empty where it offers none.
pub(crate) fn find(path: &str, method: &str) -> Result<(&'static Route, Option<String>), String> {
    let path = path.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(path);
    let mut allowed = Vec::new();
    for route in ROUTES.iter().flat_map(|routes| routes.iter()) {
        let Some(item) = matched(route.path, path) else { continue };
        if route.method == method || (route.method == "GET" && method == "HEAD") {
            return Ok((route, item.map(str::to_owned)));
        }
        if !allowed.contains(&route.method) {
            allowed.push(route.method);
        }
        if route.method == "GET" && !allowed.contains(&"HEAD") {
            allowed.push("HEAD");
        }
    }
    if !allowed.is_empty() {
        allowed.push("OPTIONS");
    }
    Err(allowed.join(", "))
}

/// Whether a path is one of a pattern, and what stands for the part in braces.
fn matched<'a>(pattern: &str, path: &'a str) -> Option<Option<&'a str>> {
    match pattern.split_once('{') {
        None => (pattern == path).then_some(None),
        Some((before, _)) => path.strip_prefix(before).filter(|rest| !rest.is_empty()).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_finds_its_route_or_the_methods_that_it_offers() {
        let (route, item) = find("/users/WSO2.COM/ann", "GET").unwrap();
        assert_eq!((route.path, item.as_deref()), ("/users/{user_id}", Some("WSO2.COM/ann")));
        assert_eq!(find("/apis/", "HEAD").map(|(route, _)| route.path), Ok("/apis"));
        assert_eq!(find("/apis", "DELETE").err().as_deref(), Some("GET, HEAD, POST, OPTIONS"));
        for nothing in ["", "/", "/users/", "/apis/x", "/../apis", "/APIS", "//apis"] {
            let found = find(nothing, "GET");
            assert!(found.is_err() || nothing == "/users/", "{nothing}");
        }
    }

    #[test]
    fn every_route_has_a_sentence_and_no_two_are_the_same() {
        let mut seen = Vec::new();
        for route in ROUTES.iter().flat_map(|routes| routes.iter()) {
            assert!(route.path.starts_with('/') && route.summary.ends_with('.'), "{} {}", route.method, route.path);
            assert!(!seen.contains(&(route.method, route.path)), "{} {} is there twice", route.method, route.path);
            seen.push((route.method, route.path));
        }
    }
}
