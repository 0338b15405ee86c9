//! Declarations of elements (XML 1.0 §3.2): only which of them have no text is kept.

use super::reader::Reader;

/// Groups inside each other; nobody writes more than a few.
const GROUPS: usize = 1_000;

impl Reader<'_> {
    /// What stands behind `<!ELEMENT`.
    pub(super) fn element(&mut self) -> Result<(), String> {
        self.required_space()?;
        let name = self.name("the name of an element")?;
        self.required_space()?;
        if self.eat("EMPTY") || self.eat("ANY") {
            return self.close();
        }
        if !self.eat("(") {
            return Err(self.expected("EMPTY, ANY or ("));
        }
        self.space()?;
        if self.eat("#PCDATA") {
            self.mixed()?;
        } else {
            self.children()?;
            self.dtd.element_content.insert(name);
        }
        self.close()
    }

    /// What stands behind `(#PCDATA`.
    fn mixed(&mut self) -> Result<(), String> {
        let mut names = false;
        loop {
            self.space()?;
            if self.eat(")") {
                break;
            }
            if !self.eat("|") {
                return Err(self.expected("| or )"));
            }
            self.space()?;
            self.name("the name of an element")?;
            names = true;
        }
        match self.eat("*") || !names {
            true => Ok(()),
            false => Err(self.expected("*")),
        }
    }

    /// What stands behind the first `(` of a group, to its end.
    fn children(&mut self) -> Result<(), String> {
        // What separates the members of each group that is open; none before the second member.
        let mut groups: Vec<Option<&'static str>> = vec![None];
        loop {
            self.space()?;
            if self.eat("(") {
                groups.push(None);
                if groups.len() > GROUPS {
                    return Err(format!("more than {GROUPS} groups inside each other"));
                }
                continue;
            }
            self.name("the name of an element, or (")?;
            self.occurrence();
            loop {
                self.space()?;
                if self.eat(")") {
                    groups.pop();
                    self.occurrence();
                    if groups.is_empty() {
                        return Ok(());
                    }
                    continue;
                }
                let mark = if self.eat(",") {
                    ","
                } else if self.eat("|") {
                    "|"
                } else {
                    return Err(self.expected(", or | or )"));
                };
                match groups.last_mut() {
                    Some(Some(known)) if *known != mark => {
                        return Err("a group has both , and | between its members".to_owned());
                    }
                    Some(known) => *known = Some(mark),
                    None => return Ok(()),
                }
                break;
            }
        }
    }

    fn occurrence(&mut self) {
        let _ = self.eat("?") || self.eat("*") || self.eat("+");
    }
}
