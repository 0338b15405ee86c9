//! Stylesheets from text to result: what they make, within which limits, and that one pass makes the same as the tree.

mod basics;
mod bombs;
mod dynamic;
mod forms;
mod later;
mod nested;
mod safety;
mod stream;
