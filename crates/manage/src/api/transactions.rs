//! `/transactions`: how many requests came in, by month.
//!
//! Counted is what comes to proxy services, APIs, inbound endpoints and `main`, since the process began.

use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, bad_request, item};
use super::call::{Api, Call};
use super::request::Caller;
use super::route::{Route, Shape, field, optional, required};
use super::transaction_log::{MONTHS, month_of};

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/transactions/count",
        summary: "Counts the requests of a month, of this process; without a month, of this one (UTC).",
        parameters: &[
            optional("year", "The year, beside the month"),
            optional("month", "The month, 1 to 12, beside the year"),
        ],
        answer: Shape::Object(&[
            field("Year", "integer", "The year"),
            field("Month", "integer", "The month"),
            field("TransactionCount", "integer", "How many"),
        ]),
        handler: count,
        ..Route::READ
    },
    Route {
        path: "/transactions/report",
        summary: "Counts the requests of each month of a time, of this process.",
        parameters: &[
            required("start", "The first month, as 2026-01"),
            optional("end", "The last month; this one where nothing is said"),
        ],
        answer: Shape::Object(&[field("TransactionCountData", "object", "Rows of a table, its heads first")]),
        handler: report,
        ..Route::READ
    },
];

impl Api {
    /// Does what has to be done every minute.
    pub fn tick(&self) {
        self.transactions.note(&self.process.bus(), self.now());
    }
}

fn count(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    call.api.tick();
    let number = |name: &str| -> Result<Option<i16>, Failure> {
        let Some(text) = call.query(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| bad_request(format!("{name} has to be a number")))
    };
    let (year, month) = match (number("year")?, number("month")?) {
        (None, None) => month_of(call.api.now()),
        (Some(year @ 1970..=9999), Some(month @ 1..=12)) => (year, month as i8),
        _ => {
            return Err(bad_request(
                "year and month are needed together: a year from 1970 on, and a month from 1 to 12",
            ));
        }
    };
    let count = call.api.transactions.of((year, month));
    item(&json!({ "Year": year, "Month": month, "TransactionCount": count }))
}

/// A month as `2026-01`.
fn parsed(text: &str, name: &str) -> Result<(i16, i8), Failure> {
    let found = text.split_once('-').and_then(|(year, month)| {
        let (year, month) = (year.parse::<i16>().ok()?, month.parse::<i8>().ok()?);
        ((1970..=9999).contains(&year) && (1..=12).contains(&month)).then_some((year, month))
    });
    found.ok_or_else(|| bad_request(format!("{name} has to be a month such as 2026-01")))
}

fn report(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    call.api.tick();
    let start = parsed(call.required("start")?, "start")?;
    let end = call.query("end").map_or_else(|| Ok(month_of(call.api.now())), |text| parsed(text, "end"))?;
    if end < start {
        return Err(bad_request("end is before start"));
    }
    let mut rows: Vec<Value> = vec![json!(["Year", "Month", "TransactionCount"])];
    let (mut year, mut month) = start;
    while (year, month) <= end {
        if rows.len() > MONTHS {
            return Err(bad_request(format!("The time has more than {MONTHS} months")));
        }
        rows.push(json!([year.to_string(), month.to_string(), call.api.transactions.of((year, month)).to_string()]));
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
    item(&json!({ "TransactionCountData": rows }))
}
