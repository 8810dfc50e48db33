//! The signs that are not letters, and what stands for them in plain ASCII.

/// The signs of one terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glyphs {
    pub(crate) good: &'static str,
    pub(crate) bad: &'static str,
    pub(crate) warning: &'static str,
    pub(crate) next: &'static str,
    pub(crate) dot: &'static str,
    pub(crate) arrow: &'static str,
    pub(crate) full: &'static str,
    pub(crate) above: &'static str,
    pub(crate) below: &'static str,
}

impl Glyphs {
    /// Those of a terminal that shows only ASCII, or of any other.
    pub(crate) const fn of(ascii: bool) -> Self {
        if ascii {
            Self {
                good: "ok",
                bad: "X",
                warning: "!",
                next: ">",
                dot: "-",
                arrow: "->",
                full: "#",
                above: "+",
                below: ".",
            }
        } else {
            Self {
                good: "√",
                bad: "×",
                warning: "‼",
                next: "›",
                dot: "·",
                arrow: "→",
                full: "█",
                above: "▓",
                below: "░",
            }
        }
    }
}
