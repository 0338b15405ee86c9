//! Changing JSON.

use std::collections::HashMap;
use std::ops::Range;

use myelin_json::{Error, New, NodeId, Options, Path, Rules, Type, Value};

use crate::message_edits::content::EditAction;
use myelin_content::into_utf8;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property;

/// A text that is to be put somewhere: as the JSON it is, else as a string.
pub(crate) struct JsonContent<'a> {
    text: &'a str,
    value: Option<Value>,
}

impl<'a> JsonContent<'a> {
    pub(crate) fn of(text: &'a str) -> JsonContent<'a> {
        JsonContent { text, value: Value::parse(text.into(), &Options::default()).ok() }
    }

    /// Whether it can stand as a whole body.
    pub(crate) fn is_whole(&self) -> bool {
        self.value.as_ref().is_some_and(|value| matches!(value.kind(value.root()), Type::Object | Type::Array))
    }

    fn as_new(&self) -> New<'_> {
        match self.value {
            Some(_) => New::Json(self.text.as_bytes()),
            None => New::Text(self.text),
        }
    }
}

/// Changes everything that the path leads to.
pub(crate) fn change(
    value: &mut Value,
    path: &Path,
    action: EditAction,
    content: &JsonContent<'_>,
    rules: &Rules,
) -> Outcome<()> {
    let nodes = path.nodes(value, rules).map_err(fault)?;
    if nodes.is_empty() {
        return Err(fault(Error::NotFound));
    }
    match action {
        EditAction::Replace if nodes.contains(&value.root()) && !content.is_whole() => {
            Err(Fault::bus("Only an object or an array can be a JSON body"))
        }
        EditAction::Replace => path.set(value, content.as_new(), rules).map(drop).map_err(fault),
        EditAction::Child if nodes.iter().all(|&node| value.kind(node) == Type::Object) => {
            let Some(new) = content.value.as_ref().filter(|new| new.kind(new.root()) == Type::Object) else {
                return Err(Fault::bus("Only the members of an object can be added to a JSON object"));
            };
            path.merge(value, new, rules).map(drop).map_err(fault)
        }
        EditAction::Child => path.add(value, content.as_new(), rules).map(drop).map_err(fault),
        // Said when loading.
        EditAction::Sibling | EditAction::Remove => Ok(()),
    }
}

/// Takes out everything that the paths lead to.
pub(crate) fn remove(value: &mut Value, paths: &[Path], rules: &Rules) -> Outcome<()> {
    for path in paths {
        match path.delete(value, rules) {
            Ok(_) | Err(Error::NotFound) => {}
            Err(error) => return Err(fault(error)),
        }
    }
    Ok(())
}

/// The same for JSON in a text.
pub(crate) fn removed_from_text(text: &str, paths: &[Path], rules: &Rules) -> Outcome<String> {
    let mut value = Value::parse(text.into(), &Options::default()).map_err(fault)?;
    remove(&mut value, paths, rules)?;
    let mut out = Vec::new();
    value.write_document(&mut out);
    Ok(into_utf8(out))
}

/// JSON in a text with a child more, as [`change`] adds one to a body.
pub(crate) fn with_child(text: &str, child: &str, rules: &Rules) -> Outcome<String> {
    let mut value = Value::parse(text.into(), &Options::default()).map_err(fault)?;
    let root = Path::compile("$").expect("the path to all is one");
    change(&mut value, &root, EditAction::Child, &JsonContent::of(child), rules)?;
    let mut out = Vec::new();
    value.write_document(&mut out);
    Ok(into_utf8(out))
}

/// A text as a value of the same kind as what was held there.
pub(crate) fn held_as(held: &property::Value, text: String) -> property::Value {
    let json = if let property::Value::Json(_) = held { property::Value::json(&text) } else { None };
    json.unwrap_or_else(|| property::Value::Text(text.into()))
}

/// Gives the members that the path leads to another name; as in Synapse they come to stand behind the others.
pub(crate) fn rename(value: &mut Value, path: &Path, name: &str, rules: &Rules) -> Outcome<()> {
    let mut objects: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
    let mut places = HashMap::new();
    for node in path.nodes(value, rules).map_err(fault)? {
        let object = value.parent(node).filter(|_| value.key(node).is_some());
        let Some(object) = object.filter(|_| !value.has_key(node, name)) else { continue };
        let place = *places.entry(object).or_insert(objects.len());
        match objects.get_mut(place) {
            Some((_, members)) => members.push(node),
            None => objects.push((object, vec![node])),
        }
    }
    for (object, members) in objects {
        let mut text = Vec::new();
        // Of several that get one name the last stays, as if they got it one after the other.
        members.last().into_iter().for_each(|&last| value.write(last, &mut text));
        let namesakes: Vec<_> = value.children(object).filter(|&other| value.has_key(other, name)).collect();
        namesakes.into_iter().chain(members).for_each(|gone| value.remove(gone));
        value.insert(object, name, New::Json(&text)).map_err(fault)?;
    }
    Ok(())
}

fn fault(error: Error) -> Box<Fault> {
    match error {
        Error::NotFound => Fault::bus("The target of enrich finds nothing"),
        error => Fault::bus("JSON could not be changed").with_detail(error.to_string()),
    }
}

/// Where the parts of a list of paths are: between the commas outside all brackets and quotes.
pub(crate) fn split(text: &str) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(start..text.len());
    parts
}
