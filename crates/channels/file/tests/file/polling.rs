//! When a folder is looked into, and which files are taken in which order.

use std::fs;
use std::time::Duration;

use myelin_channel::Runtime;

use crate::common::{Folder, LONG, lock_of};

#[tokio::test(start_paused = true)]
async fn a_file_is_a_message_with_what_synapse_tells_of_it() {
    let folder = Folder::new();
    folder.write_aged("in/an order ä#1.xml", "<order/>", 60);
    let mut inbox = folder.receive(&[("transport.vfs.ContentType", "text/xml; charset=ISO-8859-1")]);
    let taken = inbox.next().await;
    assert_eq!((&taken.name[..], &taken.body[..]), ("an order ä#1.xml", "<order/>"));
    assert_eq!(taken.header("Content-Type"), "text/xml; charset=ISO-8859-1");
    assert_eq!(taken.header("FILE_PATH"), folder.path("in/an order ä#1.xml").display().to_string());
    assert!(taken.header("FILE_URI").ends_with("/in/an%20order%20ä%231.xml"));
    assert_eq!((taken.header("FILE_LENGTH"), taken.header("VFS_SCHEME")), ("8".to_owned(), "file".to_owned()));
    let modified = folder.clock.now() - Duration::from_secs(60);
    let modified = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(taken.header("LAST_MODIFIED"), modified.to_string());
    assert!(lock_of(&folder.path("in/an order ä#1.xml")).exists());
    assert_eq!(taken.delivery.arrival.transport, "vfs");
    taken.accept().await;
    assert!(folder.names("in").is_empty());
}

#[tokio::test(start_paused = true)]
async fn content_types_follow_the_endings_of_names() {
    let folder = Folder::new();
    let mut inbox = folder.receive(&[]);
    for (name, expected) in [
        ("a.XML", "text/xml"),
        ("a.json", "application/json"),
        ("a.txt", "text/plain"),
        ("a.csv", "text/plain"),
        ("a.pdf", "application/octet-stream"),
        ("a", "application/octet-stream"),
    ] {
        folder.write(&format!("in/{name}"), "x");
        let taken = inbox.next().await;
        assert_eq!(taken.header("Content-Type"), expected, "{name}");
        taken.accept().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_folder_is_looked_into_at_once_and_after_each_interval() {
    for (name, value, interval) in
        [("interval", "7000", 7000), ("transport.PollInterval", "7", 7000), ("transport.PollInterval", "700ms", 700)]
    {
        let folder = Folder::new();
        folder.write("in/a", "");
        let mut inbox = folder.receive(&[("interval", ""), (name, value)]);
        let taken = inbox.next().await;
        assert_eq!(taken.at, 0);
        taken.accept().await;
        folder.write("in/b", "");
        let taken = inbox.next().await;
        assert_eq!((&taken.name[..], taken.at), ("b", interval), "{name} {value}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_an_interval_it_is_that_of_axis2() {
    let folder = Folder::new();
    let mut inbox = folder.receive(&[("interval", "")]);
    assert!(inbox.is_quiet(1).await);
    folder.write("in/a", "");
    assert_eq!(inbox.next().await.at, 300_000);
}

#[tokio::test(start_paused = true)]
async fn a_cron_expression_says_when() {
    let folder = Folder::new();
    folder.write("in/a", "");
    let mut inbox = folder.receive(&[("cron", "0 0/10 * * * ?")]);
    inbox.next().await;
    let since = folder.clock.now().duration_since(std::time::UNIX_EPOCH).unwrap();
    // Zones are whole quarters of an hour away from each other.
    assert_eq!(since.as_secs() % 300, 0, "{since:?}");
}

#[tokio::test(start_paused = true)]
async fn names_match_the_pattern_as_a_whole() {
    let folder = Folder::new();
    for name in ["a.xml", "b.xml.bak", "c.txt", "d.xml.lock", "e.xml.fail"] {
        folder.write(&format!("in/{name}"), "");
    }
    let mut inbox = folder.receive(&[("transport.vfs.FileNamePattern", r".*\.xml")]);
    assert_eq!(inbox.names(10).await, ["a.xml"]);
}

#[tokio::test(start_paused = true)]
async fn a_single_file_is_taken_whenever_it_is_there() {
    let folder = Folder::new();
    let uri = folder.uri("in/a%20b.xml");
    let mut inbox =
        folder.receive(&[("transport.vfs.FileURI", &uri), ("transport.vfs.FileNamePattern", "other, as in Synapse")]);
    assert!(inbox.is_quiet(10).await);
    for content in ["one", "two"] {
        folder.write("in/other.xml", "");
        folder.write("in/a b.xml", content);
        let taken = inbox.next().await;
        assert_eq!(taken.body, content);
        taken.accept().await;
        assert_eq!(folder.names("in"), ["other.xml"]);
    }
}

#[tokio::test(start_paused = true)]
async fn folders_below_are_looked_into_with_a_star() {
    let folder = Folder::new();
    folder.write("in/a", "");
    folder.write("in/sub/deep/b", "");
    let mut inbox = folder.receive(&[]);
    assert_eq!(inbox.names(10).await, ["a"]);
    let uri = folder.uri("in/*");
    folder.write("in/a", "");
    let mut inbox = folder.receive(&[
        ("transport.vfs.FileURI", &uri),
        ("transport.vfs.FileSortAttribute", "Name"),
        ("transport.vfs.FileSortAscending", "false"),
    ]);
    let (first, second) = (inbox.next().await, None::<()>);
    assert_eq!((first.header("RELATIVE_PATH"), second), ("/sub/deep".to_owned(), None));
    first.accept().await;
    let second = inbox.next().await;
    assert_eq!((&second.name[..], &second.header("RELATIVE_PATH")[..]), ("a", ""));
}

#[tokio::test(start_paused = true)]
async fn files_are_sorted() {
    let cases: [(&str, &str, [&str; 3]); 7] = [
        ("Name", "true", ["a", "b", "c"]),
        ("name", "false", ["c", "b", "a"]),
        ("Size", "true", ["c", "a", "b"]),
        ("Size", "false", ["b", "a", "c"]),
        ("Lastmodifiedtimestamp", "true", ["b", "c", "a"]),
        ("Lastmodifiedtimestamp", "false", ["a", "c", "b"]),
        ("Name", "", ["a", "b", "c"]),
    ];
    for (by, ascending, expected) in cases {
        let folder = Folder::new();
        folder.write_aged("in/b", "xxx", 30);
        folder.write_aged("in/a", "xx", 10);
        folder.write_aged("in/c", "x", 20);
        let mut inbox =
            folder.receive(&[("transport.vfs.FileSortAttribute", by), ("transport.vfs.FileSortAscending", ascending)]);
        assert_eq!(inbox.names(10).await, expected, "{by} {ascending}");
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_files_are_taken_at_a_time_as_are_wanted() {
    let folder = Folder::new();
    for name in ["a", "b", "c", "d", "e"] {
        folder.write(&format!("in/{name}"), "");
    }
    let mut inbox =
        folder.receive(&[("transport.vfs.FileProcessCount", "2"), ("transport.vfs.FileSortAttribute", "Name")]);
    let mut times = Vec::new();
    for _ in 0..5 {
        let taken = inbox.next().await;
        times.push((taken.name.clone(), taken.at));
        taken.accept().await;
    }
    let expected = [("a", 0), ("b", 0), ("c", 1000), ("d", 1000), ("e", 2000)];
    assert_eq!(times, expected.map(|(name, at)| (name.to_owned(), at)));
}

#[tokio::test(start_paused = true)]
async fn there_is_time_between_two_files() {
    let folder = Folder::new();
    folder.write("in/a", "");
    folder.write("in/b", "");
    let mut inbox = folder.receive(&[("transport.vfs.FileProcessInterval", "400")]);
    let first = inbox.next().await;
    assert_eq!(first.at, 0);
    first.accept().await;
    assert_eq!(inbox.next().await.at, 400);
}

#[tokio::test(start_paused = true)]
async fn young_files_wait_and_old_ones_stay() {
    let check = async |parameter: (&str, &str), age: u64, expected: Option<u128>| {
        let folder = Folder::new();
        folder.write_aged("in/a", "", age);
        let mut inbox = folder.receive(&[parameter]);
        let at = inbox.next_within(Duration::from_secs(100)).await.map(|taken| taken.at);
        assert_eq!(at, expected, "{parameter:?} {age}");
    };
    check(("transport.vfs.MinimumAge", "60"), 50, Some(10_000)).await;
    check(("transport.vfs.MinimumAge", "60"), 70, Some(0)).await;
    check(("transport.vfs.waitTimeBeforeRead", "5000"), 3, Some(2_000)).await;
    check(("transport.vfs.MaximumAge", "60"), 50, Some(0)).await;
    check(("transport.vfs.MaximumAge", "60"), 70, None).await;
}

#[tokio::test(start_paused = true)]
async fn large_files_stay() {
    for (limit, expected) in [("3", &["a"][..]), ("4.0", &["a", "b"]), ("-1", &["a", "b"])] {
        let folder = Folder::new();
        folder.write("in/a", "123");
        folder.write("in/b", "1234");
        let mut inbox =
            folder.receive(&[("transport.vfs.FileSizeLimit", limit), ("transport.vfs.FileSortAttribute", "Name")]);
        assert_eq!(inbox.names(10).await, expected, "{limit}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_grows_is_left_alone_until_it_does_not() {
    let folder = Folder::new();
    folder.write("in/a", "begin");
    let mut inbox = folder.receive(&[("transport.vfs.CheckSizeInterval", "300")]);
    let path = folder.path("in/a");
    let writer = async {
        for _ in 0..6 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let content = fs::read_to_string(&path).unwrap();
            fs::write(&path, content + " more").unwrap();
        }
    };
    let (taken, ()) = tokio::join!(inbox.next(), writer);
    assert_eq!((&taken.body[..], taken.at), ("begin more more more more more more", 2300));
}

#[tokio::test(start_paused = true)]
async fn empty_files_are_ignored_where_that_is_wanted() {
    for (ignored, expected) in [("true", &["b"][..]), ("false", &["a", "b"])] {
        let folder = Folder::new();
        folder.write("in/a", "");
        folder.write("in/b", "content");
        let mut inbox = folder.receive(&[
            ("transport.vfs.CheckSizeInterval", "100"),
            ("transport.vfs.CheckSizeIgnoreEmpty", ignored),
            ("transport.vfs.FileSortAttribute", "Name"),
        ]);
        assert_eq!(inbox.names(10).await, expected, "{ignored}");
    }
}

#[tokio::test(start_paused = true)]
async fn files_come_one_after_the_other_unless_they_need_not() {
    let folder = Folder::new();
    for name in 0..20 {
        folder.write(&format!("in/{name}"), "");
    }
    let mut inbox = folder.receive(&[]);
    let first = inbox.next().await;
    assert!(inbox.is_quiet(100).await);
    first.accept().await;
    drop(inbox.next().await);
    drop(inbox);
    let mut inbox = folder.receive(&[("sequential", "false")]);
    let mut under_way = Vec::new();
    while let Some(taken) = inbox.next_within(Duration::from_secs(100)).await {
        under_way.push(taken);
    }
    assert_eq!(under_way.len(), 16);
    under_way.pop().unwrap().accept().await;
    assert!(inbox.next_within(LONG).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_locked_file_is_left_alone_until_it_is_free() {
    let folder = Folder::new();
    folder.write("in/a", "");
    folder.write("in/a.lock", "1:elsewhere:10.0.0.1:1");
    let mut inbox = folder.receive(&[]);
    assert!(inbox.is_quiet(100).await);
    folder.write("in/b", "");
    assert_eq!(inbox.names(10).await, ["b"]);
    fs::remove_file(folder.path("in/a.lock")).unwrap();
    assert_eq!(inbox.names(10).await, ["a"]);
    folder.write("in/a", "");
    folder.write("in/a.lock", "1:elsewhere:10.0.0.1:1");
    let mut inbox = folder.receive(&[("transport.vfs.Locking", "disable")]);
    let taken = inbox.next().await;
    let mut second = folder.receive(&[("transport.vfs.Locking", "disable")]);
    assert!(second.is_quiet(10).await);
    taken.accept().await;
    assert_eq!(folder.names("in"), ["a.lock"]);
}

#[tokio::test(start_paused = true)]
async fn locks_that_synapse_left_are_released_by_its_rules() {
    let check = async |parameters: &[(&str, &str)], expected: bool| {
        let folder = Folder::new();
        folder.write("in/a", "");
        let made = folder.clock.now().duration_since(std::time::UNIX_EPOCH).unwrap() - Duration::from_secs(60);
        folder.write("in/a.lock", &format!("1:elsewhere:10.0.0.1:{}", made.as_millis()));
        let is_taken = !folder.receive(parameters).is_quiet(5).await;
        assert_eq!(is_taken, expected, "{parameters:?}");
    };
    let (release, interval) = ("transport.vfs.AutoLockRelease", "transport.vfs.AutoLockReleaseInterval");
    let same = "transport.vfs.LockReleaseSameNode";
    check(&[(same, "false")], false).await;
    check(&[(release, "true"), (same, "false")], true).await;
    check(&[(release, "true"), (same, "true")], false).await;
    check(&[(release, "true")], false).await;
    check(&[(release, "true"), (same, "false"), (interval, "50000")], true).await;
    check(&[(release, "true"), (same, "false"), (interval, "7000000")], false).await;
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_comes_late_or_goes_is_no_end() {
    let folder = Folder::new();
    fs::remove_dir(folder.path("in")).unwrap();
    let mut inbox = folder.receive(&[]);
    assert!(inbox.is_quiet(5).await);
    for _ in 0..2 {
        folder.write("in/a", "");
        assert_eq!(inbox.names(40).await, ["a"]);
        fs::remove_dir(folder.path("in")).unwrap();
        assert!(inbox.is_quiet(5).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_that_failed_is_tried_again_before_the_next_time() {
    let folder = Folder::new();
    let break_it = || {
        fs::remove_dir(folder.path("in")).unwrap();
        std::os::unix::fs::symlink("in", folder.path("in")).unwrap();
    };
    break_it();
    let mut inbox = folder.receive(&[
        ("interval", "1000000"),
        ("transport.vfs.MaxRetryCount", "2"),
        ("transport.vfs.ReconnectTimeout", "10"),
    ]);
    assert!(inbox.is_quiet(15).await);
    fs::remove_file(folder.path("in")).unwrap();
    folder.write("in/a", "");
    let taken = inbox.next().await;
    assert_eq!(taken.at, 20_000);
    taken.accept().await;
    break_it();
    assert!(inbox.is_quiet(1100).await);
    fs::remove_file(folder.path("in")).unwrap();
    folder.write("in/b", "");
    assert_eq!(inbox.next().await.at, 2_040_000);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_keeps_no_other_file_from_being_taken() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("nowhere", folder.path("in/dangling")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path("in/pipe"), rustix::fs::Mode::RUSR).unwrap();
    fs::create_dir(folder.path("in/folder")).unwrap();
    folder.write("in/a", "content");
    assert_eq!(folder.receive(&[]).names(10).await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn of_very_many_files_all_are_taken_without_waiting_for_the_next_time() {
    let folder = Folder::new();
    for number in 0..10_050 {
        folder.write(&format!("in/{number}"), "");
    }
    let mut inbox = folder.receive(&[("interval", "1000000"), ("transport.vfs.Locking", "disable")]);
    assert_eq!(inbox.names(10).await.len(), 10_050);
    assert!(folder.names("in").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_file_that_nobody_acknowledges_stays_and_is_free() {
    let folder = Folder::new();
    folder.write("in/a", "content");
    let mut inbox = folder.receive(&[("interval", "1000")]);
    drop(inbox.next().await);
    assert_eq!(folder.names("in"), ["a"]);
    let again = inbox.next().await;
    assert_eq!((&again.body[..], again.at), ("content", 1000));
    drop(inbox);
    again.accept().await;
    assert!(folder.names("in").is_empty());
}
