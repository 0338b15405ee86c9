//! Student's t distribution.

/// The probability that Student's t with `freedom` degrees of freedom lies farther from zero than `t`.
///
/// Source: Abramowitz and Stegun 26.7.1 and 26.5.27: the incomplete beta function at `freedom / (freedom + t²)`.
pub(super) fn two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The t that Student's t with `freedom` degrees of freedom exceeds, on either side of zero, with a probability of
/// `p`: the critical value, for a `p` between 0 and 1.
pub(super) fn critical(p: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, freedom) > p && high < 1e12 {
        high *= 2.0;
    }
    // Each step halves the interval; after so many nothing is left to halve.
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if two_sided(middle, freedom) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The regularised incomplete beta function I_x(a, b), for positive `a` and `b`.
///
/// Source: NIST Digital Library of Mathematical Functions 8.17.20 (symmetry) and 8.17.22 (continued fraction).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast only on this side of the mean; the other side follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    front * beta_fraction(a, b, x)
}

/// The continued fraction of the incomplete beta function, by Lentz's method as Thompson and Barnett changed it.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = denominator;
    for step in 1..=300 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            change = numerator * denominator;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The logarithm of the gamma function, for positive `x`.
///
/// Source: Stirling's series (DLMF 5.11.1) above 10; below, the recurrence Γ(x + 1) = x Γ(x) leads there.
fn log_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return log_gamma(x + 1.0) - x.ln();
    }
    let (inverse, square) = (1.0 / x, 1.0 / (x * x));
    let series = inverse
        * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::super::tests::near;
    use super::*;

    #[test]
    fn log_gamma_agrees_with_factorials_and_the_root_of_pi() {
        near(log_gamma(5.0), 24.0_f64.ln());
        near(log_gamma(11.0), 3_628_800.0_f64.ln());
        near(log_gamma(0.5), std::f64::consts::PI.sqrt().ln());
    }

    #[test]
    fn the_incomplete_beta_function_agrees_with_its_closed_forms() {
        // I_x(1, b) = 1 - (1 - x)^b and I_x(a, 1) = x^a.
        for x in [0.05, 0.3, 0.5, 0.77, 0.99] {
            near(incomplete_beta(1.0, 3.5, x), 1.0 - (1.0_f64 - x).powf(3.5));
            near(incomplete_beta(2.5, 1.0, x), x.powf(2.5));
        }
        near(incomplete_beta(0.5, 0.5, 0.5), 0.5);
    }

    #[test]
    fn students_t_agrees_with_the_printed_tables() {
        // The critical values for 5 %, two-sided, as every table prints them to three decimals.
        for (freedom, critical) in [(1.0, 12.706), (4.0, 2.776), (9.0, 2.262), (30.0, 2.042)] {
            let found = two_sided(critical, freedom);
            assert!((found - 0.05).abs() < 2e-4, "{freedom} degrees: {found}");
        }
        // With one degree t is Cauchy, with two there is a closed form.
        near(two_sided(1.0, 1.0), 0.5);
        near(two_sided(2.0, 2.0), 1.0 - 2.0 / 6.0_f64.sqrt());
        for (freedom, value) in [(1.0, 12.706_205), (4.0, 2.776_445), (9.0, 2.262_157), (30.0, 2.042_272)] {
            near(critical(0.05, freedom), value);
        }
    }
}
