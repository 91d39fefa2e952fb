//! One request and its answer over a connection, HTTP/1.1 by `hyper`. Whatever the other side sends, no more than a
//! bounded number of bytes of it is read.

use super::{
    call::{Answer, Call, Unreached},
    connect::Stream,
};
use crate::chain::chain;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1,
    header::{CONNECTION, HOST, HeaderValue, USER_AGENT},
};
use hyper_util::rt::TokioIo;
use std::{
    future::pending,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that are read ahead of what was asked for.
const AHEAD: usize = 64 * 1024;

/// Sends the request and reads the answer. The connection is used once and closed, so that what one caller was told
/// is never in another's answer.
pub(super) async fn exchange(stream: Stream, call: Call<'_>, head_bytes: usize) -> Result<Answer, Unreached> {
    let answer_bytes = call.answer_bytes;
    // Twice, for what stands around the pieces of a body; interim answers (1xx) and trailers count too.
    let left = 2 * (head_bytes + answer_bytes) + AHEAD;
    let request = request(call)?;
    let io = TokioIo::new(Metered { stream, left });
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(AHEAD)
        .max_header_size(head_bytes)
        .handshake::<_, Full<Bytes>>(io)
        .await
        .map_err(failed)?;
    let asking = async move {
        let response = sender.send_request(request).await.map_err(failed)?;
        read(response, answer_bytes).await
    };
    let driving = async move {
        // What goes wrong there, the one who waits for the answer is told.
        let _ = connection.await;
        pending::<Result<Answer, Unreached>>().await
    };
    tokio::select! {
        answer = asking => answer,
        answer = driving => answer,
    }
}

fn request(call: Call<'_>) -> Result<Request<Full<Bytes>>, Unreached> {
    let Call { target, method, headers, body, .. } = call;
    let wrong = |what: &str| Unreached::Failed(format!("the request can't be written: {what}"));
    let built = Request::builder().method(method).uri(target.path_and_query()).body(Full::new(body));
    let mut request = built.map_err(|it| wrong(&it.to_string()))?;
    let host = HeaderValue::from_str(&target.authority()).map_err(|_| wrong("its host"))?;
    *request.headers_mut() = headers;
    let headers = request.headers_mut();
    headers.insert(HOST, host);
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("Stoa/", env!("CARGO_PKG_VERSION"))));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(request)
}

async fn read(response: Response<Incoming>, answer_bytes: usize) -> Result<Answer, Unreached> {
    let (head, mut incoming) = response.into_parts();
    let (mut body, mut is_whole) = (Vec::new(), true);
    while let Some(frame) = incoming.frame().await {
        // What isn't data are trailers, which no caller asks for.
        let Ok(data) = frame.map_err(failed)?.into_data() else { continue };
        let room = answer_bytes - body.len();
        body.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            is_whole = false;
            break;
        }
    }
    Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, is_whole })
}

fn failed(error: hyper::Error) -> Unreached {
    Unreached::Failed(format!("the exchange: {}", chain(&error)))
}

/// A connection of which so many bytes are read and no more.
struct Metered {
    stream: Stream,
    left: usize,
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        match self.left.checked_sub(buffer.filled().len() - before) {
            Some(left) => self.left = left,
            None => return Poll::Ready(Err(io::Error::other("more was sent than is read"))),
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
