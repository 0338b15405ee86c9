//! What becomes of a file when its exchange has ended.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use myelin_channel::Ending;
use myelin_message::{Body, Message, StatusCode};

use crate::common::{Folder, Taken};

const AFTER_PROCESS: &str = "transport.vfs.ActionAfterProcess";
const AFTER_FAILURE: &str = "transport.vfs.ActionAfterFailure";
const TO_AFTER_PROCESS: &str = "transport.vfs.MoveAfterProcess";
const TO_AFTER_FAILURE: &str = "transport.vfs.MoveAfterFailure";

#[tokio::test(start_paused = true)]
async fn files_are_removed_moved_or_left_after_success_and_failure() {
    for (action, stays, moved) in
        [("", false, false), ("DELETE", false, false), ("MOVE", false, true), ("NONE", true, false)]
    {
        for fails in [false, true] {
            let folder = Folder::new();
            fs::create_dir(folder.path("done")).unwrap();
            fs::create_dir(folder.path("failed")).unwrap();
            folder.write("in/a.xml", "content");
            let (done, failed) = (folder.uri("done"), folder.uri("failed"));
            let (name, target) = if fails { (AFTER_FAILURE, "failed/a.xml") } else { (AFTER_PROCESS, "done/a.xml") };
            let mut inbox = folder.receive(&[(name, action), (TO_AFTER_PROCESS, &done), (TO_AFTER_FAILURE, &failed)]);
            let taken = inbox.next().await;
            if fails {
                taken.fail().await;
            } else {
                taken.accept().await;
            }
            let there = (folder.exists("in/a.xml"), folder.exists(target));
            assert_eq!(there, (stays, moved), "{action} {fails}");
            assert!(!folder.exists("in/a.xml.lock"));
            let other = if fails { "done" } else { "failed" };
            assert!(folder.names(other).is_empty());
            // What stays is taken again.
            assert_eq!(inbox.is_quiet(10).await, !stays, "{action}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_rolled_back_comes_again() {
    let folder = Folder::new();
    folder.write("in/a.xml", "content");
    let mut inbox = folder.receive(&[]);
    for round in 0..3 {
        let taken = inbox.next().await;
        assert_eq!((&taken.body[..], taken.at), ("content", round * 1000));
        taken.end(Ending::RolledBack).await;
        assert_eq!(folder.names("in"), ["a.xml"]);
    }
}

#[tokio::test(start_paused = true)]
async fn names_and_folders_get_dates() {
    let folder = Folder::new();
    folder.write("in/a.xml", "content");
    let (done, year) = (folder.uri("done/"), "yyyy");
    let mut inbox = folder.receive(&[
        (AFTER_PROCESS, "MOVE"),
        (TO_AFTER_PROCESS, &done),
        ("transport.vfs.SubFolderTimestampFormat", year),
        ("transport.vfs.MoveTimestampFormat", "yyyyMM'_x_'"),
        ("transport.vfs.CreateFolder", "true"),
    ]);
    inbox.next().await.accept().await;
    let names = folder.names("done");
    let (year, name) = names[0].split_once('/').unwrap();
    assert!(year.len() == 4 && name.starts_with(year) && name.ends_with("_x_a.xml") && name.len() == 14, "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn folders_below_are_kept_with_a_star() {
    let folder = Folder::new();
    folder.write("in/sub/deep/a.xml", "content");
    let (from, done) = (folder.uri("in/*"), folder.uri("done/*"));
    let mut inbox =
        folder.receive(&[("transport.vfs.FileURI", &from), (AFTER_PROCESS, "MOVE"), (TO_AFTER_PROCESS, &done)]);
    inbox.next().await.accept().await;
    assert_eq!(folder.names("done"), ["sub/deep/a.xml"]);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_there_already_stays() {
    let folder = Folder::new();
    folder.write("done/a.xml", "old");
    folder.write("in/a.xml", "new");
    let done = folder.uri("done");
    let mut inbox = folder.receive(&[(AFTER_PROCESS, "MOVE"), (TO_AFTER_PROCESS, &done)]);
    inbox.next().await.accept().await;
    assert_eq!((folder.read("done/a.xml"), folder.read("done/a-1.xml")), ("old".to_owned(), "new".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_changed_while_it_is_processed_stays() {
    let folder = Folder::new();
    folder.write("in/a.xml", "old");
    let mut inbox = folder.receive(&[]);
    let taken = inbox.next().await;
    folder.write("in/a.xml", "newer");
    taken.accept().await;
    let again = inbox.next().await;
    assert_eq!(again.body, "newer");
    again.accept().await;
    assert!(folder.names("in").is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_last_change_is_kept() {
    let folder = Folder::new();
    fs::create_dir(folder.path("done")).unwrap();
    folder.write_aged("in/a.xml", "content", 5000);
    let before = fs::metadata(folder.path("in/a.xml")).unwrap().mtime();
    let done = folder.uri("done");
    let mut inbox = folder.receive(&[(AFTER_PROCESS, "MOVE"), (TO_AFTER_PROCESS, &done)]);
    inbox.next().await.accept().await;
    assert_eq!(fs::metadata(folder.path("done/a.xml")).unwrap().mtime(), before);
}

/// A file whose move fails, as its folder is not there.
async fn stuck(folder: &Folder, parameters: &[(&str, &str)]) -> crate::common::Inbox {
    folder.write("in/a b.xml", "content");
    let done = folder.uri("done");
    let mut all = vec![(AFTER_PROCESS, "MOVE"), (TO_AFTER_PROCESS, &done[..])];
    all.extend(parameters);
    let mut inbox = folder.receive(&all);
    inbox.next().await.accept().await;
    inbox
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_moved_is_not_taken_again_and_moved_when_that_is_possible() {
    let folder = Folder::new();
    let mut inbox = stuck(&folder, &[("transport.vfs.FailedRecordNextRetryDuration", "500")]).await;
    let list = "in/vfs-move-failed-records.properties";
    assert!(folder.read(list).starts_with("a%20b.xml "), "{}", folder.read(list));
    assert!(!folder.exists("in/a b.xml.lock"));
    assert!(inbox.is_quiet(100).await);
    drop(inbox);
    // Nor is it after a start.
    let done = folder.uri("done");
    let mut inbox = folder.receive(&[(AFTER_PROCESS, "MOVE"), (TO_AFTER_PROCESS, &done)]);
    assert!(inbox.is_quiet(100).await);
    fs::create_dir(folder.path("done")).unwrap();
    assert!(inbox.is_quiet(10).await);
    assert_eq!((folder.names("done"), folder.names("in")), (vec!["a b.xml".to_owned()], Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_move_that_failed_is_tried_again_in_time() {
    let folder = Folder::new();
    let retry = ("transport.vfs.FailedRecordNextRetryDuration", "5000");
    let mut inbox = stuck(&folder, &[retry, ("interval", "1000000")]).await;
    fs::create_dir(folder.path("done")).unwrap();
    assert!(inbox.is_quiet(4).await);
    assert!(folder.names("done").is_empty());
    assert!(inbox.is_quiet(2).await);
    assert_eq!(folder.names("done"), ["a b.xml"]);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_moved_may_go_elsewhere() {
    let folder = Folder::new();
    let (elsewhere, lists) = (folder.uri("stuck"), folder.path("lists"));
    let lists = format!("{}/", lists.display());
    let mut inbox = stuck(
        &folder,
        &[
            ("transport.vfs.MoveAfterFailedMove", &elsewhere),
            ("transport.vfs.FailedRecordsFileDestination", &lists),
            ("transport.vfs.FailedRecordsFileName", "failed.txt"),
            ("transport.vfs.MoveFailedRecordTimestampFormat", "yyyy"),
        ],
    )
    .await;
    let line = folder.read("lists/failed.txt");
    let year = line.split_whitespace().nth(1).unwrap();
    assert!(year.len() == 4 && line.starts_with(&format!("a%20b.xml {year}\t")), "{line}");
    assert!(inbox.is_quiet(10).await);
    assert_eq!(folder.names("stuck"), ["a b.xml"]);
    assert!(folder.names("lists").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_moved_is_not_taken_again_though_it_was_found_before() {
    let folder = Folder::new();
    folder.write("in/a.xml", "content");
    let done = folder.uri("done");
    let mut inbox = folder.receive(&[(AFTER_PROCESS, "MOVE"), (TO_AFTER_PROCESS, &done), ("sequential", "false")]);
    let taken = inbox.next().await;
    // It is found again while it is under way, and may be taken as soon as it is not.
    let (again, ()) = tokio::join!(inbox.is_quiet(100), async {
        tokio::time::sleep(Duration::from_millis(2500)).await;
        taken.accept().await;
    });
    assert!(again && folder.exists("in/a.xml"));
}

#[tokio::test(start_paused = true)]
async fn a_new_file_in_the_place_of_one_that_could_not_be_moved_is_taken() {
    let folder = Folder::new();
    let mut inbox = stuck(&folder, &[]).await;
    assert!(inbox.is_quiet(5).await);
    fs::rename(folder.path("in/a b.xml"), folder.path("by hand")).unwrap();
    folder.write("in/a b.xml", "new content");
    assert_eq!(inbox.next().await.body, "new content");
}

fn answer(body: &str) -> Ending {
    Ending::Answered(Message::answer(StatusCode::OK, Body::Bytes(body.into())))
}

#[tokio::test(start_paused = true)]
async fn answers_are_written_where_the_configuration_says() {
    let folder = Folder::new();
    fs::create_dir(folder.path("out")).unwrap();
    let check = async |parameters: &[(&str, &str)], header: Option<&str>, expected: &str| {
        folder.write("in/a.xml", "question");
        let taken = folder.receive(parameters).next().await;
        let Ending::Answered(mut message) = answer("answer") else { unreachable!("made above") };
        if let Some(name) = header {
            message.head.set("transport.vfs.ReplyFileName", name.as_bytes()).unwrap();
        }
        taken.end(Ending::Answered(message)).await;
        assert_eq!(folder.names("out"), [expected]);
        assert_eq!(folder.read(&format!("out/{expected}")), "answer");
        assert!(folder.names("in").is_empty());
        fs::remove_file(folder.path("out").join(expected)).unwrap();
    };
    let (out, file) = (folder.uri("out"), folder.uri("out/fixed.xml"));
    let (uri, name) = ("transport.vfs.ReplyFileURI", "transport.vfs.ReplyFileName");
    check(&[(uri, &out)], None, "response.xml").await;
    check(&[(uri, &out), (name, "reply.xml")], None, "reply.xml").await;
    check(&[(uri, &out), (name, "reply.xml")], Some("own.xml"), "own.xml").await;
    check(&[(uri, &file)], Some("own.xml"), "fixed.xml").await;
}

#[tokio::test(start_paused = true)]
async fn without_an_address_for_replies_an_answer_is_success() {
    let folder = Folder::new();
    folder.write("in/a.xml", "question");
    folder.receive(&[]).next().await.end(answer("answer")).await;
    assert!(folder.names("in").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_file_whose_answer_cannot_be_written_has_failed() {
    let folder = Folder::new();
    folder.write("in/a.xml", "question");
    folder.write("out", "a file in the way");
    let (out, failed) = (folder.uri("out/"), folder.uri("failed"));
    let taken: Taken = folder
        .receive(&[
            ("transport.vfs.ReplyFileURI", &out),
            (AFTER_FAILURE, "MOVE"),
            (TO_AFTER_FAILURE, &failed),
            ("transport.vfs.CreateFolder", "true"),
        ])
        .next_within(Duration::from_secs(1))
        .await
        .unwrap();
    taken.end(answer("answer")).await;
    assert_eq!(folder.names("failed"), ["a.xml"]);
}
