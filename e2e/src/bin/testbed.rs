//! testbed
fn main() {}
