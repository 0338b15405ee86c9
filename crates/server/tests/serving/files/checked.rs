//! What is said of a configuration with files before it runs.

use std::process::Command;

use crate::support::definitions;

/// What `myelin check` says of these artefacts.
fn checked(artefacts: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("synapse.xml"), definitions(artefacts)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
    let output = command.args(["check", "synapse.xml"]).current_dir(folder.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// What it says of a proxy, and of an inbound endpoint, with a parameter on the third line.
fn said(parameter: &str) -> [String; 2] {
    let folder = "<parameter name=\"transport.vfs.FileURI\">vfs:file:///in</parameter>";
    let folder = if parameter.contains("transport.vfs.FileURI\"") { "" } else { folder };
    let parameters = format!("{folder}\n\n{parameter}");
    [
        checked(&format!(r#"<proxy name="P" transports="vfs"><target><inSequence/></target>{parameters}</proxy>"#)),
        checked(&format!(
            r#"<inboundEndpoint name="P" protocol="file" sequence="s"><parameters>{parameters}</parameters>
            </inboundEndpoint><sequence name="s"/>"#
        )),
    ]
}

#[test]
fn a_folder_that_is_not_there_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().display();
    let told = |path: &str| -> bool {
        let parameter = format!(r#"<parameter name="transport.vfs.FileURI">vfs:file://{here}{path}</parameter>"#);
        let expected =
            format!("warning: synapse.xml:3:1: the folder {here}{path} is not there; make it, or correct this");
        let [proxy, inbound] = said(&parameter);
        assert_eq!(proxy.contains(&expected), inbound.contains(&expected), "{proxy}{inbound}");
        proxy.contains(&expected)
    };
    assert!(told("/in"));
    assert!(told("/none/in.xml"));
    // A file may come later.
    assert!(!told("/in.xml"));
    assert!(!told(""));
}

#[test]
fn a_misspelt_parameter_is_a_warning_and_a_wrong_value_a_problem_each_with_its_place() {
    let check = |name: &str, value: &str, expected: &str| {
        for said in said(&format!(r#"<parameter name="{name}">{value}</parameter>"#)) {
            assert!(said.lines().any(|line| line.trim().starts_with(expected)), "{expected}\n{said}");
        }
    };
    let no_effect = |name: &str| format!("warning: synapse.xml:3:1: parameter {name:?} has no effect");
    for (wrong, right) in [
        ("transport.vfs.FileUri", "transport.vfs.FileURI"),
        ("transport.vfs.ActionAfterProces", "transport.vfs.ActionAfterProcess"),
        ("transport.vfs.MoveAfterFailures", "transport.vfs.MoveAfterFailure"),
        ("transport.vfs.contenttype", "transport.vfs.ContentType"),
        ("transport.pollinterval", "transport.PollInterval"),
        ("intervall", "interval"),
    ] {
        for said in said(&format!(r#"<parameter name="{wrong}">1</parameter>"#)) {
            let line = said
                .lines()
                .find(|line| line.trim().starts_with(&no_effect(wrong)))
                .unwrap_or_else(|| panic!("{said}"));
            assert!(line.ends_with(&format!("; did you mean {right}?")), "{line}");
        }
    }
    let at = |name: &str| format!("problem: synapse.xml:3:1: {name}");
    for scheme in ["sftp", "ftp", "ftps", "smb", "smb2", "webdav"] {
        for name in ["transport.vfs.FileURI", "transport.vfs.MoveAfterFailedMove", "transport.vfs.ReplyFileURI"] {
            let expected = format!("{}: {scheme} addresses come with a later release", at(name));
            check(name, &format!("vfs:{scheme}://user:word@host/in"), &expected);
        }
    }
    for (name, value, expected) in [
        ("transport.vfs.ActionAfterProcess", "MOV", " is \"MOV\": known are DELETE, MOVE, NONE"),
        ("transport.vfs.FileSortAttribute", "Date", " is \"Date\": known are NONE, Name, Size, Lastmodifiedtimestamp"),
        ("transport.vfs.Locking", "yes", " is \"yes\": known are enable, disable"),
        ("transport.vfs.AutoLockRelease", "yes", " is \"yes\": true and false are known"),
        ("transport.PollInterval", "5m", " is \"5m\": seconds are needed, or milliseconds as 500ms"),
        ("transport.vfs.FileProcessCount", "-1", " is \"-1\": a whole number is needed"),
        ("transport.vfs.FileNamePattern", "*.xml", " is \"*.xml\":"),
        ("cron", "0 0 25 * * ?", " is \"0 0 25 * * ?\":"),
    ] {
        check(name, value, &format!("{}{expected}", at(name)));
    }
}

#[test]
fn parameters_of_a_proxy_that_does_not_name_their_transport_say_what_is_missing() {
    let parameter = "<parameter name=\"transport.vfs.FileURI\">vfs:file:///tmp</parameter>";
    let proxy =
        |transports: &str| format!("<proxy name=\"P\"{transports}><target><inSequence/></target>\n{parameter}</proxy>");
    let expected = "warning: synapse.xml:2:1: parameter \"transport.vfs.FileURI\" has no effect; \
                    it would have one if the transports of the proxy named vfs";
    for transports in ["", " transports=\"http https\""] {
        let said = checked(&proxy(transports));
        assert!(said.lines().any(|line| line.trim() == expected), "{said}");
    }
    assert!(!checked(&proxy(" transports=\"vfs\"")).contains("warning"));
}

#[test]
fn an_address_that_is_not_offered_is_refused_by_its_name() {
    for scheme in ["sftp", "ftp", "ftps", "smb", "smb2"] {
        let address = format!("vfs:{scheme}://host/out");
        let said = checked(&format!(
            "<proxy name=\"P\"><target>\n<endpoint><address uri=\"{address}\"/></endpoint></target></proxy>"
        ));
        let expected = format!("{scheme} addresses come with a later release");
        assert!(said.lines().any(|line| line.contains("synapse.xml:2:") && line.contains(&expected)), "{said}");
    }
}
