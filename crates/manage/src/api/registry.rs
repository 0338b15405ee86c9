//! `/registry-resources`: files of the registry, with their media types and properties.

use myelin_message::StatusCode;
use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, bad_request, failure, item, list};
use super::call::{Call, told};
use super::request::Caller;
use super::route::{Access, Body, Parameter, Route, SEARCH, Shape, field, optional, required};
use super::server::refused;
use crate::process::RegistryEntry;

/// How deep `expand` looks, and how much it tells at most.
const DEPTH: usize = 16;
const ENTRIES: usize = 10_000;

/// How many properties a resource may have, and how long they may be.
const PROPERTIES: usize = 200;
const PROPERTY_CHARACTERS: usize = 4096;

const PATH: Parameter = required("path", "The path, such as registry/config/folder/file.xml");

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/registry-resources",
        summary: "Lists what is in a folder of the registry.",
        parameters: &[PATH, optional("expand", "`true` for all folders below it, too"), SEARCH],
        answer: Shape::Json,
        handler: folder,
        ..Route::READ
    },
    Route {
        path: "/registry-resources/content",
        // A resource may be a key store or hold a password, and is given as it is.
        access: Access::Admin,
        summary: "Gives a resource.",
        parameters: &[PATH],
        answer: Shape::Bytes("application/octet-stream"),
        handler: content,
        ..Route::READ
    },
    Route {
        path: "/registry-resources/content",
        summary: "Adds a resource.",
        parameters: &[PATH, optional("mediaType", "The media type of it")],
        body: Body::Bytes,
        answer: Shape::Told("message"),
        handler: |call, _| write(call, true),
        ..Route::CHANGE
    },
    Route {
        method: "PUT",
        path: "/registry-resources/content",
        summary: "Changes a resource.",
        parameters: &[PATH, optional("mediaType", "The media type of it")],
        body: Body::Bytes,
        answer: Shape::Told("message"),
        handler: |call, _| write(call, false),
        ..Route::CHANGE
    },
    Route {
        method: "DELETE",
        path: "/registry-resources/content",
        summary: "Removes a resource.",
        parameters: &[PATH],
        answer: Shape::Told("message"),
        handler: remove,
        ..Route::CHANGE
    },
    Route {
        path: "/registry-resources/properties",
        summary: "Lists the properties of a resource, or tells one.",
        parameters: &[PATH, optional("name", "The name of one")],
        answer: Shape::List(&[field("name", "string", "The name"), field("value", "string", "The value")]),
        handler: properties,
        ..Route::READ
    },
    Route {
        path: "/registry-resources/properties",
        summary: "Adds properties to a resource, or changes them.",
        parameters: &[PATH],
        body: Body::Properties,
        answer: Shape::Told("message"),
        handler: add_properties,
        ..Route::CHANGE
    },
    Route {
        method: "DELETE",
        path: "/registry-resources/properties",
        summary: "Removes a property of a resource.",
        parameters: &[PATH, required("name", "The name of it")],
        answer: Shape::Told("message"),
        handler: remove_property,
        ..Route::CHANGE
    },
    Route {
        path: "/registry-resources/metadata",
        summary: "Tells the media type of a resource.",
        parameters: &[PATH],
        answer: Shape::Object(&[field("name", "string", "The name"), field("mediaType", "string", "The media type")]),
        handler: metadata,
        ..Route::READ
    },
];

fn listed(properties: &[(String, String)]) -> Value {
    properties.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

fn summary(entry: &RegistryEntry) -> serde_json::Map<String, Value> {
    super::definition::members([
        ("name", entry.name.as_str().into()),
        ("mediaType", entry.media_type.as_str().into()),
        ("properties", listed(&entry.properties)),
    ])
}

fn folder(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let path = call.required("path")?;
    let expand = match call.query("expand") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(bad_request("expand has to be true or false")),
    };
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let entries = call.api.process.registry_folder(path).map_err(refused)?;
    if expand {
        let mut left = ENTRIES;
        let files = expanded(call, path, &entries, DEPTH, &mut left)?;
        let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        return item(&json!({ "name": name, "type": "folder", "files": files }));
    }
    let chosen = entries.iter().filter(|entry| entry.name.to_lowercase().contains(&search));
    Ok(list(chosen.map(|entry| Value::Object(summary(entry))).collect()))
}

fn expanded(
    call: &Call<'_>,
    path: &str,
    entries: &[RegistryEntry],
    depth: usize,
    left: &mut usize,
) -> Result<Vec<Value>, Failure> {
    let mut told = Vec::new();
    for entry in entries {
        *left = left
            .checked_sub(1)
            .ok_or_else(|| bad_request(format!("There are more than {ENTRIES} resources; ask for a folder")))?;
        let mut one = summary(entry);
        if entry.is_folder {
            let below = format!("{}/{}", path.trim_end_matches('/'), entry.name);
            let inside = match depth.checked_sub(1) {
                Some(depth) => {
                    let entries = call.api.process.registry_folder(&below).map_err(refused)?;
                    expanded(call, &below, &entries, depth, left)?
                }
                None => Vec::new(),
            };
            one.insert("type".to_owned(), "folder".into());
            one.insert("files".to_owned(), inside.into());
        } else {
            one.insert("type".to_owned(), "file".into());
        }
        told.push(Value::Object(one));
    }
    Ok(told)
}

fn content(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (media_type, bytes) = call.api.process.registry_read(call.required("path")?).map_err(refused)?;
    let fits = !media_type.is_empty() && media_type.chars().all(|letter| letter.is_ascii_graphic() || letter == ' ');
    let media_type = if fits { media_type } else { "application/octet-stream".to_owned() };
    // A browser shall not show what may be a page.
    Ok(ApiAnswer::bytes(&media_type, bytes).with_header("Content-Disposition", "attachment"))
}

fn write(call: &Call<'_>, is_new: bool) -> Result<ApiAnswer, Failure> {
    let (path, media_type) = (call.required("path")?, call.query("mediaType"));
    if media_type.is_some_and(|it| it.len() > 200 || it.chars().any(char::is_control)) {
        return Err(bad_request("mediaType is no media type"));
    }
    call.api.process.registry_write(path, media_type, &call.request.body, is_new).map_err(refused)?;
    told(
        "message",
        if is_new { "Successfully added the registry resource" } else { "Successfully modified the registry resource" },
    )
}

fn remove(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    call.api.process.registry_remove(call.required("path")?).map_err(refused)?;
    told("message", "Successfully deleted the registry resource")
}

fn properties(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let entry = call.api.process.registry_entry(call.required("path")?).map_err(refused)?;
    let wanted = call.query("name");
    let chosen: Vec<(String, String)> =
        entry.properties.into_iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == name)).collect();
    if wanted.is_some() && chosen.is_empty() {
        return Err(failure(StatusCode::NOT_FOUND, "The resource has no such property"));
    }
    Ok(list(chosen.into_iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()))
}

fn add_properties(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let path = call.required("path")?;
    let wrong = || bad_request("The body has to be a list of objects with name and value");
    let Value::Array(items) = call.request.json_value()? else { return Err(wrong()) };
    let mut entry = call.api.process.registry_entry(path).map_err(refused)?;
    for one in &items {
        let text = |key: &str| one.get(key).and_then(Value::as_str).map(str::trim).ok_or_else(wrong);
        let (name, value) = (text("name")?, text("value")?);
        if name.is_empty()
            || name.chars().count() + value.chars().count() > PROPERTY_CHARACTERS
            || name.chars().any(char::is_control)
        {
            return Err(bad_request(format!(
                "Name and value of a property have at most {PROPERTY_CHARACTERS} characters, and the name has no control character"
            )));
        }
        entry.properties.retain(|(known, _)| known != name);
        entry.properties.push((name.to_owned(), value.to_owned()));
    }
    if entry.properties.len() > PROPERTIES {
        return Err(bad_request(format!("A resource has at most {PROPERTIES} properties")));
    }
    call.api.process.registry_set_properties(path, &entry.properties).map_err(refused)?;
    told("message", "Successfully added the registry property")
}

fn remove_property(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (path, name) = (call.required("path")?, call.required("name")?);
    let mut entry = call.api.process.registry_entry(path).map_err(refused)?;
    let count = entry.properties.len();
    entry.properties.retain(|(known, _)| known != name);
    if entry.properties.len() == count {
        return Err(failure(StatusCode::NOT_FOUND, "The resource has no such property"));
    }
    call.api.process.registry_set_properties(path, &entry.properties).map_err(refused)?;
    told("message", "Successfully deleted the registry property")
}

fn metadata(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let entry = call.api.process.registry_entry(call.required("path")?).map_err(refused)?;
    item(&json!({ "name": entry.name, "mediaType": entry.media_type }))
}
