//! Sentences that readers had to read twice, and that no page has any more.

use super::{pages, text};

/// The thirty worst sentences of the pages of the first edition (commit ac7e7df), or the part of each that made it hard to read.
const WORST: [&str; 30] = [
    "Where a queue's share holds an odd end that its next pod does not fit in, and another queue could run one more pod with it, the end goes there",
    "to whoever is lowest *after* receiving it; with more capacity nobody ever gets less.",
    "What it gets it divides among its children by the same rules.",
    "It is allocated, uses and preempts what its children do together.",
    "What is never taken is part of its queue's share before anything else is divided, so that nobody is promised it.",
    "among equal numbers the set that frees the least too much.",
    "Where the minimum stands in an object of its own, that is read, if the API serves it",
    "Who needs a new right adds it in four places, each of which complains without the others:",
    "What it promises all the same is written down once, in the crate `judge`, and checked in three places:",
    "where none does (a webhook that restarts, rights that are being changed), only once it was refused again a second later.",
    "What such pods hold on nodes is not shared out, as in every namespace without a Queue.",
    "Nobody is evicted because of a quota that was lowered or deleted by hand.",
    "What contradicts itself is refused with a sentence, before anything is changed.",
    "Nobody counts them anew before a pod of the namespace goes or, by default, five minutes have passed",
    "What a quota says or still enforces, whichever is more, counts as granted, and the new generation is far above every stamp that is seen",
    "So nothing grows until every quota of ours bears a new stamp and is in force",
    "those that were not taken apart stay first, then those of higher priority, then the older ones; who does not fit gives everything up.",
    "So nobody starves behind pods that a gang could do without, and nobody ever loses what it needs.",
    "As long as a lowered quota is not seen in its status, nobody is evicted from there, so that nothing comes back through an open door.",
    "Nobody else gets their room, and their own team may start no pod in their place.",
    "Of a pod only what decides is decoded",
    "What rests in memory is mostly what decoding a page has left behind, so smaller pages are the default now",
    "What a manifest leaves out is completed as the API server would;",
    "Of Jobs nobody knows how many there should be, so only a plain `minAvailable` allows anything; bare pods count as healthy and are never expected.",
    "What does not suit a cluster is changed by the alert's name",
    "Nobody goes for a pod that would still not fit, and nobody goes who turns out not to be needed.",
    "Where a controller would remove others before the right one, these go too and are counted.",
    "What an operator cannot make faster, because somebody else's clock decides:",
    "Where it is missing, operators may go round as long as a watch never catches up, and only as long.",
    "on loopback, or over TLS to whom the API server vouches for, `/metrics`.",
];

/// Every page as one line.
fn lines() -> Vec<(String, String)> {
    let line = |page: std::path::PathBuf| {
        (page.display().to_string(), text(&page).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    pages().into_iter().map(line).collect()
}

#[test]
fn the_thirty_worst_sentences_are_gone() {
    for (page, content) in lines() {
        for sentence in WORST {
            assert!(!content.contains(sentence), "{page}: {sentence}");
        }
    }
}
