//! The commands for documents as their users have them: what they print, and how they end.

use std::io::Write;
use std::process::{Command, Stdio};

mod explain;
mod wss;
mod xml;
mod xpath;
mod xslt;

/// What a command did.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs `myelin` with these arguments, each word one, and this standard input.
fn myelin(arguments: &str, input: impl AsRef<[u8]>) -> Ended {
    run(&arguments.split(' ').collect::<Vec<_>>(), input)
}

pub(crate) fn run(arguments: &[&str], input: impl AsRef<[u8]>) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
    let streams = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = streams.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that has seen enough closes its input; what it says is what counts.
    let _ = stdin.write_all(input.as_ref());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ended {
    /// Asserts the exit status, all of standard output, and a part of standard error.
    #[track_caller]
    fn with(&self, code: i32, out: &str, err: &str) {
        assert_eq!((self.code, self.out.as_str()), (code, out), "{}", self.err);
        assert!(self.err.contains(err) && self.err.is_empty() == err.is_empty(), "{}", self.err);
    }
}
