//! A copy of a body, made while its reader takes it.

use crate::encoding::Encoding;
use axum::body::{Body, Bytes, HttpBody};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http_body::{Frame, SizeHint};
use serde_json::{Value, json};
use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll},
};

/// The bytes of a body as far as they were read, up to a bound.
#[derive(Clone)]
pub(super) struct BodyCopy(Arc<Mutex<Copied>>);

struct Copied {
    bytes: Vec<u8>,
    /// Bytes that are kept at most.
    most: usize,
    /// Bytes that passed, kept or not.
    size: usize,
    /// Whether the body's end was reached.
    is_read: bool,
}

impl BodyCopy {
    /// One that keeps so many bytes at most.
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Copied { bytes: Vec::new(), most, size: 0, is_read: false })))
    }

    /// The copy as JSON: `text`, or `base64` where it is no UTF-8, `size` in bytes as they were sent, and `isWhole` if
    /// nothing of the body is missing. Nothing for a body without bytes.
    pub(super) fn json(&self, encoding: Option<Encoding>) -> Option<Value> {
        let copied = self.lock();
        if copied.size == 0 && copied.is_read {
            return None;
        }
        let is_whole = copied.is_read && copied.size == copied.bytes.len();
        let decoded = encoding.filter(|_| is_whole).and_then(|it| it.decode(&copied.bytes));
        let bytes = decoded.as_deref().unwrap_or(&copied.bytes);
        let (size, is_base64) = (copied.size, std::str::from_utf8(bytes).is_err());
        Some(match is_base64 {
            true => json!({ "base64": STANDARD.encode(bytes), "size": size, "isWhole": is_whole }),
            false => json!({ "text": String::from_utf8_lossy(bytes), "size": size, "isWhole": is_whole }),
        })
    }

    fn pass(&self, data: &[u8]) {
        let mut copied = self.lock();
        let room = copied.most - copied.bytes.len();
        copied.bytes.extend_from_slice(&data[..data.len().min(room)]);
        copied.size += data.len();
    }

    fn end(&self) {
        self.lock().is_read = true;
    }

    fn lock(&self) -> MutexGuard<'_, Copied> {
        self.0.lock().unwrap_or_else(|it| it.into_inner())
    }
}

/// The same body, copied as its reader takes it. `then` is dropped when the body is.
pub(super) fn copied<T: Send + Unpin + 'static>(body: Body, copy: BodyCopy, then: T) -> Body {
    if body.is_end_stream() {
        copy.end();
    }
    Body::new(CopiedBody { body, copy, _then: then })
}

struct CopiedBody<T> {
    body: Body,
    copy: BodyCopy,
    _then: T,
}

impl<T: Unpin> HttpBody for CopiedBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    self.copy.pass(data);
                }
                // A reader that knows so doesn't ask for more.
                if self.body.is_end_stream() {
                    self.copy.end();
                }
            }
            Poll::Ready(None) => self.copy.end(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::io::Error;

    fn streamed(pieces: &'static [&'static str]) -> Body {
        Body::from_stream(stream::iter(pieces.iter().map(|it| Ok::<_, Error>(*it))))
    }

    async fn read(body: Body) -> Bytes {
        axum::body::to_bytes(body, usize::MAX).await.expect("read")
    }

    #[tokio::test]
    async fn body_is_copied_as_it_is_read() {
        let copy = BodyCopy::new(8);
        let body = copied(streamed(&["ab", "cd"]), copy.clone(), ());
        assert_eq!(copy.json(None), Some(json!({ "text": "", "size": 0, "isWhole": false })), "nothing is read yet");
        assert_eq!(read(body).await, "abcd");
        assert_eq!(copy.json(None), Some(json!({ "text": "abcd", "size": 4, "isWhole": true })));
    }

    #[tokio::test]
    async fn copy_ends_at_its_bound() {
        let copy = BodyCopy::new(3);
        assert_eq!(read(copied(streamed(&["ab", "cd", "ef"]), copy.clone(), ())).await, "abcdef");
        assert_eq!(copy.json(None), Some(json!({ "text": "abc", "size": 6, "isWhole": false })));
        let copy = BodyCopy::new(8);
        read(copied(Body::from(vec![0xff, 0x00]), copy.clone(), ())).await;
        assert_eq!(copy.json(None), Some(json!({ "base64": "/wA=", "size": 2, "isWhole": true })));
    }

    #[tokio::test]
    async fn body_without_bytes_has_no_copy() {
        let copy = BodyCopy::new(8);
        drop(copied(Body::empty(), copy.clone(), ()));
        assert_eq!(copy.json(None), None);
        let body = copied(Body::from("abc"), BodyCopy::new(8), ());
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(3), false), "it says what the other said");
    }

    #[tokio::test]
    async fn what_comes_then_is_dropped_with_the_body() {
        let then = Arc::new(());
        let body = copied(streamed(&["ab", "cd"]), BodyCopy::new(8), then.clone());
        assert_eq!(Arc::strong_count(&then), 2);
        drop(body);
        assert_eq!(Arc::strong_count(&then), 1);
    }

    #[test]
    fn copy_of_an_encoded_body_is_decoded() {
        let (copy, text) = (BodyCopy::new(1_024), "words ".repeat(100));
        copy.pass(&Encoding::Gzip.encode(text.as_bytes()).expect("smaller"));
        copy.end();
        assert_eq!(copy.json(Some(Encoding::Gzip)).expect("a copy")["text"], json!(text));
    }
}
