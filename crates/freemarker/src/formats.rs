//! How values are written where nothing else is said.

use crate::decimal::Pattern;
use crate::error::Trouble;
use crate::moment::{Moment, Part};

/// How numbers, booleans and dates are printed.
pub(crate) struct Formats {
    pub(crate) number: Pattern,
    pub(crate) boolean: Option<(String, String)>,
    pub(crate) date: String,
    pub(crate) time: String,
    pub(crate) both: String,
}

impl Default for Formats {
    fn default() -> Formats {
        Formats {
            number: Pattern::parse("number").expect("the default is a format"),
            boolean: None,
            date: String::new(),
            time: String::new(),
            both: String::new(),
        }
    }
}

impl Formats {
    /// A date as the settings say.
    pub(crate) fn moment(&self, moment: Moment) -> Result<String, Trouble> {
        let pattern = match moment.part {
            Part::Date => &self.date,
            Part::Time => &self.time,
            Part::Both => &self.both,
        };
        moment.write(pattern).map_err(Trouble::wrong)
    }
}
