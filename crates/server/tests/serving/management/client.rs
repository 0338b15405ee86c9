//! WSO2's own command line, `mi`, against a bus: built from its source where Go and the source are there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use myelin_testkit::skip;

use super::{HELLO, Managed, PASSWORD};

/// Where the source of `mi` is, seen from the repository.
const SOURCE: &str = "../shared/oracle/mi-cli";

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds `mi`; `None`, which is told, where that cannot be done here.
fn built(folder: &Path) -> Option<PathBuf> {
    let source = root().join(SOURCE);
    if !source.join("go.mod").is_file() {
        skip("the source of mi is not there");
        return None;
    }
    let program = folder.join("mi");
    let build = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(&source).output();
    match build {
        Ok(output) if output.status.success() => Some(program),
        Ok(output) => {
            skip(&format!("go build: {}", String::from_utf8_lossy(&output.stderr)));
            None
        }
        Err(_) => {
            skip("Go is not installed");
            None
        }
    }
}

/// Where the management API is over TLS.
fn secure(managed: &Managed) -> std::net::SocketAddr {
    let line = managed.process.logged("the management API is on https://");
    let (_, rest) = line.split_once("https://").unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

const SERVICES: &str = r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
  <endpoint name="Backend"><http method="get" uri-template="http://127.0.0.1:1/{id}"/></endpoint>
  <sequence name="log-it"><log/></sequence>
  <localEntry key="entry">text</localEntry>
  <template name="tpl"><parameter name="a" isMandatory="true"/><sequence><log/></sequence></template>
  <template name="etpl"><parameter name="u"/><endpoint name="x"><address uri="$u"/></endpoint></template>
  <api name="Orders" context="/orders"><resource methods="GET"><inSequence><respond/></inSequence></resource></api>
  <task name="Often" class="org.apache.synapse.startup.tasks.MessageInjector"><trigger interval="3600"/>
    <property name="injectTo" value="sequence"/><property name="sequenceName" value="log-it"/>
    <property name="message"><m/></property></task>
</definitions>"#;

#[test]
fn the_verbs_of_mi_work() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let managed = Managed::run(&[("Hello.xml", HELLO), ("services.xml", SERVICES)], "", &[]);
    let url = format!("https://{}", secure(&managed));
    let run = |arguments: &[&str]| -> Output {
        Command::new(&program).args(arguments).env("HOME", folder.path()).current_dir(folder.path()).output().unwrap()
    };
    let says = |arguments: &[&str], part: &str| {
        let output = run(&[arguments, &["-k"]].concat());
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(text.contains(part), "mi {}: {part:?} is not in {text}", arguments.join(" "));
    };
    says(&["add", "env", "test", &url], "test");
    says(&["login", "test", "-u", "ann", "-p", "wrong"], "401");
    says(&["login", "test", "-u", "ann", "-p", PASSWORD], "Logged into MI in test environment");
    for (arguments, part) in [
        (&["get", "proxy-services"][..], "Hello"),
        (&["get", "proxy-services", "Hello"], "Hello"),
        (&["get", "apis"], "/orders"),
        (&["get", "apis", "Orders"], "GET"),
        (&["get", "apis", "Nobody"], "404"),
        (&["get", "sequences"], "log-it"),
        (&["get", "sequences", "log-it"], "LogMediator"),
        (&["get", "endpoints"], "http"),
        (&["get", "endpoints", "Backend"], "GET"),
        (&["get", "local-entries"], "entry"),
        (&["get", "local-entries", "entry"], "text"),
        (&["get", "local-entries", "nobody"], "Reference for nobody could not be resolved"),
        (&["get", "tasks"], "Often"),
        (&["get", "tasks", "Often"], "3600"),
        (&["get", "templates"], "etpl"),
        (&["get", "templates", "sequence"], "tpl"),
        (&["get", "templates", "sequence", "tpl"], "true"),
        (&["get", "templates", "endpoint", "etpl"], "etpl"),
        (&["get", "inbound-endpoints"], "No"),
        (&["get", "message-stores"], "No"),
        (&["get", "message-processors"], "No"),
        (&["get", "data-services"], "No"),
        (&["get", "connectors"], "No"),
        (&["get", "composite-apps"], "Active Composite Apps"),
        (&["get", "log-levels", "rootLogger"], "INFO"),
        (&["get", "logs"], "No"),
        (&["get", "users"], "bob"),
        (&["get", "users", "bob"], "bob"),
        (&["get", "roles"], "admin"),
        (&["get", "roles", "admin"], "ann"),
        (&["get", "transaction-counts"], "20"),
        (&["deactivate", "proxy-service", "Hello"], "stopped successfully"),
        (&["activate", "proxy-service", "Hello"], "started successfully"),
        (&["activate", "proxy-service", "Nobody"], "Proxy service could not be found"),
        (&["deactivate", "endpoint", "Backend"], "Backend is switched Off"),
        (&["activate", "endpoint", "Backend"], "Backend is switched On"),
        (&["deactivate", "endpoint", "Nobody"], "Endpoint does not exist"),
        (&["trigger", "task", "Often"], "Often"),
        (&["deactivate", "task", "Often"], "deactivated"),
        (&["activate", "task", "Often"], "activated"),
        (&["activate", "message-processor", "Nobody"], "Message processor does not exist"),
        (&["update", "log-level", "rootLogger", "WARN"], "WARN"),
        (&["update", "log-level", "rootLogger", "LOUD"], "Invalid log level LOUD"),
        (&["delete", "user", "bob"], "Deleted"),
        (&["delete", "user", "bob"], "cannot be found"),
    ] {
        says(&[arguments, &["-e", "test"]].concat(), part);
    }
    // `mi` has no verb for tracing; what is switched by the API, it shows.
    says(&["get", "proxy-services", "Hello", "-e", "test"], "Tracing - disabled");
    let ann = managed.token("ann");
    let switched = serde_json::json!({ "name": "Hello", "trace": "enable" });
    assert_eq!(managed.ask(&ann, "POST", "/proxy-services", Some(&switched)).status, 200);
    says(&["get", "proxy-services", "Hello", "-e", "test"], "Tracing - enabled");
    says(&["logout", "test"], "Logged out from MI in test environment");
}

/// The tests of `mi` that end all others where the server does not have what they ask for, so that they are left out:
/// docs/management.md says why it has not.
const LEFT_OUT: &[&str] =
    &["TestGetDataServiceByName", "TestGetMessageProcessorByName", "TestGetMessageStoreByName", "TestGetTaskByName"];

/// The others that fail, in their order; docs/management.md has the reasons.
const FAILING: &[&str] = &[
    "TestActivateMessageProcessor",
    "TestDeactivateMessageProcessor",
    "TestGetNonExistingLogFileByName",
    "TestGetSequenceTemplateByName",
];

/// Stands for `docker`, by which the tests of `mi` put archives into their server.
const DOCKER: &str = "#!/bin/sh\nif [ \"$1\" = cp ]; then exec cp \"$2\" \"$BUS_FOLDER/\"; fi\nexit 1\n";

#[test]
fn the_tests_of_mi_pass_but_for_those_that_are_listed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        (
            output.status.success(),
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)),
        )
    };
    let source = folder.path().join("source");
    assert!(run(Command::new("cp").arg("-r").arg(root().join(SOURCE)).arg(&source)).0);
    // Where they look for the client, packed as it is handed out.
    let packed = source.join("build/target");
    std::fs::create_dir_all(&packed).unwrap();
    std::fs::create_dir(folder.path().join("packed")).unwrap();
    std::fs::create_dir(folder.path().join("packed/mi")).unwrap();
    std::fs::copy(&program, folder.path().join("packed/mi/mi")).unwrap();
    let archive = packed.join("mi.tar.gz");
    assert!(run(Command::new("tar").arg("-C").arg(folder.path().join("packed")).arg("-czf").arg(&archive).arg("mi")).0);
    let docker = folder.path().join("bin/docker");
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::fs::write(&docker, DOCKER).unwrap();
    std::fs::set_permissions(&docker, std::fs::Permissions::from_mode(0o755)).unwrap();

    let settings = "tokens = 5000\n[[internal_apis.users]]\nuser.name = \"admin\"\nuser.password = \"admin\"\n";
    // They ask for the log by the name that it has in a Micro Integrator.
    let log = folder.path().join("wso2carbon.log");
    let managed = Managed::run(&[("Hello.xml", HELLO)], settings, &["--access-log", log.to_str().unwrap()]);
    let port = i32::from(secure(&managed).port());
    let configuration = format!("name: testing\nhost: localhost\noffset: {}\n", port - 9164);
    std::fs::write(source.join("integration/config.yaml"), configuration).unwrap();
    let tests = folder.path().join("tests");
    let (is_built, told) =
        run(Command::new("go").args(["test", "-c", "-o"]).arg(&tests).arg(".").current_dir(source.join("integration")));
    if !is_built {
        return skip(&format!("the tests of mi cannot be built here: {told}"));
    }
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("timeout");
    command
        .arg("300")
        .arg(&tests)
        .args(["-test.v", "-test.skip", &LEFT_OUT.join("|"), "-archive", "mi.tar.gz"])
        .current_dir(source.join("integration"));
    command.env("PATH", path).env("HOME", folder.path()).env("BUS_FOLDER", managed.process.path(""));
    let (_, told) = run(&mut command);
    let named = |mark: &str| -> Vec<&str> {
        told.lines().filter_map(|line| line.strip_prefix(mark)?.split(' ').next()).collect()
    };
    let (passed, mut failed) = (named("--- PASS: "), named("--- FAIL: "));
    failed.sort_unstable();
    assert_eq!(failed, FAILING, "{told}");
    assert!(passed.len() > 175, "{} passed: {told}", passed.len());
}
