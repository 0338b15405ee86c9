//! A folder as a source of messages.

use std::rc::Rc;
use std::sync::Arc;

use myelin_channel::{Parameters, Receiver, Runtime, Source};

use crate::poll::Poller;
use crate::settings::Settings;

/// A folder, or a file, that is looked into.
#[derive(Debug)]
struct Folder {
    settings: Arc<Settings>,
}

/// What the parameters of a proxy or an inbound endpoint say; `None` where they have a problem.
pub(crate) fn receive(parameters: &Parameters) -> Option<Box<dyn Source>> {
    let settings = Arc::new(Settings::read(parameters)?);
    Some(Box::new(Folder { settings }))
}

impl Source for Folder {
    fn describe(&self) -> String {
        let Settings { location, filter, schedule, .. } = &*self.settings;
        let what = filter.pattern.as_ref().map_or_else(String::new, |pattern| format!(" {}", pattern.label()));
        let below = if location.with_sub_folders { " and the folders below" } else { "" };
        format!("files{what} of {}{below}, {schedule}", location.path.display())
    }

    fn open(&self, runtime: Rc<dyn Runtime>) -> Box<dyn Receiver> {
        Box::new(Poller::new(Arc::clone(&self.settings), runtime))
    }
}
