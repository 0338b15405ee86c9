//! The `<handlers>` of an API: the classes that are known by name, and their properties.

use std::collections::HashMap;
use std::time::Duration;

use http::Uri;
use myelin_message::{is_token, is_value};

use crate::apis::{Algorithm, Basic, Cors, Handler, OAuth, Rules};
use crate::endpoints;
use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;

/// How long the keys of an issuer may take; what Micro Integrator allows for each step of it.
const KEYS_TIMEOUT: Duration = Duration::from_secs(3);

/// What stands before every API because the operator says so.
///
/// Source: `SynapseCORSConfiguration` of WSO2's Synapse.
pub(crate) fn of_operator(loader: &Loader) -> Option<Handler> {
    let settings = loader.settings.cors.as_ref()?;
    let (allowed_origins, allow_headers) = (settings.allowed_origins.clone(), settings.allow_headers.clone());
    Some(Handler::Cors(Cors { allowed_origins, allow_headers, ..Cors::default() }))
}

/// Reads the handlers of an API, in order; the problems of faulty ones are left with the loader.
pub(crate) fn handlers(element: &Element, loader: &mut Loader) -> Vec<Handler> {
    let mut handlers = Vec::new();
    for child in &element.children {
        match handler(child, loader) {
            // As in Micro Integrator, where the handler of an API steps back behind what holds for all.
            Ok(Handler::Cors(_)) if loader.settings.cors.is_some() => loader.warning(child.problem(
                "this handler has no effect: [synapse_properties] 'synapse.rest.CORSConfig.enabled' of deployment.toml \
                 sets CORS for all APIs",
            )),
            Ok(handler) => handlers.push(handler),
            Err(problem) => {
                child.forgive_all_but_misspelt();
                loader.problem(problem);
            }
        }
    }
    handlers
}

fn handler(element: &Element, loader: &mut Loader) -> Result<Handler, Problem> {
    if !element.is("handler") {
        return Err(element.problem(format!("{} is no handler", element.tag())));
    }
    let class = element.required("class")?;
    let mut settings = Settings::of(element)?;
    // The package changed its name over the years, the classes did not.
    let simple = class.value.trim().rsplit('.').next().unwrap_or_default();
    let is_known = class.value.trim().starts_with("org.wso2.");
    let handler = match simple {
        "CORSRequestHandler" if is_known => Handler::Cors(cors(&mut settings, element)?),
        "RESTBasicAuthHandler" if is_known => {
            if loader.security.users.is_empty() {
                let message = "nobody can come in: the deployment has no users ([myelin.security.users])";
                loader.warning(class.problem(message));
            }
            Handler::Basic(Basic::new(loader.security.users.clone()))
        }
        "OAuth2AuthorizationHandler" if is_known => Handler::OAuth(Box::new(oauth(&mut settings, element)?)),
        _ => {
            return Err(class.problem(format!(
                "handler {:?} names a JVM class, which cannot run in a native program: CORSRequestHandler, \
                 RESTBasicAuthHandler and OAuth2AuthorizationHandler of org.wso2 are known, and mediators can do the rest",
                class.value
            )));
        }
    };
    for (_, text) in settings.0 {
        loader.warning(text.problem("this property has no effect"));
    }
    Ok(handler)
}

/// The properties of a handler that nobody has read yet.
struct Settings<'a>(HashMap<&'a str, Text<'a>>);

impl<'a> Settings<'a> {
    fn of(element: &'a Element) -> Result<Settings<'a>, Problem> {
        let mut settings = HashMap::new();
        for child in &element.children {
            if !child.is("property") {
                return Err(child.problem(format!("<handler> holds properties, not {}", child.tag())));
            }
            settings.insert(child.required("name")?.value.trim(), child.required("value")?);
        }
        Ok(Settings(settings))
    }

    fn take(&mut self, name: &str) -> Option<Text<'a>> {
        self.0.remove(name)
    }

    /// The members of a list with commas.
    fn list(&mut self, name: &str) -> Vec<String> {
        let text = self.take(name).map_or("", |text| text.value);
        text.split(',').map(str::trim).filter(|member| !member.is_empty()).map(str::to_owned).collect()
    }

    fn is_true(&mut self, name: &str, usual: bool) -> bool {
        self.take(name).map_or(usual, |text| text.value.trim().eq_ignore_ascii_case("true"))
    }

    /// A text that is sent in a header line.
    fn header_value(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.take(name) {
            Some(text) if !is_value(text.value.as_bytes()) => Err(text.problem("no header line can hold this")),
            text => Ok(text.map(|text| text.value.trim().to_owned())),
        }
    }

    /// A switch that cannot be on.
    fn refuse(&mut self, name: &str, message: &str) -> Result<(), Problem> {
        match self.take(name) {
            Some(text) if !text.value.trim().eq_ignore_ascii_case("false") => Err(text.problem(message)),
            _ => Ok(()),
        }
    }
}

fn cors(settings: &mut Settings<'_>, element: &Element) -> Result<Cors, Problem> {
    let cors = Cors {
        allowed_origins: settings.list("allowedOrigins"),
        allowed_methods: settings.list("allowedMethods"),
        allow_headers: settings.header_value("allowHeaders")?,
        allow_credentials: settings.is_true("allowCredentials", false),
        max_age: settings.header_value("maxAge")?,
    };
    if cors.allowed_origins.is_empty() {
        return Err(element.problem("<handler>: property allowedOrigins is missing, so that nobody would be allowed"));
    }
    match cors.allowed_methods.iter().find(|method| !is_token(method.as_bytes())) {
        Some(method) => Err(element.problem(format!("<handler>: {method:?} in allowedMethods is no method"))),
        None => Ok(cors),
    }
}

fn oauth(settings: &mut Settings<'_>, element: &Element) -> Result<OAuth, Problem> {
    settings.refuse("enableProxy", "a proxy between bus and issuer is not offered")?;
    settings
        .refuse("enableClientCertificateValidation", "tokens that are bound to certificates are not offered yet")?;
    settings.refuse("tokenRevocationHandler", "this names a JVM class, which cannot run in a native program")?;
    let needs = |name: &str| element.problem(format!("<handler>: property {name} is missing"));
    let address = settings.take("jwksEndpoint").ok_or_else(|| needs("jwksEndpoint"))?;
    let address: Uri = endpoints::absolute(address.value).map_err(|message| address.problem(message))?;
    let issuers = settings.list("trustedIssuers");
    if issuers.is_empty() {
        return Err(needs("trustedIssuers"));
    }
    let named = settings.take("allowedAlgorithms");
    let algorithms = named.map_or(Ok(Algorithm::usual()), |text| {
        let names = text.value.split(',').map(str::trim);
        let known =
            names.map(|name| Algorithm::of(name).ok_or_else(|| text.problem(format!("{name:?} is not offered"))));
        known.collect()
    })?;
    let mut duration = |name: &str, unit: fn(u64) -> Duration| match settings.take(name) {
        Some(text) => match text.value.trim().parse() {
            Ok(number) => Ok(Some(unit(number))),
            Err(_) => Err(text.problem(format!("{name} is no number"))),
        },
        None => Ok(None),
    };
    let age_max = duration("maxIssuedAtAgeSeconds", Duration::from_secs)?;
    let timeouts = ["connectionTimeout", "socketTimeout", "connectionRequestTimeout"];
    let timeouts = timeouts.map(|name| duration(name, Duration::from_millis));
    let mut timeout = None;
    for limit in timeouts {
        timeout = timeout.max(limit?);
    }
    let header = settings.take("authorizationHeader");
    if let Some(text) = header.filter(|text| !is_token(text.value.as_bytes())) {
        return Err(text.problem("this is no name of a header"));
    }
    let rules = Rules {
        issuers,
        audience: settings.list("audience"),
        algorithms,
        age_max,
        ignores_binding: settings.is_true("disableCNFValidation", false),
    };
    let header = header.map_or("Authorization", |text| text.value).to_owned();
    let remove_header = settings.is_true("removeOAuthHeadersFromOutMessage", true);
    // Zero is Java's word for no limit, which nothing here has.
    let timeout = timeout.filter(|limit| !limit.is_zero()).unwrap_or(KEYS_TIMEOUT);
    Ok(OAuth::new(rules, header, remove_header, address, timeout))
}
