//! The keys of `[myelin.opentelemetry]`.

use super::{Section, fixed};

pub(super) const SECTION: Section = Section {
    path: "myelin.opentelemetry",
    about: "Traces and logs for a collector: [opentelemetry.md](opentelemetry.md).",
    keys: &[
        ("enable", fixed("true, false", "", "whether anything is sent; without it, whether an endpoint is named")),
        ("endpoint", fixed("URL", "http://localhost:4317", "the collector; with `http`, the path is added")),
        ("protocol", fixed("`grpc`, `http`", "grpc", "how OTLP is framed; 4318 in the URL means `http`")),
        ("headers", fixed("a table of texts", "", "header lines for it, such as a key: `\"$secret{ALIAS}\"`")),
        ("timeout", fixed("time", "10s", "for one message to it")),
        ("compression", fixed("`gzip`, `none`", "gzip", "of messages to it")),
        (
            "certificate",
            fixed("file", "", "PEM of the roots that it is trusted by, beside this file; else the system's"),
        ),
        (
            "client_certificate",
            fixed("file", "", "PEM of the certificate that the bus shows to it, leaf first; with `client_key`"),
        ),
        ("client_key", fixed("file", "", "PEM of the private key of that certificate")),
        ("traces", fixed("true, false", "true", "whether traces are sent")),
        ("logs", fixed("true, false", "false", "whether lines of the log are sent")),
        ("service_name", fixed("text", "myelin", "the attribute `service.name`")),
        ("resource", fixed("a table of texts", "", "other attributes of the resource")),
        (
            "sampler",
            fixed(
                "`always_on`, `always_off`, `traceidratio`, each also with `parentbased_` before it",
                "parentbased_always_on",
                "which traces are recorded, decided when they begin",
            ),
        ),
        ("ratio", fixed("0 to 1", "", "for `traceidratio`: which part of them")),
        ("keep_faults", fixed("true, false", "false", "whether those with a fault are kept though not sampled")),
        ("keep_slower", fixed("time", "", "those that took longer are kept though not sampled")),
        ("incoming", fixed("`continue`, `restart`", "continue", "what becomes of a trace that a client has begun")),
        ("mediators", fixed("true, false", "false", "whether each sequence and each mediator has a span")),
        ("spans", fixed("number", "1000", "of one exchange; the others are counted as dropped")),
        ("queue", fixed("number", "32768", "spans, or log records, that may wait; the others are dropped")),
        ("batch", fixed("number", "512", "of them in one message")),
        ("interval", fixed("time", "1s", "how long one waits for others")),
        ("flush", fixed("time", "5s", "for what still waits when the process ends")),
    ],
};
