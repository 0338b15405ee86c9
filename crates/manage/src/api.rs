//! The management API: what an operator, the `mi` command line and the console read and change over HTTPS.
//!
//! Paths, fields and sentences are those of WSO2's Micro Integrator where it has them; what is ours lies below
//! `/management/myelin`. Everything here is plain functions from a request to an answer: who calls them sees to it that
//! they run on no thread that serves messages.

mod answer;
mod apis;
mod applications;
mod attempts;
mod configs;
mod connectors;
mod data;
mod definition;
mod endpoints;
mod excerpt;
mod filter;
mod inbound;
mod local_entries;
mod log;
mod logging;
mod login;
mod masking;
mod observed;
mod openapi;
mod problems;
mod proxies;
mod registry;
mod reloads;
mod request;
mod roles;
mod route;
mod routes;
mod sequences;
mod server;
mod sources;
mod stores;
mod switching;
mod tasks;
mod templates;
mod tokens;
mod traces;
mod transactions;
mod user_accounts;
mod users;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

pub use answer::ApiAnswer;
use answer::{Failure, failure, object};
use attempts::Attempts;
pub use masking::mask;
use myelin_message::StatusCode;
pub use request::ApiRequest;
use request::Caller;
use route::{Access, Route};
use routes::{ROUTES, find};
use tokens::Tokens;
pub use transactions::TransactionLog;
pub use users::{PasswordError, Role, User, Users};

use crate::{FaultCounters, Process, Server};

/// The path that all of it lies below.
pub const PREFIX: &str = "/management";

/// How many passwords are looked at at once, and how many wait for that: each takes memory and time by design.
const LOGINS: usize = 6;

/// What of the management API can be set.
#[derive(Clone, Debug)]
pub struct ApiOptions {
    /// How long a token is good for. Default: 1 hour.
    pub token_expiry: Duration,
    /// How many tokens there are at once; the oldest goes first. Default: 200.
    pub tokens: usize,
    /// How many requests one address may make in a minute; beyond it 429. Default: 1,200.
    pub requests_per_minute: u32,
    /// How many wrong passwords one address may try in five minutes; beyond it 429. Default: 10.
    pub failures: u32,
    /// The largest archive or registry resource that is taken, in bytes. Default: 64 MiB.
    pub upload_bytes: u64,
}

impl Default for ApiOptions {
    fn default() -> ApiOptions {
        ApiOptions {
            token_expiry: Duration::from_secs(3600),
            tokens: 200,
            requests_per_minute: 1200,
            failures: 10,
            upload_bytes: 64 << 20,
        }
    }
}

/// Answers requests to the management API.
pub struct Api {
    process: Arc<dyn Process>,
    server: Server,
    faults: Arc<FaultCounters>,
    transactions: TransactionLog,
    options: ApiOptions,
    tokens: Tokens,
    users: Mutex<Users>,
    /// Wrong passwords by address.
    failures: Attempts,
    /// Requests by address.
    requests: Attempts,
    logins: Mutex<usize>,
}

impl Api {
    /// For a process and the users that it knows.
    pub fn new(
        process: Arc<dyn Process>,
        server: Server,
        faults: Arc<FaultCounters>,
        users: Users,
        options: ApiOptions,
    ) -> Api {
        Api {
            process,
            server,
            faults,
            transactions: TransactionLog::default(),
            tokens: Tokens::new(options.tokens),
            users: Mutex::new(users),
            failures: Attempts::new(options.failures, Duration::from_secs(300)),
            requests: Attempts::new(options.requests_per_minute, Duration::from_secs(60)),
            logins: Mutex::new(0),
            options,
        }
    }

    /// The largest body of a request, in bytes.
    pub fn body_bytes(&self) -> u64 {
        self.options.upload_bytes
    }

    /// Takes users that were read anew, as after a reload; tokens of those that are gone or changed end.
    pub fn set_users(&self, users: Users) {
        *self.users.lock().unwrap_or_else(PoisonError::into_inner) = users;
    }

    /// The answer to a request.
    ///
    /// It blocks: on the disk, on passwords, and on a reload where the request asks for one.
    /// Errors: none of its own; whatever goes wrong is an answer from 400 on, `{"Error": sentence}`.
    pub fn answer(&self, request: &ApiRequest) -> ApiAnswer {
        let mut answer = self.answered(request).unwrap_or_else(|failure| failure.into_answer());
        answer.secure();
        answer
    }

    fn answered(&self, request: &ApiRequest) -> Result<ApiAnswer, Failure> {
        if !self.requests.take(request.peer, self.process.monotonic()) {
            return Err(failure(StatusCode::TOO_MANY_REQUESTS, "Too many requests from this address; try again later")
                .with_header("Retry-After", "60"));
        }
        let path = request.path.strip_prefix(PREFIX).unwrap_or(&request.path);
        let (route, item) = match find(path, &request.method) {
            Ok(found) => found,
            Err(allowed) if allowed.is_empty() => {
                return Err(failure(StatusCode::NOT_FOUND, "The management API has nothing at this path"));
            }
            Err(allowed) if request.method == "OPTIONS" => {
                return Ok(ApiAnswer::empty(StatusCode::NO_CONTENT).with_header("Allow", &allowed));
            }
            Err(allowed) => {
                return Err(failure(StatusCode::METHOD_NOT_ALLOWED, "This path does not offer this method")
                    .with_header("Allow", &allowed));
            }
        };
        let call = Call { api: self, request, item: item.unwrap_or_default() };
        let caller = match route.access {
            Access::Anybody => None,
            Access::Password => None,
            Access::User | Access::Admin => Some(self.caller(request)?),
        };
        if route.access == Access::Admin && !caller.as_ref().is_some_and(|caller| caller.is_admin) {
            let caller = caller.map_or_else(String::new, |caller| caller.name);
            self.audit(request.peer, &caller, &format!("{} {}", route.method, route.path), "refused: not an admin");
            // As in Micro Integrator: the `mi` client shows the status where the body is empty.
            return Err(Failure::bare(StatusCode::FORBIDDEN));
        }
        call.check_parameters(route)?;
        let outcome = (route.handler)(&call, caller.as_ref());
        if route.is_change()
            && let Some(caller) = &caller
        {
            let what = format!("{} {}{}", route.method, request.path, call.subject());
            let told = match &outcome {
                Ok(_) => "done".to_owned(),
                Err(failure) => format!("failed: {}", failure.sentence()),
            };
            self.audit(request.peer, &caller.name, &what, &told);
        }
        outcome
    }

    /// Who sent a request, by its token.
    fn caller(&self, request: &ApiRequest) -> Result<Caller, Failure> {
        let unauthorised = || {
            failure(StatusCode::UNAUTHORIZED, "A valid token is needed; /management/login gives one")
                .with_header("WWW-Authenticate", "Bearer realm=\"management\"")
        };
        let token = request.bearer().ok_or_else(unauthorised)?;
        let claims = self.tokens.check(token, self.process.now()).ok_or_else(unauthorised)?;
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        // A token of a user that is gone, or whose password was changed, is good for nothing.
        let user = users.find(&claims.subject).filter(|user| user.mark() == claims.mark).ok_or_else(unauthorised)?;
        Ok(Caller { name: user.name.clone(), is_admin: user.is_admin(), token: claims.id })
    }

    /// Writes a line to the audit log. What comes from outside is shortened and cannot break the line.
    fn audit(&self, peer: IpAddr, user: &str, what: &str, outcome: &str) {
        let told = |text: &str| -> String { text.chars().filter(|letter| !letter.is_control()).take(300).collect() };
        tracing::info!(target: "myelin::audit", %peer, user = told(user), action = told(what), outcome = told(outcome), "audit");
    }

    fn users(&self) -> std::sync::MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> SystemTime {
        self.process.now()
    }
}

/// One request on its way to its handler.
struct Call<'a> {
    api: &'a Api,
    request: &'a ApiRequest,
    /// What stands in the path for a part in braces.
    item: String,
}

impl Call<'_> {
    /// What a query says under a name; `None` where it says nothing, or nothing in it.
    fn query(&self, name: &str) -> Option<&str> {
        self.request.query(name).filter(|text| !text.is_empty())
    }

    /// The same where it has to be there.
    fn required(&self, name: &str) -> Result<&str, Failure> {
        self.query(name)
            .ok_or_else(|| failure(StatusCode::BAD_REQUEST, format!("The query parameter {name} is missing")))
    }

    /// The body as a JSON object.
    fn json(&self) -> Result<serde_json::Map<String, serde_json::Value>, Failure> {
        self.request.json_object()
    }

    /// What a change is about, for the audit log.
    fn subject(&self) -> String {
        let names = ["name", "userId", "role", "status", "trace", "loggerName", "loggingLevel", "configName"];
        let Ok(body) = self.json() else { return String::new() };
        let told = names.iter().filter_map(|name| Some(format!(" {name}={}", body.get(*name)?.as_str()?)));
        told.collect()
    }

    fn check_parameters(&self, route: &Route) -> Result<(), Failure> {
        for (name, _) in &self.request.query {
            if !route.parameters.iter().any(|parameter| parameter.name == name) {
                let known: Vec<&str> = route.parameters.iter().map(|parameter| parameter.name).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let name: String = name.chars().take(60).collect();
                return Err(failure(
                    StatusCode::BAD_REQUEST,
                    format!("The query parameter {name:?} is not known here; known: {known}"),
                ));
            }
        }
        Ok(())
    }
}

/// The OpenAPI 3.1 description of the API, for whoever writes it to a file.
pub fn openapi() -> serde_json::Value {
    openapi::document(ROUTES)
}

/// The methods and paths that the API offers, for tests that walk them.
pub fn offered() -> Vec<(&'static str, &'static str)> {
    ROUTES.iter().flat_map(|routes| routes.iter()).map(|route| (route.method, route.path)).collect()
}

/// An answer to a change as Micro Integrator gives it: an object of one sentence.
fn told(key: &str, sentence: impl Into<String>) -> Result<ApiAnswer, Failure> {
    Ok(ApiAnswer::json(StatusCode::OK, &object([(key, sentence.into().into())])))
}
