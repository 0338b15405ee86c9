//! `/logging`: the levels of loggers, and `/logs`: the files that they write.

use myelin_message::StatusCode;
use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, bad_request, failure, item, list};
use super::call::{Call, told};
use super::request::{Caller, required_text, text_of};
use super::route::{Access, Body, Route, SEARCH, Shape, field, optional};
use super::server::refused;
use crate::process::Logger;

const LEVELS: [&str; 7] = ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// What Micro Integrator calls the level that holds where no logger says otherwise.
const ROOT: &str = "rootLogger";

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/logging",
        summary: "Lists the loggers with their levels, or tells of one.",
        parameters: &[optional("loggerName", "The name of one"), SEARCH],
        answer: Shape::Json,
        handler: read,
        ..Route::READ
    },
    Route {
        method: "PATCH",
        path: "/logging",
        summary: "Changes the level of a logger while the bus serves, or adds a logger.",
        body: Body::Json(
            &[
                field("loggerName", "string", "The name; `rootLogger` for all others"),
                field("loggingLevel", "string", "`OFF`, `FATAL`, `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`"),
                field("loggerClass", "string", "Of a new logger, what it is for"),
            ],
            2,
        ),
        answer: Shape::Told("message"),
        handler: change,
        ..Route::CHANGE
    },
    Route {
        path: "/logs",
        access: Access::User,
        summary: "Lists the log files, or gives one.",
        parameters: &[optional("file", "The name of one"), SEARCH],
        answer: Shape::Json,
        handler: files,
        ..Route::READ
    },
];

fn to_json(logger: &Logger) -> Value {
    json!({ "loggerName": logger.name, "componentName": logger.component, "level": logger.level })
}

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    if let Some(name) = call.query("loggerName") {
        let missing = || failure(StatusCode::NOT_FOUND, format!("Logger name ('{name}') not found"));
        return item(&to_json(&call.api.process.logger(name).ok_or_else(missing)?));
    }
    let loggers = call.api.process.loggers();
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let chosen = loggers.iter().filter(|logger| logger.name.to_lowercase().contains(&search));
    Ok(list(chosen.map(to_json).collect()))
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let body = call.json()?;
    let (name, given) = (required_text(&body, "loggerName")?, required_text(&body, "loggingLevel")?);
    let level = given.to_ascii_uppercase();
    if !LEVELS.contains(&&*level) {
        return Err(bad_request(format!("Invalid log level {given}")));
    }
    let class = text_of(&body, "loggerClass")?;
    let is_known = name == ROOT || call.api.process.logger(&name).is_some();
    match &class {
        Some(_) if is_known => {
            let sentence = format!("Specified logger name ('{name}') already exists, try updating the level instead");
            return Err(bad_request(sentence));
        }
        None if !is_known => {
            return Err(failure(StatusCode::NOT_FOUND, format!("Specified logger ('{name}') not found")));
        }
        _ => {}
    }
    call.api.process.set_level(&name, class.as_deref(), &level).map_err(refused)?;
    // Micro Integrator says so of a changed level, too, and the tests of `mi` look for it.
    let class = class.map(|class| format!(" for class {class}")).unwrap_or_default();
    told("message", format!("Successfully added logger for ('{name}') with level {level}{class}"))
}

fn files(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    if let Some(name) = call.query("file") {
        let text = call.api.process.log_file(name).map_err(refused)?;
        return Ok(ApiAnswer::bytes("text/plain; charset=UTF-8", text));
    }
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let files = call.api.process.log_files();
    let chosen = files.iter().filter(|file| file.name.to_lowercase().contains(&search));
    let told = chosen.map(|file| json!({ "FileName": file.name, "Size": size(file.bytes) }));
    Ok(list(told.collect()))
}

/// As Micro Integrator writes sizes.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}
