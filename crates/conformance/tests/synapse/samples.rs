//! The samples: which requests are sent, and what the user guide says happens.

mod balancing;
mod databases;
mod elsewhere;
mod flow;
mod mediation;
mod proxies;
mod service;

use std::path::Path;

pub(crate) use elsewhere::NOT_PLAYED;

use crate::stage::Stage;

/// A sample and how it is played.
pub(crate) struct Sample {
    pub(crate) number: u16,
    pub(crate) configuration: Configuration,
    pub(crate) play: fn(&mut Stage),
    /// Why what Synapse does is no measure: it does something else each time.
    pub(crate) unsteady: Option<&'static str>,
}

/// Where a sample's configuration comes from.
pub(crate) enum Configuration {
    /// Apache's file.
    Apache,
    /// Our own, which does what the guide describes: the file is not among those we read.
    Own(&'static str),
}

/// All samples that are played.
pub(crate) const SAMPLES: &[&[Sample]] =
    &[mediation::SAMPLES, balancing::SAMPLES, proxies::SAMPLES, service::SAMPLES, databases::SAMPLES, flow::SAMPLES];

impl Sample {
    const fn apache(number: u16, play: fn(&mut Stage)) -> Sample {
        Sample { number, configuration: Configuration::Apache, play, unsteady: None }
    }

    const fn own(number: u16, configuration: &'static str, play: fn(&mut Stage)) -> Sample {
        Sample { number, configuration: Configuration::Own(configuration), play, unsteady: None }
    }

    const fn unsteady(mut self, reason: &'static str) -> Sample {
        self.unsteady = Some(reason);
        self
    }

    /// The configuration's text; `folder` holds Apache's.
    pub(crate) fn configuration(&self, folder: &Path) -> String {
        match self.configuration {
            Configuration::Own(text) => text.to_owned(),
            Configuration::Apache => {
                let file = folder.join(format!("synapse_sample_{}.xml", self.number));
                std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
            }
        }
    }

    /// The row of the table that it counts in.
    pub(crate) fn group(&self) -> &'static str {
        group(self.number)
    }
}

/// The row of the table that a sample counts in.
pub(crate) fn group(number: u16) -> &'static str {
    match number {
        0..50 => "message mediation",
        50..100 => "endpoints",
        100..400 => "proxy services",
        _ => "more mediators, templates, APIs",
    }
}
