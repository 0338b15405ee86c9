//! The management API: what an operator, the `mi` command line and the console read and change over HTTPS.
//!
//! Paths, fields and sentences are those of WSO2's Micro Integrator where it has them; what is ours lies below
//! `/management/myelin`. Everything here is plain functions from a request to an answer: who calls them sees to it that
//! they run on no thread that serves messages.

mod answer;
mod apis;
mod applications;
mod attempts;
mod call;
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
mod steps;
mod stores;
mod switching;
mod tasks;
mod templates;
mod tokens;
mod traces;
mod transaction_log;
mod transactions;
mod user_accounts;
mod users;

use std::sync::Arc;

pub use answer::ApiAnswer;
use answer::{Failure, failure};
use attempts::Attempter;
use call::Call;
pub use call::{Api, ApiOptions, PREFIX};
use myelin_message::StatusCode;
pub use request::ApiRequest;
use route::Access;
use routes::{ROUTES, find};
pub use transaction_log::TransactionLog;
pub use users::{ADMIN, PasswordError, Role, User, Users};

use crate::{FaultCounters, Process, Server};

impl Api {
    /// For a process and the users that it knows.
    pub fn new(
        process: Arc<dyn Process>,
        server: Server,
        faults: Arc<FaultCounters>,
        users: Users,
        options: ApiOptions,
    ) -> Api {
        Api::with_routes(ROUTES, process, server, faults, users, options)
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
        // Many who are logged in may have one address: that of a gateway, or of an SSH tunnel.
        let who = self.token_of(request).map_or_else(|| request.peer.into(), |claims| Attempter::Token(claims.id));
        if !self.requests.take(who, self.process.monotonic()) {
            return Err(failure(StatusCode::TOO_MANY_REQUESTS, "Too many requests; try again later")
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
}

/// The OpenAPI 3.1 description of the API, for whoever writes it to a file.
pub fn openapi() -> serde_json::Value {
    openapi::document(ROUTES)
}

/// The methods and paths that the API offers, for tests that walk them.
pub fn offered() -> Vec<(&'static str, &'static str)> {
    ROUTES.iter().flat_map(|routes| routes.iter()).map(|route| (route.method, route.path)).collect()
}
