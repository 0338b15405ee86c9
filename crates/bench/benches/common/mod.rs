//! What the benches in memory share: turns, the messages, the cells of their tables, and libraries in other languages.

pub(crate) mod process;

use std::path::{Path, PathBuf};

use anyhow::Context;
use myelin_bench::payload;
use myelin_bench::statistics::{median, paired_p_value, ratio_of_medians};
use rustix::time::{ClockId, clock_gettime};

pub(crate) use process::{Process, compile};

/// A message, in memory and as the file that other processes read.
pub(crate) struct Message {
    pub(crate) bytes: Vec<u8>,
    pub(crate) path: PathBuf,
}

impl Message {
    /// The benchmark's message.
    pub(crate) fn new(folder: &Path, size: u64) -> anyhow::Result<Message> {
        let path = folder.join(format!("{size}.xml"));
        let bytes = payload::soap(size)?.to_vec();
        std::fs::write(&path, &bytes)?;
        Ok(Message { bytes, path: path.canonicalize()? })
    }
}

/// The folder of the workspace, and `name` in it, which is made.
///
/// Cargo runs a bench in the folder of its package; what is given and made belongs to the workspace.
pub(crate) fn folders(name: &Path) -> anyhow::Result<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok((root, folder))
}

/// How long is measured.
pub(crate) struct Span {
    /// Rounds in which each library has one turn.
    pub(crate) rounds: usize,
    /// The CPU time of a turn, in milliseconds.
    pub(crate) turn: u64,
    /// Turns that do not count: by then code that is compiled while it runs has been, too.
    pub(crate) warm_up: u32,
}

/// Lets the libraries take turns; `turn` gives the nanoseconds of so many repetitions.
///
/// Shape: nanoseconds a message, one row for each library, one column for each round.
pub(crate) fn in_turns<Library>(
    span: &Span,
    libraries: &mut [Library],
    turn: impl Fn(&mut Library, u64) -> anyhow::Result<u64>,
) -> anyhow::Result<Vec<Vec<f64>>> {
    let each = |library: &mut Library, repetitions| anyhow::Ok(turn(library, repetitions)? as f64 / repetitions as f64);
    let wanted = (span.turn * 1_000_000) as f64;
    let mut repetitions = Vec::new();
    for library in libraries.iter_mut() {
        // Grows until a turn is long enough.
        let (mut count, mut spent) = (1, 0.0);
        while spent < f64::from(span.warm_up) * wanted {
            let each = each(library, count)?.max(1.0);
            spent += each * count as f64;
            count = ((wanted / each) as u64).clamp(1, count * 10);
        }
        repetitions.push(count);
    }
    let mut times = vec![Vec::new(); libraries.len()];
    for round in 0..span.rounds {
        for place in 0..libraries.len() {
            // Another one begins each round, so that nobody always follows the same predecessor.
            let index = (round + place) % libraries.len();
            times[index].push(each(&mut libraries[index], repetitions[index])?);
        }
    }
    Ok(times)
}

/// Microseconds, and for the others how many times the first's that is, and how likely equals would differ so much.
pub(crate) fn cells(times: &[Vec<f64>]) -> Vec<String> {
    let Some((first, others)) = times.split_first() else { return Vec::new() };
    let shown = |times: &[f64]| {
        let time = median(times) / 1e3;
        if time < 10.0 { format!("{time:.2}") } else { format!("{time:.0}") }
    };
    let other = |times: &Vec<f64>| {
        let p_value = paired_p_value(first, times).map_or_else(String::new, |p_value| format!(", p {p_value:.3}"));
        format!("{} ({:.1}×{p_value})", shown(times), ratio_of_medians(times, first))
    };
    std::iter::once(shown(first)).chain(others.iter().map(other)).collect()
}

/// This thread's CPU time so far, in nanoseconds.
pub(crate) fn cpu_nanoseconds() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
