//! `/login` and `/logout`: a name and a password become a token, and a token ends.

use std::sync::PoisonError;

use myelin_message::StatusCode;

use super::answer::{ApiAnswer, Failure, failure, item, object};
use super::call::{Api, Call, LOGINS};
use super::request::Caller;
use super::route::{Access, Route, Shape, field};

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/login",
        access: Access::Password,
        summary: "Gives a token to a user who brings name and password in the header Authorization (Basic).",
        answer: Shape::Object(&[field("AccessToken", "string", "The token, for Authorization: Bearer")]),
        handler: login,
        ..Route::READ
    },
    Route {
        path: "/logout",
        summary: "Makes the token of the request good for nothing.",
        answer: Shape::Nothing,
        handler: logout,
        ..Route::READ
    },
    Route {
        path: "/myelin/session",
        summary: "Tells who the token of the request belongs to.",
        answer: Shape::Object(&[
            field("userId", "string", "The user"),
            field("isAdmin", "boolean", "Whether the user may change something"),
        ]),
        handler: |_, caller| {
            let caller = caller.ok_or_else(super::answer::not_found)?;
            item(&object([("userId", caller.name.as_str().into()), ("isAdmin", caller.is_admin.into())]))
        },
        ..Route::READ
    },
];

/// A place among those whose passwords are looked at.
struct LoginPermit<'a>(&'a Api);

impl<'a> LoginPermit<'a> {
    fn take(api: &'a Api) -> Option<LoginPermit<'a>> {
        let mut taken = api.logins.lock().unwrap_or_else(PoisonError::into_inner);
        if *taken >= LOGINS {
            return None;
        }
        *taken += 1;
        Some(LoginPermit(api))
    }
}

impl Drop for LoginPermit<'_> {
    fn drop(&mut self) {
        *self.0.logins.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

fn login(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let Call { api, request, .. } = call;
    let too_many = |sentence: &str, seconds: &str| {
        failure(StatusCode::TOO_MANY_REQUESTS, sentence).with_header("Retry-After", seconds)
    };
    let Some((name, password)) = request.basic() else {
        let failure =
            failure(StatusCode::UNAUTHORIZED, "Name and password are needed in the header Authorization: Basic");
        return Err(failure.with_header("WWW-Authenticate", "Basic realm=\"management\", charset=\"UTF-8\""));
    };
    if !api.failures.allows(request.peer, api.process.monotonic()) {
        api.audit(request.peer, &name, "login", "refused: too many wrong passwords from this address");
        return Err(too_many("Too many wrong passwords from this address; try again later", "300"));
    }
    let Some(_permit) = LoginPermit::take(api) else {
        return Err(too_many("Too many log in at once; try again", "1"));
    };
    // The lock is given back before the password is looked at, which takes its time.
    let to_verify = api.users().to_verify(&name);
    let Some(user) = to_verify.verify(&password) else {
        // Counted before it is answered, so that attempts in parallel count as well.
        api.failures.take(request.peer, api.process.monotonic());
        api.audit(request.peer, &name, "login", "refused: wrong name or password");
        let failure = failure(StatusCode::UNAUTHORIZED, "The name or the password is wrong");
        return Err(failure.with_header("WWW-Authenticate", "Basic realm=\"management\", charset=\"UTF-8\""));
    };
    api.failures.forget(request.peer);
    let token = api.tokens.give(&user.name, user.is_admin(), user.mark(), api.now(), api.options.token_expiry);
    api.audit(request.peer, &user.name, "login", "done");
    item(&object([("AccessToken", token.into())]))
}

fn logout(call: &Call<'_>, caller: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    if let Some(caller) = caller {
        call.api.tokens.revoke(&caller.token);
        call.api.audit(call.request.peer, &caller.name, "logout", "done");
    }
    Ok(ApiAnswer::empty(StatusCode::OK))
}
