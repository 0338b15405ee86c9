//! Memory is bounded by what messages become, not by what came: many that become large at once are done or refused, and
//! the process stays within its limit.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::support::definitions;
use crate::support::process::Process;
use crate::turn;
use myelin_bench::procfs;
use myelin_testkit::raw::{self, Client};

const MIB: usize = 1 << 20;
const LIMIT: usize = 128 * MIB;

/// What the process takes besides: its program, connections, and what the allocator keeps for each thread, up to 64 MiB.
/// Sixty of these messages at once would take more than 1,500 MiB.
const BESIDES: u64 = 192 << 20;

const AT_ONCE: usize = 60;

/// A request whose body is `piece` again and again, and becomes many times as large.
fn request(service: &str, media_type: &str, [begin, piece, end]: [&str; 3], bytes: usize) -> Vec<u8> {
    let body = format!("{begin}{}{end}", piece.repeat(bytes / piece.len()));
    let head = format!(
        "POST /services/{service} HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Type: {media_type}\r\n"
    );
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Sends it sixty times at once; says how many were answered with 200 and with 503, and that nothing else was.
fn storm(process: &Process, request: &[u8]) -> (usize, usize) {
    let (begin, address) = (Barrier::new(AT_ONCE), process.address);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let exchange = || {
            let mut client = Client::connect(address).unwrap();
            client.deadline(Duration::from_secs(120));
            begin.wait();
            let answer = client.exchange(request).unwrap();
            if answer.status == 503 {
                assert!(answer.header("Content-Type").is_some() && !answer.body.is_empty(), "{answer:?}");
            }
            answer.status
        };
        let all: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(exchange)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let count = |status| statuses.iter().filter(|&&it| it == status).count();
    let counts = (count(200), count(503));
    assert_eq!(counts.0 + counts.1, AT_ONCE, "{statuses:?}");
    counts
}

#[test]
fn sixty_messages_that_become_large_are_answered_within_the_limit_of_memory() {
    let _turn = turn();
    let becomes = |name: &str, media_type: &str| {
        format!(
            "<proxy name='{name}'><target><inSequence><property name='messageType' value='{media_type}' scope='axis2'/>\
             <respond/></inSequence></target></proxy>"
        )
    };
    let services = becomes("ToXml", "application/xml") + &becomes("ToJson", "application/json");
    let settings = format!("[myelin.memory]\nbytes = {LIMIT}\nwait = \"10s\"\n");
    let process = Process::run(&[("synapse.xml", &definitions(&services))], &settings);
    let storms = [
        ("ToXml", "application/json", ["[0", ",0", "]"], MIB / 2),
        ("ToJson", "application/xml", ["<r>", "<a/>", "</r>"], MIB),
    ];
    for (service, media_type, pieces, bytes) in storms {
        let (done, refused) = storm(&process, &request(service, media_type, pieces, bytes));
        assert!(done > 0, "{pieces:?}: all {refused} were refused");
        let peak = procfs::usage(process.id()).unwrap().peak_memory_bytes;
        assert!(peak < LIMIT as u64 + BESIDES, "{pieces:?}: {} MiB, {done} done, {refused} refused", peak >> 20);
        println!("{pieces:?}: peak {} MiB, {done} done, {refused} refused", peak >> 20);
    }
    // What needs more than all may have is refused at once; what is small is served as before.
    let too_large = request("ToXml", "application/json", ["[0", ",0", "]"], 8 * MIB);
    assert_eq!(raw::exchange(process.address, &too_large).unwrap().status, 503);
    process.logged("[myelin.memory] bytes allows");
    let small = request("ToXml", "application/json", ["[0", ",0", "]"], 10);
    assert_eq!(raw::exchange(process.address, &small).unwrap().status, 200);
}
