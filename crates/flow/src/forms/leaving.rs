//! How a body is brought into the form in which it leaves.

use std::sync::Arc;

use myelin_content::{BuiltBody, CONVERSION_LONG_BYTES as LONG_BYTES, Enclosure, Rendering};

use crate::context::RequestContext;
use crate::exchange::Exchange;
use crate::fault::Outcome;
use crate::forms::build_body;
use crate::identity;
use crate::memory::reserve;
use crate::offload::offload;

/// Brings the body of a message that is about to leave into its form.
///
/// Shape: a body that has its form, or that nobody understands, stays as it is, read or not; any other becomes bytes.
/// Errors: faults of whoever sent it, and the bus's where it has no such form; the body is gone then.
pub async fn render_body(exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
    if exchange.has_its_form() {
        return Ok(());
    }
    // Few messages are converted: on the heap, that does not make every exchange larger.
    Box::pin(convert(exchange, context)).await
}

async fn convert(exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
    build_body(exchange, context).await?;
    let Some(form) = BuiltBody::take(&mut exchange.message.body)? else { return Ok(()) };
    let format = exchange.wanted_format();
    // A new identifier is in no message that was written before it.
    let boundary = format!("MIMEBoundary_{}", identity::new());
    let whole_type = exchange.content.whole_type().to_owned();
    let enclosure = exchange.enclosure().unwrap_or(Enclosure::SwA);
    let switches = Arc::clone(&context.definitions.settings.json);
    let rendering = Rendering { format, whole_type, enclosure, boundary, switches };
    reserve(&mut exchange.memory, form.memory_bytes() + form.conversion_bytes(), context).await?;
    let rendered = match form.size_bytes() <= LONG_BYTES {
        true => form.render(&rendering),
        false => offload(context, move || form.render(&rendering)).await?,
    };
    let (bytes, whole_type) = rendered.map_err(|error| exchange.unreadable(error))?;
    exchange.set_rendered(bytes, format, whole_type)
}
