//! What handlers are given: the API with what it knows, and one request on its way.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use myelin_message::StatusCode;

use super::answer::{ApiAnswer, Failure, failure, object};
use super::attempts::Attempts;
use super::request::{ApiRequest, Caller};
use super::route::Route;
use super::tokens::{Claims, Tokens};
use super::transaction_log::TransactionLog;
use super::users::Users;
use crate::{FaultCounters, Process, Server};

/// The path that all of it lies below.
pub const PREFIX: &str = "/management";

/// How many passwords are looked at at once, and how many wait for that: each takes memory and time by design.
pub(super) const LOGINS: usize = 6;

/// What of the management API can be set.
#[derive(Clone, Debug)]
pub struct ApiOptions {
    /// How long a token is good for. Default: 1 hour.
    pub token_expiry: Duration,
    /// How many tokens there are at once; the oldest goes first. Default: 200.
    pub tokens: usize,
    /// How many requests may come with one token in a minute, and how many from one address without a token; beyond it
    /// 429. Default: 1,200.
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
    pub(super) routes: &'static [&'static [Route]],
    pub(super) process: Arc<dyn Process>,
    pub(super) server: Server,
    pub(super) faults: Arc<FaultCounters>,
    pub(super) transactions: TransactionLog,
    pub(super) options: ApiOptions,
    pub(super) tokens: Tokens,
    pub(super) users: Mutex<Users>,
    /// Wrong passwords by address.
    pub(super) failures: Attempts,
    /// Requests by address.
    pub(super) requests: Attempts,
    pub(super) logins: Mutex<usize>,
}

impl Api {
    /// With these routes, for a process and the users that it knows.
    pub(super) fn with_routes(
        routes: &'static [&'static [Route]],
        process: Arc<dyn Process>,
        server: Server,
        faults: Arc<FaultCounters>,
        users: Users,
        options: ApiOptions,
    ) -> Api {
        Api {
            routes,
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

    /// Reads the users anew, as when their file was changed; tokens of those that are gone or changed end.
    ///
    /// Nobody changes users meanwhile: what is read would take such a change back.
    /// Errors: those of `read`, and the users stay as they were.
    pub fn renew_users<E>(&self, read: impl FnOnce() -> Result<Users, E>) -> Result<(), E> {
        let mut users = self.users();
        *users = read()?;
        Ok(())
    }

    /// What the token of a request says; `None` where it has none that is good.
    pub(super) fn token_of(&self, request: &ApiRequest) -> Option<Claims> {
        self.tokens.check(request.bearer()?, self.process.now())
    }

    /// Who sent a request, by its token.
    pub(super) fn caller(&self, request: &ApiRequest) -> Result<Caller, Failure> {
        let unauthorised = || {
            failure(StatusCode::UNAUTHORIZED, "A valid token is needed; /management/login gives one")
                .with_header("WWW-Authenticate", "Bearer realm=\"management\"")
        };
        let claims = self.token_of(request).ok_or_else(unauthorised)?;
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        // A token of a user that is gone, or whose password was changed, is good for nothing.
        let user = users.find(&claims.subject).filter(|user| user.mark() == claims.mark).ok_or_else(unauthorised)?;
        Ok(Caller { name: user.name.clone(), is_admin: user.is_admin(), token: claims.id })
    }

    /// Writes a line to the audit log. What comes from outside is shortened and cannot break the line.
    pub(super) fn audit(&self, peer: IpAddr, user: &str, what: &str, outcome: &str) {
        let told = |text: &str| -> String { text.chars().filter(|letter| !letter.is_control()).take(300).collect() };
        tracing::info!(target: "myelin::audit", %peer, user = told(user), action = told(what), outcome = told(outcome), "audit");
    }

    pub(super) fn users(&self) -> std::sync::MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> SystemTime {
        self.process.now()
    }
}

/// One request on its way to its handler.
pub(crate) struct Call<'a> {
    pub(super) api: &'a Api,
    pub(super) request: &'a ApiRequest,
    /// What stands in the path for a part in braces.
    pub(super) item: String,
}

impl Call<'_> {
    /// What a query says under a name; `None` where it says nothing, or nothing in it.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.request.query(name).filter(|text| !text.is_empty())
    }

    /// The same where it has to be there.
    pub(super) fn required(&self, name: &str) -> Result<&str, Failure> {
        self.query(name)
            .ok_or_else(|| failure(StatusCode::BAD_REQUEST, format!("The query parameter {name} is missing")))
    }

    /// The body as a JSON object.
    pub(super) fn json(&self) -> Result<serde_json::Map<String, serde_json::Value>, Failure> {
        self.request.json_object()
    }

    /// What a change is about, for the audit log.
    pub(super) fn subject(&self) -> String {
        let names = ["name", "userId", "role", "status", "trace", "loggerName", "loggingLevel", "configName"];
        let Ok(body) = self.json() else { return String::new() };
        let told = names.iter().filter_map(|name| Some(format!(" {name}={}", body.get(*name)?.as_str()?)));
        told.collect()
    }

    pub(super) fn check_parameters(&self, route: &Route) -> Result<(), Failure> {
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

/// An answer to a change as Micro Integrator gives it: an object of one sentence.
pub(super) fn told(key: &str, sentence: impl Into<String>) -> Result<ApiAnswer, Failure> {
    Ok(ApiAnswer::json(StatusCode::OK, &object([(key, sentence.into().into())])))
}
