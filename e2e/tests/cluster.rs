//! Scenarios on a real control plane, each test with one of its own. Scenes that need the same cluster follow each other in one
//! test: a control plane costs more than most scenes.
//!
//! One program for all of them: it is linked once, and a scenario that waits leaves the machine to another. `at_pace.rs`
//! measures and runs alone. A new file is named here.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

mod bad_days;
mod bad_input;
mod by_hand;
mod chart;
mod cli;
mod configured_kinds;
mod creators;
mod crowds;
mod default_requests;
mod everyday;
mod eviction_webhooks;
mod examples;
mod gate;
mod gate_gangs;
mod gate_transitions;
mod guards;
mod helm;
mod howto;
mod image;
mod incomplete_gangs;
mod intra_queue;
mod kubectl;
mod leaving;
mod ledger;
mod miscounts;
mod no_immunity;
mod observation;
mod pauses;
mod pending_pods;
mod pod_groups;
mod preemption;
mod prometheus;
mod queue_job_kubectl;
mod queue_jobs;
mod quota_controller;
mod reader;
mod readme;
mod reclaims;
mod rejected_pods;
mod release;
mod rights;
mod runbooks;
mod samples;
mod share_verb;
mod stolen_token;
mod tenants;
mod tutorial;
mod two_quotas;
mod undecodable;
mod upgrade;
