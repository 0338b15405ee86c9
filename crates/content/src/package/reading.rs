//! Reads the XML of a package.

use crate::mime::parameter;
use crate::output_form::OutputForm;
use crate::package::Package;
use crate::tree::Tree;
use crate::unreadable::Unreadable;

/// Reads the XML of a package; in the tree, an `xop:Include` stands for the content of another part.
///
/// Errors: the sender's, with the bytes it sent.
/// Source: RFC 2387; XOP §3.2.
pub(crate) fn read(bytes: Vec<u8>, content_type: &str) -> Result<Tree, (Unreadable, Vec<u8>)> {
    let (package, root) = match Package::find(&bytes, content_type) {
        Ok(found) => found,
        Err(error) => return Err((Unreadable::Multipart(error), bytes)),
    };
    let charset = package.parts[package.root].header(&bytes, "Content-Type");
    let charset = charset.and_then(|content_type| parameter(&content_type, "charset"));
    match Tree::read(root, charset.as_deref()) {
        Ok(mut tree) => {
            tree.set_received(bytes, OutputForm::Package(package.into()));
            Ok(tree)
        }
        Err((error, _)) => Err((error.into(), bytes)),
    }
}
