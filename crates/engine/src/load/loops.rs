//! Endpoints that lead to themselves: a message for one of them would never come to a backend.

use std::collections::HashMap;

/// Of endpoints and those that each of them names, the ones that never end: they are in a circle, or lead to one.
///
/// Shape: pairs of an endpoint and one that it names; what comes out is in no order.
pub(super) fn endless(names: &[(usize, usize)]) -> Vec<usize> {
    let mut open: HashMap<usize, usize> = HashMap::new();
    let mut named_by: HashMap<usize, Vec<usize>> = HashMap::new();
    for &(endpoint, named) in names {
        *open.entry(endpoint).or_default() += 1;
        open.entry(named).or_default();
        named_by.entry(named).or_default().push(endpoint);
    }
    // Whoever names only endpoints that end, ends.
    let mut ends: Vec<usize> = open.iter().filter(|(_, open)| **open == 0).map(|(endpoint, _)| *endpoint).collect();
    while let Some(end) = ends.pop() {
        open.remove(&end);
        for endpoint in named_by.remove(&end).unwrap_or_default() {
            if let Some(open) = open.get_mut(&endpoint) {
                *open -= 1;
                if *open == 0 {
                    ends.push(endpoint);
                }
            }
        }
    }
    open.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_and_what_leads_to_them_never_end() {
        let check = |names: &[(usize, usize)], expected: &[usize]| {
            let mut found = endless(names);
            found.sort_unstable();
            assert_eq!(found, expected);
        };
        check(&[(0, 1), (1, 2), (0, 2)], &[]);
        check(&[(0, 0)], &[0]);
        check(&[(0, 1), (1, 2), (2, 1), (2, 3)], &[0, 1, 2]);
        check(&[(0, 1), (0, 1), (1, 2)], &[]);
    }
}
