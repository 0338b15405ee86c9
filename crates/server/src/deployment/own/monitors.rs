//! `[[myelin.monitors]]`: see [`MonitorSettings`].

use std::time::Duration;

use myelin_engine::MonitorSettings;
use serde::Deserialize;

use crate::deployment::values::{duration, set};

/// One of `[[myelin.monitors]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnMonitor {
    endpoint: String,
    url: Option<String>,
    path: Option<String>,
    #[serde(default, deserialize_with = "duration")]
    interval: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    timeout: Option<Duration>,
    #[serde(default)]
    expect: Vec<u16>,
    fall: Option<u32>,
    rise: Option<u32>,
}

impl OwnMonitor {
    pub(super) fn settings(&self) -> MonitorSettings {
        let OwnMonitor { endpoint, url, path, interval, timeout, expect, fall, rise } = self;
        let mut settings = MonitorSettings::new(endpoint);
        settings.url.clone_from(url);
        settings.path.clone_from(path);
        settings.expect.clone_from(expect);
        set(&mut settings.interval, *interval);
        set(&mut settings.timeout, *timeout);
        set(&mut settings.fall, *fall);
        set(&mut settings.rise, *rise);
        settings
    }
}
