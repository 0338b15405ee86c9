//! The files of the console, as the binary holds them.

/// A file that browsers ask for.
pub(super) struct File {
    /// Its path below that of the console.
    pub(super) name: &'static str,
    pub(super) bytes: &'static [u8],
}

/// A file of `crates/manage/console`.
macro_rules! file {
    ($name:literal) => {
        File { name: $name, bytes: include_bytes!(concat!("../../console/", $name)) }
    };
}

/// All files.
pub(super) const FILES: &[File] = &[
    file!("index.html"),
    file!("style.css"),
    file!("icon.svg"),
    file!("api.js"),
    file!("app.js"),
    file!("chart.js"),
    file!("dom.js"),
    file!("flow.js"),
    file!("live.js"),
    file!("parts.js"),
    file!("source.js"),
    file!("steps.js"),
    file!("text.js"),
    file!("trace.js"),
    file!("pages/applications.js"),
    file!("pages/endpoints.js"),
    file!("pages/login.js"),
    file!("pages/logs.js"),
    file!("pages/overview.js"),
    file!("pages/problems.js"),
    file!("pages/reloads.js"),
    file!("pages/service.js"),
    file!("pages/sources.js"),
    file!("pages/stores.js"),
    file!("pages/tasks.js"),
    file!("pages/trace.js"),
    file!("pages/traces.js"),
];

impl File {
    /// What browsers take it for; they look at nothing else.
    pub(super) fn media_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }
}
