//! Folders are looked into as the configuration that serves says; a file that was taken goes its way to the end.

use std::fs;
use std::time::Duration;

use super::Folders;
use crate::support::process::{Process, write};
use crate::support::{DEADLINE, held};
use myelin_testkit::eventually;
use myelin_testkit::faulty::{Backend, Latch};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};

const SETTINGS: &str = "[myelin.reload]\ninterval = \"20ms\"";

/// Something to serve where the proxy is not there.
const OTHER: (&str, &str) = ("other.xml", r#"<sequence xmlns="http://ws.apache.org/ns/synapse" name="other"/>"#);

/// A proxy that asks a backend about each file and writes the answer, under a name of its own.
fn proxy(version: &str, folders: &Folders, backend: &Backend) -> String {
    let (from, done, replies) = (folders.uri("in"), folders.uri("done"), folders.uri(version));
    format!(
        r#"<proxy xmlns="http://ws.apache.org/ns/synapse" name="Orders" transports="vfs">
             <target>
               <endpoint><address uri="http://{}/"/></endpoint>
               <outSequence><send/></outSequence>
             </target>
             <parameter name="transport.vfs.FileURI">{from}</parameter>
             <parameter name="transport.vfs.ContentType">application/xml</parameter>
             <parameter name="transport.PollInterval">20ms</parameter>
             <parameter name="transport.vfs.ActionAfterProcess">MOVE</parameter>
             <parameter name="transport.vfs.MoveAfterProcess">{done}</parameter>
             <parameter name="transport.vfs.ReplyFileURI">{replies}/</parameter>
             <parameter name="transport.vfs.ReplyFileName">answer.xml</parameter>
           </proxy>"#,
        backend.address()
    )
}

fn backend(latch: &Latch) -> Backend {
    held(latch, "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 7\r\n\r\n<done/>")
}

#[test]
fn a_changed_proxy_takes_files_when_the_one_that_the_old_one_has_taken_is_done() {
    let (folders, latch) = (Folders::new(), Latch::default());
    let backend = backend(&latch);
    let process = Process::run(&[("Orders.xml", &proxy("old", &folders, &backend))], SETTINGS);
    fs::write(folders.path("in/a.xml"), "<a/>").unwrap();
    backend.wait_for_heads(1, DEADLINE).unwrap();
    write(&process.path("Orders.xml"), &proxy("new", &folders, &backend));
    process.logged("1 changed: proxy Orders");
    fs::write(folders.path("in/b.xml"), "<b/>").unwrap();
    // The new one has looked many times by then.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(backend.connections().len(), 1, "files are taken one after the other");
    latch.open();
    eventually("both are done", || folders.content("done").len() == 2);
    // Each answer is where the proxy wanted it that took the file, under the name that it gave.
    for version in ["old", "new"] {
        assert_eq!(folders.content(version), [("answer.xml".to_owned(), "<done/>".to_owned())].into());
    }
    assert_eq!(folders.waiting(), 0);
}

#[test]
fn a_removed_proxy_takes_no_more_files_and_the_one_under_way_is_done() {
    let (folders, latch) = (Folders::new(), Latch::default());
    let backend = backend(&latch);
    let proxy = proxy("out", &folders, &backend);
    let process = Process::run(&[("Orders.xml", &proxy), OTHER], SETTINGS);
    fs::write(folders.path("in/a.xml"), "<a/>").unwrap();
    backend.wait_for_heads(1, DEADLINE).unwrap();
    fs::remove_file(process.path("Orders.xml")).unwrap();
    process.logged("1 gone: proxy Orders");
    fs::write(folders.path("in/b.xml"), "<b/>").unwrap();
    latch.open();
    eventually("the first is done", || folders.path("done/a.xml").exists());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(folders.waiting(), 1);
    write(&process.path("Orders.xml"), &proxy);
    eventually("the second is done", || folders.path("done/b.xml").exists());
}

#[test]
fn a_file_system_that_hangs_does_not_keep_the_bus_from_stopping() {
    let folders = Folders::new();
    // Whoever opens a pipe waits for somebody who writes to it.
    let pipe = folders.path("in/vfs-move-failed-records.properties");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let proxy = format!(
        r#"<proxy xmlns="http://ws.apache.org/ns/synapse" name="P" transports="vfs">
             <target><inSequence><drop/></inSequence></target>
             <parameter name="transport.vfs.FileURI">{}</parameter>
             <parameter name="transport.PollInterval">20ms</parameter></proxy>"#,
        folders.uri("in")
    );
    let process = Process::run(&[("P.xml", &proxy)], "");
    fs::write(folders.path("in/a.xml"), "<a/>").unwrap();
    // Opening it without waiting succeeds where somebody waits; who then reads waits for what is never written.
    let mut pipe_end = None;
    eventually("the pipe is opened", || {
        pipe_end = open(&pipe, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).ok();
        pipe_end.is_some()
    });
    process.terminate();
    // A process that is ended from outside does not say so.
    process.logged("run: stopped");
    assert!(folders.path("in/a.xml").exists());
}
