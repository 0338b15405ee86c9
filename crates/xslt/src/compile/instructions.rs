//! The instructions of XSLT, a file for each family.

pub(super) mod analyze;
pub(super) mod apply;
pub(super) mod branches;
pub(super) mod construct;
pub(super) mod copies;
pub(super) mod documents;
pub(super) mod errors;
pub(super) mod evaluate;
pub(super) mod groups;
pub(super) mod iterate;
pub(super) mod loops;
pub(super) mod merge;
pub(super) mod messages;
pub(super) mod numbers;
