//! One fault, of requests or of events.

/// One fault on the line of one operator: of its requests, or of the events of its watches.
#[derive(Clone, Debug)]
pub struct CountedFault<On, Then> {
    /// Which requests or events it hits.
    pub on: On,
    /// How many of these it lets through before.
    pub skip: u32,
    /// How many of the following it hits.
    pub times: u32,
    /// What becomes of them.
    pub what: Then,
}

impl<On, Then> CountedFault<On, Then> {
    /// Hits the first that `on` describes.
    pub const fn on(on: On, what: Then) -> Self {
        Self { on, skip: 0, times: 1, what }
    }

    /// Hits so many of them.
    pub fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    /// Lets so many through before.
    pub fn skip(self, skip: u32) -> Self {
        Self { skip, ..self }
    }

    /// Whether the next one is hit, if it `is_meant`. Counts it if it is.
    pub(super) fn counts(&mut self, is_meant: bool) -> bool {
        if self.times == 0 || !is_meant {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.times -= 1;
        true
    }
}
