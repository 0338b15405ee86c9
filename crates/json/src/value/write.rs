//! From nodes to text.

use super::{NodeId, Type, Value};

impl Value {
    /// Writes the whole value: the very bytes that came, white space included, if nothing was changed.
    pub fn write_document(&self, out: &mut Vec<u8>) {
        match self.range(self.root()) {
            Some(_) => out.extend_from_slice(self.source()),
            None => self.write(self.root(), out),
        }
    }

    /// Writes `node`: what is unchanged in it as it stood in its text, the rest without white space.
    pub fn write(&self, node: NodeId, out: &mut Vec<u8>) {
        self.write_tree(node, false, usize::MAX, out);
    }

    /// Writes `node` without white space between its tokens, which are as they stood in the text.
    pub fn write_compact(&self, node: NodeId, out: &mut Vec<u8>) {
        self.write_tree(node, true, usize::MAX, out);
    }

    /// The same until `out` has more than `most` bytes; whether it has not.
    pub(crate) fn write_within(&self, node: NodeId, most: usize, out: &mut Vec<u8>) -> bool {
        self.write_tree(node, true, most, out);
        out.len() <= most
    }

    fn write_tree(&self, top: NodeId, compact: bool, most: usize, out: &mut Vec<u8>) {
        let mut node = top;
        while out.len() <= most {
            let entry = self.node(node);
            let container = matches!(entry.kind, Type::Object | Type::Array);
            if entry.changed || (compact && container) {
                out.push(if entry.kind == Type::Object { b'{' } else { b'[' });
                if let Some(child) = self.first_child(node) {
                    self.write_key(child, out);
                    node = child;
                    continue;
                }
                self.close(node, out);
            } else {
                out.extend_from_slice(&self.text[entry.span.range()]);
            }
            // To the next node, out of all that end here.
            loop {
                if node == top {
                    return;
                }
                if let Some(next) = self.next_sibling(node) {
                    out.push(b',');
                    self.write_key(next, out);
                    node = next;
                    break;
                }
                let Some(parent) = self.parent(node) else { return };
                self.close(parent, out);
                node = parent;
            }
        }
    }

    fn write_key(&self, node: NodeId, out: &mut Vec<u8>) {
        let key = self.node(node).key;
        if !key.is_empty() {
            out.extend_from_slice(&self.text[key.range()]);
            out.push(b':');
        }
    }

    fn close(&self, node: NodeId, out: &mut Vec<u8>) {
        out.push(if self.kind(node) == Type::Object { b'}' } else { b']' });
    }
}
