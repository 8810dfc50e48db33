//! Why: one vocabulary for events, conditions, labels of metrics, explanations and the reference page.
//!
//! Each reason stands in one table with what is said of it. Its documentation is its row of `docs/reference/reasons.md`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An enum of reasons. Of each: its meaning, the end of a sentence after "because" where one is written, and what ends it or
/// what to do.
macro_rules! reasons {
    (
        $(#[$about:meta])*
        $name:ident {
            $($(#[doc = $meaning:literal])+ $reason:ident: $because:literal, $remedy:literal;)+
        }
    ) => {
        reasons! {
            $(#[$about])*
            $name {
                $($(#[doc = $meaning])+ $reason: $remedy;)+
            }
        }

        impl $name {
            /// What stands in the way, in general: the end of a sentence after "because".
            pub const fn because(self) -> &'static str {
                match self {
                    $(Self::$reason => $because,)+
                }
            }
        }
    };
    (
        $(#[$about:meta])*
        $name:ident {
            $($(#[doc = $meaning:literal])+ $reason:ident: $remedy:literal;)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[doc = $meaning])+ $reason,)+
        }

        impl $name {
            /// Every reason, in order.
            pub const ALL: &[Self] = &[$(Self::$reason),+];

            /// The stable CamelCase name used in conditions, events, labels and JSON.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => stringify!($reason),)+
                }
            }

            /// What it means, in whole sentences.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$reason => concat!($($meaning),+).trim_ascii_start(),)+
                }
            }

            /// What happens next, or what you can do, as a sentence.
            pub const fn remedy(self) -> &'static str {
                match self {
                    $(Self::$reason => $remedy,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.name())
            }
        }
    };
}

reasons! {
    /// Why a pod is evicted.
    EvictionReason {
        /// Its queue used more than its deserved share in whole pods, and another queue was starved.
        Reclaimed: "The quota of its queue keeps the pod from coming back until the deserved share rises.";
        /// Its queue or a parent queue used more than its limit, and no other queue needed this room.
        Overcommitted: "The pod starts again when other pods below the limit finish, or when you raise the limit.";
        /// A pod within the guaranteed amounts of its queue needed this node.
        MovedAside: "The queue of the evicted pod keeps its quota, so the pod can start again on another node.";
        /// The pod was terminating with a longer grace than `eviction.maxGraceSeconds` of its queue, and another queue was
        /// starved.
        GraceShortened: "The pod gets the cap, counted from the first request to delete it.";
        /// The pod was terminating, and `eviction.forceAfterSeconds` had passed since its deadline.
        ForceDeleted: "The pod gets no more grace. A pod with a finalizer stays until you remove the finalizer.";
    }
}

reasons! {
    /// Why a queue is starved, or a pod of it cannot start.
    ShortReason {
        /// Pods of other queues use the share, and their eviction has begun.
        WaitingForPreemption: "terminating pods use the room",
            "The quota rises as these pods end.";
        /// Quotient lowered the quota of another queue, and the API server does not enforce it yet. Until then Quotient evicts no
        /// pod.
        WaitingForQuota: "the lowered quota of another queue is not enforced yet",
            "kube-controller-manager enforces it within moments, and then pods of that queue are evicted.";
        /// The record of grants was lost, or another replica wrote it. Until every quota agrees with it, no quota rises.
        WaitingForLedger: "the record of grants was lost or another replica wrote it",
            "Quotas rise again once all of them agree with the record, within moments or ten minutes.";
        /// Queues outside the preemption fence of the queue use the share (`reclaim.from: Subtree`).
        Fenced: "queues outside the preemption fence use the room",
            "The quota rises as pods outside the fence finish.";
        /// No pod that may be evicted uses the share.
        NothingToEvict: "no pod that uses the room may be evicted",
            "The quota rises as these pods finish.";
        /// Without the pods that use the share, their queues or parent queues would fall below their guaranteed amounts of a
        /// resource that is reclaimed or contested.
        Guarantee: "the queues that use the room would fall below their guaranteed amounts",
            "The quota rises as their pods finish.";
        /// Disruption budgets protect the pods that use the share, or the API server refuses their eviction.
        Blocked: "the pods that use the room may not be evicted now",
            "The quota rises when their budgets allow more. kubectl delete pod asks no budget.";
        /// All pods that still use the share have been terminating for longer than their grace period.
        StuckTerminating: "terminating pods that use the room are past their deadline",
            "Remove their finalizers or lost nodes, or set eviction.forceAfterSeconds of their Queue.";
        /// A mode below `Full` or a pause withholds the evictions: of the queue itself, of the queue that uses the share, of a
        /// parent queue, or of the operator. The message names it.
        EvictionsDisabled: "a mode or a pause withholds the evictions",
            "No pod is evicted for it. The quota rises as pods of other queues finish.";
        /// The queue has not been starved for `reclaim.afterSeconds` yet.
        Delayed: "reclaim.afterSeconds of the queue have not passed yet",
            "Then Quotient evicts pods of other queues.";
        /// Much of the capacity vanished at one stroke. Quotient shrinks and evicts nothing until that is certain.
        CapacityUntrusted: "much of the capacity of the nodes vanished at once",
            "Quotient waits for the capacity, or for a second full list and --capacity-grace-seconds.";
        /// kube-controller-manager has enforced no quota since the operator started, or for 30 s although one waits. Quotient
        /// evicts no pod whose quota has to keep its place free.
        QuotaControllerSilent: "kube-controller-manager has not enforced any quota lately",
            "Quotient evicts as soon as one quota takes effect. Check kube-controller-manager and its resource quotas.";
        /// Quotient has heard nothing of some kind of object for too long. It shrinks and evicts nothing because of an old view.
        ViewStale: "the API server has sent nothing for too long",
            "Quotient goes on as soon as the API server has sent every kind of object.";
        /// One pod, or what a gang lacks, requests more than the deserved share and the nominal share of its queue.
        UnitAboveShare: "one pod, or the minimum of a gang, requests more than the deserved share",
            "Request less in one pod, lower the minimum of the gang, or raise weight or guaranteed of the queue.";
        /// A Deployment keeps all of its older pods until a new pod is available, and these pods hold the room that the new pod
        /// needs.
        RolloutNeedsRoom: "the older pods of the rollout use the room that a new pod needs",
            "Set maxUnavailable to at least 1, or raise the share or limit of the queue.";
        /// Other pods of the queue use all that the queue may use now.
        ShareInUse: "other pods of the queue use all of the share",
            "They start as other pods finish, or as the deserved share rises.";
        /// The pod would exceed the limit of its queue or of a parent queue.
        AboveLimit: "the limit of the queue or of a parent queue is reached",
            "They start as pods below that limit finish, or when you raise the limit.";
        /// Another ResourceQuota of the namespace leaves no room.
        ForeignQuota: "another ResourceQuota of the namespace leaves no room",
            "They start as pods of the namespace finish, or when you raise that quota.";
        /// The queue has room, but no single node that suits the pod has enough.
        Fragmented: "the queue has room, but no single node that suits has enough of it",
            "They start as pods of one node finish, or on a new node.";
        /// No node could run the pod even if the node were empty.
        NoNodeFits: "no node could run one even if the node were empty",
            "Correct node selector, affinity, tolerations or size, or add such a node.";
        /// The pods of the queue have more sizes and placements than one plan looks for on all nodes. They take free room, and no
        /// pod is evicted for the rest.
        PlanLimit: "one plan looks at only so many nodes for the sizes of a queue",
            "They start where a node has room. Give the pods of the queue fewer sizes and placements.";
        /// No node has room, and Quotient gives the autoscaler time to add one.
        WaitingForNodes: "no node has room, and the autoscaler may add one",
            "If no node comes within 10 minutes, Quotient evicts pods of other queues.";
        /// The queue has room, and the pod has not used it yet.
        RoomAvailable: "their controller has not created them yet, or the scheduler has not placed them",
            "The queue has room. If something else stops them, the events of the workload or pod name it.";
        /// The API server rejects the pods, whatever room there is: the message quotes it, or names the requests that the
        /// template lacks. The way out: a correct template, the missing `ServiceAccount`, or `defaultRequests` of the Queue.
        PodsRejected: "the API server rejects them",
            "Correct the template, or the rule that rejects them.";
        /// The queue has had room for 60 s, and the pods do not exist. The events of the workload say why; the message has
        /// the command.
        PodsNotCreated: "their controller has not created them for 60 s",
            "The queue has room: look for a missing ServiceAccount, a webhook or a controller that waits.";
        /// The workload had room and did not start. Its pods that never started do not count as demand for 1, 2, 4, … 30
        /// minutes; the message has the end. The evidence: a pod was unschedulable for 60 s although no pod of another queue
        /// held its room. Or its failure was reported for 60 s, or it was not Ready or not created for 5 minutes.
        SetAside: "they had room, did not start and are set aside",
            "They count again then, or when the spec changes, a node joins or a node has room; see the events.";
        /// There is evidence against the workload, or a workload of its queue was set aside within the last hour. One pod that it
        /// lacks counts at a time, and one more for every pod that is Ready, until an hour passes without evidence.
        OneAtATime: "pods of the queue did not start lately, and one pod of the workload starts first",
            "Every pod that becomes Ready lets one more start; see the events of the workload.";
        /// Only a part of the gang exists, and the pods of another gang that exists in part use the room for the rest. The
        /// message names both with their numbers. After 60 s without a new pod of the two, Quotient lowers the younger Job to 0
        /// where it may.
        GangIncomplete: "another gang that exists in part uses the room for the rest of this one",
            "Quotient lowers one of the two to 0 if it may; else delete or suspend one.";
        /// Quotient lowered the size of the workload, because other pods of the queue needed the room. The message has both
        /// sizes.
        GaveWay: "Quotient lowered the size of the workload for other pods of the queue",
            "In mode Full, Quotient restores the size when the queue and a node have room.";
    }
}

reasons! {
    /// Why a pod is kept although its queue has to shrink.
    KeptReason {
        /// A disruption budget allows no further disruption.
        Budget: "a disruption budget allows no more",
            "The budget allows one again.";
        /// The API server refused its eviction a short while ago.
        EvictionRefused: "the API server refused its eviction a moment ago",
            "Quotient asks again after 10, 20, 40 and then every 60 s.";
        /// Without the pod, its queue or a parent queue would fall below its guaranteed amount of a resource that is reclaimed or
        /// contested.
        Guarantee: "without it a queue would be below what is guaranteed to it",
            "The queue uses more than its guaranteed amount again.";
        /// Its queue or a parent queue has `eviction.policy: Never`.
        PolicyDisabled: "its queue, or one above, has eviction.policy Never",
            "The policy of that queue.";
        /// The pod mirrors a static pod, which its kubelet would start again.
        MirrorPod: "its kubelet would only start it again",
            "Nothing.";
        /// The pod runs a virtual machine of `KubeVirt`, which would move to another node instead of ending.
        VirtualMachine: "its virtual machine would only move to another node",
            "Stop the virtual machine.";
        /// Its node does not count as capacity, so no queue could use what the pod leaves.
        NodeNotCounted: "its node does not count, so its room would leave with it",
            "The node becomes Ready and schedulable.";
        /// The pod is the last replica of its workload, and `eviction.lastReplica` is `Never`. Inside a queue the last replica
        /// stays in any case.
        LastReplica: "it is the last replica of its owner, and its queue says Never",
            "A second replica runs, or eviction.lastReplica changes.";
        /// Its gang needs the pod, and `eviction.gangs` is `Never`.
        GangFloor: "its gang needs it, and its queue does not give gangs",
            "More members of the gang run, or eviction.gangs changes.";
        /// Its priority is above that of the pending pod, and `--victim-priority` is `NotAboveAsk`.
        PriorityAboveAsk: "its priority is above that of the pod that needs room",
            "The setting, or the priorities.";
        /// A `HorizontalPodAutoscaler` sets the size of its workload.
        Autoscaled: "an autoscaler says how many pods its owner wants",
            "Delete the autoscaler.";
        /// Its workload has the annotation `quotient.dev/within-queue: Never`.
        OptedOut: "its owner says quotient.dev/within-queue: Never",
            "Remove the annotation.";
        /// Another writer changed the size after Quotient had lowered it.
        SizeSetByAnother: "another writer changed the size of its workload after it was scaled down",
            "Remove quotient.dev/replicas-before and quotient.dev/replicas-lowered-to to let Quotient change it again.";
        /// Its Deployment is between two templates.
        RollingOut: "its Deployment is between two templates",
            "The rollout ends.";
        /// No object is known whose size would remove this pod: a bare pod, or a workload that another controller scales.
        NotScalable: "no workload is known that could be scaled down",
            "Give the pod an owner with a size.";
    }
}

reasons! {
    /// Why the size of a workload changes.
    ScalingReason {
        /// Quotient lowered the size, because pods of a higher priority in its queue lacked room.
        Outranked: "Quotient restores the size when the queue and a node have room.";
        /// Quotient raised the size again, because there is room.
        Restored: "Its pods start.";
        /// Quotient lowered the parallelism of a Job to 0, because its gang and another one exist in part.
        GangIncomplete: "Quotient restores the parallelism when the queue has room for the whole gang.";
    }
}

reasons! {
    /// Why a Queue has no share.
    StallReason {
        /// An older Queue governs the namespace.
        NamespaceTaken: "Delete one of the two.";
        /// Kueue manages pods of the namespace.
        ManagedByKueue: "Delete this Queue, or take the namespace out of Kueue.";
        /// The spec cannot be understood.
        InvalidSpec: "Correct the field that the message names.";
        /// Of some resource more is guaranteed than the limit allows.
        GuaranteedAboveLimit: "Lower guaranteed or raise limit.";
        /// `parentRef` names a Queue that does not exist.
        ParentNotFound: "Create it, or correct parentRef.";
        /// The parent queue does not accept this namespace.
        ParentNotAccepting: "Change children.namespaces of the parent queue.";
        /// Following `parentRef` leads back to this Queue.
        ParentCycle: "Break the circle at one of its Queues.";
        /// A parent queue has no share itself.
        ParentStalled: "Repair that Queue.";
    }
}
