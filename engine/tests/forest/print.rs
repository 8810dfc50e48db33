//! Forests as a few lines, so that a counterexample can be read.

use std::fmt::{Debug, Formatter, Result};

use quotient_engine::amounts::Bounds;

use super::{Branch, Forest};

impl Debug for Forest {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        writeln!(formatter, "capacity {}", self.capacity)?;
        self.roots.iter().try_for_each(|root| root.print(1, formatter))
    }
}

impl Debug for Branch {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        self.print(0, formatter)
    }
}

impl Branch {
    fn print(&self, depth: usize, formatter: &mut Formatter<'_>) -> Result {
        let kind = if self.is_parent() { "parent" } else { "leaf" };
        write!(
            formatter,
            "{:width$}{kind} {} weight={}",
            "",
            self.name,
            self.queue.weight,
            width = 2 * depth
        )?;
        if !self.is_parent() {
            stated(" request", &self.queue.request, formatter)?;
        }
        stated(" guaranteed", &self.queue.guaranteed, formatter)?;
        stated(" limit", &self.queue.limit, formatter)?;
        writeln!(formatter)?;
        self.children.iter().try_for_each(|child| child.print(depth + 1, formatter))
    }
}

fn stated(what: &str, bounds: &Bounds, formatter: &mut Formatter<'_>) -> Result {
    if bounds.is_empty() && !what.ends_with("request") {
        return Ok(());
    }
    let parts: Vec<String> =
        bounds.iter().map(|(resource, amount)| format!("{resource}:{}", resource.format(amount))).collect();
    write!(formatter, "{what}={}", parts.join(","))
}
