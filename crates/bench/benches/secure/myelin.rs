//! Our own.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use myelin_wss::Replays;
use myelin_wss::guard::{Arrival, Departure, Guard};
use myelin_xml::{Arena, Document, Options, WriteOptions, write};

use super::common::{Message, cpu_nanoseconds};
use super::{Gateway, Profile, keys};

pub(super) struct Myelin {
    keys: PathBuf,
    /// The client's guard and the gateway's.
    guards: HashMap<Profile, (Guard, Guard)>,
    options: Options,
    arena: Arena,
}

impl Myelin {
    pub(super) fn new(keys: PathBuf) -> Myelin {
        Myelin { keys, guards: HashMap::new(), options: Options::default(), arena: Arena::default() }
    }

    /// A fresh request of the client, for the gateway has seen all others.
    pub(super) fn request(client: &Guard, plain: &[u8]) -> anyhow::Result<Vec<u8>> {
        let document = Document::parse(plain.to_vec(), &Options::default())?;
        Ok(client.secure(document, &Departure { now: SystemTime::now(), conversation: None })?.bytes)
    }

    /// Does an exchange as the gateway does; gives the nanoseconds for the request, those for the answer, and the page
    /// faults.
    #[inline(never)]
    fn exchange(
        &mut self,
        gateway: &Guard,
        request: Vec<u8>,
        plain: &[u8],
        replays: &Replays,
    ) -> anyhow::Result<[u64; 3]> {
        let plain = plain.to_vec();
        let faults = page_faults()?;
        let start = cpu_nanoseconds();
        let document = Document::parse_in(request, &self.options, std::mem::take(&mut self.arena))?;
        let now = SystemTime::now();
        let xml = &self.options;
        let arrival = Arrival { now, tls: false, client_certificate: false, replays, conversation: None, xml };
        let verified = gateway.verify(document, &arrival)?;
        let mut forwarded = Vec::with_capacity(plain.len() + 1024);
        write(&verified.document, verified.document.document_node(), &WriteOptions::default(), &mut forwarded);
        let middle = cpu_nanoseconds();
        let answer = Document::parse_in(plain, &self.options, verified.document.into_arena())?;
        let secured = gateway.secure(answer, &Departure { now, conversation: Some(&verified.conversation) })?;
        let end = cpu_nanoseconds();
        self.arena = secured.arena;
        if secured.bytes.len() < forwarded.len() {
            bail!("the response is shorter than the plain request");
        }
        Ok([middle - start, end - middle, page_faults()? - faults])
    }

    /// So many exchanges with fresh requests, which are not timed: the nanoseconds of requests and of answers, and the
    /// page faults of both.
    pub(super) fn exchanges(&mut self, profile: Profile, plain: &[u8], repetitions: u64) -> anyhow::Result<[u64; 3]> {
        let (client, gateway) = match self.guards.remove(&profile) {
            Some(guards) => guards,
            None => keys::guards(&self.keys, profile)?,
        };
        let replays = Replays::in_memory(1 << 20, SystemTime::now() - Duration::from_secs(60));
        let mut spent = [0; 3];
        for _ in 0..repetitions {
            let request = Myelin::request(&client, plain)?;
            let once = self.exchange(&gateway, request, plain, &replays)?;
            spent.iter_mut().zip(once).for_each(|(sum, once)| *sum += once);
        }
        self.guards.insert(profile, (client, gateway));
        Ok(spent)
    }
}

impl Gateway for Myelin {
    fn name(&self) -> &str {
        "myelin"
    }

    fn run(&mut self, profile: Profile, message: &Message, repetitions: u64) -> anyhow::Result<u64> {
        let [request, answer, _] = self.exchanges(profile, &message.bytes, repetitions)?;
        Ok(request + answer)
    }
}

/// How many pages this process has touched for the first time, or for the first time since it gave them back.
fn page_faults() -> anyhow::Result<u64> {
    let line = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the process, in brackets, may hold anything.
    let fields = line.rsplit_once(')').map_or("", |(_, fields)| fields);
    Ok(fields.split_ascii_whitespace().nth(7).context("/proc/self/stat has too few fields")?.parse()?)
}
