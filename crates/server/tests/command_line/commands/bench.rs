//! `myelin bench run`: what becomes of runs that end before their time.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use myelin_bench::results::{self, Line, Results};
use rustix::process::{Pid, Signal, kill_process};

use super::myelin;

const DEADLINE: Duration = Duration::from_secs(60);

/// Begins a run of three cells, and waits until the first of them is measured.
fn begun(folder: &Path) -> Child {
    let arguments = "bench run --target backend,relay --scenario direct --size 500 --concurrency 1,2,4 --rounds 2 \
                     --duration 200ms --warm-up 100ms --out";
    let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
    command.args(arguments.split_ascii_whitespace()).arg(folder);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !results::read(folder).is_ok_and(|results| cells_done(&results) == 1) {
        assert!(begun.elapsed() < DEADLINE, "no cell was measured");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn cells_done(results: &Results) -> usize {
    results.lines.iter().filter(|line| matches!(line, Line::Done { .. })).count()
}

fn process(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap()
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was_and_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("results");
    let mut child = begun(&folder);
    let is_told = Command::new("setpriv").arg("--version").stdout(Stdio::null()).status().is_ok();
    let started = myelin_bench::procfs::process_tree(child.id());
    assert!(started.len() >= 3, "the backends and a target run: {started:?}");
    kill_process(process(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let begun = Instant::now();
    if !is_told {
        myelin_testkit::skip("setpriv is not installed: nobody tells servers that the run was killed");
        // What was left behind is ended here instead; some may have ended by themselves.
        for process in started.iter().filter_map(|process| Pid::from_raw(process.cast_signed())) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
    while started.iter().any(|process| myelin_bench::procfs::cpu_times(*process).is_ok()) {
        assert!(begun.elapsed() < DEADLINE, "a process was left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
    let before = results::read(&folder).unwrap();
    let ended = myelin(&format!("bench run --resume {}", folder.display()), "");
    assert_eq!(ended.code, 0, "{}", ended.err);
    let after = results::read(&folder).unwrap();
    assert_eq!((after.run.cells.len(), cells_done(&after)), (3, 3));
    let first = &before.run.cells[0];
    assert_eq!(after.turns(first, "relay").len(), 2);
    assert_eq!(after.turns(first, "relay")[0].began, before.turns(first, "relay")[0].began, "it is not measured again");
    let again = myelin(&format!("bench run --out {}", folder.display()), "");
    assert!(again.code == 1 && again.err.contains("--resume"), "{}", again.err);
}

#[test]
fn a_run_that_is_interrupted_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = begun(&folder.path().join("results"));
    kill_process(process(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let elsewhere = myelin("bench run --resume nowhere", "");
    assert!(elsewhere.code == 1 && elsewhere.err.contains("nowhere holds no results"), "{}", elsewhere.err);
}

#[test]
fn kits_are_listed_and_described() {
    let all = myelin("bench kits", "");
    assert!(all.code == 0 && all.out.contains("synapse-nhttp") && all.out.contains("cbr"), "{}", all.out);
    let one = myelin("bench kits nginx", "");
    assert!(one.out.starts_with("# nginx"), "{}", one.out);
    let folder = tempfile::tempdir().unwrap();
    let written = myelin(&format!("bench kits wso2-mi --write {}", folder.path().display()), "");
    assert_eq!((written.code, written.out.lines().count()), (0, 1), "{}", written.err);
    let checked = myelin(&format!("check {}", folder.path().join("synapse.xml").display()), "");
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    let unknown = myelin("bench kits ngnix", "");
    assert!(unknown.code == 1 && unknown.err.contains("did you mean nginx?"), "{}", unknown.err);
}
