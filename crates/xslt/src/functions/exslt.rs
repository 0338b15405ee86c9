//! EXSLT's functions, and a few that stylesheets know from other processors.

pub(crate) mod common;
pub(crate) mod dates;
pub(crate) mod dynamic;
pub(crate) mod math;
pub(crate) mod saxon;
pub(crate) mod sets;
pub(crate) mod strings;

pub(super) use crate::name::{EXSLT_COMMON as COMMON, SAXON};

pub(super) const DYNAMIC: &str = "http://exslt.org/dynamic";
pub(super) const SETS: &str = "http://exslt.org/sets";
pub(super) const STRINGS: &str = "http://exslt.org/strings";
const MATH: &str = "http://exslt.org/math";
const DATES: &str = "http://exslt.org/dates-and-times";
