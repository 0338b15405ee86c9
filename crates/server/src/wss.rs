//! `myelin wss`: secures messages by a policy, and tells of secured ones what is protected, by whom, and why they were
//! accepted or refused.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use myelin_bench::security::{self, KeyArguments};
use myelin_wss::guard::{Arrival, Departure, Side as GuardSide, Uses, Verified};
use myelin_wss::{Findings, Guard, Replays};
use myelin_xml::{Document, Options, WriteOptions, write};

use crate::reading::{Reading, is_standard_input};

/// The arguments of `myelin wss`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Verify and decrypt SOAP messages, and report what is protected, and by whom
    #[command(after_help = VERIFY_HELP)]
    Verify {
        /// Print everything found in a message, instead of one line
        #[arg(long, conflicts_with = "print")]
        explain: bool,
        /// Print the message, decrypted and without its Security header, instead of the findings
        #[arg(long)]
        print: bool,
        /// Whose side to take: the recipient verifies requests, the initiator responses
        #[arg(long, value_enum, default_value_t = Side::Recipient)]
        side: Side,
        #[command(flatten)]
        common: Common,
    },
    /// Sign and encrypt SOAP messages, and print them
    #[command(after_help = SECURE_HELP)]
    Secure {
        /// Whose side to take: the initiator secures requests, the recipient responses
        #[arg(long, value_enum, default_value_t = Side::Initiator)]
        side: Side,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Debug, clap::Args)]
struct Common {
    /// The policy: WS-SecurityPolicy, with or without a RampartConfig
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    #[command(flatten)]
    keys: KeyArguments,
    /// Use this time instead of the clock, such as 2026-11-21T13:00:00Z
    #[arg(long, value_name = "TIME", value_parser = security::time)]
    now: Option<SystemTime>,
    /// Messages, one after the other; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Side {
    /// The side that sends requests: a client, or the bus before a backend
    Initiator,
    /// The side that receives requests: a service, or the bus before a client
    Recipient,
}

const VERIFY_HELP: &str = "\
A message is accepted only if it is protected as the policy says. The command does not see the request of a response, so \
it cannot check that a response confirms the signatures of its request or uses the keys of its request.

Errors in the policy or the keys go to standard error, each with FILE:LINE:COLUMN.

Exit status: 0 if all messages were accepted, 1 if one was refused or cannot be read, 2 if the policy, the keys or the \
arguments are wrong.";

const SECURE_HELP: &str = "\
Errors in the policy or the keys go to standard error, each with FILE:LINE:COLUMN.

Exit status: 0 if all messages were secured, 1 if one cannot be read or secured, 2 if the policy, the keys or the \
arguments are wrong.";

/// A message was refused, or cannot be read or secured.
const FAILED: u8 = 1;
/// The policy, the keys or the arguments are wrong.
const TROUBLE: u8 = 2;

/// Messages of one command that are remembered: a file that is given twice is a replay.
const MESSAGES: usize = 1_000_000;

/// Verifies or secures each message.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (common, side, uses) = match &arguments.task {
        Task::Verify { common, side, .. } => (common, *side, Uses::Verify),
        Task::Secure { common, side } => (common, *side, Uses::Secure),
    };
    let mut said = io::stderr();
    if common.files.iter().filter(|path| is_standard_input(path)).count() > 1 {
        writeln!(said, "myelin: standard input can be read only once")?;
        return Ok(ExitCode::from(TROUBLE));
    }
    let side = if side == Side::Initiator { GuardSide::Initiator } else { GuardSide::Recipient };
    let guard = match common.keys.guard(&common.policy, side, uses) {
        Ok((guard, warnings)) => {
            let invalid = guard.not_valid_at(common.now());
            let invalid = invalid.iter().map(|problem| &problem.message);
            warnings.iter().chain(invalid).try_for_each(|warning| writeln!(said, "{warning} (a warning)"))?;
            guard
        }
        Err(error) => {
            writeln!(said, "{error:#}")?;
            return Ok(ExitCode::from(TROUBLE));
        }
    };
    let replays = Replays::in_memory(MESSAGES, SystemTime::UNIX_EPOCH);
    let mut code = ExitCode::SUCCESS;
    for path in &common.files {
        let fine = match common.reading.document(path) {
            Err(complaint) => {
                writeln!(said, "{complaint}")?;
                false
            }
            Ok(document) => match &arguments.task {
                Task::Verify { explain, print, .. } => {
                    let verified = common.verify(&guard, document, &replays);
                    let name = path.display();
                    match (&verified, print) {
                        (Ok(verified), true) => print_message(&verified.document, out)?,
                        (Ok(verified), false) if *explain => {
                            writeln!(out, "{name}: accepted\n{}", verified.findings.explain().trim_end())?;
                        }
                        (Ok(verified), false) => writeln!(out, "{name}: accepted{}", in_short(&verified.findings))?,
                        (Err(refusal), true) => writeln!(said, "{name}: refused: {refusal}")?,
                        (Err(refusal), false) => writeln!(out, "{name}: refused: {refusal}")?,
                    }
                    verified.is_ok()
                }
                Task::Secure { .. } => {
                    let departure = Departure { now: common.now(), conversation: None };
                    match guard.secure(document, &departure) {
                        Ok(secured) => {
                            out.write_all(&secured.bytes)?;
                            writeln!(out)?;
                            true
                        }
                        Err(error) => {
                            writeln!(said, "{}: {error}", path.display())?;
                            false
                        }
                    }
                }
            },
        };
        if !fine {
            code = ExitCode::from(FAILED);
        }
    }
    out.flush()?;
    Ok(code)
}

impl Common {
    fn now(&self) -> SystemTime {
        self.now.unwrap_or_else(SystemTime::now)
    }

    fn verify(&self, guard: &Guard, document: Document, replays: &Replays) -> Result<Verified, myelin_wss::Refusal> {
        let arrival = Arrival {
            now: self.now(),
            // How the message came is not known here: what it holds is what is asked about.
            tls: true,
            client_certificate: true,
            replays,
            conversation: None,
            xml: &Options::default(),
        };
        guard.verify(document, &arrival)
    }
}

fn print_message(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    write(document, document.document_node(), &WriteOptions::default(), &mut text);
    text.push(b'\n');
    out.write_all(&text)
}

/// Who sent it, on a line.
fn in_short(findings: &Findings) -> String {
    let mut text = String::new();
    if let Some(signer) = &findings.signer {
        text.push_str(&format!(", signed by {}", signer.subject().text()));
    }
    if let Some(user) = &findings.user {
        let proof = if user.authenticated { "" } else { " (who showed no password)" };
        text.push_str(&format!(", of the user {}{proof}", user.name));
    }
    if let Some(saml) = &findings.saml {
        text.push_str(&format!(", for {} as {} says", saml.subject, saml.issuer));
    }
    if !findings.encrypted.is_empty() {
        text.push_str(", encrypted");
    }
    text
}
