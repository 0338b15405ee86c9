//! Which events are logged, once all that was said of levels is put together.

use std::sync::Arc;

use myelin_flow::position::Position;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::LevelFilter;

use crate::directives::Directives;
use crate::names::WIRE;
use crate::selector::{ArtefactName, Selector};

/// An artefact of the configuration and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtefactPlace {
    /// The element that defines it.
    pub element: String,
    /// Its name.
    pub name: String,
    /// The file, as the places of steps name it.
    pub file: Arc<str>,
    /// Its lines there, the first and the last, from 1.
    pub lines: (u32, u32),
}

/// The levels in force.
#[derive(Debug)]
pub(crate) struct Table {
    root: LevelFilter,
    /// Those with longer names first, so that the first one that fits is the nearest.
    targets: Vec<(String, LevelFilter)>,
    artefacts: Vec<(ArtefactName, LevelFilter)>,
    /// Where the sequences among them stand: what a step logs is told apart by its place.
    sequences: Vec<(ArtefactPlace, LevelFilter)>,
    has_endpoints: bool,
}

impl Table {
    pub(crate) fn new(directives: &Directives, places: &[ArtefactPlace]) -> Table {
        let (mut root, mut targets, mut artefacts) = (LevelFilter::INFO, Vec::new(), Vec::new());
        for (selector, level) in directives {
            match selector {
                Selector::Root => root = *level,
                Selector::Target(target) => targets.push((target.clone(), *level)),
                Selector::Artefact(artefact) => artefacts.push((artefact.clone(), *level)),
            }
        }
        targets.sort_by_key(|(target, _)| std::cmp::Reverse(target.len()));
        let level_of = |place: &ArtefactPlace| {
            let named = artefacts.iter().find(|(artefact, _)| artefact.is(&place.element, &place.name));
            named.map(|(_, level)| (place.clone(), *level))
        };
        let sequences = places.iter().filter(|place| place.element == "sequence").filter_map(level_of).collect();
        let has_endpoints = artefacts.iter().any(|(artefact, _)| artefact.kind == "endpoint");
        Table { root, targets, artefacts, sequences, has_endpoints }
    }

    /// The level of lines with a target, wherever they come from.
    pub(crate) fn of_target(&self, target: &str) -> LevelFilter {
        let named = self.targets.iter().find(|(prefix, _)| target.starts_with(prefix.as_str()));
        named.map_or(self.root, |(_, level)| *level)
    }

    /// The level of everything that nothing else is said of.
    pub(crate) fn root(&self) -> LevelFilter {
        self.root
    }

    /// The level that is said of an artefact, if any is.
    pub(crate) fn of_artefact(&self, artefact: &ArtefactName) -> Option<LevelFilter> {
        self.artefacts.iter().find(|(known, _)| known == artefact).map(|(_, level)| *level)
    }

    /// The most that any event may be logged at.
    pub(crate) fn most(&self) -> LevelFilter {
        let levels = self.targets.iter().map(|(_, level)| *level);
        levels.chain(self.artefacts.iter().map(|(_, level)| *level)).fold(self.root, LevelFilter::max)
    }

    /// Whether events of one place in the code are always logged, never, or by what they are about.
    pub(crate) fn interest(&self, metadata: &Metadata<'_>) -> Interest {
        let level = *metadata.level();
        let is_logged = level <= self.of_target(metadata.target());
        let depends = |(_, own): &(ArtefactName, LevelFilter)| (level <= *own) != is_logged;
        if !is_wire(metadata.target()) && self.artefacts.iter().any(depends) {
            Interest::sometimes()
        } else if is_logged {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    /// Whether an event is logged for all that is known before its fields are; an endpoint may say otherwise then.
    pub(crate) fn may_log(&self, metadata: &Metadata<'_>) -> bool {
        let level = *metadata.level();
        let endpoint = |(artefact, own): &(ArtefactName, LevelFilter)| artefact.kind == "endpoint" && level <= *own;
        self.has_endpoints && !is_wire(metadata.target()) && self.artefacts.iter().any(endpoint)
            || self.logs(level, metadata.target(), None)
    }

    /// Whether an event is logged.
    pub(crate) fn logs(&self, level: Level, target: &str, endpoint: Option<&str>) -> bool {
        level <= self.own(target, endpoint).unwrap_or_else(|| self.of_target(target))
    }

    /// Whether the fields of events have a say.
    pub(crate) fn asks_fields(&self) -> bool {
        self.has_endpoints
    }

    /// The level of the artefact that this thread works for; that of an endpoint goes before that of a sequence, and
    /// that before that of the service.
    fn own(&self, target: &str, endpoint: Option<&str>) -> Option<LevelFilter> {
        if self.artefacts.is_empty() || is_wire(target) {
            return None;
        }
        let level_of = |element: &str, name: &str| {
            self.artefacts.iter().find(|(artefact, _)| artefact.is(element, name)).map(|(_, level)| *level)
        };
        if let Some(level) = endpoint.and_then(|name| level_of("endpoint", name)) {
            return Some(level);
        }
        let position = Position::here();
        let in_sequence = position.step.as_ref().and_then(|step| {
            let is_in = |place: &ArtefactPlace| {
                place.file == step.place.file && (place.lines.0..=place.lines.1).contains(&step.place.line)
            };
            self.sequences.iter().find(|(place, _)| is_in(place)).map(|(_, level)| *level)
        });
        in_sequence.or_else(|| position.service.as_ref().and_then(|service| level_of(service.kind, &service.name)))
    }
}

/// Whether lines hold what went over connections: a level for an artefact does not switch them on.
fn is_wire(target: &str) -> bool {
    target.starts_with(WIRE)
}
