//! The names of conditions and of their states.

use std::fmt;

/// Defines the names of the conditions of one kind of object, in the order in which they are shown.
macro_rules! condition_names {
    ($(#[$about:meta])* $name:ident { $($(#[$about_one:meta])* $condition:ident,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$about_one])* $condition,)+
        }

        impl $name {
            /// Every condition, in the order they are shown.
            pub const ALL: [Self; [$(stringify!($condition)),+].len()] = [$(Self::$condition),+];

            /// The text in a condition's `type`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$condition => stringify!($condition),)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}

condition_names! {
    /// The conditions that a Queue reports.
    ///
    /// Each is written as True or False and never removed, so that `kubectl wait --for=condition=Starved=False`
    /// works. They are ordered as they are shown: the summary first.
    ConditionType {
        /// The spec is understood and the quota is in sync. It stays True while the queue is starved or preempting:
        /// fairness is not readiness.
        Ready,
        /// The quota in the namespace has the amounts that were allocated, and the API server enforces them.
        QuotaSynced,
        /// The deserved share is above the allocated quota, or pods of the queue cannot use it. The reason says what stands in
        /// the way: `WaitingForPreemption`, `Fenced`, `Budget`, `EvictionRefused`, …
        Starved,
        /// The queue's pods hold more than it deserves or than its quota allows.
        Overused,
        /// What is guaranteed to the queue is more than the cluster, or the limit of a parent queue, allows.
        GuaranteeUnmeetable,
        /// The queue has no share until a person changes something: its spec, its namespace's other Queue, or a parent
        /// that is not found, does not accept it, is in a circle or has no share itself (`ParentNotFound`,
        /// `ParentNotAccepting`, `ParentCycle`, `ParentStalled`). Deployment tools such as Flux read it as failed.
        Stalled,
    }
}

condition_names! {
    /// The conditions that a QueueJob reports.
    ///
    /// Each is written as True or False and never removed, so that `kubectl wait --for=condition=Complete` works. They are
    /// ordered as they are shown.
    QueueJobCondition {
        /// It has the slots that its gang needs.
        Admitted,
        /// As many of its pods run or have succeeded as the gang needs.
        GangReady,
        /// It has lost slots to others.
        Preempted,
        /// It asks for no slots, because its spec says so.
        Suspended,
        /// All its pods have succeeded.
        Complete,
        /// One of its tasks has failed.
        Failed,
    }
}
