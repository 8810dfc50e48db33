//! Which requests fare badly, and how.

use std::time::Duration;

use super::Call;

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is passed on so much later.
    Delay(Duration),
    /// It is answered with this code and never passed on.
    Refuse {
        /// The HTTP status.
        code: u16,
        /// The seconds in `Retry-After`.
        retry_after: Option<u32>,
    },
    /// The connection ends; the API server never saw the request.
    CutBefore,
    /// The connection ends; the API server has carried the request out.
    CutAfter,
    /// It is never answered, and the API server never saw it. [`Proxy::held`](super::Proxy::held) tells.
    HoldBefore,
    /// It is never answered; the API server has carried it out. [`Proxy::held`](super::Proxy::held) tells.
    HoldAfter,
}

/// Which requests a fault strikes: of those that it is about, every `every`th, and after `skip` at most `times`.
pub struct Rule {
    about: Box<dyn Fn(&Call) -> bool + Send>,
    fault: Fault,
    skip: u64,
    every: u64,
    times: u64,
    seen: u64,
}

impl Rule {
    /// `fault` for every request that `about` holds for.
    pub fn new(about: impl Fn(&Call) -> bool + Send + 'static, fault: Fault) -> Self {
        Self { about: Box::new(about), fault, skip: 0, every: 1, times: u64::MAX, seen: 0 }
    }

    /// Spares the first `count`.
    pub fn after(self, count: u64) -> Self {
        Self { skip: count, ..self }
    }

    /// Strikes only every `nth`.
    pub fn every(self, nth: u64) -> Self {
        Self { every: nth.max(1), ..self }
    }

    /// Strikes at most so many.
    pub fn times(self, count: u64) -> Self {
        Self { times: count, ..self }
    }

    /// Whether it strikes this request, which it counts.
    pub(super) fn strikes(&mut self, call: &Call) -> Option<Fault> {
        if !(self.about)(call) {
            return None;
        }
        self.seen = self.seen.saturating_add(1);
        let counted = self.seen.checked_sub(self.skip)?;
        if counted == 0 || !counted.is_multiple_of(self.every) || self.times == 0 {
            return None;
        }
        self.times = self.times.saturating_sub(1);
        Some(self.fault.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    #[test]
    fn a_rule_counts_what_it_is_about() {
        let call = |method: Method| Call { method, path: "/api".to_owned(), is_watch: false };
        let mut rule = Rule::new(Call::is_write, Fault::CutBefore).after(1).every(2).times(2);
        let mut strikes = |method| rule.strikes(&call(method)).is_some();
        let post: Vec<bool> = (0..8).map(|_| strikes(Method::POST)).collect();
        assert_eq!(post, [false, false, true, false, true, false, false, false]);
        assert!(!strikes(Method::GET));
    }
}
