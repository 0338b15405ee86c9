//! `myelin load` as a command.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use myelin_wss::guard::{Side, Uses};

use super::agents;
use super::client::Client;
use super::description::{self, Description};
use super::plan::{Plan, Progress, Verify};
use super::report::{self, Format};
use super::request::ThinkTime;
use super::schedule::Ramp;
use crate::interrupt;
use crate::security::KeyArguments;
use crate::units;

/// The arguments of `myelin load`; letters are those of ApacheBench where it has them.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The URL to call, http:// or https://; with --plan, the host of requests that name none
    #[arg(required_unless_present_any = ["plan", "agent"])]
    pub url: Option<String>,
    /// Send the requests that this TOML file describes, in turns by their weights
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["method", "body", "soap", "media_type", "headers", "verify", "template", "think", "wss"]
    )]
    pub plan: Option<PathBuf>,
    /// Requests to send in all
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub requests: Option<u64>,
    /// How long to send; 10s when neither a count nor a duration is given
    #[arg(short, long, value_name = "DURATION", value_parser = units::duration)]
    pub duration: Option<Duration>,
    /// Connections that send at the same time
    #[arg(short, long, value_name = "COUNT", default_value_t = 1)]
    pub connections: usize,
    /// Connections that are open and silent meanwhile
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub idle: usize,
    /// Send at this many requests a second, whether or not answers come; latency counts from the intended time
    #[arg(short, long, value_name = "PER_SECOND")]
    pub rate: Option<f64>,
    /// Send at a rate that rises or falls evenly and then stays, as 100..2000/30s; ends with it where nothing else ends
    /// the run
    #[arg(long, value_name = "FROM..TO/DURATION", conflicts_with = "rate")]
    pub ramp: Option<Ramp>,
    /// Wait so long after each answer before the connection sends again: 200ms, or any time in 100ms..500ms
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["rate", "ramp"])]
    pub think: Option<ThinkTime>,
    /// Replace n (the request's number), uuid and now in double braces, as in {{uuid}}, in path, headers and body of each
    /// request
    #[arg(long, conflicts_with = "wss")]
    pub template: bool,
    /// Request method; GET, or POST when there is a body
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Send this file as the body
    #[arg(short = 'p', long, value_name = "FILE", conflicts_with = "soap")]
    pub body: Option<PathBuf>,
    /// Send the benchmark's SOAP message of exactly this size as the body
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub soap: Option<u64>,
    /// Content-Type; text/xml with --soap
    #[arg(short = 'T', long = "type", value_name = "TYPE")]
    pub media_type: Option<String>,
    /// Another header line, `Name: value`
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// Use connections again; the default, as a letter for those used to ApacheBench
    #[arg(short = 'k', long = "keepalive", conflicts_with = "no_keepalive")]
    pub keepalive: bool,
    /// Open a new connection for every request
    #[arg(long = "no-keepalive")]
    pub no_keepalive: bool,
    /// Send the body in chunks
    #[arg(long)]
    pub chunked: bool,
    /// The longest wait for an answer
    #[arg(long, value_name = "DURATION", value_parser = units::duration, default_value = "30s")]
    pub timeout: Duration,
    /// How long to wait, after the end of --duration, for the answers to requests under way
    #[arg(long, value_name = "DURATION", value_parser = units::duration, default_value = "5s")]
    pub drain: Duration,
    /// What makes an answer good besides 2xx: status, echo (the body that was sent), xml (the XML that was sent, however it is written), contains:TEXT
    #[arg(long, value_name = "CHECK", default_value = "status")]
    pub verify: Verify,
    /// Write the latencies, second by second, to this file as a log that HdrHistogram's tools read
    #[arg(long, value_name = "FILE")]
    pub histogram: Option<PathBuf>,
    /// Report CPU, memory, threads and files of this process; may be given several times
    #[arg(long = "pid", value_name = "PID")]
    pub processes: Vec<u32>,
    /// Threads that send
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub threads: usize,
    /// For https: trust the certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// For https: show the certificate in this PEM file to the service
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// The key of --cert, in a PEM file and not encrypted; without this, it is looked for in the same file
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// For https: shake hands in full for each connection, instead of resuming sessions of earlier ones
    #[arg(long = "no-resumption")]
    pub no_resumption: bool,
    /// Secure each request anew by this policy, and verify each answer before it is judged; --verify echo and xml then
    /// compare what is in the body
    #[arg(long, value_name = "POLICY")]
    pub wss: Option<PathBuf>,
    /// The keys, where the policy names none
    #[command(flatten)]
    pub keys: KeyArguments,
    /// Let these agents send, each its part, and add up what they measured
    #[arg(long, value_name = "HOST:PORT,…", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// Be an agent: send what coordinators say, until the process is ended
    #[arg(long, conflicts_with_all = ["url", "plan", "agents"])]
    pub agent: bool,
    /// Where an agent listens; port 0 finds a free one
    #[arg(
        long,
        value_name = "ADDRESS",
        value_parser = units::address,
        default_value = "127.0.0.1:9700",
        requires = "agent"
    )]
    pub listen: SocketAddr,
    /// The environment variable with the secret that coordinator and agents share
    #[arg(long, value_name = "NAME")]
    pub secret_env: Option<String>,
    /// How to report
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub format: Format,
}

impl Arguments {
    /// The plan these arguments stand for.
    ///
    /// Errors: a file cannot be read, a URL, header line or size makes no sense; the typist's.
    pub fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = match &self.plan {
            Some(path) => {
                let mix = description::read(path, self.url.as_deref())?;
                Plan { mix: mix.clone(), ..Plan::of(mix.into_iter().next().context("there is no request")?) }
            }
            None => Plan::of(self.description().request(None, Path::new(""))?),
        };
        plan.chunked = self.chunked;
        plan.keep_alive = !self.no_keepalive;
        plan.requests = self.requests;
        plan.duration = match self.requests {
            None => {
                let ramp = self.ramp.and_then(|ramp| Duration::try_from_secs_f64(ramp.seconds).ok());
                self.duration.or(ramp).or(Some(Duration::from_secs(10)))
            }
            Some(_) => self.duration,
        };
        plan.connections = self.connections;
        plan.idle_connections = self.idle;
        plan.rate = self.rate;
        plan.ramp = self.ramp;
        plan.threads = self.threads;
        plan.timeout = self.timeout;
        plan.drain = self.drain;
        plan.histogram.clone_from(&self.histogram);
        plan.processes.clone_from(&self.processes);
        plan.authorities.clone_from(&self.cacert);
        plan.certificate.clone_from(&self.cert);
        plan.key.clone_from(&self.key);
        plan.resumption = !self.no_resumption;
        if let Some(policy) = &self.wss {
            plan.security = Some(Client::new(self.keys.guard(policy, Side::Initiator, Uses::Both)?.0));
        }
        Ok(plan)
    }

    fn description(&self) -> Description {
        Description {
            url: self.url.clone().unwrap_or_default(),
            method: self.method.clone(),
            body: self.body.clone(),
            soap: self.soap,
            media_type: self.media_type.clone(),
            headers: self.headers.clone(),
            verify: Some(self.verify.clone()),
            think: self.think,
            template: self.template,
            ..Description::default()
        }
    }
}

/// Runs `myelin load`: writes the report to `out` and, if standard error is a terminal, a live line there.
///
/// Ctrl-C ends the run early, with its report.
/// Returns failure when any request failed or none was answered.
/// Errors: the arguments make no sense, the run cannot begin, `out` cannot be written.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let secret = arguments
        .secret_env
        .as_ref()
        .map(|name| std::env::var(name).with_context(|| format!("the environment variable {name} holds no secret")));
    let secret = secret.transpose()?;
    if arguments.agent {
        agents::serve(&agents::bind(arguments.listen)?, secret.as_deref(), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let plan = arguments.plan()?;
    let interrupt = Arc::<AtomicBool>::default();
    interrupt::listen(interrupt.clone())?;
    let mut terminal = std::io::stderr();
    let live = terminal.is_terminal();
    let mut watch = |progress| {
        if live {
            // Nobody depends on this line.
            let _ = terminal.write_all(line(progress).as_bytes());
        }
    };
    let outcome = match arguments.agents.as_slice() {
        [] => plan.run_watched(&interrupt, &mut watch)?,
        agents => agents::coordinate(&plan, agents, secret.as_deref(), &interrupt, &mut watch)?,
    };
    if live {
        let _ = terminal.write_all(b"\r\x1b[K");
    }
    report::write(&outcome, arguments.format, out)?;
    Ok(if outcome.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(progress: Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    if seconds == 0.0 {
        return "\r\x1b[Kconnecting".to_owned();
    }
    let rate = progress.requests as f64 / seconds;
    format!("\r\x1b[K{seconds:.0} s: {} answers, {rate:.0}/s, {} failed", progress.requests, progress.failures)
}
