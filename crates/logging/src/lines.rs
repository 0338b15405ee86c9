//! The subscriber that makes lines of events.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use myelin_flow::position::Position;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_appender::non_blocking::NonBlocking;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::Context;

use crate::fields::{endpoint, one_line};
use crate::json::object;
use crate::levels::Levels;
use crate::names::WIRE;
use crate::output::Output;
use crate::ring::{Entry, Ring};
use crate::{COUNTED, Format, Forward, Log, Mask, Written};

/// Makes lines of events: one for the output, and one for those that are kept.
pub(crate) struct Lines<W = NonBlocking> {
    levels: Levels,
    ring: Ring,
    output: Output,
    style: Arc<AtomicU8>,
    written: Arc<Written>,
    forward: Arc<Forward>,
    mask: Arc<OnceLock<Mask>>,
    writer: W,
}

impl<W> Lines<W> {
    pub(crate) fn new(log: &Log, writer: W) -> Lines<W> {
        Lines {
            levels: log.levels.clone(),
            ring: log.ring.clone(),
            output: log.output.clone(),
            style: Arc::clone(&log.style),
            written: Arc::clone(&log.written),
            forward: Arc::clone(&log.forward),
            mask: Arc::clone(&log.mask),
            writer,
        }
    }
}

impl<S, W> Layer<S> for Lines<W>
where
    S: Subscriber,
    W: for<'a> MakeWriter<'a> + 'static,
{
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // There is nothing to write of a span.
        if metadata.is_span() { Interest::never() } else { self.levels.table().interest(metadata) }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        !metadata.is_span() && self.levels.table().may_log(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.levels.table().most())
    }

    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let table = self.levels.table();
        let metadata = event.metadata();
        !table.asks_fields() || table.logs(*metadata.level(), metadata.target(), endpoint(event).as_deref())
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (now, position, metadata) = (SystemTime::now(), Position::here(), event.metadata());
        let timestamp = humantime::format_rfc3339_micros(now).to_string();
        let mut said = one_line(event);
        // What a `<log>` says is the user's own; what went over a connection is not.
        let mask = self.mask.get();
        let masked = |text: &str| mask.map_or_else(|| text.to_owned(), |mask| mask(text).into_owned());
        let is_wire = metadata.target().starts_with(WIRE);
        if is_wire {
            said = masked(&said);
        }
        let line = if self.style.load(Ordering::Relaxed) == Format::Json as u8 {
            let object = object(event, &position, &timestamp);
            format!("{}\n", if is_wire { masked(&object) } else { object })
        } else if self.output.has_colours() {
            let (colour, level) = (colour(*metadata.level()), metadata.level());
            format!(
                "\x1b[2m{timestamp}\x1b[0m \x1b[{colour}m{level:>5}\x1b[0m \x1b[2m{}:\x1b[0m {said}{}\n",
                metadata.target(),
                crate::escaped(&position.to_string())
            )
        } else {
            let (level, target) = (metadata.level(), metadata.target());
            format!("{timestamp} {level:>5} {target}: {said}{}\n", crate::escaped(&position.to_string()))
        };
        // One that cannot be written has nobody to be told to; those that are dropped are counted.
        let _ = self.writer.make_writer().write_all(line.as_bytes());
        if let Some(at) = COUNTED.iter().position(|level| level == metadata.level()) {
            self.written.0[at].fetch_add(1, Ordering::Relaxed);
        }
        let correlation = position.correlation.as_ref().map(|id| id.as_str()).filter(|id| !id.is_empty());
        let entry = Entry {
            number: 0,
            time: now,
            level: *metadata.level(),
            target: metadata.target().to_owned(),
            message: if is_wire { said } else { masked(&said) },
            correlation: correlation.map(str::to_owned),
            service: position.service.as_ref().map(|service| format!("{} {}", service.kind, service.name)),
            place: position.place().map(ToString::to_string),
            trace: position.trace(),
        };
        if let Some(hears) = self.forward.get() {
            hears(&entry);
        }
        self.ring.add(entry);
    }
}

/// The number of a level's colour in ECMA-48.
fn colour(level: Level) -> u8 {
    match level {
        Level::ERROR => 31,
        Level::WARN => 33,
        Level::INFO => 32,
        Level::DEBUG => 34,
        Level::TRACE => 35,
    }
}

#[cfg(test)]
mod tests;
