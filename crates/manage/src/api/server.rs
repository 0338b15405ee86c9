//! `/server`: what runs here, and its end.

use myelin_message::StatusCode;
use serde_json::json;

use super::answer::{ApiAnswer, Failure, bad_request, failure, item};
use super::call::{Call, told};
use super::request::{Caller, required_text};
use super::route::{Body, Route, Shape, field};
use crate::process::{Leaving, Refusal};

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/server",
        summary: "Tells what runs here and on what machine.",
        answer: Shape::Object(&[
            field("productName", "string", "Myelin"),
            field("productVersion", "string", "Its version"),
            field("carbonHome", "string", "Where the configuration is"),
            field("osName", "string", "The system"),
            field("osVersion", "string", "Its version"),
            field("javaVersion", "string", "None: there is no JVM"),
            field("javaVendor", "string", "None"),
            field("javaHome", "string", "None"),
        ]),
        handler: read,
        ..Route::READ
    },
    Route {
        method: "PATCH",
        path: "/server",
        summary: "Stops or restarts the bus, at once or when requests under way have ended.",
        body: Body::Json(
            &[field("status", "string", "`shutdown`, `shutdownGracefully`, `restart` or `restartGracefully`")],
            1,
        ),
        handler: leave,
        ..Route::CHANGE
    },
];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let machine = call.api.process.machine();
    let started = call.api.server.started.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    item(&json!({
        "productName": "Myelin",
        "productVersion": env!("CARGO_PKG_VERSION"),
        "carbonHome": machine.home,
        "osName": machine.system,
        "osVersion": machine.release,
        "javaVersion": "N/A",
        "javaVendor": "N/A",
        "javaHome": "N/A",
        "hostName": call.api.server.host,
        "startedSeconds": started,
        "processId": machine.process_id,
        "threads": machine.threads,
    }))
}

fn leave(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let status = required_text(&call.json()?, "status")?;
    let (leaving, sentence) = match status.as_str() {
        "shutdown" => (Leaving { restarts: false, drains: false }, "The server will start to shutdown."),
        "shutdownGracefully" => {
            (Leaving { restarts: false, drains: true }, "The server will start to shutdown gracefully.")
        }
        "restart" => (Leaving { restarts: true, drains: false }, "The server will start to restart."),
        "restartGracefully" => {
            (Leaving { restarts: true, drains: true }, "The server will start to restart gracefully.")
        }
        _ => return Err(bad_request("status has to be shutdown, shutdownGracefully, restart or restartGracefully")),
    };
    call.api.process.leave(leaving).map_err(refused)?;
    told("Message", sentence)
}

/// What the process refused, as an answer.
pub(super) fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Invalid(sentence) => bad_request(sentence),
        Refusal::Missing(sentence) => failure(StatusCode::NOT_FOUND, sentence),
        Refusal::Unable(sentence) => failure(StatusCode::CONFLICT, sentence),
    }
}
