use std::time::{Duration, UNIX_EPOCH};

use super::*;

#[test]
fn patterns_are_java_s() {
    let time = UNIX_EPOCH + Duration::from_millis(1_795_235_677_176);
    let check = |pattern: &str, expected: &str| assert_eq!(format(time, pattern), expected);
    check(SHORT, "11/21/26, 4:34 AM");
    check("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-11-21T04:34:37.176Z");
    check("EEE, d MMM yyyy", "Sat, 21 Nov 2026");
    check("EEEE MMMM", "Saturday November");
    check("''hh' o'", "'04 o");
    assert_eq!(format(UNIX_EPOCH + Duration::from_secs(951_782_400), "yyyy-MM-dd"), "2000-02-29");
}

/// Of what Java 17 writes in the locale `en_US`.
#[test]
fn dates_are_written_as_java_does() {
    let stamp = DateTime::of_millis(1_795_235_677_076);
    let check = |pattern: &str, expected: &str| {
        assert_eq!(Pattern::formatter(pattern).unwrap().write(&stamp).as_deref(), Some(expected), "{pattern}");
    };
    check("yyyy-MM-dd'T'HH:mm:ss.SSS", "2026-11-21T04:34:37.076");
    check("dd/MM/yy h:mm a", "21/11/26 4:34 AM");
    check("EEE, d MMM uuuu", "Sat, 21 Nov 2026");
    check("EEEE MMMM EEEEE MMMMM", "Saturday November S N");
    check("D DDD", "325 325");
    check("Q QQ QQQ QQQQ", "4 04 Q4 4th quarter");
    check("YYYY w ww W e F", "2026 47 47 3 7 7");
    check("ee c ccc eeee QQQQQ yyy YY", "07 7 Sat Saturday 4 2026 26");
    check("k K KK n SSSSSSSSS A", "4 4 04 76000000 076000000 16477076");
    check("''yyyyyy' o''clock'", "'002026 o'clock");
    check("yyyy[-MM[ VV]]", "2026-11");
    assert_eq!(Pattern::formatter("HH z").unwrap().write(&stamp), None);
    let end = DateTime::of_millis(1_798_675_200_000);
    assert_eq!(Pattern::formatter("yyyy-MM-dd YYYY-ww").unwrap().write(&end).unwrap(), "2026-12-31 2027-01");
}

#[test]
fn dates_are_read_as_java_does() {
    let check = |text: &str, from: &str, to: &str, expected: Option<&str>| {
        let stamp = Pattern::formatter(from).unwrap().read(text).and_then(|fields| fields.smart());
        let written = stamp.and_then(|stamp| Pattern::formatter(to).unwrap().write(&stamp));
        assert_eq!(written.as_deref(), expected, "{text} by {from}");
    };
    check("29/09/1988", "dd/MM/yyyy", "yyyy-MM-dd", Some("1988-09-29"));
    check("29-09-1988", "dd-MM-yyyy", "yyyy MMM dd", Some("1988 Sep 29"));
    check("11-22-33", "HH-mm-ss", "HH mm ss", Some("11 22 33"));
    check("50-22-33", "HH-mm-ss", "HH mm ss", None);
    check("20240229", "yyyyMMdd", "d.M.yy", Some("29.2.24"));
    check("20240229103015123", "yyyyMMddHHmmssSSS", "HH:mm:ss.SSS dd", Some("10:30:15.123 29"));
    check("2023-02-30", "yyyy-MM-dd", "MM-dd", Some("02-28"));
    check("2023-13-01", "yyyy-MM-dd", "MM-dd", None);
    check("2023-060", "yyyy-DDD", "MM-dd", Some("03-01"));
    check("3:05 PM", "h:mm a", "HH:mm", Some("15:05"));
    check("5 March 2024", "d MMMM yyyy", "yyyy-MM-dd", Some("2024-03-05"));
    check("2024-01-02T03:04:05Z", "yyyy-MM-dd'T'HH:mm:ssX", "HH:mm", Some("03:04"));
    check("2024-01-02T03:04:05+05:30", "yyyy-MM-dd'T'HH:mm:ssXXX", "HH:mm", Some("03:04"));
    check("2024-01-02", "yyyy-MM-dd['T'HH:mm]", "dd", Some("02"));
    check("2024-01-02", "yyyy-MM-dd", "HH", None);
    check("2024-01-02x", "yyyy-MM-dd", "dd", None);
    check("24-1-2", "yy-M-d", "yyyy-MM-dd", Some("2024-01-02"));
    check("122024", "dMyyyy", "d M", None);
    check("10:30", "mm:ss", "mm", None);
    check("2024-01-02 10", "yyyy-MM-dd HH", "dd HH:mm", Some("02 10:00"));
    check("Mon, 1 Jan 2024 10:00 GMT", "EEE, d MMM yyyy HH:mm z", "dd HH", Some("01 10"));
    check("Tue, 1 Jan 2024", "EEE, d MMM yyyy", "dd", None);
    check("2024-12-31 24:00", "yyyy-MM-dd HH:mm", "yyyy-MM-dd HH", Some("2025-01-01 00"));
    check("24:01", "HH:mm", "HH", None);
    check("1 jan 2024", "d MMM yyyy", "dd", None);
    check("12024", "yyyy", "y", None);
    check("123456789-02-30", "y-MM-dd", "y MM-dd", Some("123456789 02-28"));
    check("999999999999999999-02-30", "y-MM-dd", "y MM-dd", None);
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    for wrong in ["yyyy-MM-ddTHH", "aa", "MMMMMM", "'open", "a]", "{", "SSSSSSSSSS", "cc"] {
        assert!(Pattern::formatter(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn letters_mean_what_simple_date_format_has_them_mean() {
    let stamp = DateTime { zone: Some(Zone::Offset(-330)), ..DateTime::of_millis(1_795_235_677_176) };
    let check = |pattern: &str, expected: &str| {
        assert_eq!(Pattern::simple(pattern).unwrap().write(&stamp).as_deref(), Some(expected), "{pattern}");
    };
    check("u F w W D", "6 3 47 3 325");
    check("G y yy yyy YYYY", "AD 2026 26 2026 2026");
    check("S SSSS", "176 0176");
    check("z Z X XX XXX", "GMT-05:30 -0530 -05 -0530 -05:30");
    check("'o''clock' ''", "o'clock '");
    check("MMMMM EEEEE", "November Saturday");
    let before = DateTime { year: Some(-43), ..stamp };
    assert_eq!(Pattern::simple("d MMM y G").unwrap().write(&before).unwrap(), "21 Nov 44 BC");
    let only = DateTime { year: Some(2026), ..DateTime::default() };
    assert_eq!(Pattern::simple("yyyy/MM HH Z").unwrap().write(&only).unwrap(), "2026/  ");
    for wrong in ["e", "b", "'open", "XXXX"] {
        assert!(Pattern::simple(wrong).is_err(), "{wrong}");
    }
    assert_eq!(Pattern::lenient("yyyyTb'x").write(&only).unwrap(), "2026Tbx");
}

#[test]
fn texts_are_read_as_simple_date_format_reads_them() {
    let check = |text: &str, pattern: &str, expected: Option<&str>| {
        let millis = Pattern::simple(pattern).unwrap().read(text).and_then(|fields| fields.lenient_millis());
        let written = millis.map(DateTime::of_millis);
        let written = written.and_then(|stamp| Pattern::simple("yyyy-MM-dd HH:mm:ss.SSS").unwrap().write(&stamp));
        assert_eq!(written.as_deref(), expected, "{text} by {pattern}");
    };
    check("29.2.2024 12:05", "dd.MM.yyyy HH:mm", Some("2024-02-29 12:05:00.000"));
    check("20240229", "yyyyMMdd", Some("2024-02-29 00:00:00.000"));
    check("feb 29, 24 12:05:09 am", "MMM d, yy h:mm:ss a", Some("2024-02-29 00:05:09.000"));
    check("31.02.2023", "dd.MM.yyyy", Some("2023-03-03 00:00:00.000"));
    check("2023/14", "yyyy/MM", Some("2024-02-01 00:00:00.000"));
    check("2024 060", "yyyy DDD", Some("2024-02-29 00:00:00.000"));
    check("1 Jan 70 GMT+01:00", "d MMM yy z", Some("1969-12-31 23:00:00.000"));
    check("12:30 -0130", "HH:mm Z", Some("1970-01-01 14:00:00.000"));
    check("Thursday 5", "EEE S", Some("1970-01-01 00:00:00.005"));
    check("0044 BC", "yyyy G", Some("0044-01-01 00:00:00.000"));
    check("03:05 PM", "HH:mm a", Some("1970-01-01 03:05:00.000"));
    check("12:30", "hh:mm", Some("1970-01-01 00:30:00.000"));
    check("24:30", "kk:mm", Some("1970-01-01 00:30:00.000"));
    check("2024-60-1", "yyyy-MM-dd", Some("2028-12-01 00:00:00.000"));
    for (text, pattern) in [("2024", "yyyy-MM"), ("x", "y"), ("2024x", "y"), ("99999", "y"), ("", "d")] {
        check(text, pattern, None);
    }
}
