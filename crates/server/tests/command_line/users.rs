//! `myelin user`, and a bus whose users it changes.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use myelin_testkit::raw::exchange;
use myelin_testkit::{eventually, skip};

use crate::support::process::Process;

/// How a command ended, and what it said.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

/// `myelin user …` on a file, with a line of standard input.
fn user(arguments: &[&str], file: &Path, input: &str) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
    command.arg("user").args(arguments).arg("--file").arg(file);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that needs no password has gone without reading it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let ended = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: ended.status.code(), out: text(ended.stdout), err: text(ended.stderr) }
}

fn done(arguments: &[&str], file: &Path, input: &str) -> String {
    let ended = user(arguments, file, input);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{arguments:?}");
    ended.out
}

fn refused(arguments: &[&str], file: &Path, input: &str, part: &str) {
    let before = fs::read_to_string(file).ok();
    let ended = user(arguments, file, input);
    assert_eq!(ended.code, Some(1), "{arguments:?}: {}{}", ended.out, ended.err);
    assert!(ended.err.contains(part), "{part:?} is not in {}", ended.err);
    assert_eq!(fs::read_to_string(file).ok(), before, "{arguments:?} changed the file");
}

/// The token that a bus gives to a user; `None` where it lets nobody of that name and password in.
fn login(admin: SocketAddr, name: &str, password: &str) -> Option<String> {
    let basic = STANDARD.encode(format!("{name}:{password}"));
    let head = format!("GET /management/login HTTP/1.1\r\nHost: h\r\nAuthorization: Basic {basic}\r\n\r\n");
    let text = exchange(admin, head.as_bytes()).unwrap().text();
    Some(text.split_once("\"AccessToken\"")?.1.split('"').nth(1)?.to_owned())
}

/// Whether a token is good for a request that reads.
fn reads(admin: SocketAddr, token: &str) -> bool {
    let head = format!("GET /management/proxy-services HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n\r\n");
    exchange(admin, head.as_bytes()).unwrap().status == 200
}

#[test]
fn users_are_added_changed_and_removed_and_what_is_wrong_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conf/users.toml");
    assert_eq!(done(&["list"], &file, ""), "");
    assert!(done(&["add", "ann", "--admin"], &file, "c4nary-Password\n").starts_with("added user ann, an admin, to "));
    done(&["add", "bob"], &file, "c4nary-Password\n");
    assert_eq!(done(&["list"], &file, ""), "ann\tadmin\nbob\t\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let hashes = fs::read_to_string(&file).unwrap();
    assert!(!hashes.contains("c4nary"), "{hashes}");

    refused(&["add", "ann"], &file, "c4nary-Password\n", "there is a user \"ann\" already");
    refused(&["add", "carl"], &file, "", "the password is empty");
    refused(&["add", "a b\tc"], &file, "c4nary-Password\n", "name");
    refused(&["passwd", "anne"], &file, "c4nary-Password\n", "there is no user \"anne\" in ");
    refused(&["passwd", "anne"], &file, "c4nary-Password\n", "; did you mean ann?");
    refused(&["remove", "nobody"], &file, "", "there is no user \"nobody\"");
    refused(&["role", "nobody", "admin"], &file, "", "there is no user \"nobody\"");
    refused(&["remove", "ann"], &file, "", "ann is the last admin");
    refused(&["role", "ann", "reader"], &file, "", "`myelin user role NAME admin`, or say --force");

    done(&["passwd", "bob"], &file, "an0ther-Password\n");
    assert_ne!(fs::read_to_string(&file).unwrap(), hashes);
    assert!(done(&["role", "bob", "admin"], &file, "").starts_with("made user bob an admin in "));
    done(&["remove", "ann"], &file, "");
    assert_eq!(done(&["list"], &file, ""), "bob\tadmin\n");
    done(&["role", "bob", "reader", "--force"], &file, "");
    assert_eq!(done(&["list"], &file, ""), "bob\t\n");
    done(&["remove", "bob"], &file, "");
    assert_eq!(done(&["list"], &file, ""), "");
}

#[test]
fn a_file_that_cannot_be_written_or_is_none_of_users_is_told_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("blocked");
    fs::write(&blocked, "").unwrap();
    refused(&["add", "ann"], &blocked.join("users.toml"), "c4nary-Password\n", "blocked");
    let other = folder.path().join("other.toml");
    fs::write(&other, "[server]\nport = 1\n").unwrap();
    refused(&["add", "ann"], &other, "c4nary-Password\n", "other.toml: ");
    fs::write(&other, "[[user").unwrap();
    refused(&["list"], &other, "", "other.toml: ");
    if rustix::process::geteuid().is_root() {
        return skip("a folder without a right to write: root may write anywhere");
    }
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    refused(&["add", "ann"], &closed.join("users.toml"), "c4nary-Password\n", "users.toml: Permission denied");
}

#[test]
fn changes_that_are_made_at_once_are_all_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users.toml");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let file = &file;
            scope.spawn(move || done(&["add", &format!("user{number}")], file, "c4nary-Password\n"));
        }
    });
    assert_eq!(done(&["list"], &file, "").lines().count(), 8);
}

#[test]
fn a_running_bus_ends_the_sessions_of_a_user_that_was_removed() {
    let file = "<proxy xmlns='http://ws.apache.org/ns/synapse' name='Hello'><target><inSequence><respond/></inSequence>\
                </target></proxy>";
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users.toml");
    done(&["add", "ann", "--admin"], &users, "c4nary-Password\n");
    done(&["add", "bob"], &users, "c4nary-Password\n");
    let settings = format!(
        "[myelin.admin]\nlisten = \"127.0.0.1:0\"\n[myelin.management]\nlisten = \"127.0.0.1:0\"\nusers = \"{}\"\n",
        users.display()
    );
    let process = Process::run(&[("Hello.xml", file)], &settings);
    let line = process.logged("metrics and probes are on http://");
    let admin = line.rsplit_once("http://").unwrap().1.trim().parse().unwrap();
    let [ann, bob] = ["ann", "bob"].map(|name| login(admin, name, "c4nary-Password").unwrap());
    assert!(reads(admin, &ann) && reads(admin, &bob));
    done(&["remove", "bob"], &users, "");
    eventually("the session of bob ends", || !reads(admin, &bob));
    assert!(reads(admin, &ann), "the session of ann goes on");
    assert_eq!(login(admin, "bob", "c4nary-Password"), None);
    done(&["passwd", "ann"], &users, "an0ther-Password\n");
    eventually("the session of ann ends", || !reads(admin, &ann));
    assert!(login(admin, "ann", "an0ther-Password").is_some());
}
