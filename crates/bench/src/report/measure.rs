//! What is reported of a turn: names, units, and where each figure comes from.

use crate::load::Outcome;

/// One figure of a turn; tables, CSV and JSON have them in this order, and new ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// CPU time of the process for each request.
    Cpu,
    /// Its part in user mode.
    UserCpu,
    /// Its part in the kernel.
    SystemCpu,
    /// CPU time above what the relay took in the same round.
    OwnCost,
    /// Good answers a second.
    Rate,
    /// Bytes sent and received a second.
    Bandwidth,
    /// The mean latency.
    MeanLatency,
    /// The median latency.
    P50,
    /// Nine of ten latencies are no longer.
    P90,
    /// 99 of 100 latencies are no longer.
    P99,
    /// 999 of 1,000 latencies are no longer.
    P999,
    /// The longest latency.
    MaxLatency,
    /// The most memory that the process held.
    PeakMemory,
    /// Threads of the process.
    Threads,
    /// Files that the process had open.
    OpenFiles,
}

/// One value for each measure, as far as it was measured.
pub type Values = [Option<f64>; Measure::ALL.len()];

impl Measure {
    /// All measures, in their order.
    pub const ALL: [Measure; 15] = [
        Measure::Cpu,
        Measure::UserCpu,
        Measure::SystemCpu,
        Measure::OwnCost,
        Measure::Rate,
        Measure::Bandwidth,
        Measure::MeanLatency,
        Measure::P50,
        Measure::P90,
        Measure::P99,
        Measure::P999,
        Measure::MaxLatency,
        Measure::PeakMemory,
        Measure::Threads,
        Measure::OpenFiles,
    ];

    /// Those by which targets are compared.
    pub const COMPARED: [Measure; 4] = [Measure::Cpu, Measure::Rate, Measure::P50, Measure::P99];

    /// Its name in CSV and JSON. Times are in seconds, sizes in bytes, bandwidth in millions of bytes a second.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Cpu => "cpu_ms_per_1000",
            Measure::UserCpu => "user_ms_per_1000",
            Measure::SystemCpu => "system_ms_per_1000",
            Measure::OwnCost => "own_cost_ms_per_1000",
            Measure::Rate => "requests_per_second",
            Measure::Bandwidth => "megabytes_per_second",
            Measure::MeanLatency => "latency_mean",
            Measure::P50 => "latency_p50",
            Measure::P90 => "latency_p90",
            Measure::P99 => "latency_p99",
            Measure::P999 => "latency_p999",
            Measure::MaxLatency => "latency_max",
            Measure::PeakMemory => "peak_memory_bytes",
            Measure::Threads => "threads",
            Measure::OpenFiles => "open_files",
        }
    }

    /// Its name for people, with the unit of [`Measure::shown`].
    pub fn heading(self) -> &'static str {
        match self {
            Measure::Cpu => "CPU ms/1,000",
            Measure::UserCpu => "user",
            Measure::SystemCpu => "system",
            Measure::OwnCost => "own cost",
            Measure::Rate => "requests/s",
            Measure::Bandwidth => "MB/s",
            Measure::MeanLatency => "mean ms",
            Measure::P50 => "p50 ms",
            Measure::P90 => "p90 ms",
            Measure::P99 => "p99 ms",
            Measure::P999 => "p99.9 ms",
            Measure::MaxLatency => "max ms",
            Measure::PeakMemory => "peak MB",
            Measure::Threads => "threads",
            Measure::OpenFiles => "files",
        }
    }

    /// What it is, within a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Measure::Cpu => "CPU per request",
            Measure::Rate => "requests/s",
            other => other.heading().trim_end_matches(" ms"),
        }
    }

    /// Whether the smaller of two figures is the better one.
    pub fn is_cost(self) -> bool {
        !matches!(self, Measure::Rate | Measure::Bandwidth)
    }

    /// A value in the unit of the heading, in three digits or all that stand before the point.
    pub fn shown(self, value: f64) -> String {
        match self {
            Measure::Threads | Measure::OpenFiles => format!("{value:.0}"),
            _ => digits(value * self.scale()),
        }
    }

    /// From the unit of CSV and JSON to that of the heading.
    pub fn scale(self) -> f64 {
        match self {
            Measure::MeanLatency | Measure::P50 | Measure::P90 | Measure::P99 | Measure::P999 | Measure::MaxLatency => {
                1e3
            }
            Measure::PeakMemory => 1e-6,
            _ => 1.0,
        }
    }

    /// All figures of a turn, which `relay`, if it took part, did in the same round.
    pub fn values(outcome: &Outcome, relay: Option<&Outcome>) -> Values {
        Measure::ALL.map(|measure| measure.of(outcome, relay).filter(|value| value.is_finite()))
    }

    fn of(self, outcome: &Outcome, relay: Option<&Outcome>) -> Option<f64> {
        let (process, latency) = (outcome.process.as_ref(), &outcome.latency);
        let cpu = |outcome: &Outcome| outcome.process.as_ref().map(|process| process.cpu_ms_per_1000);
        match self {
            Measure::Cpu => cpu(outcome),
            Measure::UserCpu => process.map(|process| process.user_ms_per_1000),
            Measure::SystemCpu => process.map(|process| process.system_ms_per_1000),
            Measure::OwnCost => Some(cpu(outcome)? - cpu(relay?)?),
            Measure::Rate => Some(outcome.requests_per_second),
            Measure::Bandwidth => {
                Some((outcome.sent_bytes as f64 + outcome.received_bytes as f64) / 1e6 / outcome.seconds)
            }
            Measure::MeanLatency => Some(latency.mean),
            Measure::P50 => Some(latency.p50),
            Measure::P90 => Some(latency.p90),
            Measure::P99 => Some(latency.p99),
            Measure::P999 => Some(latency.p999),
            Measure::MaxLatency => Some(latency.max),
            Measure::PeakMemory => process.map(|process| process.usage.peak_memory_bytes as f64),
            Measure::Threads => process.map(|process| process.usage.threads as f64),
            Measure::OpenFiles => process.map(|process| process.usage.open_files as f64),
        }
    }
}

/// A number in three digits, or in all that stand before the point.
pub fn digits(value: f64) -> String {
    match value.abs() {
        small if small < 9.995 => format!("{value:.2}"),
        middle if middle < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_measure_stands_at_its_own_place_and_has_a_name_of_its_own() {
        for (index, measure) in Measure::ALL.into_iter().enumerate() {
            assert_eq!(measure as usize, index);
        }
        let names: std::collections::BTreeSet<&str> = Measure::ALL.iter().map(|measure| measure.name()).collect();
        assert_eq!(names.len(), Measure::ALL.len());
    }

    #[test]
    fn numbers_have_three_digits_or_all_before_the_point() {
        let shown = [0.004, 1.234, 9.999, 12.34, 99.99, 123.4, 12_345.6].map(digits);
        assert_eq!(shown, ["0.00", "1.23", "10.0", "12.3", "100", "123", "12346"]);
        assert_eq!(Measure::P99.shown(0.0125), "12.5");
        assert_eq!(Measure::PeakMemory.shown(2_500_000.0), "2.50");
    }
}
