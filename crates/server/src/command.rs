//! The commands, and how each ends.

use std::io::{self, Write};
use std::process::ExitCode;

use myelin_bench::{echo, load, relay, stockquote};

use crate::file_limit::raise_file_limit;
use crate::{check, demo, deployment, explain, home, manual, run, test, trace, user, wss, xml, xpath, xslt};

/// A native enterprise service bus that runs Apache Synapse and WSO2 configurations.
#[derive(Debug, clap::Parser)]
#[command(name = "myelin", version, about, max_term_width = 100)]
pub struct Arguments {
    /// What it is asked to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `myelin` is asked to do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Serve configurations
    Run(Box<run::Arguments>),
    /// Load configurations without serving them, and report what runs and what does not
    Check(check::Arguments),
    /// Say what a configuration will do: routes, steps, what they read and change, endpoints
    Explain(explain::Arguments),
    /// Run golden cases, which say what goes in and what must come out, and unit tests of WSO2's tools
    Test(test::Arguments),
    /// Follow the message traces of a service of a running bus, step by step
    Trace(trace::Arguments),
    /// Make a folder that WSO2's extension for VS Code takes for a Micro Integrator, so that it starts Myelin
    Home(home::Arguments),
    /// Check that XML documents are well formed, or print their canonical or indented form
    Xml(xml::Arguments),
    /// Evaluate an XPath expression on XML documents, or a JSONPath on JSON
    #[command(name = "xpath")]
    XPath(Box<xpath::Arguments>),
    /// Transform documents with an XSLT stylesheet
    Xslt(Box<xslt::Arguments>),
    /// Verify, decrypt, sign and encrypt SOAP messages by a policy
    Wss(Box<wss::Arguments>),
    /// Add, change, remove and list the users of the management API
    #[command(subcommand)]
    User(user::Command),
    /// Print every key of deployment.toml, with its default and meaning, as Markdown
    Settings,
    /// Show the bus at work: backend, bus and real messages in one process, every answer checked
    Demo,
    /// Compare this bus with others on this machine, and show what each of them costs
    #[command(subcommand)]
    Bench(myelin_bench::Command),
    /// Send load to a URL, check every answer, and report rates, latencies and errors
    Load(Box<load::Arguments>),
    /// Answer every request with its own body: the backend of benchmarks
    Echo(echo::Arguments),
    /// Answer as SimpleStockQuoteService, the backend of Apache Synapse's samples
    Stockquote(stockquote::Arguments),
    /// Print the script that completes commands and options in a shell
    Completions(manual::Completions),
    /// Print the manual page, of all commands or of one, for `man`
    Man(manual::Man),
    /// Relay TCP connections: what a benchmark compares everything with
    #[command(hide = true)]
    Relay(relay::Arguments),
}

impl Command {
    /// Runs the command; what goes wrong is said on standard error.
    pub fn run(self) -> ExitCode {
        let mut out = io::stdout();
        let result = match self {
            Command::Run(arguments) => run::run(&arguments, &mut out),
            Command::Check(arguments) => check::run(&arguments, &mut out),
            Command::Explain(arguments) => explain::run(&arguments, &mut out),
            Command::Test(arguments) => test::run(&arguments, &mut out),
            Command::Trace(arguments) => trace::run(&arguments, &mut out),
            Command::Home(arguments) => home::run(&arguments, &mut out),
            Command::Xml(arguments) => xml::run(&arguments, &mut out),
            Command::XPath(arguments) => xpath::run(&arguments, &mut out),
            Command::Xslt(arguments) => xslt::run(&arguments, &mut out),
            Command::Wss(arguments) => wss::run(&arguments, &mut out),
            Command::User(command) => user::run(&command, &mut out),
            Command::Settings => {
                out.write_all(deployment::markdown().as_bytes()).map(|()| ExitCode::SUCCESS).map_err(Into::into)
            }
            Command::Demo => demo::run(&mut out),
            Command::Bench(command) => command.run(&mut out),
            Command::Load(arguments) => {
                raise_file_limit();
                load::run(&arguments, &mut out)
            }
            Command::Echo(arguments) => {
                raise_file_limit();
                echo::run(&arguments, &mut out)
            }
            Command::Stockquote(arguments) => {
                raise_file_limit();
                stockquote::run(&arguments, &mut out)
            }
            Command::Completions(arguments) => manual::completions(&arguments, &mut out),
            Command::Man(arguments) => manual::man(&arguments, &mut out),
            Command::Relay(arguments) => {
                raise_file_limit();
                relay::run(&arguments, &mut out)
            }
        };
        match result {
            Ok(code) => code,
            // A reader that has seen enough, as `| head`, is no failure of ours.
            Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
            Err(error) => {
                // Nothing is left to tell if standard error is closed.
                let _ = writeln!(io::stderr(), "myelin: {error:#}");
                ExitCode::FAILURE
            }
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
