//! Apache WSS4J 4 as a peer: a Java program of ours that secures and verifies what a test gives it.
//!
//! One process serves all tests of a binary, warm after the first; `tests/interop/wss4j/README.md` says what it can be
//! asked for, and with which settings.

mod build;
mod process;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};

use process::{Process, Reply, Status};

/// The program, running.
pub struct Wss4j {
    process: Mutex<Process>,
    keys: PathBuf,
}

/// What the program found or made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Names and values in the order in which they were met, such as `signed` and the name of an element.
    pub facts: Vec<(String, String)>,
    /// The message: secured, or with everything decrypted.
    pub message: Vec<u8>,
}

/// Why WSS4J does not accept a message, or does not make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// WSS4J's `ErrorCode`, such as `FAILED_CHECK`, where it gives one.
    pub code: Option<String>,
    /// The fault code of the standard, as `{namespace}name`, where there is one.
    pub fault: Option<String>,
    /// Classes and sentences of the exception and its causes.
    pub reasons: Vec<String>,
}

impl Wss4j {
    /// The process that all tests of this binary share; `None`, and the test says so, where it cannot run.
    ///
    /// It cannot run where there is no JDK, no Maven, or nothing to download its jars from.
    /// Panics: the program is there and does not start; ours.
    pub fn shared() -> Option<&'static Wss4j> {
        static SHARED: LazyLock<Result<Wss4j, String>> = LazyLock::new(launch);
        SHARED.as_ref().map_err(|reason| crate::skip(reason)).ok()
    }

    /// A process of its own, as [`Wss4j::shared`] otherwise; it ends when this is dropped.
    pub fn start() -> Option<Wss4j> {
        launch().map_err(|reason| crate::skip(&reason)).ok()
    }

    /// The folder with the keys and certificates that the program made when it started; it goes when the program ends.
    ///
    /// Shape: `NAME.{p12,jks,jceks,pem,key.pem}` for each person, and stores of several; all under [`PASSWORD`].
    pub fn keys(&self) -> &Path {
        &self.keys
    }

    /// Secures a SOAP envelope.
    ///
    /// Errors: WSS4J refuses, mostly because the settings contradict each other.
    /// Panics: a setting is unknown, or there is no answer within the deadline; the test's.
    pub fn secure(&self, message: &[u8], settings: &[(&str, &str)]) -> Result<Answer, Refusal> {
        self.ask("secure", message, settings)
    }

    /// Verifies and decrypts a secured envelope.
    ///
    /// Errors: WSS4J does not accept it.
    /// Panics: as [`Wss4j::secure`].
    pub fn verify(&self, message: &[u8], settings: &[(&str, &str)]) -> Result<Answer, Refusal> {
        self.ask("verify", message, settings)
    }

    fn ask(&self, verb: &str, message: &[u8], settings: &[(&str, &str)]) -> Result<Answer, Refusal> {
        // A test that failed while it held the process has not broken it: replies are read whole.
        let reply = self.process.lock().unwrap_or_else(PoisonError::into_inner).ask(verb, message, settings);
        let reply = reply.unwrap_or_else(|error| panic!("WSS4J does not answer: {error}"));
        match reply.status {
            Status::Ok => Ok(Answer { facts: reply.facts, message: reply.message }),
            Status::Refused => Err(Refusal::from(reply)),
            Status::Failed => panic!("WSS4J cannot be asked for this: {}", Refusal::from(reply)),
        }
    }
}

/// The command that starts WSS4J as a rival of the benchmark; it makes the keys of all sides in the folder `keys`.
///
/// Shape: what it is told and answers, line by line, is in `tests/interop/wss4j/README.md`.
/// Errors: a sentence about what this machine lacks.
pub fn rival(keys: &Path) -> Result<Command, String> {
    let mut command = build::program()?.command("myelin.wss4j.Bench");
    command.arg(keys);
    Ok(command)
}

/// Opens every key store of [`Wss4j::keys`] and every key in it.
pub const PASSWORD: &str = "myelin-test";

impl Answer {
    /// The first value of a fact.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// All values of a fact.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.facts.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Whether `name` has the value, such as `action` and `Timestamp`.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|other| other == value)
    }
}

impl From<Reply> for Refusal {
    fn from(reply: Reply) -> Refusal {
        let mut refusal = Refusal { code: None, fault: None, reasons: Vec::new() };
        for (name, value) in reply.facts {
            match name.as_str() {
                // The innermost says most.
                "code" => refusal.code = Some(value),
                "fault" => refusal.fault = Some(value),
                _ => refusal.reasons.push(value),
            }
        }
        refusal
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.reasons.join("; "), self.code.as_deref().unwrap_or("no code"))
    }
}

impl std::error::Error for Refusal {}

/// Builds the program where that is needed, and starts it.
///
/// Errors: a sentence about what this machine lacks.
fn launch() -> Result<Wss4j, String> {
    let program = build::program()?;
    let (process, hello) = Process::start(&mut program.command("myelin.wss4j.Peer"))
        .unwrap_or_else(|error| panic!("WSS4J's program does not start: {error}"));
    let keys = hello.facts.into_iter().find(|(name, _)| name == "keys").map(|(_, value)| PathBuf::from(value));
    let keys = keys.unwrap_or_else(|| panic!("WSS4J's program does not say where its keys are"));
    Ok(Wss4j { process: Mutex::new(process), keys })
}

/// The timestamp and the body, as WSS4J names parts.
#[cfg(test)]
const TIMESTAMP_AND_BODY: &str = concat!(
    "{Element}{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd}Timestamp;",
    "{Element}{http://schemas.xmlsoap.org/soap/envelope/}Body"
);

/// What a request has to be that follows the policy in `bench/kits/rampart`.
#[cfg(test)]
pub(crate) const AS_RAMPART: [(&str, &str); 9] = [
    ("user", "alice-1024"),
    ("encryptionUser", "bob-1024"),
    ("action", "Timestamp Signature Encrypt"),
    ("signatureParts", TIMESTAMP_AND_BODY),
    ("signatureKeyIdentifier", "DirectReference"),
    ("signatureAlgorithm", "http://www.w3.org/2000/09/xmldsig#rsa-sha1"),
    ("encryptionKeyIdentifier", "Thumbprint"),
    ("encryptionKeyTransportAlgorithm", "http://www.w3.org/2001/04/xmlenc#rsa-1_5"),
    ("encryptionSymAlgorithm", "http://www.w3.org/2001/04/xmlenc#aes128-cbc"),
];

#[cfg(test)]
mod tests;
