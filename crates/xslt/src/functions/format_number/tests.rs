use super::super::testing::{check, check_v1, fails};

#[test]
fn patterns_of_1_0_are_those_of_the_jdk() {
    let each = |number: &str, pattern: &str, expected: &str| {
        check_v1(&format!("format-number({number}, \"{pattern}\")"), expected);
    };
    // The table of libxslt's test, which agrees with the JDK but for how halves are rounded.
    for (pattern, expected) in [
        ("#", ["-1", "-1", "0", "1", "1"]),
        ("0", ["-1", "-1", "0", "1", "1"]),
        (".", ["-1.", "-1.", "0.", "1.", "1."]),
        ("#.", ["-1.", "-1.", "0.", "1.", "1."]),
        ("0.", ["-1.", "-1.", "0.", "1.", "1."]),
        (".#", ["-1.0", "-.5", ".0", ".5", "1.0"]),
        (".##", ["-1.0", "-.5", ".0", ".5", "1.0"]),
        (".0", ["-1.0", "-.5", ".0", ".5", "1.0"]),
        ("#.#", ["-1", "-0.5", "0", "0.5", "1"]),
        ("0.0", ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        ("#.0", ["-1.0", "-.5", ".0", ".5", "1.0"]),
        ("0.#", ["-1", "-0.5", "0", "0.5", "1"]),
    ] {
        for (number, expected) in ["-1.0", "-0.5", "0.0", "0.5", "1.0"].into_iter().zip(expected) {
            each(number, pattern, expected);
        }
    }
    each("3.14159", "prefix#,#,###.##suffix", "prefix3.14suffix");
    each("-3.14159", "_#,#,000.000##_", "-_003.14159_");
    each("-3.14159", "_#.#_;_(#.#)_", "_(3.1)_");
    each("1234567.891", "#,##0.00", "1,234,567.89");
    each("0.4857", "###.###%", "48.57%");
    each("0.4857", "###.###\u{2030}", "485.7\u{2030}");
    each("-5", "0;0", "-5");
    each("5", "'#'0", "#5");
    each("1 div 0", "0.0", "Infinity");
    each("-1 div 0", "x0.0", "-xInfinity");
    each("'foo'", "0", "NaN");
    check_v1("format-number(12345.67, '#.##0,00', 'european')", "12.345,67");
    check_v1("format-number(-12, '!!', 'signs')", "_12");
}

#[test]
fn pictures_follow_the_standard() {
    // From the test suite of the W3C.
    check("format-number(2392.14*36.58,'000,000.000000')", "087,504.481200");
    check("format-number(12792.14*96.58,'##,###,000.000###')", "1,235,464.8812");
    check("format-number(2792.14*(-36.58),'000,000.000###')", "-102,136.4812");
    check("format-number(0.4857,'###.###%')", "48.57%");
    check("format-number(95.4857,'\u{a4}###.####')", "\u{a4}95.4857");
    check("format-number(2.14*86.58,'PREFIX##00.000###SUFFIX')", "PREFIX185.2812SUFFIX");
    check("format-number(987654321,'###,##0,00.00')", "9876,543,21.00");
    check("format-number(-26931.4,'+###,###.###;-###,###.###')", "-26,931.4");
    check("format-number(-26931.4,'###,###.###;###,###.###')", "26,931.4");
    check("format-number(239236.588,'00000.00')", "239236.59");
    check("format-number(-1 div 0e0,'###')", "-Infinity");
    check("format-number(-1 div 0e0,'!!!', 'signs')", "_huge");
    check("format-number((),'###.###')", "NaN");
    check(
        "format-number(4030201.0506,'\u{660},\u{660}\u{660}\u{660}.\u{660}', 'arabic')",
        "\u{664},\u{660}\u{663}\u{660},\u{662}\u{660}\u{661}.\u{661}",
    );
    check("format-number(3931.4857,'#.###,000', 'european')", "3.931,486");
    check("format-number(0, '#')", "0");
    check("format-number(12.34, '##.##')", "12.34");
    check("format-number(1E25,'#,######')", "10,000000,000000,000000,000000");
    check("format-number(0.5, '0')", "0");
    check("format-number(1.5, '0')", "2");
    check("format-number(1234.5678, '0,0.00,0')", "1,2,3,4.56,8");
}

#[test]
fn numbers_have_exponents_where_the_picture_does() {
    // The examples of Functions and Operators §4.7.6 and the rules of §4.7.5.
    check("format-number(1234.5678, '00.000e0')", "12.346e2");
    check("format-number(0.234, '0.0e0')", "2.3e-1");
    check("format-number(0.234, '#.00e0')", "0.23e0");
    check("format-number(0.234, '.00e0')", ".23e0");
    check("format-number(123.456, '0.0000e00')", "1.2346e02");
    fails("format-number(123.456, '0.0000E0')", "FODF1310");
}

#[test]
fn pictures_that_contradict_themselves_are_refused() {
    for picture in ["", "x", "0;0;0", "0.0.0", "0%%", "%0\u{2030}", "0,,0", "0#", "0.#0", "0,.0", "0x0", "0e0%", "0e#"]
    {
        fails(&format!("format-number(1, '{picture}')"), "FODF1310");
    }
    fails("format-number(1, '0', 'nowhere')", "FODF1280");
}
