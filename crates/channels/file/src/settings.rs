//! What the parameters of a proxy or an inbound endpoint say about the files that it takes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use myelin_channel::{CronExpression, Parameters, Severity};
use myelin_java_text::pattern::Pattern;

use crate::after::{Action, Destination};
use crate::claim::Locking;
use crate::list::{Filter, Order, Sort};
use crate::lock::Release;
use crate::schedule::Schedule;
use crate::target::{RECONNECT, RETRIES, Target};
use crate::uri::Location;

/// How many files of one folder are under way at once where they need not be one after the other.
const AT_ONCE: usize = 16;

/// Axis2's interval between polls where a proxy says none.
const INTERVAL: Duration = Duration::from_secs(300);

/// The file that failed moves are listed in where none is named.
const RECORDS: &str = "vfs-move-failed-records.properties";

/// The time in it, and when a move is tried again.
const RECORD_TIME: &str = "dd/MM/yyyy/ HH:mm:ss";
const RETRY: Duration = Duration::from_secs(3);

/// Which files are taken, when, and what becomes of them.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) location: Location,
    pub(crate) filter: Filter,
    pub(crate) order: Option<Order>,
    pub(crate) schedule: Schedule,
    /// How many files are taken after one look (`FileProcessCount`).
    pub(crate) count: Option<usize>,
    /// How long there is between two files (`FileProcessInterval`).
    pub(crate) pause: Duration,
    /// How long a file must not change before it is taken (`CheckSizeInterval`).
    pub(crate) stable: Option<Duration>,
    pub(crate) locking: Locking,
    pub(crate) at_once: usize,
    /// The type of all files; otherwise that of the ending of their names.
    pub(crate) content_type: Option<String>,
    pub(crate) success: Action,
    pub(crate) failure: Action,
    pub(crate) records: RecordSettings,
    /// How often a look into the folder is tried again, and after how long.
    pub(crate) retries: u64,
    pub(crate) reconnect: Duration,
    pub(crate) reply: Option<Target>,
}

/// What is done about files that could not be moved.
#[derive(Debug)]
pub(crate) struct RecordSettings {
    /// The folder of the list of them; otherwise the one that the files are in.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) name: OsString,
    /// The pattern for the time in it.
    pub(crate) time: String,
    pub(crate) retry: Duration,
    /// Where they go at last, instead of where they should have gone.
    pub(crate) target: Option<Destination>,
}

impl Settings {
    /// Reads them; `None` where there is a problem, which the parameters know then.
    pub(crate) fn read(parameters: &Parameters) -> Option<Settings> {
        let reader = Reader(parameters);
        let location =
            parameters.required("transport.vfs.FileURI").and_then(|_| reader.address("transport.vfs.FileURI"));
        if let Some(location) = location.as_ref().filter(|location| is_missing(&location.path)) {
            let message = format!("the folder {} is not there; make it, or correct this", location.path.display());
            parameters.warning("transport.vfs.FileURI", message);
        }
        let root = location.as_ref().map_or(Path::new("/"), |location| &location.path);
        reader.tell_what_has_no_effect();
        let stable = parameters.milliseconds("transport.vfs.CheckSizeInterval");
        let records = reader.records();
        let settings = Settings {
            filter: reader.filter(&records.name, stable.is_some()),
            order: reader.order(),
            schedule: reader.schedule(),
            count: reader.number("transport.vfs.FileProcessCount").map(|count| count.max(1)),
            pause: parameters.milliseconds("transport.vfs.FileProcessInterval").unwrap_or_default(),
            stable,
            locking: reader.locking(),
            at_once: if parameters.switch("sequential", true) { 1 } else { AT_ONCE },
            content_type: parameters.text("transport.vfs.ContentType").map(str::to_owned),
            success: reader.action("Process", root),
            failure: reader.action("Failure", root),
            records,
            retries: parameters.number("transport.vfs.MaxRetryCount").unwrap_or(RETRIES),
            reconnect: parameters.number("transport.vfs.ReconnectTimeout").map_or(RECONNECT, Duration::from_secs),
            reply: reader.reply(),
            location: location.clone()?,
        };
        let has_problem = parameters.complaints().iter().any(|complaint| complaint.severity == Severity::Problem);
        (!has_problem).then_some(settings)
    }
}

/// Whether neither a folder is there nor the place of a file that may come.
pub(crate) fn is_missing(path: &Path) -> bool {
    let may_come = || path.extension().is_some() && path.parent().is_some_and(Path::is_dir);
    matches!(path.try_exists(), Ok(false)) && !may_come()
}

/// Reads one parameter after the other; what is wrong with one is a problem, and the others are read as well.
struct Reader<'a>(&'a Parameters);

impl Reader<'_> {
    /// The address in a parameter.
    fn address(&self, name: &str) -> Option<Location> {
        let parsed = Location::parse(self.0.text(name)?);
        parsed.map_err(|error| self.0.problem(name, format!("{name}: {error}"))).ok()
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.0.number(name).and_then(|number| usize::try_from(number).ok())
    }

    fn filter(&self, records: &OsString, wants_identity: bool) -> Filter {
        let name = "transport.vfs.FileNamePattern";
        let pattern = self.0.text(name).and_then(|pattern| {
            let compiled = Pattern::compile(pattern);
            compiled.map_err(|error| self.0.problem(name, format!("{name} is {pattern:?}: {error}"))).ok()
        });
        let seconds = |name: &str| self.0.number(name).map(Duration::from_secs);
        let minimum = seconds("transport.vfs.MinimumAge");
        Filter {
            pattern,
            minimum_age: minimum.max(self.0.milliseconds("transport.vfs.waitTimeBeforeRead")),
            maximum_age: seconds("transport.vfs.MaximumAge"),
            limit_bytes: self.size_limit(),
            ignores_empty: self.0.switch("transport.vfs.CheckSizeIgnoreEmpty", false),
            wants_identity,
            records: records.clone(),
        }
    }

    /// A number of bytes, which Synapse reads as a `double`; negative ones are no limit.
    fn size_limit(&self) -> Option<u64> {
        let name = "transport.vfs.FileSizeLimit";
        let text = self.0.text(name)?;
        match text.parse::<f64>() {
            Ok(limit) if limit >= 0.0 => Some(limit as u64),
            Ok(limit) if limit < 0.0 => None,
            _ => {
                self.0.problem(name, format!("{name} is {text:?}: a number of bytes is needed, or -1 for no limit"));
                None
            }
        }
    }

    fn order(&self) -> Option<Order> {
        let by = self.0.choice("transport.vfs.FileSortAttribute", &["NONE", "Name", "Size", "Lastmodifiedtimestamp"]);
        // Older versions of Synapse spell it so.
        let ascending = self.0.switch("transport.vfs.FileSortAsscending", true);
        let ascending = self.0.switch("transport.vfs.FileSortAscending", ascending);
        let by = [Sort::Name, Sort::Size, Sort::Modified].get(by?.checked_sub(1)?)?;
        Some(Order { by: *by, ascending })
    }

    fn schedule(&self) -> Schedule {
        let cron = ["cron", "cronExpression"].into_iter().filter_map(|name| Some((name, self.0.text(name)?))).last();
        let interval = self.0.milliseconds("interval");
        let poll = self.poll_interval();
        let Some((name, expression)) = cron else { return Schedule::every(interval.or(poll).unwrap_or(INTERVAL)) };
        CronExpression::parse(expression).map(Schedule::Cron).unwrap_or_else(|error| {
            self.0.problem(name, format!("{name} is {expression:?}: {error}"));
            Schedule::every(INTERVAL)
        })
    }

    /// Seconds, or milliseconds with `ms` behind them.
    fn poll_interval(&self) -> Option<Duration> {
        let name = "transport.PollInterval";
        let text = self.0.text(name)?;
        let read = match text.strip_suffix("ms") {
            Some(text) => text.trim_end().parse().map(Duration::from_millis),
            None => text.parse().map(Duration::from_secs),
        };
        let wrong =
            |_| self.0.problem(name, format!("{name} is {text:?}: seconds are needed, or milliseconds as 500ms"));
        read.map_err(wrong).ok()
    }

    fn locking(&self) -> Locking {
        let is_off = self.0.choice("transport.vfs.Locking", &["enable", "disable"]) == Some(1);
        let release = Release {
            after: self.0.milliseconds("transport.vfs.AutoLockReleaseInterval").unwrap_or_default(),
            same_node: self.0.switch("transport.vfs.LockReleaseSameNode", true),
        };
        let releases = self.0.switch("transport.vfs.AutoLockRelease", false);
        if is_off { Locking::Off } else { Locking::On(releases.then_some(release)) }
    }

    /// What is done after success (`Process`) or failure.
    fn action(&self, when: &str, root: &Path) -> Action {
        let (action, target) = (format!("transport.vfs.ActionAfter{when}"), format!("transport.vfs.MoveAfter{when}"));
        let chosen = self.0.choice(&action, &["DELETE", "MOVE", "NONE"]).unwrap_or(0);
        let address = self.address(&target);
        match (chosen, address) {
            (1, Some(location)) => {
                let dated = self.0.text("transport.vfs.MoveTimestampFormat").is_some();
                if location.path == root && !dated {
                    let what = "is the folder that files are taken from: they stay, and are taken again and again";
                    self.0.warning(&target, format!("{target} {what}"));
                }
                Action::Move(self.destination(location))
            }
            (1, None) => {
                if self.0.text(&target).is_none() {
                    let what = format!("{action} is MOVE and {target} is missing: files are removed, as in Synapse");
                    self.0.warning(&action, what);
                }
                Action::Delete
            }
            (chosen, address) => {
                if address.is_some() {
                    let word = if chosen == 2 { "NONE" } else { "DELETE" };
                    self.0.warning(&target, format!("{target} has no effect: {action} is {word}, not MOVE"));
                }
                if chosen == 2 { Action::Leave } else { Action::Delete }
            }
        }
    }

    fn destination(&self, location: Location) -> Destination {
        Destination {
            location,
            dated_folder: self.0.text("transport.vfs.SubFolderTimestampFormat").map(str::to_owned),
            dated_prefix: self.0.text("transport.vfs.MoveTimestampFormat").map(str::to_owned),
            creates_folder: self.0.switch("transport.vfs.CreateFolder", false),
            keeps_modified: self.0.switch("transport.vfs.UpdateLastModified", true),
        }
    }

    fn records(&self) -> RecordSettings {
        let folder = self.0.text("transport.vfs.FailedRecordsFileDestination");
        let folder = folder.map(|text| Location::parse(text).map_or_else(|_| PathBuf::from(text), |found| found.path));
        let target = self.address("transport.vfs.MoveAfterFailedMove").map(|location| Destination {
            dated_folder: None,
            creates_folder: true,
            ..self.destination(location)
        });
        // Read here as well, so that they are known where no action uses them.
        self.destination(Location::root());
        RecordSettings {
            folder,
            name: self.0.text("transport.vfs.FailedRecordsFileName").unwrap_or(RECORDS).into(),
            time: self.0.text("transport.vfs.MoveFailedRecordTimestampFormat").unwrap_or(RECORD_TIME).to_owned(),
            retry: self.0.milliseconds("transport.vfs.FailedRecordNextRetryDuration").unwrap_or(RETRY),
            target,
        }
    }

    fn reply(&self) -> Option<Target> {
        let (address, name) = ("transport.vfs.ReplyFileURI", self.0.text("transport.vfs.ReplyFileName"));
        let parsed = Target::parse(self.0.text(address)?);
        let target = parsed.map_err(|error| self.0.problem(address, format!("{address}: {error}"))).ok()?;
        Some(Target { name: target.name.clone().or_else(|| name.map(str::to_owned)), ..target })
    }

    fn tell_what_has_no_effect(&self) {
        for name in ["coordination", "transport.vfs.ClusterAware", "transport.vfs.Streaming"] {
            // Locks keep the members of a cluster apart, and files are streamed anyway.
            self.0.text(name);
        }
        for name in ["transport.vfs.ResolveHostsDynamically", "transport.vfs.IsMounted", "transport.vfs.isMounted"] {
            self.0.text(name);
        }
        let sftp: Vec<_> = self.0.starting_with("transport.vfs.SFTP").map(str::to_owned).collect();
        let local = "only local files are taken";
        let locks = "locks beside the files keep all processes apart";
        let of_addresses = "it belongs to the address that is written to, behind a question mark";
        let known = [
            ("transport.vfs.Append", of_addresses),
            ("transport.vfs.SendFileSynchronously", of_addresses),
            ("transport.vfs.DistributedLock", locks),
            ("transport.vfs.DistributedTimeout", locks),
            ("transport.vfs.Build", "a file is read as far as something asks for it"),
            ("transport.vfs.ActionAfterErrors", "a file succeeds or fails as a whole, as in Synapse"),
            ("transport.vfs.MoveAfterErrors", "a file succeeds or fails as a whole, as in Synapse"),
            ("transport.vfs.fileType", "files are taken byte by byte"),
            ("transport.vfs.filetype", "files are taken byte by byte"),
        ];
        for (name, why) in known.into_iter().chain(sftp.iter().map(|name| (&name[..], local))) {
            if self.0.text(name).is_some_and(|value| !value.eq_ignore_ascii_case("false")) {
                self.0.warning(name, format!("{name} has no effect here: {why}"));
            }
        }
    }
}
