//! The handle by which levels are seen and changed while the bus serves.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use myelin_spelling::suggestion;
use tracing_subscriber::filter::LevelFilter;

use crate::directives::Directives;
use crate::level::level_of_log4j;
use crate::names::{self, KNOWN, ROOT, SYNAPSE_WIRE, TOPICS, WIRE};
use crate::selector::Selector;
use crate::table::{ArtefactPlace, Table};

/// How many loggers an operator may have levels for.
const MOST: usize = 1000;

/// How long the name of a logger may be, in bytes.
const LONGEST: usize = 256;

/// The levels of the log, shared by all threads and by whoever changes them.
///
/// What an operator sets goes before `MYELIN_LOG`, that before `[myelin.log]`, and that before the default: `info`, with
/// the wire log off. A reload replaces what `[myelin.log]` says, and nothing else; a restart forgets what was set.
#[derive(Clone, Debug)]
pub struct Levels(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    said: Mutex<Said>,
    table: RwLock<Arc<Table>>,
}

/// What was said of levels, and by whom.
#[derive(Debug, Default)]
struct Said {
    file: Directives,
    environment: Directives,
    /// By the names under which loggers are listed.
    operator: BTreeMap<String, Operator>,
    places: Vec<ArtefactPlace>,
}

/// A logger that an operator changed or added.
#[derive(Clone, Debug)]
struct Operator {
    component: String,
    selectors: Vec<Selector>,
    level: LevelFilter,
}

/// A logger as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logger {
    /// Its name: `rootLogger`, `org-apache-synapse`, `myelin_http`, `proxy:Orders`.
    pub name: String,
    /// The Java package or class of one of Micro Integrator's; else its name.
    pub component: String,
    /// `OFF`, `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: String,
    /// Who said so.
    pub source: Source,
}

/// Who said what level a logger has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nobody: it follows from the default, or from a logger around it.
    Default,
    /// `[myelin.log]`.
    File,
    /// `MYELIN_LOG`.
    Environment,
    /// An operator, while the bus serves.
    Operator,
}

/// Why a level was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelError {
    /// There is no such logger; the sentence says what was meant.
    Unknown(String),
    /// There is one already.
    Exists(String),
    /// The level is none.
    Level(String),
    /// There are too many already, or its name is too long.
    TooMany(String),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LevelError::Unknown(text)
            | LevelError::Exists(text)
            | LevelError::Level(text)
            | LevelError::TooMany(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for LevelError {}

impl Source {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Source::Default => "default",
            Source::File => "deployment.toml",
            Source::Environment => "MYELIN_LOG",
            Source::Operator => "operator",
        }
    }
}

impl Levels {
    /// Those that the environment says.
    pub fn new(environment: Directives) -> Levels {
        let said = Said { environment, ..Said::default() };
        let table = RwLock::new(Arc::new(said.table()));
        Levels(Arc::new(Shared { said: Mutex::new(said), table }))
    }

    /// All loggers that have a level of their own, and those that people know, by name; the first is `rootLogger`.
    pub fn list(&self) -> Vec<Logger> {
        let said = self.said();
        let explicit = said.file.keys().chain(said.environment.keys()).map(ToString::to_string);
        let known = KNOWN.iter().map(|known| known.name.to_owned()).chain(TOPICS.map(str::to_owned));
        let mut names: Vec<String> = explicit.chain(known).chain(said.operator.keys().cloned()).collect();
        names.retain(|name| name != ROOT);
        names.sort();
        names.dedup();
        let table = self.table();
        [ROOT.to_owned()].into_iter().chain(names).filter_map(|name| said.logger(&name, &table)).collect()
    }

    /// One logger, by the name it is listed under, or by another of its names.
    pub fn get(&self, name: &str) -> Option<Logger> {
        let said = self.said();
        let listed = names::listed(name);
        if !said.operator.contains_key(&listed) {
            said.check_artefacts(&names::resolve(&listed).ok()?).ok()?;
        }
        said.logger(&listed, &self.table())
    }

    /// Gives a logger another level.
    ///
    /// Errors: there is no such logger, or no such level.
    pub fn set(&self, name: &str, level: &str) -> Result<Logger, LevelError> {
        let level = level_of_log4j(level).map_err(|error| LevelError::Level(error.to_string()))?;
        let listed = names::listed(name.trim());
        let mut said = self.said();
        match said.operator.get_mut(&listed) {
            Some(operator) => operator.level = level,
            None => {
                let selectors = names::resolve(&listed).map_err(LevelError::Unknown)?;
                said.check_artefacts(&selectors)?;
                said.insert(&listed, Operator { component: names::component(&listed), selectors, level })?;
            }
        }
        Ok(self.changed(said, &listed))
    }

    /// Adds a logger with a name of its own for a component: a class of Synapse's, a target, or an artefact.
    ///
    /// Errors: there is one of that name, nothing logs as the component, or there is no such level.
    pub fn add(&self, name: &str, component: &str, level: &str) -> Result<Logger, LevelError> {
        let level = level_of_log4j(level).map_err(|error| LevelError::Level(error.to_string()))?;
        let name = name.trim();
        let mut said = self.said();
        let is_known = names::listed(name) != name || names::component(name) != name || name == ROOT;
        if is_known || said.operator.contains_key(name) {
            return Err(LevelError::Exists(format!("there is a logger {name:?} already: change its level instead")));
        }
        let selectors = names::resolve(component).map_err(LevelError::Unknown)?;
        said.check_artefacts(&selectors)?;
        said.insert(name, Operator { component: component.trim().to_owned(), selectors, level })?;
        Ok(self.changed(said, name))
    }

    /// Withdraws what an operator said of a logger; one that was added is gone.
    ///
    /// Errors: nobody said anything of it.
    pub fn remove(&self, name: &str) -> Result<(), LevelError> {
        let listed = names::listed(name.trim());
        let mut said = self.said();
        if said.operator.remove(&listed).is_none() {
            let hint = suggestion(&listed, said.operator.keys().map(String::as_str));
            return Err(LevelError::Unknown(format!("no operator has set the level of {listed:?}{hint}")));
        }
        self.changed(said, &listed);
        Ok(())
    }

    /// A `deployment.toml` says other levels.
    pub fn set_file(&self, file: Directives) {
        let mut said = self.said();
        if said.file != file {
            said.file = file;
            self.apply(said);
        }
    }

    /// The artefacts that serve now. Returns those that have a level and are not there, as `KIND:NAME`.
    pub fn set_artefacts(&self, places: Vec<ArtefactPlace>) -> Vec<String> {
        let mut said = self.said();
        let is_there = |selector: &&Selector| match selector {
            Selector::Artefact(artefact) => places.iter().any(|place| artefact.is(&place.element, &place.name)),
            _ => true,
        };
        let missing: Vec<String> =
            said.directives().keys().filter(|selector| !is_there(selector)).map(ToString::to_string).collect();
        said.places = places;
        self.apply(said);
        missing
    }

    pub(crate) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.0.table.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.0.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self, said: MutexGuard<'_, Said>, name: &str) -> Logger {
        self.apply(said);
        let logger = self.said().logger(name, &self.table());
        // It was just inserted or is one of those that are always there.
        logger.unwrap_or_else(|| Logger {
            name: name.to_owned(),
            component: name.to_owned(),
            level: LevelFilter::OFF.to_string().to_uppercase(),
            source: Source::Default,
        })
    }

    fn apply(&self, said: MutexGuard<'_, Said>) {
        let table = Arc::new(said.table());
        *self.0.table.write().unwrap_or_else(PoisonError::into_inner) = table;
        // Asks each place in the code anew; what asks must not find the lock taken.
        drop(said);
        tracing::callsite::rebuild_interest_cache();
    }
}

impl Said {
    fn directives(&self) -> Directives {
        let mut all = Directives::from([
            (Selector::Root, LevelFilter::INFO),
            (Selector::Target(WIRE.to_owned()), LevelFilter::OFF),
        ]);
        all.extend(self.file.iter().chain(&self.environment).map(|(selector, level)| (selector.clone(), *level)));
        let mut operator = Directives::new();
        for logger in self.operator.values() {
            for selector in &logger.selectors {
                let level = here(&logger.component, logger.level);
                // Synapse has one logger for heads and another for everything.
                let more = |known: &mut LevelFilter| *known = (*known).max(level);
                operator.entry(selector.clone()).and_modify(more).or_insert(level);
            }
        }
        all.extend(operator);
        all
    }

    fn table(&self) -> Table {
        Table::new(&self.directives(), &self.places)
    }

    fn logger(&self, name: &str, table: &Table) -> Option<Logger> {
        let upper = |level: LevelFilter| level.to_string().to_uppercase();
        if let Some(Operator { component, level, .. }) = self.operator.get(name) {
            let (name, component) = (name.to_owned(), component.clone());
            return Some(Logger { name, component, level: upper(*level), source: Source::Operator });
        }
        let selectors = names::resolve(name).ok()?;
        let selector = selectors.first()?;
        let said = [(&self.environment, Source::Environment), (&self.file, Source::File)];
        let source = said.into_iter().find(|(directives, _)| directives.contains_key(selector));
        let level = match selector {
            Selector::Root => table.root(),
            Selector::Target(target) => table.of_target(target),
            Selector::Artefact(artefact) => table.of_artefact(artefact).unwrap_or_else(|| table.root()),
        };
        let component = names::component(name);
        let level = upper(there(&component, level));
        let source = source.map_or(Source::Default, |(_, source)| source);
        Some(Logger { name: name.to_owned(), component, level, source })
    }

    fn insert(&mut self, name: &str, operator: Operator) -> Result<(), LevelError> {
        if self.operator.len() >= MOST {
            return Err(LevelError::TooMany(format!("levels of {MOST} loggers are set already: remove some of them")));
        }
        if name.is_empty() || name.len() > LONGEST || name.chars().any(char::is_control) {
            let sentence = format!("the name of a logger has 1 to {LONGEST} bytes, and no control characters");
            return Err(LevelError::TooMany(sentence));
        }
        self.operator.insert(name.to_owned(), operator);
        Ok(())
    }

    /// Errors: one of them is an artefact that the configuration does not have.
    fn check_artefacts(&self, selectors: &[Selector]) -> Result<(), LevelError> {
        for selector in selectors {
            if let Selector::Artefact(artefact) = selector
                && !self.places.is_empty()
                && !self.places.iter().any(|place| artefact.is(&place.element, &place.name))
            {
                let kind = artefact.kind;
                let names = self.places.iter().map(|place| place.name.as_str());
                let hint = suggestion(&artefact.name, names);
                return Err(LevelError::Unknown(format!("the configuration has no {kind} {:?}{hint}", artefact.name)));
            }
        }
        Ok(())
    }
}

/// The level here that a logger's level means: Synapse writes bodies at `DEBUG`.
fn here(component: &str, level: LevelFilter) -> LevelFilter {
    if component == SYNAPSE_WIRE && level == LevelFilter::DEBUG { LevelFilter::TRACE } else { level }
}

/// The level that a logger is told to have where nobody set it by its name.
fn there(component: &str, level: LevelFilter) -> LevelFilter {
    match (component, level) {
        (SYNAPSE_WIRE, LevelFilter::TRACE) => LevelFilter::DEBUG,
        (SYNAPSE_WIRE, LevelFilter::DEBUG) => LevelFilter::INFO,
        _ => level,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directives::directives;

    fn shown(levels: &Levels, name: &str) -> String {
        levels
            .get(name)
            .map_or("-".to_owned(), |it| format!("{} {} {} {}", it.name, it.component, it.level, it.source.name()))
    }

    #[test]
    fn what_an_operator_sets_goes_before_the_environment_and_that_before_the_file() {
        let levels = Levels::new(directives("warn,myelin_http=debug").unwrap());
        levels.set_file(directives("error,myelin_http=trace,myelin_wss=debug").unwrap());
        assert_eq!(shown(&levels, "rootLogger"), "rootLogger rootLogger WARN MYELIN_LOG");
        assert_eq!(shown(&levels, "myelin_http"), "myelin_http myelin_http DEBUG MYELIN_LOG");
        assert_eq!(shown(&levels, "myelin_wss"), "myelin_wss myelin_wss DEBUG deployment.toml");
        assert_eq!(shown(&levels, "org.apache.coyote"), "org-apache-coyote org.apache.coyote DEBUG MYELIN_LOG");
        levels.set("org-apache-coyote", "FATAL").unwrap();
        assert_eq!(shown(&levels, "org-apache-coyote"), "org-apache-coyote org.apache.coyote ERROR operator");
        assert_eq!(levels.table().of_target("myelin_http::client"), LevelFilter::ERROR);
        levels.set_file(directives("trace").unwrap());
        assert_eq!(levels.table().of_target("myelin_http::client"), LevelFilter::ERROR, "a reload keeps it");
        levels.remove("org.apache.coyote").unwrap();
        assert_eq!(levels.table().of_target("myelin_http::client"), LevelFilter::DEBUG);
        assert_eq!(levels.table().of_target("myelin_wss"), LevelFilter::WARN);
        assert!(matches!(levels.remove("org.apache.coyote"), Err(LevelError::Unknown(_))));
        assert_eq!(levels.list()[0].name, "rootLogger");
        assert!(levels.list().iter().any(|logger| logger.name == "org-apache-synapse"));
    }

    #[test]
    fn a_logger_that_is_added_has_its_own_name_and_goes_again() {
        let levels = Levels::new(Directives::new());
        let added = levels.add("synapse-api", "org.apache.synapse.rest.API", "DEBUG").unwrap();
        assert_eq!((added.name.as_str(), added.component.as_str()), ("synapse-api", "org.apache.synapse.rest.API"));
        assert_eq!(levels.table().of_target("myelin_artefacts::apis::resource"), LevelFilter::DEBUG);
        assert!(matches!(
            levels.add("synapse-api", "org.apache.synapse.rest.API", "DEBUG"),
            Err(LevelError::Exists(_))
        ));
        assert!(matches!(levels.add("org-apache-coyote", "org.apache.synapse", "DEBUG"), Err(LevelError::Exists(_))));
        assert!(matches!(levels.add("x", "com.example", "DEBUG"), Err(LevelError::Unknown(_))));
        assert!(matches!(levels.add("x", "org.apache.synapse", "loud"), Err(LevelError::Level(_))));
        assert_eq!(levels.set("synapse-api", "INFO").unwrap().level, "INFO");
        levels.remove("synapse-api").unwrap();
        assert_eq!(levels.get("synapse-api"), None);
        assert_eq!(levels.table().of_target("myelin_artefacts::apis::resource"), LevelFilter::INFO);
    }

    #[test]
    fn synapses_two_loggers_of_the_wire_are_levels_of_one() {
        let levels = Levels::new(directives("trace").unwrap());
        assert_eq!(levels.table().of_target(WIRE), LevelFilter::OFF, "nobody asked for it by name");
        levels.set("org.apache.synapse.transport.http.headers", "DEBUG").unwrap();
        assert_eq!(levels.table().of_target(WIRE), LevelFilter::DEBUG);
        assert_eq!(levels.get("synapse-wire").unwrap().level, "INFO");
        levels.set("org-apache-synapse-transport-http-wire", "DEBUG").unwrap();
        assert_eq!(levels.table().of_target(WIRE), LevelFilter::TRACE);
        assert_eq!(levels.get("synapse-wire").unwrap().level, "DEBUG");
    }

    #[test]
    fn artefacts_that_are_not_there_are_refused_and_those_that_went_are_told_of() {
        let levels = Levels::new(directives("proxy:Gone=debug").unwrap());
        let place = |element: &str, name: &str| ArtefactPlace {
            element: element.into(),
            name: name.into(),
            file: "a.xml".into(),
            lines: (1, 9),
        };
        let missing = levels.set_artefacts(vec![place("proxy", "Orders"), place("api", "Stock:v1")]);
        assert_eq!(missing, ["proxy:Gone"]);
        assert_eq!(levels.set("proxy:Orders", "trace").unwrap().level, "TRACE");
        assert_eq!(levels.set("api:Stock", "trace").unwrap().name, "api:Stock");
        let error = levels.set("proxy:Order", "trace").unwrap_err();
        assert_eq!(error.to_string(), "the configuration has no proxy \"Order\"; did you mean Orders?");
        assert!(matches!(levels.set("", "trace"), Err(LevelError::Unknown(_))));
    }
}
