use super::*;
use crate::claim::Locking;
use std::fs;

fn identity(path: &Path) -> Option<Identity> {
    Some(Identity::of(&fs::metadata(path).unwrap()))
}

#[test]
fn files_that_could_not_be_moved_are_known_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let lists = folder.path().join("lists");
    let list = lists.join("failed.properties");
    let files = ["a.xml", "b c 100%ä.xml"].map(|name| folder.path().join(name));
    let new = || Records::new(folder.path().to_owned(), Some(lists.clone()), "failed.properties".into());
    let mut records = new();
    for (file, outcome) in files.iter().zip([Outcome::Success, Outcome::Failure]) {
        fs::write(file, "content").unwrap();
        records.add(file, Record { identity: identity(file), outcome }, "21/11/2026/ 10:00:00").unwrap();
    }
    assert!(fs::read_to_string(&list).unwrap().starts_with("a.xml 21/11/2026/ 10:00:00\t"));
    let mut again = new();
    again.refresh().unwrap();
    assert_eq!(again.iter().collect::<Vec<_>>(), records.iter().collect::<Vec<_>>());
    assert_eq!(again.len(), 2);
    let mut third = new();
    assert!(third.has(&Claim::new(&files[1], Locking::Off).unwrap()));
    again.remove(&files[0]).unwrap();
    records.refresh().unwrap();
    assert_eq!(records.iter().map(|(path, _)| path).collect::<Vec<_>>(), files[1..]);
    records.remove(&files[1]).unwrap();
    assert!(!list.exists());
    again.refresh().unwrap();
    assert_eq!(again.len(), 0);
}

#[test]
fn a_new_file_of_that_name_is_not_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let (file, list) = (folder.path().join("a.xml"), folder.path().join("list"));
    fs::write(&file, "old").unwrap();
    let mut records = Records::new(folder.path().to_owned(), None, "list".into());
    let record = Record { identity: identity(&file), outcome: Outcome::Success };
    records.add(&file, record, "now").unwrap();
    records.refresh().unwrap();
    assert_eq!(records.len(), 1);
    fs::write(&file, "newer").unwrap();
    assert!(!records.has(&Claim::new(&file, Locking::Off).unwrap()));
    records.refresh().unwrap();
    assert_eq!(records.len(), 0);
    assert!(!list.exists());
}

#[test]
fn lists_that_synapse_wrote_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (file, list) = (folder.path().join("a.xml"), folder.path().join("list"));
    fs::write(&file, "content").unwrap();
    fs::write(&list, "a.xml 21/11/2026/ 10:00:00\ngone.xml 21/11/2026/ 10:00:00").unwrap();
    let mut records = Records::new(folder.path().to_owned(), None, "list".into());
    records.refresh().unwrap();
    let all: Vec<_> = records.iter().collect();
    assert_eq!(all, [(file, Record { identity: None, outcome: Outcome::Success })]);
    assert_eq!(fs::read_to_string(&list).unwrap(), "a.xml 21/11/2026/ 10:00:00\n");
}

#[test]
fn what_cannot_be_written_down_is_known_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.xml");
    fs::write(&file, "content").unwrap();
    let mut records = Records::new(folder.path().to_owned(), Some(file.clone()), "list".into());
    let record = Record { identity: identity(&file), outcome: Outcome::Failure };
    assert!(records.add(&file, record, "now").is_err());
    assert!(records.refresh().is_err());
    assert_eq!(records.iter().collect::<Vec<_>>(), [(file, record)]);
}
