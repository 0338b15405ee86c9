//! What the table of routes is made of: a path, who may ask, what goes in and what comes out, and who answers.

use super::answer::{ApiAnswer, Failure};
use super::call::Call;
use super::request::Caller;

/// One method of one path, with its documentation.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Below `/management`; a part in braces stands for all that follows.
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    /// One sentence.
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) body: Body,
    pub(crate) answer: Shape,
    pub(crate) handler: fn(&Call<'_>, Option<&Caller>) -> Result<ApiAnswer, Failure>,
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody.
    Anybody,
    /// Who brings a user's name and password.
    Password,
    /// Every user with a token.
    User,
    /// Users with the role `admin`.
    Admin,
}

/// A parameter of the query.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) is_required: bool,
}

/// A parameter that may be there.
pub(crate) const fn optional(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, is_required: false }
}

/// A parameter that has to be there.
pub(crate) const fn required(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, is_required: true }
}

/// The parameter that all lists take.
pub(crate) const SEARCH: Parameter =
    optional("searchKey", "Only what has this in its name, whatever the case of letters");

/// A member of a JSON object.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// As JSON Schema names it; an array is of texts, and an object of anything.
    pub(crate) kind: &'static str,
    pub(crate) about: &'static str,
}

/// A member of a JSON object.
pub(crate) const fn field(name: &'static str, kind: &'static str, about: &'static str) -> Field {
    Field { name, kind, about }
}

/// What a request brings.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    None,
    /// A JSON object; the first so many members have to be there.
    Json(&'static [Field], usize),
    /// A JSON list of `{name, value}`.
    Properties,
    /// Any bytes.
    Bytes,
    /// A form with one file.
    File,
}

/// What an answer is made of.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// Nothing.
    Nothing,
    /// A JSON object.
    Object(&'static [Field]),
    /// `{count, list}` of objects.
    List(&'static [Field]),
    /// `{count, list}` of objects, or with a name in the query one object.
    ListOrItem(&'static [Field], &'static [Field]),
    /// A JSON object of one text.
    Told(&'static str),
    /// JSON of any form.
    Json,
    /// Text or bytes.
    Bytes(&'static str),
}

impl Route {
    /// A route that reads, for every user.
    pub(crate) const READ: Route = Route {
        method: "GET",
        path: "",
        access: Access::User,
        summary: "",
        parameters: &[],
        body: Body::None,
        answer: Shape::Json,
        handler: |_, _| Err(super::answer::not_found()),
    };

    /// A route that changes something, for admins.
    pub(crate) const CHANGE: Route =
        Route { method: "POST", access: Access::Admin, answer: Shape::Told("Message"), ..Route::READ };

    /// Whether it changes something, so that it is in the audit log.
    pub(crate) fn is_change(&self) -> bool {
        self.method != "GET"
    }
}
