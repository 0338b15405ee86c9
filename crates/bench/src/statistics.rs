//! Medians, and whether a difference between two columns of figures is real.

mod student;

/// The median; `NaN` of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => (sorted[even / 2 - 1] + sorted[even / 2]) / 2.0,
    }
}

/// The median of `left` over the median of `right`.
pub fn ratio_of_medians(left: &[f64], right: &[f64]) -> f64 {
    median(left) / median(right)
}

/// A difference between two columns of figures, left less right, and what can be said of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean difference.
    pub mean: f64,
    /// The lower end of its 95 % confidence interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Cohen's d: the mean difference in standard deviations; `None` where nothing deviates.
    pub effect_size: Option<f64>,
    /// How likely equals would differ as much as these, in either direction.
    pub p_value: f64,
}

impl Difference {
    /// Of a mean difference with its standard error and degrees of freedom; `deviation` is what it is compared with.
    fn new(mean: f64, error: f64, freedom: f64, deviation: f64) -> Difference {
        if error == 0.0 {
            let p_value = if mean == 0.0 { 1.0 } else { 0.0 };
            return Difference { mean, low: mean, high: mean, effect_size: None, p_value };
        }
        let reach = student::critical(0.05, freedom) * error;
        Difference {
            mean,
            low: mean - reach,
            high: mean + reach,
            effect_size: Some(mean / deviation),
            p_value: student::two_sided(mean / error, freedom),
        }
    }
}

/// The paired t-test; its effect size is in standard deviations of the differences.
///
/// Shape: value i of each side comes from round i.
/// Returns `None` with fewer than two rounds or sides of different length; the p-value is 0 where every round differs by
/// the same amount, 1 where no round differs.
pub fn paired(left: &[f64], right: &[f64]) -> Option<Difference> {
    if left.len() != right.len() {
        return None;
    }
    let differences: Vec<f64> = left.iter().zip(right).map(|(left, right)| left - right).collect();
    let (mean, variance) = mean_and_variance(&differences)?;
    let count = differences.len() as f64;
    Some(Difference::new(mean, (variance / count).sqrt(), count - 1.0, variance.sqrt()))
}

/// Welch's t-test of two columns that have nothing to do with each other; its effect size is in the root of the mean
/// variance.
///
/// Returns `None` where a side has fewer than two values.
/// Source: Welch, The generalization of "Student's" problem when several different population variances are involved
/// (1947).
pub fn welch(left: &[f64], right: &[f64]) -> Option<Difference> {
    let (left_mean, left_variance) = mean_and_variance(left)?;
    let (right_mean, right_variance) = mean_and_variance(right)?;
    let (left_freedom, right_freedom) = ((left.len() - 1) as f64, (right.len() - 1) as f64);
    let (left_part, right_part) = (left_variance / left.len() as f64, right_variance / right.len() as f64);
    let square = left_part + right_part;
    let freedom = square.powi(2) / (left_part.powi(2) / left_freedom + right_part.powi(2) / right_freedom);
    let deviation = ((left_variance + right_variance) / 2.0).sqrt();
    Some(Difference::new(left_mean - right_mean, square.sqrt(), freedom, deviation))
}

/// The two-sided p-value of the paired t-test: see [`paired`].
pub fn paired_p_value(left: &[f64], right: &[f64]) -> Option<f64> {
    paired(left, right).map(|difference| difference.p_value)
}

/// The p-values of many comparisons, corrected: below 0.05 are then, with 95 % certainty, only real differences.
///
/// Shape: in the order of the p-values that are given.
/// Source: Holm, A simple sequentially rejective multiple test procedure (1979).
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(p_values[index] * (p_values.len() - rank) as f64).min(1.0);
        corrected[index] = largest;
    }
    corrected
}

fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    Some((mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    pub(super) fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6 * expected.abs().max(1e-3), "{found} is not {expected}");
    }

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_two_middles() {
        near(median(&[3.0, 1.0, 2.0]), 2.0);
        near(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median(&[]).is_nan());
        near(ratio_of_medians(&[1.0, 2.0, 3.0], &[4.0]), 0.5);
    }

    #[test]
    fn pairs_that_always_differ_are_told_from_pairs_that_wander() {
        // Differences 1 2 3 4 5: mean 3, deviation sqrt(2.5), t = 4.2426 with four degrees of freedom.
        let p = paired_p_value(&[11.0, 12.0, 13.0, 14.0, 15.0], &[10.0; 5]).unwrap();
        assert!((p - 0.013_236).abs() < 1e-5, "{p}");
        assert!(paired_p_value(&[1.0, 2.0, 1.0, 2.0], &[2.0, 1.0, 2.0, 1.0]).unwrap() > 0.99);
        assert_eq!(paired_p_value(&[2.0, 3.0], &[1.0, 2.0]), Some(0.0));
        assert_eq!(paired_p_value(&[2.0, 3.0], &[2.0, 3.0]), Some(1.0));
        assert_eq!(paired_p_value(&[1.0], &[2.0]), None);
    }

    /// Student's own example of 1908, hours of sleep that two drugs gave to ten patients; R has it as `sleep`.
    const SLEEP: [[f64; 10]; 2] =
        [[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]];

    #[test]
    fn the_paired_test_agrees_with_students_own_example() {
        let found = paired(&SLEEP[0], &SLEEP[1]).unwrap();
        near(found.mean, -1.58);
        near(found.low, -2.459_886);
        near(found.high, -0.700_114);
        near(found.p_value, 0.002_832_89);
        // t is -4.062128, and d is t over the root of the number of pairs.
        near(found.effect_size.unwrap(), -4.062_128 / 10.0_f64.sqrt());
    }

    #[test]
    fn welchs_test_agrees_with_what_r_prints_for_the_same_columns() {
        let found = welch(&SLEEP[0], &SLEEP[1]).unwrap();
        near(found.mean, -1.58);
        near(found.low, -3.365_483_2);
        near(found.high, 0.205_483_2);
        near(found.p_value, 0.079_394_1);
        // With columns of one length d is t, -1.860813, times the root of two over that length.
        near(found.effect_size.unwrap(), -1.860_813 * 0.2_f64.sqrt());
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0]).unwrap().p_value, 0.0);
    }

    #[test]
    fn holms_correction_multiplies_by_what_is_left_and_never_falls() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            near(*found, expected);
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
