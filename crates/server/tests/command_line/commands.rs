//! The commands for documents as their users have them: what they print, and how they end.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::authority::Authority;

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
    let management = |more: &str| format!("[myelin.management.keystore]\nfile_name = \"OWN\"\n{more}");
    check("[myelin.management.keystore]\npassword = \"x\"", "[myelin.management.keystore]: file_name is missing");
    check(&management(""), "[myelin.management.keystore]: OWN: no such file in");
    std::fs::write(path("OWN"), "no key store").unwrap();
    check(&management(""), "the certificate of the management API: ");
    std::fs::copy(Authority::new().store("localhost"), path("OWN")).unwrap();
    check(&management("type = \"PEM\"\nalias = \"nobody\""), "nobody");
    check(&management("type = \"ZIP\""), "OWN: key stores of type \"ZIP\" are not offered");
    check(&management("pasword = \"x\""), "[myelin.management.keystore] has no key pasword; did you mean password?");
    check(
        "[myelin.server]\nhead_timout = \"1s\"\nvai = true",
        "deployment.toml:2:1: [myelin.server] has no key head_timout; did you mean head_timeout?",
    );
    check("[myelin.server]\n\nhead_timeout = 1", "deployment.toml:3:16: ");
    check("[server]\nhostname = ", "deployment.toml:2:");
}

#[test]
fn a_wrong_password_of_a_key_store_is_told_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let authority = Authority::new();
    let pem = authority.store("localhost");
    let mut openssl = Command::new("openssl");
    openssl.args(["pkcs12", "-export", "-passout", "pass:right", "-name", "own", "-out", &path("own.p12"), "-in"]);
    if !openssl.arg(pem).output().is_ok_and(|made| made.status.success()) {
        return myelin_testkit::skip("openssl makes no PKCS #12 file here");
    }
    let sequence = "<sequence xmlns='http://ws.apache.org/ns/synapse' name='s'><drop/></sequence>";
    std::fs::write(path("s.xml"), sequence).unwrap();
    let check = |more: &str| {
        let settings = format!("[myelin.management.keystore]\nfile_name = \"own.p12\"\n{more}");
        std::fs::write(path("deployment.toml"), settings).unwrap();
        run(&["check", &path("s.xml"), "--config", &path("deployment.toml")], "")
    };
    let sound = check("password = \"right\"\nalias = \"own\"");
    assert_eq!((sound.code, sound.err.as_str()), (0, ""));
    let wrong = check("password = \"wrong\"");
    assert!(wrong.code == 1 && wrong.err.contains("own.p12: ") && wrong.err.contains("password"), "{}", wrong.err);
    assert!(!wrong.err.contains("wrong\""), "{}", wrong.err);
    let missing = check("password = \"right\"\nalias = \"other\"");
    assert!(missing.code == 1 && missing.err.contains("other"), "{}", missing.err);
}

#[test]
fn what_is_wrong_with_a_deployment_toml_is_told_whole_and_with_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let sequence = "<sequence xmlns='http://ws.apache.org/ns/synapse' name='s'><drop/></sequence>";
    std::fs::write(path("s.xml"), sequence).unwrap();
    let check = |settings: &str, options: &[&str]| {
        std::fs::write(path("deployment.toml"), settings).unwrap();
        let (configuration, settings) = (path("s.xml"), path("deployment.toml"));
        let arguments = [&["check", &configuration, "--config", &settings], options].concat();
        let ended = run(&arguments, "");
        (ended.code, ended.err.replace(&settings, "d.toml"))
    };
    let wrong = "[server]\noffset = \"many\"\n[transport.http]\nlistener.port = 80000\nsocket_timeout = true\n\
                 [keystore.tls]\npassword = 1234\nfile_name = \"a.jks\"\n[transport.https.listener]\nenable = true\n\
                 verify_client = \"reqire\"\n[myelin.client]\nretry = \"somtimes\"\nwaitin = 1\n";
    let (code, told) = check(wrong, &[]);
    assert_eq!(code, 1);
    for expected in [
        "d.toml:2:10: server.offset = \"many\": a number is needed\n  2 | offset = \"many\"\n    |          ^^^^^^\n",
        "d.toml:5:18: transport.http.socket_timeout = true: a number is needed\n",
        "d.toml:7:12: keystore.tls.password: a text is needed, in quotes\n  7 | password = ****\n",
        "d.toml:14:1: [myelin.client] has no key waitin; did you mean waiting?\n  14 | waitin = 1\n     | ^^^^^^",
    ] {
        assert!(told.contains(expected), "{expected:?} is not in {told}");
    }
    let (_, told) = check("[transport.http]\nlistener.port = 80000\n", &[]);
    let expected = "d.toml:2:17: the HTTP port, 80000 with the offset of 10, is not between 0 and 65535\n";
    assert!(told.contains(expected), "{told}");
    let misspelt = "[transport.http]\nlistner.port = 8290\n";
    let expected = "d.toml:2:1: transport.http.listner is unknown and has no effect; did you mean \
                    transport.http.listener?\n  2 | listner.port = 8290\n    | ^^^^^^^\n";
    let (code, told) = check(misspelt, &[]);
    assert_eq!((code, told), (0, format!("warning: {expected}")));
    let (code, told) = check(misspelt, &["--strict"]);
    assert_eq!((code, told), (1, format!("myelin: {expected}")));
}
