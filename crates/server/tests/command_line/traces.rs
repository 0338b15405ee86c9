//! Message traces on a terminal: `myelin run --trace` and `myelin trace`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::support::DEADLINE;
use myelin_testkit::{eventually, raw};

const CONFIGURATION: &str = r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
  <proxy name="Quotes"><target><inSequence>
    <property name="stock" expression="wso2:vault-lookup('stock')" xmlns:wso2="http://wso2.org"/>
    <filter xpath="//password = 'c4nary-Literal'"><then/><else><log/></else></filter>
    <filter xpath="//symbol = 'IBM'">
      <then><property name="to" value="ibm"/></then>
      <else><property name="to" value="others"/></else>
    </filter>
    <respond/>
  </inSequence></target></proxy>
</definitions>"#;

const DEPLOYMENT: &str = "[myelin.management]\nlisten = \"127.0.0.1:0\"\n\
    [[internal_apis.users]]\nuser.name = \"ann\"\nuser.password = \"c4nary-Password\"\nuser.is_admin = true\n\
    [myelin.security.secrets]\nstock = \"c4nary-Vault\"\n";

/// A process with what it writes to standard error, line by line; killed when dropped.
struct Process {
    child: Child,
    lines: Receiver<String>,
    _folder: tempfile::TempDir,
}

impl Process {
    fn run(arguments: &[&str]) -> (Process, SocketAddr) {
        let folder = tempfile::tempdir().unwrap();
        let (file, deployment) = (folder.path().join("synapse.xml"), folder.path().join("deployment.toml"));
        fs::write(&file, CONFIGURATION).unwrap();
        fs::write(&deployment, DEPLOYMENT).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
        command.arg("run").arg(&file).args(["--http", "127.0.0.1:0", "--admin", "off", "--config"]).arg(&deployment);
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let url = ready.split(' ').find_map(|word| word.strip_prefix("http://")).unwrap_or_else(|| panic!("{ready:?}"));
        let (sender, lines) = channel();
        let errors = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        (Process { child, lines, _folder: folder }, url.parse().unwrap())
    }

    /// The first line that has this in it.
    fn line(&self, part: &str) -> String {
        let mut seen = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(DEADLINE) {
            if line.contains(part) {
                return line;
            }
            seen.push(line);
        }
        panic!("{part:?} is in none of {seen:#?}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(address: SocketAddr) {
    let body = "<a><symbol>IBM </symbol><password>c4nary-Payload</password></a>";
    let request = format!(
        "POST /services/Quotes?password=c4nary-Query HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nAuthorization: Bearer c4nary-Token\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(raw::exchange(address, request.as_bytes()).unwrap().status, 200);
}

#[test]
fn run_with_trace_writes_why_a_message_went_where_it_went() {
    let (process, address) = Process::run(&["--trace=Quotes"]);
    ask(address);
    process.line("trace 1 of proxy Quotes (");
    process.line("Authorization: ****");
    process.line("<symbol>IBM </symbol>");
    process.line("filter (");
    process.line("//symbol = 'IBM' → \"false\" → else");
    process.line("//symbol \"IBM \" = \"IBM\" is false");
    process.line("property to: not set → \"others\"");
    process.line("client got 200 OK");
}

#[test]
fn a_service_that_is_not_there_is_told_with_the_one_that_may_be_meant() {
    let (process, _) = Process::run(&["--trace=proxy Quotes,Quots"]);
    let told = process.line("no service that runs is called");
    assert!(told.contains("\"Quots\"; did you mean Quotes?"), "{told}");
}

#[test]
fn a_service_of_a_running_bus_is_followed_from_another_process() {
    let (process, address) = Process::run(&[]);
    let line = process.line("the management API is on ");
    let url = line.split(' ').find(|word| word.starts_with("https://")).unwrap();
    let url = url.trim_end_matches("/management").trim_end_matches('/');
    let trace = |more: &[&str], password: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
        let url = if more.contains(&"--url") { &[][..] } else { &["--url", url] };
        command.args(["trace", "Quotes", "--next", "1", "--user", "ann"]).args(url).args(more);
        command.env("MYELIN_PASSWORD", password).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut follower = trace(&[], "c4nary-Password");
    // The selection is there some time after the process has begun; each message before it is not traced.
    eventually("a trace is followed", || {
        ask(address);
        follower.try_wait().unwrap().is_some()
    });
    let output = follower.wait_with_output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{errors}");
    assert!(out.contains("//symbol = 'IBM' → \"false\" → else"), "{out}{errors}");
    assert!(out.contains("//symbol \"IBM \" = \"IBM\" is false"), "{out}{errors}");
    assert!(out.contains("property stock: not set → \"****\""), "{out}");
    assert!(!out.contains("c4nary"), "{out}");

    let refused = trace(&[], "wrong").wait_with_output().unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("does not know the user"), "{refused:?}");
    for (more, told) in [
        (&["--when", "payload.total > 1"][..], "as ${payload.total > 1}"),
        (&["--when", "$.total > 1"], "as ${payload.total > 1}"),
        (&["--url", "127.0.0.1:9"], "has no scheme: https://127.0.0.1:9"),
        (&["--url", "https://127.0.0.1:9"], "no bus answers there; --url is the address"),
        (&["--url", &format!("https://{address}")], &format!("this port speaks plain HTTP: http://{address}")),
        (&["--url", &url.replace("https", "http")], "a port of HTTPS needs https://"),
    ] {
        let output = trace(more, "c4nary-Password").wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(told), "{more:?}: {errors}");
    }
    let over = trace(&["--seconds", "1"], "c4nary-Password").wait_with_output().unwrap();
    assert!(over.status.success() && String::from_utf8_lossy(&over.stderr).contains("1 s are over"), "{over:?}");
    let wrong = trace(&["--when", "${"], "c4nary-Password").wait_with_output().unwrap();
    assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("${"), "{wrong:?}");
}
