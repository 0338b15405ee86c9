//! `/openapi.json`: the description of the API, made of its table of routes.

use myelin_message::StatusCode;
use serde_json::{Map, Value, json};

use super::answer::ApiAnswer;
use super::call::PREFIX;
use super::route::{Access, Body, Field, Route, Shape};

pub(super) const ROUTES: &[Route] = &[Route {
    path: "/openapi.json",
    access: Access::Anybody,
    summary: "Describes this API in OpenAPI 3.1.",
    handler: |call, _| Ok(ApiAnswer::json(StatusCode::OK, &document(call.api.routes))),
    ..Route::READ
}];

/// The document.
pub(super) fn document(routes: &[&[Route]]) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in routes.iter().flat_map(|routes| routes.iter()) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Value::Object(methods) = path {
            methods.insert(route.method.to_ascii_lowercase(), operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Myelin management API",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Reads and changes a running bus; compatible with that of WSO2's Micro Integrator where it has the same.",
            "license": { "name": "Apache 2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": PREFIX }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "password": { "type": "http", "scheme": "basic" },
                "token": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" },
            },
            "schemas": {
                "Error": object_of(&[Field { name: "Error", kind: "string", about: "What is wrong" }], 1),
            },
        },
    })
}

fn operation(route: &Route) -> Value {
    let item = route.path.split_once('{').and_then(|(_, rest)| rest.strip_suffix('}'));
    let in_path =
        item.map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let in_query = route.parameters.iter().map(|parameter| {
        json!({
            "name": parameter.name,
            "in": "query",
            "required": parameter.is_required,
            "description": parameter.about,
            "schema": { "type": "string" },
        })
    });
    let parameters: Vec<Value> = in_path.into_iter().chain(in_query).collect();
    let id = format!("{}{}", route.method.to_ascii_lowercase(), route.path.replace(['/', '-', '{', '}', '.'], "_"));
    let security = match route.access {
        Access::Anybody => json!([]),
        Access::Password => json!([{ "password": [] }]),
        Access::User | Access::Admin => json!([{ "token": [] }]),
    };
    let mut told = json!({
        "operationId": id,
        "summary": route.summary,
        "tags": [route.path.split('/').nth(1).unwrap_or_default()],
        "parameters": parameters,
        "security": security,
        "responses": responses(route),
    });
    if let (Some(body), Value::Object(members)) = (request_body(route.body), &mut told) {
        members.insert("requestBody".to_owned(), body);
    }
    told
}

fn object_of(fields: &[Field], required: usize) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.to_owned(), schema(field))).collect();
    let required: Vec<&str> = fields.iter().take(required).map(|field| field.name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn schema(field: &Field) -> Value {
    match field.kind {
        "array" => json!({ "type": "array", "items": { "type": "string" }, "description": field.about }),
        // Of any form: lists and objects of lists.
        "object" => json!({ "type": ["object", "array"], "description": field.about }),
        kind => json!({ "type": kind, "description": field.about }),
    }
}

fn request_body(body: Body) -> Option<Value> {
    let of = |media_type: &str, schema: Value| {
        let mut content = Map::new();
        content.insert(media_type.to_owned(), json!({ "schema": schema }));
        Some(json!({ "required": true, "content": content }))
    };
    match body {
        Body::None => None,
        Body::Json(fields, required) => of("application/json", object_of(fields, required)),
        Body::Properties => {
            let fields = [("name", "The name"), ("value", "The value")];
            let fields = fields.map(|(name, about)| Field { name, kind: "string", about });
            of("application/json", json!({ "type": "array", "items": object_of(&fields, 2) }))
        }
        Body::Bytes => of("application/octet-stream", json!({ "type": "string", "format": "binary" })),
        Body::File => {
            let file = json!({ "type": "string", "contentMediaType": "application/octet-stream" });
            of("multipart/form-data", json!({ "type": "object", "properties": { "file": file }, "required": ["file"] }))
        }
    }
}

fn responses(route: &Route) -> Value {
    let json_of = |schema: Value| json!({ "application/json": { "schema": schema } });
    let list_of = |fields: &[Field]| {
        json!({
            "type": "object",
            "properties": {
                "count": { "type": "integer" },
                "list": { "type": "array", "items": object_of(fields, 1) },
            },
            "required": ["count", "list"],
        })
    };
    let content = match route.answer {
        Shape::Nothing => None,
        Shape::Object(fields) if route.path == "/applications" => Some(json_of(object_of(fields, 0))),
        Shape::Object(fields) => Some(json_of(object_of(fields, fields.len()))),
        Shape::List(fields) => Some(json_of(list_of(fields))),
        Shape::ListOrItem(summary, whole) => Some(json_of(json!({ "anyOf": [list_of(summary), object_of(whole, 1)] }))),
        Shape::Told(key) => Some(json_of(object_of(&[Field { name: key, kind: "string", about: "What was done" }], 1))),
        Shape::Json => Some(json_of(json!({ "type": ["object", "array"] }))),
        Shape::Bytes(media_type) => {
            let mut content = Map::new();
            content.insert(media_type.to_owned(), json!({ "schema": { "type": "string", "format": "binary" } }));
            content.insert("*/*".to_owned(), json!({ "schema": {} }));
            Some(content.into())
        }
    };
    // A log file is no JSON.
    let content = match (route.path, content) {
        ("/logs", Some(Value::Object(mut content))) => {
            content.insert("text/plain".to_owned(), json!({ "schema": { "type": "string" } }));
            Some(Value::Object(content))
        }
        (_, content) => content,
    };
    let mut done = json!({ "description": "Done" });
    if let (Some(content), Value::Object(members)) = (content, &mut done) {
        members.insert("content".to_owned(), content);
    }
    let error = |about: &str| json!({ "description": about, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } } });
    // As in Micro Integrator: the `mi` client shows the status where there is no body.
    let may_be_empty = |about: &str| json!({ "description": format!("{about}; the body says why, or is empty") });
    let mut responses = Map::new();
    responses.insert("200".to_owned(), done);
    responses.insert("400".to_owned(), error("The request is not what it has to be"));
    if route.access != Access::Anybody {
        responses.insert("401".to_owned(), error("No valid token, or a wrong password"));
    }
    if route.access == Access::Admin || route.method == "PATCH" {
        responses.insert("403".to_owned(), may_be_empty("Only for admins"));
    }
    responses.insert("404".to_owned(), may_be_empty("There is no such thing"));
    if route.is_change() {
        responses.insert("409".to_owned(), error("It cannot be done as things stand"));
        responses.insert("413".to_owned(), error("The body is too large"));
        responses.insert("415".to_owned(), error("The body has another media type"));
    }
    responses.insert("429".to_owned(), error("Too many requests with this token, or from this address without one"));
    responses.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described_and_nothing_else() {
        let document = document(super::super::ROUTES);
        let described: usize =
            document["paths"].as_object().unwrap().values().map(|it| it.as_object().unwrap().len()).sum();
        let routes = super::super::ROUTES.iter().flat_map(|routes| routes.iter());
        let mut count = 0;
        let mut ids = std::collections::BTreeSet::new();
        for route in routes {
            count += 1;
            let operation = &document["paths"][route.path][route.method.to_ascii_lowercase()];
            assert_eq!(operation["summary"], route.summary, "{} {}", route.method, route.path);
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()));
            let parameters = operation["parameters"].as_array().unwrap();
            assert!(route.parameters.iter().all(|it| parameters.iter().any(|known| known["name"] == it.name)));
            assert_eq!(operation.get("requestBody").is_some(), !matches!(route.body, Body::None));
        }
        assert_eq!(described, count);
    }
}
