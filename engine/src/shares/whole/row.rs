//! Rows: an amount of every governed resource, without their names.

/// An amount of every governed resource, in their order.
pub(super) type Row = Vec<i128>;

pub(super) fn value(row: &Row, resource: usize) -> i128 {
    row.get(resource).copied().unwrap_or(0)
}

pub(super) fn add(row: &mut Row, resource: usize, amount: i128) {
    if let Some(entry) = row.get_mut(resource) {
        *entry = entry.saturating_add(amount);
    }
}
