//! Sums of what many pods request.

use std::sync::Arc;

use crate::amounts::Amounts;
use crate::snapshot::Shape;

/// A sum of requests, added up one shape after the other: most pods stand beside others of theirs.
#[derive(Debug, Default)]
pub(super) struct Sum<'a> {
    before: Amounts,
    shape: Option<(&'a Arc<Shape>, u32)>,
}

impl<'a> Sum<'a> {
    pub(super) fn add(&mut self, shape: &'a Arc<Shape>) {
        match &mut self.shape {
            Some((same, pods)) if Arc::ptr_eq(same, shape) && *pods < u32::MAX => {
                *pods = pods.saturating_add(1);
            }
            _ => {
                self.close();
                self.shape = Some((shape, 1));
            }
        }
    }

    fn close(&mut self) {
        if let Some((shape, pods)) = self.shape.take() {
            self.before.add_all(&shape.requests.times(pods));
        }
    }

    pub(super) fn all(mut self) -> Amounts {
        self.close();
        self.before
    }
}
