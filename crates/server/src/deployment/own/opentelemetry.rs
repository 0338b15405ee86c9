//! `[myelin.opentelemetry]`: see [`TelemetryOptions`](myelin_telemetry::TelemetryOptions).

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::deployment::values::duration;

/// `[myelin.opentelemetry]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(in crate::deployment) struct OwnOpenTelemetry {
    pub(in crate::deployment) enable: Option<bool>,
    pub(in crate::deployment) endpoint: Option<String>,
    pub(in crate::deployment) protocol: Option<OwnProtocol>,
    pub(in crate::deployment) headers: BTreeMap<String, Hidden>,
    #[serde(deserialize_with = "duration")]
    pub(in crate::deployment) timeout: Option<Duration>,
    pub(in crate::deployment) compression: Option<OwnCompression>,
    pub(in crate::deployment) certificate: Option<PathBuf>,
    pub(in crate::deployment) client_certificate: Option<PathBuf>,
    pub(in crate::deployment) client_key: Option<PathBuf>,
    pub(in crate::deployment) traces: Option<bool>,
    pub(in crate::deployment) logs: Option<bool>,
    pub(in crate::deployment) service_name: Option<String>,
    pub(in crate::deployment) resource: BTreeMap<String, String>,
    pub(in crate::deployment) sampler: Option<String>,
    pub(in crate::deployment) ratio: Option<f64>,
    pub(in crate::deployment) keep_faults: Option<bool>,
    #[serde(deserialize_with = "duration")]
    pub(in crate::deployment) keep_slower: Option<Duration>,
    pub(in crate::deployment) incoming: Option<OwnIncoming>,
    pub(in crate::deployment) mediators: Option<bool>,
    pub(in crate::deployment) spans: Option<usize>,
    pub(in crate::deployment) queue: Option<usize>,
    pub(in crate::deployment) batch: Option<usize>,
    #[serde(deserialize_with = "duration")]
    pub(in crate::deployment) interval: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub(in crate::deployment) flush: Option<Duration>,
}

impl OwnOpenTelemetry {
    /// The same with its files beside the `deployment.toml`, whose folder this is.
    pub(in crate::deployment) fn beside(&self, folder: &Path) -> OwnOpenTelemetry {
        let mut own = self.clone();
        for file in [&mut own.certificate, &mut own.client_certificate, &mut own.client_key].into_iter().flatten() {
            *file = folder.join(&*file);
        }
        own
    }
}

/// A text that may be a secret: printed, it is not there.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(in crate::deployment) struct Hidden(pub(in crate::deployment) String);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// How OTLP is framed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(in crate::deployment) enum OwnProtocol {
    #[serde(rename = "grpc")]
    Grpc,
    #[serde(rename = "http", alias = "http/protobuf")]
    Http,
}

/// How messages are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::deployment) enum OwnCompression {
    Gzip,
    None,
}

/// What becomes of a trace that a client has begun.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::deployment) enum OwnIncoming {
    Continue,
    Restart,
}
