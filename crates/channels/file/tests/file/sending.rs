//! Messages that are written to files.

use std::any::Any;
use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use myelin_channel::Runtime;
use myelin_message::{Address, Body, BodyError, SendErrorKind, Source, Wire};

use crate::common::{Folder, lock_of};

const NAME: &str = "transport.vfs.ReplyFileName";

fn bytes(text: &str) -> Body {
    Body::Bytes(text.into())
}

/// A body that comes in pieces, and may break off.
struct Pieces {
    left: Cell<usize>,
    piece: Vec<u8>,
    breaks_off: bool,
}

fn pieces(count: usize, bytes: usize, breaks_off: bool) -> Body {
    let source = Pieces { left: Cell::new(count), piece: vec![b'x'; bytes], breaks_off };
    Body::Wire(Wire { source: Rc::new(source), ticket: 7 })
}

impl Source for Pieces {
    fn remaining(&self, _ticket: u64) -> Option<u64> {
        None
    }

    fn poll_piece(&self, ticket: u64, _: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        assert_eq!(ticket, 7);
        if self.left.get() == 0 {
            return Poll::Ready(if self.breaks_off { Err(BodyError::Incomplete) } else { Ok(false) });
        }
        self.left.set(self.left.get() - 1);
        into.extend_from_slice(&self.piece);
        Poll::Ready(Ok(true))
    }

    fn poll_look(
        &self,
        _: u64,
        _: &mut Context<'_>,
        _: u64,
        _: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        panic!("nobody looks into what is written")
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_becomes_a_file_with_the_name_it_says() {
    let folder = Folder::new();
    fs::create_dir(folder.path("out")).unwrap();
    folder.send("out", &[(NAME, "an order ä.xml")], bytes("<order/>")).await.unwrap();
    folder.send("out?transport.vfs.ReplyFileName=given.xml", &[], bytes("given")).await.unwrap();
    folder.send("out", &[], Body::Shared(Arc::new(b"unnamed".to_vec()))).await.unwrap();
    folder.send("out/file.xml", &[(NAME, "ignored.xml")], Body::Empty).await.unwrap();
    assert_eq!(folder.names("out"), ["an order ä.xml", "file.xml", "given.xml", "response.xml"]);
    assert_eq!(folder.read("out/an order ä.xml"), "<order/>");
    assert_eq!(folder.read("out/response.xml"), "unnamed");
    assert_eq!(folder.read("out/file.xml"), "");
}

#[tokio::test(start_paused = true)]
async fn a_file_of_that_name_is_replaced_or_goes_on() {
    let folder = Folder::new();
    for content in ["one", "two"] {
        folder.send("out/", &[(NAME, "a")], bytes(content)).await.unwrap();
        folder.send("out/?transport.vfs.Append=true", &[(NAME, "b")], bytes(content)).await.unwrap();
    }
    assert_eq!((folder.read("out/a"), folder.read("out/b")), ("two".to_owned(), "onetwo".to_owned()));
    assert_eq!(folder.names("out"), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_replaced_keeps_its_permissions() {
    let folder = Folder::new();
    folder.write("out/a", "before");
    fs::set_permissions(folder.path("out/a"), fs::Permissions::from_mode(0o640)).unwrap();
    folder.send("out/a", &[], bytes("after")).await.unwrap();
    assert_eq!(folder.read("out/a"), "after");
    assert_eq!(fs::metadata(folder.path("out/a")).unwrap().mode() & 0o777, 0o640);
}

#[tokio::test(start_paused = true)]
async fn folders_are_made_on_demand() {
    let folder = Folder::new();
    folder.send("a/b/", &[(NAME, "c/d.xml")], bytes("1")).await.unwrap();
    folder.send("e?transport.vfs.CreateFolder=true", &[(NAME, "f.xml")], bytes("2")).await.unwrap();
    folder.send("g/h", &[(NAME, "ignored")], bytes("3")).await.unwrap();
    folder.send("i/?transport.vfs.SubFolderTimestampFormat='dated'", &[(NAME, "j")], bytes("4")).await.unwrap();
    assert_eq!(folder.names(""), ["a/b/c/d.xml", "e/f.xml", "g/h", "i/dated/j"]);
}

#[tokio::test(start_paused = true)]
async fn bodies_of_any_length_are_streamed() {
    let folder = Folder::new();
    folder.send("out/large", &[], pieces(100, 100_000, false)).await.unwrap();
    assert_eq!(fs::metadata(folder.path("out/large")).unwrap().len(), 10_000_000);
    folder.send("out/large?transport.vfs.Append=true", &[], pieces(50, 100_000, false)).await.unwrap();
    assert_eq!(fs::metadata(folder.path("out/large")).unwrap().len(), 15_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_off_leaves_nothing() {
    let folder = Folder::new();
    folder.write("out/there", "before");
    for address in ["out/new", "out/there", "out/there?transport.vfs.Append=true"] {
        let error = folder.send(address, &[], pieces(10, 100_000, true)).await.unwrap_err();
        assert_eq!(error.kind, SendErrorKind::Request(BodyError::Incomplete), "{error}");
        assert_eq!(folder.names("out"), ["there"], "{address}");
        assert_eq!(folder.read("out/there"), "before");
    }
    let error = folder.send("out/new", &[], Body::Gone).await.unwrap_err();
    assert_eq!(error.kind, SendErrorKind::Request(BodyError::Gone));
}

#[tokio::test(start_paused = true)]
async fn a_locked_file_is_waited_for_but_not_for_ever() {
    let folder = Folder::new();
    folder.write("out/a", "before");
    folder.write("out/a.lock", "1:elsewhere:10.0.0.1:1");
    for append in ["true", "false"] {
        let address = format!(
            "out/a?transport.vfs.MaxRetryCount=2&transport.vfs.ReconnectTimeout=5&transport.vfs.Append={append}"
        );
        let before = folder.clock.monotonic();
        let error = folder.send(&address, &[], bytes("after")).await.unwrap_err();
        let waited = (folder.clock.monotonic() - before).as_millis();
        assert_eq!(error.kind, SendErrorKind::Refused);
        assert!(error.message.contains("out/a.lock"), "{error}");
        assert!((10_000..11_000).contains(&waited), "{waited}");
        assert_eq!(folder.read("out/a"), "before");
    }
    folder.send("out/a?transport.vfs.Locking=disable", &[], bytes("after")).await.unwrap();
    assert_eq!(folder.read("out/a"), "after");
    let (send, free) = (folder.send("out/a", &[], bytes("late")), async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        fs::remove_file(folder.path("out/a.lock")).unwrap();
    });
    tokio::join!(send, free).0.unwrap();
    assert_eq!(folder.read("out/a"), "late");
    assert!(!lock_of(&folder.path("out/a")).exists());
}

#[tokio::test(start_paused = true)]
async fn messages_are_written_one_by_one_where_that_is_wanted() {
    let folder = Folder::new();
    let address =
        "out/a?transport.vfs.Append=true&transport.vfs.SendFileSynchronously=true&transport.vfs.Locking=disable";
    let lines: Vec<_> = (0..20).map(|number| format!("{number};").repeat(1000)).collect();
    let sends = lines.iter().map(|line| folder.send(address, &[], bytes(line)));
    for send in futures(sends).await {
        send.unwrap();
    }
    let text = folder.read("out/a");
    assert_eq!(text.len(), lines.iter().map(String::len).sum::<usize>());
    assert!(lines.iter().all(|line| text.contains(line)));
}

/// Runs futures beside each other.
async fn futures<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = all.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|cx| {
        for (future, value) in waiting.iter_mut().filter(|(_, value)| value.is_none()) {
            if let Poll::Ready(ready) = future.as_mut().poll(cx) {
                *value = Some(ready);
            }
        }
        if waiting.iter().all(|(_, value)| value.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, value)| value).collect()
}

#[tokio::test(start_paused = true)]
async fn many_writers_of_one_file_lose_nothing() {
    let folder = Folder::new();
    let lines: Vec<_> = (0..30).map(|number| format!("<{number}>").repeat(500)).collect();
    let sends = lines.iter().map(|line| folder.send("out/a?transport.vfs.Append=true", &[], bytes(line)));
    for send in futures(sends).await {
        send.unwrap();
    }
    let text = folder.read("out/a");
    assert!(lines.iter().all(|line| text.contains(line)));
    assert_eq!(text.len(), lines.iter().map(String::len).sum::<usize>());
}

#[tokio::test(start_paused = true)]
async fn files_get_the_time_of_their_messages_where_that_is_wanted() {
    let folder = Folder::new();
    for (rest, has_time) in [("?transport.vfs.UpdateLastModified=true", true), ("", false)] {
        folder.send(&format!("out/a{rest}"), &[("LAST_MODIFIED", "1000000123456")], bytes("x")).await.unwrap();
        assert_eq!(fs::metadata(folder.path("out/a")).unwrap().mtime() == 1_000_000_123, has_time);
    }
}

#[tokio::test(start_paused = true)]
async fn names_that_lead_elsewhere_are_refused() {
    let folder = Folder::new();
    folder.write("out/inside", "");
    for name in ["../outside", "/tmp/outside", "a/../../outside", "a.lock"] {
        let error = folder.send("out", &[(NAME, name)], bytes("x")).await.unwrap_err();
        assert!(error.message.contains("no name of a file"), "{error}");
        assert_eq!(error.kind, SendErrorKind::Refused);
    }
    let error = folder.send("out", &[(NAME, &"a".repeat(300))], bytes("x")).await.unwrap_err();
    assert_eq!(error.kind, SendErrorKind::Refused, "{error}");
    assert_eq!(folder.names(""), ["out/inside"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_written_says_why() {
    let folder = Folder::new();
    folder.write("file", "");
    let error = folder.send("file/below/a", &[], bytes("x")).await.unwrap_err();
    assert_eq!(error.kind, SendErrorKind::ConnectFailed);
    assert!(error.message.contains("cannot make the folder"), "{error}");
    fs::create_dir_all(folder.path("out/a")).unwrap();
    let error = folder.send("out/", &[(NAME, "a")], bytes("x")).await.unwrap_err();
    assert!(error.message.contains("is a folder, and no file"), "{error}");
    let sender = myelin_file::FileSender::new(Rc::clone(&folder.clock) as Rc<dyn Runtime>);
    let outgoing = crate::common::outgoing(Address::Other("vfs:sftp://host/a".into()), &[], bytes("x"));
    let error = myelin_channel::Sender::send(&sender, outgoing).await.unwrap_err();
    assert_eq!(error.kind, SendErrorKind::Address);
}
