//! What to do about an error of the file system.

use std::io;

/// A sentence with what is wrong and, where somebody can do something about it, what.
pub(crate) fn explained(error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => "; let the user that the bus runs as do that",
        io::ErrorKind::StorageFull => "; make room on that disk",
        io::ErrorKind::QuotaExceeded => "; make room, or ask for a larger quota",
        io::ErrorKind::ReadOnlyFilesystem => "; it has to be mounted for writing",
        io::ErrorKind::InvalidFilename => "; choose a shorter name",
        io::ErrorKind::StaleNetworkFileHandle => "; mount the folder of the network again",
        _ => "",
    };
    format!("{error}{advice}")
}
