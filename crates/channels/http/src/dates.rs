//! The text of `Date`.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use crate::timer::Tick;

/// The text of `Date`, made once a second.
#[derive(Default)]
pub(crate) struct Dates(RefCell<Option<(Tick, Rc<str>)>>);

impl Dates {
    pub(crate) fn now(&self) -> Rc<str> {
        let mut last = self.0.borrow_mut();
        match &*last {
            Some((made, text)) if Tick::since(*made) < Duration::from_secs(1) => Rc::clone(text),
            _ => {
                let text: Rc<str> = httpdate::fmt_http_date(SystemTime::now()).into();
                *last = Some((Tick::now(), Rc::clone(&text)));
                text
            }
        }
    }
}
