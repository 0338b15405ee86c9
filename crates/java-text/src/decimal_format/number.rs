//! A number as its decimal digits, which can be moved and rounded without loss.

/// A number: its sign, and its digits before and behind the point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Digits {
    /// Whether it is below zero, or a zero with a minus.
    pub negative: bool,
    /// Whether it is infinite; it has no digits then.
    pub infinite: bool,
    /// The digits before the point, without zeros in front.
    pub whole: String,
    /// The digits behind the point.
    pub fraction: String,
}

impl Digits {
    /// The shortest digits that read back as this number; `None` for what is none.
    pub fn of_double(number: f64) -> Option<Digits> {
        if number.is_nan() {
            return None;
        }
        if number.is_infinite() {
            return Some(Digits { negative: number < 0.0, infinite: true, ..Digits::default() });
        }
        Some(Digits::of_text(&number.to_string()))
    }

    /// `-12.50`, without exponent.
    pub fn of_text(text: &str) -> Digits {
        let size = text.trim_start_matches('-');
        let (whole, fraction) = size.split_once('.').unwrap_or((size, ""));
        let (whole, fraction) = (whole.trim_start_matches('0').to_owned(), fraction.to_owned());
        Digits { negative: text.starts_with('-'), infinite: false, whole, fraction }
    }

    /// Moves the point to the right; by a negative number to the left.
    pub fn shift(&mut self, places: i32) {
        let count = places.unsigned_abs() as usize;
        if places > 0 {
            let taken = count.min(self.fraction.len());
            self.whole.extend(self.fraction.drain(..taken));
            self.whole.extend(std::iter::repeat_n('0', count - taken));
        } else {
            let taken = count.min(self.whole.len());
            let moved = self.whole.split_off(self.whole.len() - taken);
            let zeros = "0".repeat(count - taken);
            self.fraction = format!("{zeros}{moved}{}", self.fraction);
        }
        let leading = self.whole.len() - self.whole.trim_start_matches('0').len();
        self.whole.drain(..leading);
    }

    /// Moves the point so that `whole` digits stand before it; gives the exponent that makes up for it.
    pub fn normalize(&mut self, whole: usize) -> i32 {
        let zeros = self.fraction.len() - self.fraction.trim_start_matches('0').len();
        let present = match (self.whole.len(), zeros == self.fraction.len()) {
            (0, true) => return 0,
            (0, false) => -(zeros as i32),
            (length, _) => length as i32,
        };
        let exponent = present - whole as i32;
        self.shift(-exponent);
        exponent
    }

    /// Rounds to so many digits behind the point; halves to the even neighbour, or away from zero.
    pub fn round(&mut self, places: usize, to_even: bool) {
        if self.fraction.len() <= places {
            return;
        }
        let rest = self.fraction.split_off(places);
        let (first, behind) = rest.split_at(1);
        let last = if places > 0 { &self.fraction } else { &self.whole }.bytes().last();
        let odd = last.is_some_and(|digit| digit % 2 == 1);
        let exactly_half = first == "5" && behind.bytes().all(|digit| digit == b'0');
        if first >= "5" && (!exactly_half || !to_even || odd) {
            self.increment();
        }
    }

    /// Adds one to the last digit.
    fn increment(&mut self) {
        let mut digits: Vec<u8> = self.whole.bytes().chain(self.fraction.bytes()).collect();
        let nines = digits.iter().rev().take_while(|digit| **digit == b'9').count();
        let at = digits.len() - nines;
        digits[at..].fill(b'0');
        match at.checked_sub(1) {
            Some(index) => digits[index] += 1,
            None => digits.insert(0, b'1'),
        }
        let behind = digits.split_off(digits.len() - self.fraction.len());
        let text = |digits: Vec<u8>| digits.into_iter().map(char::from).collect();
        (self.whole, self.fraction) = (text(digits), text(behind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(digits: &Digits) -> String {
        format!("{}.{}", digits.whole, digits.fraction)
    }

    #[test]
    fn halves_round_to_even_or_up() {
        let check = |text: &str, places: usize, even: &str, up: &str| {
            for (to_even, expected) in [(true, even), (false, up)] {
                let mut digits = Digits::of_text(text);
                digits.round(places, to_even);
                assert_eq!(show(&digits), expected, "{text}");
            }
        };
        check("0.5", 0, ".", "1.");
        check("1.5", 0, "2.", "2.");
        check("2.5", 0, "2.", "3.");
        check("2.501", 0, "3.", "3.");
        check("99.95", 1, "100.0", "100.0");
        check("0.125", 2, ".12", ".13");
        check("7.1", 3, "7.1", "7.1");
    }

    #[test]
    fn points_move() {
        let check = |text: &str, places: i32, expected: &str| {
            let mut digits = Digits::of_text(text);
            digits.shift(places);
            assert_eq!(show(&digits), expected, "{text}");
        };
        check("0.4857", 2, "48.57");
        check("1", 3, "1000.");
        check("0.001", 2, ".1");
        check("123.4", -2, "1.234");
        check("1", -3, ".001");
        let exponent = |text: &str, whole: usize| Digits::of_text(text).normalize(whole);
        assert_eq!(exponent("123.4", 1), 2);
        assert_eq!(exponent("0.00123", 1), -3);
        assert_eq!(exponent("0", 1), 0);
        assert_eq!(exponent("12", 0), 2);
    }
}
