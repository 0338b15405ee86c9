//! How a token is asked for: the grants of OAuth 2 (RFC 6749 §4.3, §4.4, §6).

use std::hash::{Hash, Hasher};
use std::time::Duration;

use http::Uri;

use crate::endpoints::address::{absolute, escape};
use crate::endpoints::authentication::value::{Value, basic};
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// What an `<oauth>` says.
pub(crate) struct Grant {
    kind: Kind,
    client_id: Value,
    client_secret: Value,
    token_url: Value,
    /// Whether the client says who it is in the form instead of a header line.
    in_payload: bool,
    parameters: Vec<(String, Value)>,
    headers: Vec<(String, Value)>,
    timeout: Duration,
}

enum Kind {
    ClientCredentials,
    Password { username: Value, password: Value },
    Refresh { token: Value },
}

/// What a grant may hold.
const OPTIONS: [&str; 14] = [
    "clientId",
    "clientSecret",
    "tokenUrl",
    "username",
    "password",
    "refreshToken",
    "authMode",
    "requestParameters",
    "customHeaders",
    "socketTimeout",
    "connectionTimeout",
    "connectionRequestTimeout",
    "useGlobalConnectionTimeoutConfigs",
    "useGlobalProxyConfigs",
];

/// A request for a token, worked out: two that are the same get the same token.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TokenRequest {
    pub(super) uri: Uri,
    pub(super) headers: Vec<(String, String)>,
    /// What is to be written as a form; the token that refreshes is the last.
    pub(super) form: Vec<(String, String)>,
    /// How long it may take in all.
    pub(super) timeout: Duration,
}

impl Hash for TokenRequest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.uri.hash(state);
        self.headers.hash(state);
        self.form.hash(state);
    }
}

/// How long a token may take where nothing says it.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Grant {
    /// Reads the one grant in an `<oauth>`.
    pub(super) fn read(oauth: &Element, loader: &mut Loader) -> Result<Grant, Problem> {
        let [element] = oauth.children.as_slice() else {
            return Err(oauth.problem("<oauth> holds one of clientCredentials, passwordCredentials, authorizationCode"));
        };
        let kind = match element.name.as_str() {
            "clientCredentials" => Kind::ClientCredentials,
            "passwordCredentials" => Kind::Password {
                username: Value::of_child(element, "username", loader)?,
                password: Value::of_child(element, "password", loader)?,
            },
            "authorizationCode" => Kind::Refresh { token: Value::of_child(element, "refreshToken", loader)? },
            _ => {
                let message = format!("{} is no grant of OAuth 2 that is offered", element.tag());
                let names = ["clientCredentials", "passwordCredentials", "authorizationCode"];
                return Err(element.misnamed(message, &names));
            }
        };
        let mut grant = Grant {
            kind,
            client_id: Value::of_child(element, "clientId", loader)?,
            client_secret: Value::of_child(element, "clientSecret", loader)?,
            token_url: Value::of_child(element, "tokenUrl", loader)?,
            in_payload: false,
            parameters: Vec::new(),
            headers: Vec::new(),
            timeout: TIMEOUT,
        };
        if let Value::Fixed(url) = &grant.token_url {
            let place = element.child("tokenUrl").unwrap_or(element);
            absolute(url).map_err(|message| place.problem(message))?;
        }
        for child in &element.children {
            grant.option(child, loader)?;
        }
        Ok(grant)
    }

    fn option(&mut self, child: &Element, loader: &mut Loader) -> Result<(), Problem> {
        let text = child.text();
        match child.name.as_str() {
            "clientId" | "clientSecret" | "tokenUrl" | "username" | "password" | "refreshToken" | "description" => {}
            "authMode" => match text.value.trim().to_ascii_lowercase().as_str() {
                "payload" => self.in_payload = true,
                "header" | "" => {}
                other => return Err(child.problem(format!("authMode {other:?} is neither header nor payload"))),
            },
            "requestParameters" => self.parameters = named(child, "parameter", loader)?,
            "customHeaders" => self.headers = named(child, "header", loader)?,
            "socketTimeout" => match text.value.trim().parse::<u64>() {
                Ok(milliseconds) if milliseconds > 0 => self.timeout = Duration::from_millis(milliseconds),
                Ok(_) => {}
                Err(_) if text.value.trim() == "-1" => {}
                Err(_) => return Err(child.problem(format!("{:?} is no time in milliseconds", text.value))),
            },
            "connectionTimeout" | "connectionRequestTimeout" => {
                loader.warning(child.problem(format!("{} has no effect: socketTimeout bounds it all", child.tag())));
            }
            "useGlobalConnectionTimeoutConfigs" | "useGlobalProxyConfigs" => {}
            _ => return Err(child.misnamed(format!("{} is not offered in a grant", child.tag()), &OPTIONS)),
        }
        Ok(())
    }

    /// Works out the request for one message.
    ///
    /// Errors: the bus's, where an expression cannot be evaluated or gives no address.
    pub(super) fn work_out(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<TokenRequest> {
        let text = |value: &Value| value.text(exchange, context);
        let url = text(&self.token_url)?;
        let uri = absolute(&url).map_err(|message| {
            Fault::bus("The address of a token server is not valid").with_detail(format!("{url:?}: {message}"))
        })?;
        let (id, secret) = (text(&self.client_id)?, text(&self.client_secret)?);
        let all = |values: &[(String, Value)]| {
            values.iter().map(|(name, value)| Ok((name.clone(), text(value)?))).collect::<Outcome<Vec<_>>>()
        };
        let mut headers = all(&self.headers)?;
        let mut form = vec![("grant_type".to_owned(), self.kind.name().to_owned())];
        if self.in_payload {
            form.push(("client_id".to_owned(), id));
            form.push(("client_secret".to_owned(), secret));
        } else {
            headers.push(("Authorization".to_owned(), basic(&id, &secret)));
        }
        form.extend(all(&self.parameters)?);
        match &self.kind {
            Kind::ClientCredentials => {}
            Kind::Password { username, password } => {
                form.push(("username".to_owned(), text(username)?));
                form.push(("password".to_owned(), text(password)?));
            }
            Kind::Refresh { token } => form.push((REFRESH_TOKEN.to_owned(), text(token)?)),
        }
        Ok(TokenRequest { uri, headers, form, timeout: self.timeout })
    }
}

/// The parameter that holds a token for getting others.
pub(super) const REFRESH_TOKEN: &str = "refresh_token";

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Kind::ClientCredentials => "client_credentials",
            Kind::Password { .. } => "password",
            Kind::Refresh { .. } => REFRESH_TOKEN,
        }
    }
}

impl TokenRequest {
    /// Its form, with a newer token for getting others where the server gave one.
    pub(super) fn body(&self, refresh: Option<&str>) -> String {
        let mut out = String::new();
        for (name, value) in &self.form {
            let value = refresh.filter(|_| name == REFRESH_TOKEN).unwrap_or(value);
            let separator = if out.is_empty() { "" } else { "&" };
            out.push_str(separator);
            escape(name, &mut out);
            out.push('=');
            escape(value, &mut out);
        }
        out
    }
}

/// The values of children that have names.
fn named(parent: &Element, name: &str, loader: &mut Loader) -> Result<Vec<(String, Value)>, Problem> {
    let children = parent.children.iter().filter(|child| child.is(name));
    children.map(|child| Ok((child.required("name")?.value.to_owned(), Value::of(child.text(), loader)?))).collect()
}
