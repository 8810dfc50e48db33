//! The outcome of a call to the API server: done, refused, or unknown.

use std::time::Duration;

use kube::core::Status;

/// What became of a call: its result if it was carried out.
pub type Answer<T> = Result<T, Failure>;

/// Why a call has no result.
///
/// The second case is the one that decides whether Quotient is safe: a request whose answer was lost may have been
/// carried out, or may yet be.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It was not carried out and never will be.
    #[error("{}", said(.0))]
    Refused(Box<Status>),
    /// It was carried out, will be, or will never be: the answer was lost, or is no answer.
    #[error(transparent)]
    Unknown(Lost),
}

/// Why the outcome of a call is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// No answer within the time allowed.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The server failed after it had taken the request.
    #[error("{message}")]
    Server {
        /// The HTTP status.
        code: u16,
        /// The server's own words.
        message: String,
    },
    /// The connection failed, or what came back could not be read.
    #[error("{0}")]
    Connection(String),
}

/// Awaits `call` for at most `limit`.
pub async fn ask<T>(limit: Duration, call: impl Future<Output = kube::Result<T>>) -> Answer<T> {
    match tokio::time::timeout(limit, call).await {
        Ok(answer) => answer.map_err(classify),
        Err(_) => Err(Failure::Unknown(Lost::TimedOut(limit))),
    }
}

pub(crate) fn classify(error: kube::Error) -> Failure {
    match error {
        // 408 is a proxy's, given up half-way; every other 4xx, 429 included, is a decision not to do it.
        kube::Error::Api(status) if (400..500).contains(&status.code) && status.code != 408 => {
            Failure::Refused(status)
        }
        kube::Error::Api(status) => {
            Failure::Unknown(Lost::Server { code: status.code, message: said(&status) })
        }
        // It never left the process.
        error @ kube::Error::BuildRequest(_) => {
            Failure::Refused(Status::failure(&error.to_string(), "BadRequest").with_code(400).boxed())
        }
        error => Failure::Unknown(Lost::Connection(error.to_string())),
    }
}

/// What the API server said, in one line.
pub fn said(status: &Status) -> String {
    if status.message.is_empty() {
        format!("status {} {}", status.code, status.reason)
    } else {
        status.message.clone()
    }
}

/// The kind of outcome, for metrics: few values, never a message.
pub fn result<T>(answer: &Answer<T>) -> &'static str {
    match answer {
        Ok(_) => "done",
        Err(Failure::Refused(status)) => match status.code {
            403 => "forbidden",
            404 => "not_found",
            409 => "conflict",
            422 => "invalid",
            429 => "too_many_requests",
            _ => "refused",
        },
        Err(Failure::Unknown(Lost::TimedOut(_))) => "timeout",
        Err(Failure::Unknown(Lost::Server { .. })) => "server_error",
        Err(Failure::Unknown(Lost::Connection(_))) => "connection_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result_of(code: u16) -> &'static str {
        let error = kube::Error::Api(Status::failure("no", "").with_code(code).boxed());
        result::<()>(&Err(classify(error)))
    }

    #[test]
    fn a_refusal_is_final_and_a_failure_is_not() {
        for (code, expected) in [
            (403, "forbidden"),
            (404, "not_found"),
            (409, "conflict"),
            (422, "invalid"),
            (429, "too_many_requests"),
            (400, "refused"),
            (408, "server_error"),
            (500, "server_error"),
            (503, "server_error"),
            (504, "server_error"),
        ] {
            assert_eq!(result_of(code), expected, "{code}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_an_unknown_outcome() {
        let limit = Duration::from_secs(5);
        let answer: Answer<()> = ask(limit, std::future::pending()).await;
        assert!(matches!(answer, Err(Failure::Unknown(Lost::TimedOut(after))) if after == limit));
    }
}
