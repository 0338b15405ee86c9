//! Files larger than memory are routed by their first record.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use super::{Folders, patience, size};
use crate::support::definitions;
use crate::support::process::Process;
use myelin_bench::procfs;

/// How many bytes a record has, with its number.
const RECORD_BYTES: usize = 128;

/// What the bus may take at most, in bytes.
const MEMORY_BYTES: u64 = 60_000_000;

const BEGIN: &str = "<orders>\n";
const END: &str = "</orders>\n";

fn record(number: u64, into: &mut Vec<u8>) {
    let region = if number == 0 { "north" } else { "south" };
    let head = format!(r#"<order id="{number}" region="{region}">"#);
    let end = "</order>\n";
    into.extend_from_slice(head.as_bytes());
    into.resize(into.len() + RECORD_BYTES - head.len() - end.len(), b'.');
    into.extend_from_slice(end.as_bytes());
}

/// All bytes of a file with so many records, in pieces of a thousand records.
fn pieces(records: u64) -> impl Iterator<Item = Vec<u8>> {
    let middle = (0..records.div_ceil(1_000)).map(move |piece| {
        let mut bytes = Vec::with_capacity(1_000 * RECORD_BYTES);
        (piece * 1_000..records.min((piece + 1) * 1_000)).for_each(|number| record(number, &mut bytes));
        bytes
    });
    std::iter::once(BEGIN.into()).chain(middle).chain(std::iter::once(END.into()))
}

fn write(path: &Path, records: u64) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    pieces(records).for_each(|piece| file.write_all(&piece).unwrap());
    file.flush().unwrap();
}

/// A backend that compares one body, as it comes, with what it has to be; how many bytes were right, or what was wrong.
fn comparing(records: u64) -> (std::net::SocketAddr, Receiver<Result<u64, String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, result) = channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(patience())).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let (mut right, mut buffer) = (0, Vec::new());
        for piece in pieces(records) {
            buffer.resize(piece.len(), 0);
            let read = stream.read_exact(&mut buffer);
            if read.is_err() || buffer != piece {
                let _ = sender.send(Err(format!("behind {right} bytes: {read:?}")));
                return;
            }
            right += piece.len() as u64;
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let is_all = head.contains(&format!("\r\ncontent-length: {right}\r\n"));
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        let _ = sender.send(if is_all { Ok(right) } else { Err(head) });
    });
    (address, result)
}

#[test]
fn a_large_file_is_routed_by_its_first_record_in_little_memory() {
    let bytes: u64 = size(64 << 20, 2 << 30);
    let records = bytes / RECORD_BYTES as u64;
    // On the disk: in memory it would take twice its size.
    let folders = Folders(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    std::fs::create_dir(folders.path("in")).unwrap();
    write(&folders.path("new"), records);
    let (address, result) = comparing(records);
    let uri = folders.uri("in");
    let configuration = definitions(&format!(
        r#"<proxy name="Orders" transports="vfs"><target><inSequence>
             <switch source="$body/orders/order[1]/@region">
               <case regex="north"><send><endpoint><address uri="http://{address}/north"/></endpoint></send></case>
               <default><drop/></default>
             </switch>
           </inSequence></target>
           <parameter name="transport.vfs.FileURI">{uri}</parameter>
           <parameter name="transport.vfs.ContentType">application/xml</parameter>
           <parameter name="transport.PollInterval">50ms</parameter></proxy>"#
    ));
    let process = Process::run(&[("Orders.xml", &*configuration)], "");
    std::fs::rename(folders.path("new"), folders.path("in/orders.xml")).unwrap();
    let right = result.recv_timeout(patience()).expect("the bus does not send it");
    let whole = records * RECORD_BYTES as u64 + (BEGIN.len() + END.len()) as u64;
    assert_eq!(right, Ok(whole));
    let started = Instant::now();
    while folders.path("in/orders.xml").exists() {
        assert!(started.elapsed() < patience(), "the file stays");
    }
    let peak = procfs::usage(process.id()).unwrap().peak_memory_bytes;
    println!("{whole} bytes passed, {} KiB at most", peak / 1024);
    assert!(peak <= MEMORY_BYTES, "{} KiB", peak / 1024);
}
