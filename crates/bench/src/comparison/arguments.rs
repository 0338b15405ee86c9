//! What a comparison is asked for.

use std::path::PathBuf;
use std::time::Duration;

use super::kind::Kind;
use super::scenario::Scenario;
use crate::units;

/// The arguments of a comparison.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The binary `myelin`, which is a contender, the relay and the echo
    #[arg(long, value_name = "FILE")]
    pub myelin: PathBuf,
    /// Who takes part, where it can; the first is what the others are compared with
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_enum,
        default_value = "myelin,direct,nginx,haproxy,relay"
    )]
    pub contenders: Vec<Kind>,
    /// What they do
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_value = "direct,header,many,idle")]
    pub scenario: Vec<Scenario>,
    /// Body sizes, but for `many`, `idle` and the quotes
    #[arg(
        long,
        value_name = "SIZES",
        value_delimiter = ',',
        value_parser = units::size,
        default_value = "500,1K,10K,100K,1M"
    )]
    pub sizes: Vec<u64>,
    /// Connections, but for `many` and `idle`
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "20,160,640")]
    pub connections: Vec<usize>,
    /// Rounds in which each contender has one turn
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub rounds: usize,
    /// Requests in a turn; by default fewer for larger bodies
    #[arg(long, value_name = "COUNT")]
    pub requests: Option<u64>,
    /// Threads or workers of each contender
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    pub threads: usize,
    /// The script that starts Apache Synapse, for the contender `synapse`: `FILE HOME pt CONFIGURATION PORT`
    #[arg(long, value_name = "FILE")]
    pub synapse: Option<PathBuf>,
    /// The script that starts Apache Synapse with Rampart, for the contender `rampart`: `FILE HOME KEYS PORT BACKEND`
    #[arg(long, value_name = "FILE")]
    pub rampart: Option<PathBuf>,
    /// The keys of `secure-legacy`: the folder that the peer in tests/interop/wss4j makes
    #[arg(long, value_name = "FOLDER")]
    pub keys: Option<PathBuf>,
    /// How long a contender that compiles while it runs is driven before it is measured
    #[arg(long, value_name = "DURATION", value_parser = units::duration, default_value = "40s")]
    pub warm_up: Duration,
    /// Where comparison.md, comparison.csv and comparison.json are written
    #[arg(long, value_name = "FOLDER", default_value = "target/comparison")]
    pub output: PathBuf,
}
