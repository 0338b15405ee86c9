//! The content of a file as a body that is looked into, passed on, and read.

use std::fs;
use std::future::poll_fn;

use myelin_message::{Body, BodyError};

use crate::common::{Folder, Inbox};

/// Longer than what is read at once.
fn content() -> String {
    (0..100_000).map(|number| format!("{number};")).collect()
}

async fn body(folder: &Folder, content: &str) -> (Inbox, Body) {
    folder.write("in/a.txt", content);
    let mut inbox = folder.receive(&[]);
    let body = inbox.delivery().await.message.body;
    (inbox, body)
}

/// Looks until the text is seen; how much was shown each time, and whether that was all.
async fn look(body: &mut Body, limit: u64, text: &str) -> Result<Vec<(usize, bool)>, BodyError> {
    let mut shown = Vec::new();
    let mut look = |bytes: &[u8], is_all| {
        shown.push((bytes.len(), is_all));
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    poll_fn(|cx| body.poll_look(cx, limit, &mut look)).await?;
    Ok(shown)
}

#[tokio::test(start_paused = true)]
async fn a_small_file_is_there_at_once_and_an_empty_one_is_no_body() {
    let folder = Folder::new();
    assert!(matches!(body(&folder, "small").await.1, Body::Bytes(bytes) if bytes == b"small"));
    assert!(matches!(body(&folder, "").await.1, Body::Empty));
}

#[tokio::test(start_paused = true)]
async fn a_look_reads_no_further_than_it_must_and_takes_nothing() {
    let (folder, content) = (Folder::new(), content());
    let (_inbox, mut body) = body(&folder, &content).await;
    let length = content.len();
    assert_eq!(body.length(), Some(length as u64));
    assert_eq!(look(&mut body, u64::MAX, "17;18;").await, Ok(vec![(131_072, false)]));
    assert_eq!(body.length(), Some(length as u64));
    assert_eq!(look(&mut body, u64::MAX, ";40000;").await, Ok(vec![(131_072, false), (262_144, false)]));
    assert_eq!(look(&mut body, 100_000, "no such text").await, Err(BodyError::TooLarge { limit_bytes: 100_000 }));
}

#[tokio::test(start_paused = true)]
async fn a_look_sees_all_where_it_wants_to_and_the_body_is_whole_afterwards() {
    let (folder, content) = (Folder::new(), content());
    let (_inbox, mut body) = body(&folder, &content).await;
    let shown = look(&mut body, u64::MAX, "no such text").await.unwrap();
    assert_eq!(shown.last(), Some(&(content.len(), true)));
    assert!(shown.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert_eq!(body.bytes(u64::MAX).await.unwrap(), content.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn what_is_passed_on_is_the_file_whatever_was_looked_at() {
    let content = content();
    for text in ["17;18;", ";40000;", "no such text"] {
        let folder = Folder::new();
        let (_inbox, mut body) = body(&folder, &content).await;
        look(&mut body, u64::MAX, text).await.unwrap();
        let Body::Wire(wire) = body else { panic!("it is read by nobody") };
        let (mut all, mut left) = (Vec::new(), content.len() as u64);
        loop {
            assert_eq!(wire.source.remaining(wire.ticket), Some(left));
            let before = all.len();
            let more = poll_fn(|cx| wire.source.poll_piece(wire.ticket, cx, &mut all)).await.unwrap();
            left -= (all.len() - before) as u64;
            if !more {
                break;
            }
        }
        assert!(all == content.as_bytes() && left == 0, "{text}");
        let after = poll_fn(|cx| wire.source.poll_piece(wire.ticket, cx, &mut all)).await;
        assert_eq!(after, Ok(false));
        let other = poll_fn(|cx| wire.source.poll_piece(wire.ticket + 1, cx, &mut all)).await;
        assert_eq!(other, Err(BodyError::Gone));
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_becomes_shorter_breaks_off() {
    let (folder, content) = (Folder::new(), content());
    let (_inbox, mut body) = body(&folder, &content).await;
    fs::OpenOptions::new().write(true).open(folder.path("in/a.txt")).unwrap().set_len(200_000).unwrap();
    assert_eq!(body.bytes(u64::MAX).await, Err(BodyError::Incomplete));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_grows_is_read_as_it_was_and_comes_again() {
    let (folder, content) = (Folder::new(), content());
    folder.write("in/a.txt", &content);
    let mut inbox = folder.receive(&[]);
    let mut delivery = inbox.delivery().await;
    folder.write("in/a.txt", &(content.clone() + "more"));
    assert_eq!(delivery.message.body.bytes(u64::MAX).await.unwrap(), content.as_bytes());
    (delivery.acknowledge)(myelin_channel::Ending::Accepted).await;
    assert!(inbox.next().await.body.ends_with("99999;more"));
}
