//! Sums of what many pods request.

use std::sync::Arc;

use crate::amounts::Amounts;
use crate::snapshot::Shape;

/// Pods of one shape that were met one after the other, to be added to a sum together: most pods stand beside others of
/// theirs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alike<'a>(Option<(&'a Arc<Shape>, u32)>);

impl<'a> Alike<'a> {
    /// One more pod; those before it are added to `sum` where they have another shape.
    pub(super) fn add(&mut self, shape: &'a Arc<Shape>, sum: &mut Amounts) {
        match &mut self.0 {
            Some((same, pods)) if Arc::ptr_eq(same, shape) && *pods < u32::MAX => {
                *pods = pods.saturating_add(1);
            }
            _ => {
                self.close(sum);
                self.0 = Some((shape, 1));
            }
        }
    }

    /// Adds those that were met last to `sum`.
    pub(super) fn close(&mut self, sum: &mut Amounts) {
        if let Some((shape, pods)) = self.0.take() {
            shape.requests.iter().for_each(|(one, amount)| sum.add(one, amount.times(pods)));
        }
    }
}
