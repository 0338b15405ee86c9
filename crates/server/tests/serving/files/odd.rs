//! Files that are odd in some way: each gets through, or goes where those go that failed, and holds up no other.

use std::fs;
use std::os::unix::fs::symlink;

use super::Folders;
use crate::support::process::Process;
use myelin_testkit::eventually;
use myelin_testkit::raw;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

/// A proxy that reads each file, logs what is known of it, and writes it under the name that an expression gives.
fn proxy(folders: &Folders, name: &str) -> String {
    let [from, out, done, failed] = ["in", "out", "done", "failed"].map(|name| folders.uri(name));
    format!(
        r#"<proxy xmlns="http://ws.apache.org/ns/synapse" name="Odd" transports="vfs"><target><inSequence>
             <log level="custom">
               <property name="name" expression="get-property('transport', 'FILE_NAME')"/>
               <property name="length" expression="$trp:FILE_LENGTH"/>
               <property name="modified" expression="$trp:LAST_MODIFIED"/>
               <property name="says" expression="string($body/*)"/>
             </log>
             <property name="transport.vfs.ReplyFileName" scope="transport" expression="{name}"/>
             <send><endpoint><address uri="{out}/"/></endpoint></send>
           </inSequence></target>
           <parameter name="transport.vfs.FileURI">{from}</parameter>
           <parameter name="transport.vfs.FileSortAttribute">Name</parameter>
           <parameter name="cron">* * * * * ?</parameter>
           <parameter name="transport.vfs.ActionAfterProcess">MOVE</parameter>
           <parameter name="transport.vfs.MoveAfterProcess">{done}</parameter>
           <parameter name="transport.vfs.ActionAfterFailure">MOVE</parameter>
           <parameter name="transport.vfs.MoveAfterFailure">{failed}</parameter>
           </proxy>"#
    )
}

/// The names in a folder, without those of locks and parts.
fn names(folders: &Folders, folder: &str) -> Vec<String> {
    let mut names: Vec<_> = super::names(&folders.path(folder)).collect();
    names.sort();
    names
}

#[test]
fn whatever_is_in_a_file_and_whatever_its_name_it_gets_where_it_belongs() {
    // What is in the file, and what the log says of it.
    let good: &[(&str, &[u8], &str)] = &[
        ("bom.xml", b"\xef\xbb\xbf<a>mark</a>", "length = 14, modified = 1600000000123, says = mark"),
        ("empty.xml", b"", "length = 0, modified = 1600000000123, says = "),
        ("latin.xml", b"<?xml version='1.0' encoding='ISO-8859-1'?><a>f\xfcr</a>", "says = für"),
        ("list.csv", "1;Müller".as_bytes(), "says = 1;Müller"),
        ("object.json", br#"{"a":"in JSON"}"#, "says = in JSON"),
        ("two words ä 50% #1 &.xml", b"<a>named</a>", "says = named"),
        ("utf16.xml", b"\xff\xfe<\0a\0>\0w\0<\0/\0a\0>\0", "says = w"),
    ];
    let bad: &[(&str, &[u8])] = &[("broken.xml", b"<a>"), ("no-utf8.xml", b"<a>\xfc</a>"), ("number.json", b"{1")];
    let folders = Folders::new();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_600_000_000_123);
    for (name, content) in good.iter().map(|(name, content, _)| (*name, *content)).chain(bad.iter().copied()) {
        fs::write(folders.path("in").join(name), content).unwrap();
        fs::File::open(folders.path("in").join(name)).unwrap().set_modified(time).unwrap();
    }
    fs::write(folders.path("elsewhere"), "<a>linked</a>").unwrap();
    symlink("../elsewhere", folders.path("in/link.xml")).unwrap();
    symlink("nowhere", folders.path("in/nowhere.xml")).unwrap();
    let process = Process::run(&[("Odd.xml", &proxy(&folders, "$trp:FILE_NAME"))], "");
    eventually("all are taken", || names(&folders, "in") == ["nowhere.xml"]);
    for (name, content, says) in good {
        assert_eq!(fs::read(folders.path("out").join(name)).unwrap(), *content, "{name}");
        assert_eq!(fs::read(folders.path("done").join(name)).unwrap(), *content, "{name}");
        // They are in the order of their names.
        let line = process.logged(&format!("name = {name}, "));
        assert!(line.contains(says), "{line}");
    }
    assert_eq!(fs::read_to_string(folders.path("out/link.xml")).unwrap(), "<a>linked</a>");
    let link = fs::symlink_metadata(folders.path("done/link.xml")).unwrap();
    assert!(folders.path("elsewhere").exists() && link.is_file());
    assert_eq!([names(&folders, "out").len(), names(&folders, "done").len()], [good.len() + 1; 2]);
    assert_eq!(names(&folders, "failed"), bad.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn a_name_that_is_none_fails_its_own_file_and_no_other() {
    let folders = Folders::new();
    let long = "long".repeat(100);
    for (name, says) in [("1.xml", "../outside"), ("2.xml", &*long), ("3.xml", "right.xml")] {
        fs::write(folders.path("in").join(name), format!("<a>{says}</a>")).unwrap();
    }
    let process = Process::run(&[("Odd.xml", &proxy(&folders, "string($body/*)"))], "");
    eventually("all are taken", || names(&folders, "in").is_empty());
    assert_eq!(names(&folders, "failed"), ["1.xml", "2.xml"]);
    assert_eq!(names(&folders, "out"), ["right.xml"]);
    assert!(process.logged("cannot write").contains("\"../outside\" is no name of a file"));
}

#[test]
fn a_file_larger_than_the_process_may_write_is_a_failure_and_not_the_end_of_the_bus() {
    let folders = Folders::new();
    let process = Process::run(&[("Odd.xml", &proxy(&folders, "$trp:FILE_NAME"))], "");
    let limit = Rlimit { current: Some(100_000), maximum: Some(100_000) };
    prlimit(Pid::from_raw(process.id().cast_signed()), Resource::Fsize, limit).unwrap();
    fs::write(folders.path("in/large.txt"), "x".repeat(200_000)).unwrap();
    assert!(process.logged("cannot write").contains("large.txt"));
    eventually("it is moved", || names(&folders, "failed") == ["large.txt"]);
    assert!(fs::read_dir(folders.path("out")).unwrap().next().is_none(), "what was written stays");
}

#[test]
fn a_call_to_a_file_keeps_the_message_of_the_client() {
    let folders = Folders::new();
    let proxy = format!(
        r#"<proxy xmlns="http://ws.apache.org/ns/synapse" name="P"><target><inSequence>
             <property name="transport.vfs.ReplyFileName" scope="transport" value="kept.xml"/>
             <call><endpoint><address uri="{}/"/></endpoint></call>
             <property name="X-Still" expression="string($body/*)" scope="transport"/>
             <respond/>
           </inSequence></target></proxy>"#,
        folders.uri("out")
    );
    let process = Process::run(&[("P.xml", &proxy)], "");
    let request = "POST /services/P HTTP/1.1\r\nHost: h\r\nContent-Type: application/xml\r\nContent-Length: 11\r\n\r\n\
                   <a>kept</a>";
    let answer = raw::exchange(process.address, request.as_bytes()).unwrap();
    assert_eq!((answer.status, answer.text().as_str(), answer.header("X-Still")), (200, "<a>kept</a>", Some("kept")));
    assert_eq!(fs::read_to_string(folders.path("out/kept.xml")).unwrap(), "<a>kept</a>");
}
