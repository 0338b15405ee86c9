//! What several flows made becomes one message, or one value.

mod count;
mod merge;
mod open_groups;
mod results;

pub(crate) use count::ConfiguredCount;
pub(crate) use merge::{MergeMode, extract, extract_last, merge};
pub(crate) use open_groups::{Joined, OpenGroup, OpenGroups};
pub(crate) use results::{ResultFormat, target_variable};
