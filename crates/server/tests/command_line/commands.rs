//! The commands for documents as their users have them: what they print, and how they end.

use std::io::Write;
use std::process::{Command, Stdio};

mod bench;
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

#[test]
fn shells_are_told_of_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let ended = myelin(&format!("completions {shell}"), "");
        assert_eq!((ended.code, ended.err.as_str()), (0, ""));
        for word in ["stockquote", "access-log", "xpath"] {
            assert!(ended.out.contains(word), "{shell}: {word}");
        }
    }
    let unknown = myelin("completions dos", "");
    assert!(unknown.code == 2 && unknown.err.contains("possible values: bash"), "{}", unknown.err);
}

#[test]
fn the_manual_has_a_page_of_all_commands_and_one_of_each() {
    let all = myelin("man", "");
    assert_eq!((all.code, all.err.as_str()), (0, ""));
    assert!(all.out.contains(".TH myelin 1") && all.out.contains("myelin\\-check(1)"), "{}", all.out);
    assert!(!all.out.contains("relay"), "what help hides is hidden");
    let check = myelin("man check", "");
    assert!(check.code == 0 && check.out.contains("Load configurations without serving them"), "{}", check.out);
    let unknown = myelin("man chek", "");
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("there is no command \"chek\"; did you mean check?"), "{}", unknown.err);
}

#[test]
fn check_finds_what_keeps_run_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let sequence = "<sequence xmlns='http://ws.apache.org/ns/synapse' name='s'><drop/></sequence>";
    std::fs::write(path("s.xml"), sequence).unwrap();
    let check = |settings: &str, expected: &str| {
        std::fs::write(path("deployment.toml"), settings).unwrap();
        let ended = run(&["check", &path("s.xml"), "--config", &path("deployment.toml")], "");
        assert!(ended.code == 1 && ended.err.contains(expected), "{expected}: {}{}", ended.out, ended.err);
    };
    let https = "[transport.https]\nlistener.port = 8243\n[keystore.tls]\nfile_name = \"STORE\"\npassword = \"x\"";
    check(https, "STORE: no such file in");
    std::fs::write(path("STORE"), "no key store").unwrap();
    check(https, "STORE: ");
    check(
        "[myelin.server]\nhead_timout = \"1s\"\nvai = true",
        "deployment.toml:2:1: [myelin.server] has no key head_timout; did you mean head_timeout?",
    );
    check("[myelin.server]\n\nhead_timeout = 1", "deployment.toml:3:16: ");
    check("[server]\nhostname = ", "deployment.toml:2:");
}
