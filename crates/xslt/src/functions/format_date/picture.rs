//! Pictures of dates: texts and markers between brackets (Functions and Operators §9.8.4).

use crate::numbering::{Style, zero_digit};

/// A piece of a picture.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'p> {
    Text(&'p str),
    Marker(Marker),
}

/// `[M01]`, `[FNn,3-3]`: a component, and how it is written.
#[derive(Debug, PartialEq)]
pub(super) struct Marker {
    pub(super) component: char,
    /// The first presentation modifier; the component's own where none is written.
    pub(super) presentation: String,
    /// The second one: `o` for ordinals, `t` for the traditional way.
    pub(super) modifier: Option<char>,
    /// The fewest and the most characters.
    pub(super) width: (Option<usize>, Option<usize>),
}

/// Reads a picture.
///
/// Errors: a sentence about the bracket or marker that is wrong.
pub(super) fn parse(picture: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = picture;
    while !rest.is_empty() {
        let end = rest.find(['[', ']']).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(end);
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        rest = match behind.as_bytes() {
            [] => behind,
            [b'[', b'[', ..] | [b']', b']', ..] => {
                pieces.push(Piece::Text(&behind[..1]));
                &behind[2..]
            }
            [b']', ..] => return Err("a `]` that ends nothing is written `]]`".to_owned()),
            _ => {
                let (inside, behind) = behind[1..].split_once(']').ok_or("a `]` is missing")?;
                pieces.push(Piece::Marker(marker(inside)?));
                behind
            }
        };
    }
    Ok(pieces)
}

fn marker(inside: &str) -> Result<Marker, String> {
    // White space may stand anywhere within a marker.
    let spaceless: String = inside.chars().filter(|letter| !letter.is_whitespace()).collect();
    let component = spaceless.chars().next().ok_or("a marker is empty")?;
    let default = match component {
        'Y' | 'M' | 'D' | 'd' | 'W' | 'w' | 'H' | 'h' | 'f' => "1",
        'm' | 's' => "01",
        'F' | 'P' | 'C' | 'E' => "n",
        'Z' | 'z' => "01:01",
        other => return Err(format!("there is no component {other:?}")),
    };
    let behind = &spaceless[1..];
    let (presentation, width) = match behind.rsplit_once(',') {
        Some((presentation, width)) => (presentation, self::width(width)?),
        None => (behind, (None, None)),
    };
    let modifier = presentation.chars().next_back().filter(|last| "atco".contains(*last));
    let (presentation, modifier) = match modifier {
        // A letter that stands alone says how, and not in which form.
        Some(modifier) if presentation.len() > 1 => (&presentation[..presentation.len() - 1], Some(modifier)),
        _ => (presentation, None),
    };
    let presentation = if presentation.is_empty() { default } else { presentation };
    match component {
        'Z' | 'z' => {}
        'f' => drop(Style::parse(&presentation.chars().rev().collect::<String>(), None)?),
        _ => drop(Style::parse(presentation, None)?),
    }
    Ok(Marker { component, presentation: presentation.to_owned(), modifier, width })
}

/// `3`, `2-4`, `*-2`, `3-*`
fn width(text: &str) -> Result<(Option<usize>, Option<usize>), String> {
    let refused = || format!("{text:?} is no width: `2`, `2-4` and `*-4` are");
    let number = |text: &str| match text {
        "*" => Ok(None),
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => match text.parse::<usize>() {
            Ok(width) if width > 0 => Ok(Some(width.min(WIDEST))),
            _ => Err(refused()),
        },
        _ => Err(refused()),
    };
    let (least, most) = match text.split_once('-') {
        Some((least, most)) => (number(least)?, number(most)?),
        None => (number(text)?, None),
    };
    match (least, most) {
        (Some(least), Some(most)) if least > most => Err(refused()),
        widths => Ok(widths),
    }
}

/// No component is padded to more than that: a picture must not make texts much longer than itself.
const WIDEST: usize = 100;

impl Marker {
    /// Whether it writes words of a language.
    pub(super) fn has_words(&self) -> bool {
        let written = self.presentation.as_str();
        let named = matches!(written, "N" | "n" | "Nn") && !"Zz".contains(self.component);
        named || matches!(written, "W" | "w" | "Ww") || (self.modifier == Some('o') && written.contains(is_digit))
    }
}

fn is_digit(letter: char) -> bool {
    zero_digit(letter).is_some()
}
