//! How fast Quotient is and what it costs, seen from outside: from the API server and from the kernel.

pub mod hostile;
pub mod scale;
pub mod speed;

mod cost;
mod machine;
mod page;
mod process_numbers;
mod table;

pub use cost::{Cost, Meter};
pub use machine::Machine;
pub use page::{measured_by, write};
pub use process_numbers::{ProcessNumbers, ResidentMemory};
pub use table::Table;
