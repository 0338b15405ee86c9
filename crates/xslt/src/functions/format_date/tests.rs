use super::super::testing::{check, fails};

#[test]
fn dates_take_the_form_of_their_picture() {
    // The examples of Functions and Operators §9.8.5.
    let date = "xs:date('2002-12-31')";
    check(&format!("format-date({date}, '[Y0001]-[M01]-[D01]')"), "2002-12-31");
    check(&format!("format-date({date}, '[M]-[D]-[Y]')"), "12-31-2002");
    check(&format!("format-date({date}, '[D1] [MI] [Y]')"), "31 XII 2002");
    check(&format!("format-date({date}, '[D1o] [MNn], [Y]', 'en', (), ())"), "31st December, 2002");
    check(&format!("format-date({date}, '[D01] [MN,*-3] [Y0001]', 'en', (), ())"), "31 DEC 2002");
    check(&format!("format-date({date}, '[MNn] [D], [Y]', 'en', (), ())"), "December 31, 2002");
    check(&format!("format-date({date}, '[[[Y0001]-[M01]-[D01]]]')"), "[2002-12-31]");
    check(&format!("format-date({date}, '[[[Y0001]-[M01]-[D01]]]')"), "[2002-12-31]");
    check(&format!("format-date({date}, '[YWw]', 'en', (), ())"), "Two Thousand and Two");
    check(&format!("format-date({date}, '[Y,2-2] [Y01] [FNn,3-3] [W] [d] [w]')"), "02 02 Tue 1 365 5");
}

#[test]
fn times_take_the_form_of_their_picture() {
    let time = "xs:time('15:58:45.762+02:00')";
    check(&format!("format-time({time}, '[h]:[m01] [PN]', 'en', (), ())"), "3:58 PM");
    check(&format!("format-time({time}, '[h]:[m01]:[s01] [Pn]', 'en', (), ())"), "3:58:45 pm");
    check(&format!("format-time({time}, '[h]:[m01]:[s01] [PN] [ZN,*-3]', 'en', (), ())"), "3:58:45 PM +02:00");
    check(&format!("format-time({time}, '[h]:[m01]:[s01] o''clock')"), "3:58:45 o'clock");
    check(&format!("format-time({time}, '[H01]:[m01]')"), "15:58");
    check(&format!("format-time({time}, '[H01]:[m01]:[s01].[f001]')"), "15:58:45.762");
    check(&format!("format-time({time}, '[H01]:[m01]:[s01] [z]', 'en', (), ())"), "15:58:45 GMT+02:00");
    check(&format!("format-time({time}, '[f] [f1] [f01] [f,2-2] [f00001] [f0###]')"), "762 762 76 76 76200 762");
}

#[test]
fn zones_take_the_form_of_their_picture() {
    let check_zone = |marker: &str, zone: &str, expected: &str| {
        check(&format!("format-time(xs:time('12:00:00{zone}'), '[{marker}]')"), expected);
    };
    // The table of Functions and Operators §9.8.4.6.
    check_zone("Z", "-05:00", "-05:00");
    check_zone("Z0", "-05:00", "-5");
    check_zone("Z0", "+05:30", "+5:30");
    check_zone("Z0:00", "-05:00", "-5:00");
    check_zone("Z00:00", "+05:30", "+05:30");
    check_zone("Z0000", "-10:00", "-1000");
    check_zone("Z00:00t", "Z", "Z");
    check_zone("z", "+13:00", "GMT+13:00");
    check_zone("ZZ", "-05:00", "R");
    check_zone("ZZ", "+10:00", "K");
    check_zone("ZZ", "+05:30", "+05:30");
    check_zone("Z", "", "");
    check_zone("ZZ", "", "J");
}

#[test]
fn weeks_belong_to_where_their_thursday_is() {
    let week = |date: &str, expected: &str| check(&format!("format-date(xs:date('{date}'), '[W] [w] [F0]')"), expected);
    week("2005-01-01", "53 5 6");
    week("2005-01-03", "1 1 1");
    week("2008-12-31", "1 5 3");
    week("2006-01-30", "5 5 1");
    week("2006-01-01", "52 5 7");
    week("2010-02-28", "8 4 7");
}

#[test]
fn languages_and_calendars_that_are_not_there_are_said() {
    check("format-date(xs:date('2006-03-01'), '[MNn]', 'xib', (), ())", "[Language: en]March");
    check("format-date(xs:date('2006-03-01'), '[M01]', 'xib', (), ())", "03");
    check("format-date(xs:date('2006-03-01'), '[M01]', 'en', 'CB', ())", "[Calendar: AD]03");
    check("format-date(xs:date('-0055-12-01'), '[Y][EN]')", "55BC");
    check("count(format-date((), '[Y]'))", "0");
}

#[test]
fn pictures_that_are_wrong_are_refused() {
    for picture in ["[Y", "Y]", "[]", "[q]", "[Y,0]", "[Y,4-2]", "[Y,x]"] {
        fails(&format!("format-date(xs:date('2006-03-01'), '{picture}')"), "FOFD1340");
    }
    for calendar in ["ZODIAC", "Q{}1", ":w"] {
        fails(&format!("format-date(xs:date('2006-03-01'), '[Y]', 'en', '{calendar}', ())"), "FOFD1340");
    }
    fails("format-date(xs:date('2006-03-01'), '[H]')", "FOFD1350");
    fails("format-time(xs:time('12:00:00'), '[Y]')", "FOFD1350");
}
