//! What comes back: all at once, or as it happens.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use tower::BoxError;

use super::watch::Watch;

/// The body of an answer.
#[derive(Debug)]
pub(super) enum Content {
    /// All of it.
    Whole(Option<Bytes>),
    /// Events, one a line.
    Watch(Box<Watch>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Watch(watch) => watch
                .poll_line(context)
                .map(|line| line.map(|line| line.map(Frame::data).map_err(Into::into))),
        }
    }
}
