//! A bus that is killed, whatever it does just then, loses no file.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Folders, invoices, orders, patience, size};
use crate::support::process::Process;

/// How many files there are, and how often the bus is killed.
const LIGHT: usize = 1_000;
const HEAVY: usize = 10_000;
const KILLS: usize = 20;

#[test]
fn each_file_becomes_its_invoice_though_the_bus_is_killed_again_and_again() {
    let (folders, count) = (Folders::new(), size(LIGHT, HEAVY));
    let files = [("Orders.xml", &*folders.invoices("out"))];
    let mut chance = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    let share = count / KILLS;
    for round in 0..KILLS {
        folders.fill(&orders(round * share..(round + 1) * share));
        let before = folders.waiting();
        let process = Process::run(&files, "");
        chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let some = 1 + (chance >> 16) as usize % share;
        let started = Instant::now();
        while folders.waiting() + some > before {
            assert!(started.elapsed() < patience(), "{} files wait", folders.waiting());
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(u64::from(chance >> 20)));
        drop(process);
    }
    let waited = folders.waiting();
    let process = Process::run(&files, "");
    folders.wait_until_none_waits();
    drop(process);
    println!("{count} files, {KILLS} kills, {waited} files left for the last process");
    let (invoices, orders) = (invoices(0..count), orders(0..count));
    let (out, done) = (folders.content("out"), folders.content("done"));
    assert!(out.keys().eq(invoices.keys()) && done.keys().eq(orders.keys()), "{} and {}", out.len(), done.len());
    let wrong: Vec<_> = invoices.keys().filter(|name| out[*name] != invoices[*name]).collect();
    assert!(wrong.is_empty(), "{wrong:?}: {:?} and not {:?}", out[wrong[0]], invoices[wrong[0]]);
    assert!(done == orders, "what was moved was changed");
    assert_eq!(folders.content("failed").len(), 0);
}
