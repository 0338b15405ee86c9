//! Several processes on one folder.

use std::collections::BTreeSet;

use super::{Folders, invoices, orders, size};
use crate::support::process::Process;

#[test]
fn of_two_processes_on_one_folder_each_file_is_taken_by_one() {
    let (folders, count) = (Folders::new(), size(1_000, 10_000));
    folders.fill(&orders(0..count));
    let start = |out: &str| Process::run(&[("Orders.xml", &*folders.invoices(out))], "");
    let processes = ["one", "two"].map(start);
    folders.wait_until_none_waits();
    drop(processes);
    let [one, two] = ["one", "two"].map(|out| folders.content(out));
    println!("{} and {} of {count} files", one.len(), two.len());
    let twice: BTreeSet<_> = one.keys().filter(|name| two.contains_key(*name)).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert!(one.into_iter().chain(two).collect::<std::collections::BTreeMap<_, _>>() == invoices(0..count));
    assert_eq!(folders.content("done").len(), count);
}
