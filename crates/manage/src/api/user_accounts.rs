//! `/users`: who may use the management API.

use myelin_message::StatusCode;

use super::answer::{ApiAnswer, Failure, bad_request, failure, item, list, object};
use super::call::{Api, Call};
use super::filter::glob;
use super::request::{Caller, required_text, text_of};
use super::route::{Access, Body, Route, SEARCH, Shape, field, optional};
use super::users::{ADMIN, User, Users};

const DOMAIN: super::route::Parameter = optional("domain", "Has no effect: there is one store of users");

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/users",
        access: Access::Admin,
        summary: "Lists the users.",
        parameters: &[
            optional("pattern", "Only names like this one, with * for any letters"),
            optional("role", "Only users with this role"),
            SEARCH,
        ],
        answer: Shape::List(&[field("userId", "string", "The name")]),
        handler: all,
        ..Route::READ
    },
    Route {
        path: "/users",
        summary: "Adds a user.",
        body: Body::Json(
            &[
                field("userId", "string", "The name"),
                field("password", "string", "The password"),
                field("isAdmin", "boolean", "Whether the user may change something"),
                field("domain", "string", "Has no effect"),
            ],
            2,
        ),
        answer: Shape::Object(&[field("userId", "string", "The name"), field("status", "string", "Added")]),
        handler: add,
        ..Route::CHANGE
    },
    Route {
        path: "/users/{user_id}",
        access: Access::Admin,
        summary: "Tells of a user.",
        parameters: &[DOMAIN],
        answer: Shape::Object(&[
            field("userId", "string", "The name"),
            field("isAdmin", "boolean", "Whether the user may change something"),
            field("roles", "array", "The roles"),
        ]),
        handler: one,
        ..Route::READ
    },
    Route {
        method: "PATCH",
        path: "/users/{user_id}",
        access: Access::User,
        summary: "Changes the password of a user: the own one, or as an admin that of a user who is none.",
        parameters: &[DOMAIN],
        body: Body::Json(
            &[
                field("newPassword", "string", "The new password"),
                field("confirmPassword", "string", "The same again"),
                field("oldPassword", "string", "The own password as it is"),
            ],
            2,
        ),
        answer: Shape::Object(&[field("userId", "string", "The name"), field("status", "string", "Password updated")]),
        handler: change_password,
    },
    Route {
        method: "DELETE",
        path: "/users/{user_id}",
        summary: "Removes a user.",
        parameters: &[DOMAIN],
        answer: Shape::Object(&[field("userId", "string", "The name"), field("status", "string", "Deleted")]),
        handler: remove,
        ..Route::CHANGE
    },
];

/// There is no such user, in the words of Micro Integrator.
pub(super) fn no_user(name: &str) -> Failure {
    failure(StatusCode::NOT_FOUND, format!("Requested resource not found. User: {name} cannot be found."))
}

fn all(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let users = call.api.users();
    let pattern = call.query("pattern").unwrap_or("*");
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let role = call.query("role");
    let chosen = users.all().filter(|user| {
        glob(pattern, &user.name)
            && user.name.to_lowercase().contains(&search)
            && role.is_none_or(|role| user.roles.contains(role))
    });
    Ok(list(chosen.map(|user| object([("userId", user.name.as_str().into())])).collect()))
}

fn one(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let users = call.api.users();
    let user = users.find(&call.item).ok_or_else(|| no_user(&call.item))?;
    item(&object([
        ("userId", user.name.as_str().into()),
        ("isAdmin", user.is_admin().into()),
        ("roles", user.roles.iter().map(String::as_str).collect()),
    ]))
}

impl Api {
    /// Changes the users and keeps them; where they cannot be kept nothing has changed.
    pub(super) fn change_users<T>(&self, change: impl FnOnce(&mut Users) -> Result<T, Failure>) -> Result<T, Failure> {
        let mut users = self.users();
        let mut changed = users.clone();
        let outcome = change(&mut changed)?;
        self.process
            .keep_users(&users.to_text(), &changed.to_text())
            .map_err(|reason| failure(StatusCode::CONFLICT, format!("The users cannot be written: {reason}")))?;
        *users = changed;
        Ok(outcome)
    }
}

/// What a change of a user is answered with.
pub(super) fn changed(name: &str, status: &str) -> Result<ApiAnswer, Failure> {
    item(&object([("userId", name.into()), ("status", status.into())]))
}

fn add(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let body = call.json()?;
    let name = required_text(&body, "userId")?;
    let password = match body.get("password").and_then(serde_json::Value::as_str) {
        Some(password) if !password.is_empty() => password,
        _ => return Err(bad_request("password is missing in the body")),
    };
    // The `mi` client sends a text.
    let is_admin = match text_of(&body, "isAdmin")?.as_deref() {
        Some("true") => true,
        None | Some("false") => false,
        Some(_) => return Err(bad_request("isAdmin has to be true or false")),
    };
    // Hashing takes its time, so it is done before the lock.
    let user = User::new(&name, password, is_admin).map_err(|error| bad_request(error.0))?;
    call.api.change_users(|users| {
        if users.add(user) {
            Ok(())
        } else {
            Err(failure(
                StatusCode::CONFLICT,
                format!("The user : {name} already exists, or there is no room for more users"),
            ))
        }
    })?;
    changed(&name, "Added")
}

fn change_password(call: &Call<'_>, caller: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let body = call.json()?;
    let [new, confirmed] = ["newPassword", "confirmPassword"].map(|name| {
        body.get(name)
            .and_then(serde_json::Value::as_str)
            .ok_or_else(|| bad_request(format!("{name} is missing in the body")))
    });
    let (new, confirmed) = (new?, confirmed?);
    if new != confirmed {
        return Err(bad_request("newPassword and confirmPassword differ"));
    }
    let Some(caller) = caller else { return Err(super::answer::not_found()) };
    let name = call.item.as_str();
    let is_own = caller.name == name;
    if !is_own && !caller.is_admin {
        return Err(Failure::bare(StatusCode::FORBIDDEN));
    }
    let target_is_admin = call.api.users().find(name).ok_or_else(|| no_user(name))?.is_admin();
    if !is_own && target_is_admin {
        return Err(failure(
            StatusCode::FORBIDDEN,
            "An admin changes the own password, and those of users who are no admins",
        ));
    }
    if is_own {
        let old = body.get("oldPassword").and_then(serde_json::Value::as_str).unwrap_or_default();
        if !call.api.failures.allows(call.request.peer, call.api.process.monotonic()) {
            return Err(failure(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many wrong passwords from this address; try again later",
            ));
        }
        let to_verify = call.api.users().to_verify(name);
        if to_verify.verify(old).is_none() {
            call.api.failures.take(call.request.peer, call.api.process.monotonic());
            return Err(bad_request("oldPassword is wrong"));
        }
    }
    let mut made = User::new("x", new, false).map_err(|error| bad_request(error.0))?;
    call.api.change_users(|users| {
        let user = users.find_mut(name).ok_or_else(|| no_user(name))?;
        refuse_fixed(user)?;
        made.name.clone_from(&user.name);
        made.roles.clone_from(&user.roles);
        *user = made;
        Ok(())
    })?;
    changed(name, "Password updated")
}

/// Those of a `deployment.toml` are changed there.
pub(super) fn refuse_fixed(user: &User) -> Result<(), Failure> {
    if user.is_fixed {
        let sentence = format!("User {} stands in deployment.toml, and has to be changed there", user.name);
        return Err(failure(StatusCode::CONFLICT, sentence));
    }
    Ok(())
}

/// That somebody can still change something.
pub(super) fn refuse_last_admin(users: &Users) -> Result<(), Failure> {
    if users.all().any(User::is_admin) {
        return Ok(());
    }
    Err(failure(StatusCode::CONFLICT, format!("This would leave no user with the role {ADMIN}")))
}

fn remove(call: &Call<'_>, caller: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let name = call.item.as_str();
    call.api.change_users(|users| {
        refuse_fixed(users.find(name).ok_or_else(|| no_user(name))?)?;
        if caller.is_some_and(|caller| caller.name == name) {
            return Err(failure(
                StatusCode::CONFLICT,
                "Attempt to delete the logged in user. This operation is not allowed.",
            ));
        }
        users.remove(name);
        refuse_last_admin(users)
    })?;
    changed(name, "Deleted")
}
