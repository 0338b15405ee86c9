//! `/roles`: what users may do. The role `admin` changes things; others are only names.

use myelin_message::StatusCode;
use serde_json::{Map, Value};

use super::answer::{ApiAnswer, Failure, bad_request, failure, item, list, object};
use super::call::Call;
use super::request::{Caller, required_text};
use super::route::{Access, Body, Route, SEARCH, Shape, field, optional};
use super::user_accounts::{changed, no_user, refuse_fixed, refuse_last_admin};
use super::users::{ADMIN, is_name};

const DOMAIN: super::route::Parameter = optional("domain", "Has no effect: there is one store of users");

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/roles",
        access: Access::Admin,
        summary: "Lists the roles.",
        parameters: &[SEARCH],
        answer: Shape::List(&[field("role", "string", "The name")]),
        handler: all,
        ..Route::READ
    },
    Route {
        path: "/roles",
        summary: "Adds a role.",
        body: Body::Json(&[field("role", "string", "The name"), field("domain", "string", "Has no effect")], 1),
        answer: Shape::Object(&[field("role", "string", "The name"), field("status", "string", "Added")]),
        handler: add,
        ..Route::CHANGE
    },
    Route {
        method: "PUT",
        path: "/roles",
        summary: "Gives roles to a user and takes others.",
        body: Body::Json(
            &[
                field("userId", "string", "The user"),
                field("addedRoles", "array", "What the user gets"),
                field("removedRoles", "array", "What the user loses"),
                field("domain", "string", "Has no effect"),
            ],
            1,
        ),
        answer: Shape::Object(&[
            field("userId", "string", "The user"),
            field("status", "string", "Added/removed the roles"),
        ]),
        handler: assign,
        ..Route::CHANGE
    },
    Route {
        path: "/roles/{role_name}",
        access: Access::Admin,
        summary: "Tells who has a role.",
        parameters: &[DOMAIN],
        answer: Shape::Object(&[field("role", "string", "The name"), field("users", "array", "Who has it")]),
        handler: one,
        ..Route::READ
    },
    Route {
        method: "DELETE",
        path: "/roles/{role_name}",
        summary: "Removes a role from all users.",
        parameters: &[DOMAIN],
        answer: Shape::Object(&[field("role", "string", "The name"), field("status", "string", "Deleted")]),
        handler: remove,
        ..Route::CHANGE
    },
];

fn no_role(name: &str) -> Failure {
    failure(StatusCode::NOT_FOUND, format!("Requested resource not found. Role: {name} cannot be found."))
}

fn all(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let roles = call.api.users().roles().into_iter().filter(|role| role.to_lowercase().contains(&search));
    Ok(list(roles.map(|role| object([("role", role.into())])).collect()))
}

fn one(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let users = call.api.users();
    if !users.roles().contains(&call.item) {
        return Err(no_role(&call.item));
    }
    let holders = users.all().filter(|user| user.roles.contains(&call.item)).map(|user| user.name.as_str());
    item(&object([("role", call.item.as_str().into()), ("users", holders.collect())]))
}

fn add(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let name = required_text(&call.json()?, "role")?;
    is_name(&name).map_err(|error| bad_request(error.0))?;
    call.api.change_users(|users| {
        if users.add_role(&name) {
            Ok(())
        } else {
            Err(failure(
                StatusCode::CONFLICT,
                format!("The role : {name} already exists, or there is no room for more roles"),
            ))
        }
    })?;
    told(&name, "Added")
}

fn told(name: &str, status: &str) -> Result<ApiAnswer, Failure> {
    item(&object([("role", name.into()), ("status", status.into())]))
}

fn names(body: &Map<String, Value>, key: &str) -> Result<Vec<String>, Failure> {
    let wrong = || bad_request(format!("{key} has to be a list of texts"));
    match body.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

fn assign(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let body = call.json()?;
    let name = required_text(&body, "userId")?;
    let (added, removed) = (names(&body, "addedRoles")?, names(&body, "removedRoles")?);
    call.api.change_users(|users| {
        let known = users.roles();
        if let Some(role) = added.iter().chain(&removed).find(|role| !known.contains(*role)) {
            return Err(no_role(role));
        }
        let user = users.find_mut(&name).ok_or_else(|| no_user(&name))?;
        refuse_fixed(user)?;
        user.roles.retain(|role| !removed.contains(role));
        user.roles.extend(added);
        refuse_last_admin(users)
    })?;
    changed(&name, "Added/removed the roles")
}

fn remove(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let name = call.item.as_str();
    if name == ADMIN {
        return Err(failure(StatusCode::CONFLICT, format!("The role {ADMIN} cannot be removed")));
    }
    call.api.change_users(|users| if users.remove_role(name) { Ok(()) } else { Err(no_role(name)) })?;
    told(name, "Deleted")
}
