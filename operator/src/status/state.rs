//! The state of a queue in one word, for the column of `kubectl get`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::{ConditionType, condition, status_text};
use quotient_engine::plan::Reach;
use quotient_engine::snapshot::Mode;

/// The conditions that a person has to correct, most severe first, each with whether it holds then.
const BROKEN: [(ConditionType, bool); 2] = [(ConditionType::Stalled, true), (ConditionType::Ready, false)];

/// The conditions that are worth the column as well.
const UNUSUAL: [(ConditionType, bool); 2] =
    [(ConditionType::GuaranteeUnmeetable, true), (ConditionType::Starved, true)];

/// The reason of the most severe condition; if all are normal, the mode below Full, `Borrowing` or `OK`.
///
/// `Paused` and `Observe` come before the conditions that they explain.
pub(super) fn state(conditions: &[Condition], reach: &Reach, borrows: bool) -> String {
    let first = |of: [(ConditionType, bool); 2]| {
        let mut found = of.into_iter().filter_map(|(wanted, holds)| {
            condition(conditions, wanted.as_str()).filter(|found| found.status == status_text(holds))
        });
        found.next().map(|found| found.reason.clone())
    };
    let restrained = || match reach.mode {
        _ if reach.pause.is_some() => Some("Paused".to_owned()),
        Mode::Observe => Some(reach.mode.to_string()),
        Mode::Quota | Mode::Full => None,
    };
    let usual = || match reach.mode {
        Mode::Observe | Mode::Quota => reach.mode.to_string(),
        Mode::Full if borrows => "Borrowing".to_owned(),
        Mode::Full => "OK".to_owned(),
    };
    first(BROKEN).or_else(restrained).or_else(|| first(UNUSUAL)).unwrap_or_else(usual)
}
