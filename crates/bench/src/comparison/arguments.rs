//! What a comparison is asked for.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::scenario::Scenario;
use super::target::TargetName;
use crate::units;

/// The arguments of `myelin bench run`.
///
/// They are kept with the results, so that a run that was interrupted goes on as it was asked for.
#[derive(Clone, Debug, Serialize, Deserialize, clap::Args)]
pub struct Arguments {
    /// Who takes part, where it can: myelin, direct (myelin passing on unread), relay (copies bytes: the floor), backend (no bus at all), kit:NAME, kit:./FOLDER, or NAME=URL of a server that runs, with @scenario@ in the URL; the first is what the others are compared with
    #[arg(
        long = "target",
        value_name = "TARGET",
        value_delimiter = ',',
        default_value = "myelin,kit:nginx,kit:haproxy,relay"
    )]
    pub targets: Vec<TargetName>,
    /// What they do [default: direct,header,cbr,xslt]
    #[arg(long = "scenario", value_name = "NAME", value_delimiter = ',', value_enum)]
    pub scenarios: Vec<Scenario>,
    /// Body sizes, but for `many`, `idle` and the quotes [default: 500,1K,5K,10K,50K,100K,500K,1M]
    #[arg(long = "size", value_name = "SIZE", value_delimiter = ',', value_parser = units::size)]
    pub sizes: Vec<u64>,
    /// Connections, but for `many` and `idle` [default: 1,20,40,80,160,320,640,1280,2560]
    #[arg(long = "concurrency", value_name = "COUNT", value_delimiter = ',')]
    pub concurrency: Vec<usize>,
    /// Some two minutes instead of the whole grid: direct and cbr, sizes 500,10K, concurrency 20, three rounds of a second
    #[arg(long)]
    pub quick: bool,
    /// Rounds in which each target has one turn [default: 5]
    #[arg(long, value_name = "COUNT")]
    pub rounds: Option<usize>,
    /// How long a turn lasts [default: 2s]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub duration: Option<Duration>,
    /// Requests in a turn, which ends with the last of them and not after a time; ten seconds at the longest
    #[arg(long, value_name = "COUNT", conflicts_with = "duration")]
    pub requests: Option<u64>,
    /// Requests a second that are offered (open loop), whether they are answered or not; latencies count from when a request was due
    #[arg(long, value_name = "RATE", conflicts_with = "requests")]
    pub rate: Option<f64>,
    /// Offer more and more requests a second (open loop) until a target no longer keeps up; what it took at each rate is a cell of its own
    #[arg(long, conflicts_with_all = ["rate", "requests"])]
    pub ramp: bool,
    /// Clients come by HTTPS, the backend is asked plainly; only targets that can do so take part
    #[arg(long)]
    pub tls: bool,
    /// Every target writes its access log to a file; only those that can do so take part, and the relay, which has none
    #[arg(long)]
    #[serde(default)]
    pub access_log: bool,
    /// Threads or workers of each target
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    pub threads: usize,
    /// How long a target is driven at most before it is measured; it ends when the CPU time a request takes no longer falls [default: 40s]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub warm_up: Option<Duration>,
    /// The binary `myelin`, which is a target, the relay and the backend; by default this one
    #[arg(long, value_name = "FILE")]
    pub myelin: Option<PathBuf>,
    /// Where the backend that answers with what it is sent listens: servers that run already have to send there
    #[arg(long, value_name = "ADDRESS", value_parser = units::address, default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    pub echo: SocketAddr,
    /// The process of a target that runs already, to measure its CPU time and memory
    #[arg(long = "process", value_name = "NAME=PID", value_parser = process, value_delimiter = ',')]
    pub processes: Vec<(String, u32)>,
    /// The keys of `secure-legacy`: the folder that the peer in tests/interop/wss4j makes
    #[arg(long, value_name = "FOLDER")]
    pub keys: Option<PathBuf>,
    /// Where kits keep what they fetch [default: myelin/kits in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,
    /// Where the results are written [default: a folder myelin-bench-… named after the time]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Go on with the run whose results are in this folder, as it was asked for
    #[arg(long, value_name = "FOLDER", exclusive = true)]
    #[serde(skip)]
    pub resume: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn scenarios(&self) -> Vec<Scenario> {
        match (self.scenarios.as_slice(), self.quick) {
            ([], true) => vec![Scenario::Direct, Scenario::Cbr],
            ([], false) => vec![Scenario::Direct, Scenario::Header, Scenario::Cbr, Scenario::Xslt],
            (scenarios, _) => scenarios.to_vec(),
        }
    }

    pub(super) fn sizes(&self) -> Vec<u64> {
        const K: u64 = 1 << 10;
        match (self.sizes.as_slice(), self.quick) {
            ([], true) => vec![500, 10 * K],
            ([], false) => vec![500, K, 5 * K, 10 * K, 50 * K, 100 * K, 500 * K, K * K],
            (sizes, _) => sizes.to_vec(),
        }
    }

    pub(super) fn concurrency(&self) -> Vec<usize> {
        match (self.concurrency.as_slice(), self.quick) {
            ([], true) => vec![20],
            ([], false) => vec![1, 20, 40, 80, 160, 320, 640, 1280, 2560],
            (concurrency, _) => concurrency.to_vec(),
        }
    }

    pub(super) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 3 } else { 5 })
    }

    pub(super) fn duration(&self) -> Duration {
        self.duration.unwrap_or(if self.quick { Duration::from_secs(1) } else { Duration::from_secs(2) })
    }

    pub(super) fn warm_up(&self) -> Duration {
        self.warm_up.unwrap_or(if self.quick { Duration::from_secs(15) } else { Duration::from_secs(40) })
    }
}

/// Reads `NAME=PID`.
fn process(text: &str) -> Result<(String, u32), String> {
    let read = text.split_once('=').and_then(|(name, process)| Some((name.to_owned(), process.parse().ok()?)));
    read.ok_or_else(|| format!("`{text}` is not the name of a target and a process, as in bus=4711"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn a_quick_run_is_a_small_grid_and_what_is_said_counts_more() {
        let read = |words: &[&str]| Command::try_parse_from([&["bench"], words].concat()).map(|it| it.arguments);
        let quick = read(&["--quick", "--size", "1K"]).unwrap();
        assert_eq!((quick.sizes(), quick.concurrency(), quick.rounds()), (vec![1024], vec![20], 3));
        let whole = read(&["--target", "kit:nginx,a=http://h/", "--process", "a=1"]).unwrap();
        assert_eq!((whole.sizes().len(), whole.concurrency().len(), whole.targets.len()), (8, 9, 2));
        assert_eq!(whole.processes, [("a".to_owned(), 1)]);
        assert!(read(&["--process", "a"]).is_err() && read(&["--resume", "a", "--quick"]).is_err());
    }
}
