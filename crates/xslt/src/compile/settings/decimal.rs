//! `xsl:decimal-format` (XSLT 1.0 §12.3).

use myelin_java_text::decimal_format::Symbols;

use super::super::problems::Made;
use super::Settings;
use crate::compile::compiler::Compiler;
use crate::compile::index::Declaration;
use crate::name::ExpandedName;
use crate::numbering::zero_digit;

impl<'s> Compiler<'s> {
    /// `xsl:decimal-format`
    pub(super) fn decimal_format(&mut self, declaration: &Declaration<'s>, settings: &mut Settings) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        self.check_empty(*element, here);
        let name = match element.attribute("name") {
            Some(attribute) => self.qname(&attribute, here)?,
            None => ExpandedName::default(),
        };
        let known = settings.decimal_formats.iter().position(|(known, _)| *known == name);
        let index = known.unwrap_or_else(|| {
            settings.decimal_formats.push((name.clone(), Symbols::default()));
            settings.decimal_formats.len() - 1
        });
        for (local, set) in DECIMAL_ATTRIBUTES {
            let Some(attribute) = element.attribute(local) else { continue };
            let value = attribute.value.to_string();
            let subject = ("XTSE1290", name.clone(), local.to_owned());
            self.overrides.say(subject, value.clone(), *precedence, || {
                (attribute.at(), format!("{local} of this decimal format is said twice, and not the same"))
            });
            if !set(&mut settings.decimal_formats[index].1, &value) {
                let message = format!("{local}={value:?} is not one character");
                self.problems.error(attribute.at(), "XTSE0020", message);
            }
        }
        let zero = settings.decimal_formats[index].1.zero_digit;
        if !here.is_backwards() && zero_digit(zero) != Some(zero) {
            let message = format!("zero-digit={zero:?} is the digit zero of no script");
            self.problems.error(element.at(), "XTSE1295", message);
        }
        Ok(())
    }

    /// The characters that a picture is made of have to differ.
    pub(super) fn check_decimal_formats(&mut self, settings: &Settings, declarations: &[Declaration<'s>]) {
        for (name, format) in &settings.decimal_formats {
            let mut characters = [
                format.decimal_separator,
                format.grouping_separator,
                format.percent,
                format.per_mille,
                format.zero_digit,
                format.digit,
                format.pattern_separator,
            ];
            characters.sort_unstable();
            if characters.windows(2).all(|pair| pair[0] != pair[1]) {
                continue;
            }
            // The last one is where it went wrong.
            let last = declarations.iter().rev().find(|declaration| {
                declaration.element.is("decimal-format")
                    && match declaration.element.attribute("name") {
                        Some(attribute) => attribute.trimmed().rsplit(':').next() == Some(&name.local),
                        None => name.local.is_empty(),
                    }
            });
            if let Some(declaration) = last {
                let message = "two characters of this decimal format are the same";
                self.problems.error(declaration.element.at(), "XTSE1300", message);
            }
        }
    }
}

/// Sets one property of a decimal format; false where the value is no character.
type SetDecimal = fn(&mut Symbols, &str) -> bool;

const DECIMAL_ATTRIBUTES: [(&str, SetDecimal); 11] = [
    ("decimal-separator", |format, text| set(&mut format.decimal_separator, text)),
    ("grouping-separator", |format, text| set(&mut format.grouping_separator, text)),
    ("exponent-separator", |format, text| set(&mut format.exponent_separator, text)),
    ("minus-sign", |format, text| set(&mut format.minus_sign, text)),
    ("percent", |format, text| set(&mut format.percent, text)),
    ("per-mille", |format, text| set(&mut format.per_mille, text)),
    ("zero-digit", |format, text| set(&mut format.zero_digit, text)),
    ("digit", |format, text| set(&mut format.digit, text)),
    ("pattern-separator", |format, text| set(&mut format.pattern_separator, text)),
    ("infinity", |format, text| {
        text.clone_into(&mut format.infinity);
        true
    }),
    ("NaN", |format, text| {
        text.clone_into(&mut format.nan);
        true
    }),
];

fn set(place: &mut char, text: &str) -> bool {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(only), None) => {
            *place = only;
            true
        }
        _ => false,
    }
}
