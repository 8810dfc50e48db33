//! The state of a queue in one word, for the column of `kubectl get`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::{ConditionStatus, ConditionType, condition};

/// The conditions that are worth the column, most severe first, each with the status that is not normal.
const SEVERITY: [(ConditionType, ConditionStatus); 4] = [
    (ConditionType::Stalled, ConditionStatus::True),
    (ConditionType::Ready, ConditionStatus::False),
    (ConditionType::GuaranteeUnmeetable, ConditionStatus::True),
    (ConditionType::Starved, ConditionStatus::True),
];

/// The reason of the most severe condition. If all are normal, `Borrowing` or `OK`.
pub(super) fn state(conditions: &[Condition], borrows: bool) -> String {
    let found = SEVERITY.into_iter().find_map(|(wanted, status)| {
        condition(conditions, wanted).filter(|found| found.status == status.as_str())
    });
    match found {
        Some(found) => found.reason.clone(),
        None if borrows => "Borrowing".to_owned(),
        None => "OK".to_owned(),
    }
}
