//! What a gateway's exchange under WS-Security costs one thread, in turns with other libraries: `cargo xtask bench secure`.
//!
//! An exchange is the request of a client, timestamped, signed and encrypted, which is read, verified, decrypted and
//! written, and the plain answer of a backend, which is read, timestamped, signed, encrypted and written.
//! Keys are read once. Libraries in other languages stand in processes of their own that repeat the work and time it
//! themselves; what counts is the CPU time of the thread, and the median of the rounds.

#![expect(clippy::print_stdout, reason = "a benchmark speaks on standard output")]

mod breakdown;
#[path = "../common/mod.rs"]
mod common;
mod keys;
mod myelin;
mod rival;

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use common::{Message, Span};
use myelin::Myelin;
use myelin_bench::units;

/// Verifies and secures messages, in turns with other libraries.
#[derive(Parser)]
struct Arguments {
    /// The algorithms
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_values_t = Profile::value_variants().to_vec())]
    profiles: Vec<Profile>,
    /// Sizes of the plain messages
    #[arg(long, value_delimiter = ',', value_parser = units::size, default_value = "500,1K,10K,100K")]
    sizes: Vec<u64>,
    /// Rounds in which each library has one turn
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// How long a turn is to last, in milliseconds of CPU time
    #[arg(long, default_value_t = 300)]
    turn: u64,
    /// Only our own, and what of an exchange is RSA, digests, ciphers, canonical forms, reading and writing
    #[arg(long)]
    breakdown: bool,
    /// Only our own, so many exchanges with the keys of an earlier run: what callgrind counts, and how many pages are
    /// touched for the first time
    #[arg(long, value_name = "EXCHANGES")]
    alone: Option<u64>,
    /// Where keys, programs, messages and results are put
    #[arg(long, value_name = "FOLDER", default_value = "target/bench-secure")]
    folder: PathBuf,
    /// Cargo says so to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The algorithms of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
enum Profile {
    /// RSA-2048, rsa-sha256, RSA-OAEP, AES-128-GCM.
    Modern,
    /// RSA-1024, rsa-sha1, rsa-1_5, AES-128-CBC.
    Legacy,
    /// P-256 with SHA-256, nothing encrypted.
    Ecdsa,
}

/// One of those that are compared.
trait Gateway {
    fn name(&self) -> &str;

    /// So many exchanges with the message: the nanoseconds of all.
    fn run(&mut self, profile: Profile, message: &Message, repetitions: u64) -> anyhow::Result<u64>;
}

impl Profile {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The ending of the names of those who have keys for it.
    fn people(self) -> &'static str {
        match self {
            Profile::Modern => "",
            Profile::Legacy => "-1024",
            Profile::Ecdsa => "-p256",
        }
    }
}

/// Prints for each profile and size the microseconds of a request and of an answer, and the page faults of both.
fn alone(arguments: &Arguments, exchanges: u64, folder: &Path, keys: PathBuf) -> anyhow::Result<()> {
    let mut ours = Myelin::new(keys);
    for &profile in &arguments.profiles {
        println!("\n`{}`\n\n| size | request | answer | page faults |\n|---|---|---|---|", profile.name());
        for &size in &arguments.sizes {
            let message = Message::new(folder, size)?;
            let spent = ours.exchanges(profile, &message.bytes, exchanges)?;
            let [request, answer, faults] = spent.map(|whole| whole as f64 / exchanges as f64);
            let (size, request, answer) = (units::show_size(size), request / 1e3, answer / 1e3);
            println!("| {size} | {request:.1} | {answer:.1} | {faults:.1} |");
        }
    }
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let (root, folder) = common::folders(&arguments.folder)?;
    let keys = folder.join("keys");
    if let Some(exchanges) = arguments.alone {
        return alone(&arguments, exchanges, &folder, keys);
    }
    // WSS4J's side makes the keys of all.
    let mut gateways = rival::wss4j(&folder, &keys)?;
    if arguments.breakdown {
        drop(gateways);
        return breakdown::tables(&arguments, &folder, &keys);
    }
    gateways.insert(0, Box::new(Myelin::new(keys.clone())));
    match rival::xmlsec(&root, &folder, &keys) {
        Ok(gateway) => gateways.push(gateway),
        Err(reason) => println!("Left out: {reason:#}."),
    }
    println!("One thread, CPU time an exchange in µs, medians of {} rounds in turns.", arguments.rounds);
    let span = Span { rounds: arguments.rounds, turn: arguments.turn, warm_up: 20 };
    for profile in &arguments.profiles {
        let names: Vec<&str> = gateways.iter().map(|gateway| gateway.name()).collect();
        println!("\n`{}`\n\n| size | {} |", profile.name(), names.join(" | "));
        println!("|---|{}", "---|".repeat(names.len()));
        for size in &arguments.sizes {
            let message = Message::new(&folder, *size)?;
            let times = common::in_turns(&span, &mut gateways, |gateway, repetitions| {
                gateway.run(*profile, &message, repetitions)
            })?;
            println!("| {} | {} |", units::show_size(*size), common::cells(&times).join(" | "));
        }
    }
    Ok(())
}
