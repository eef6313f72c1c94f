//! Scenario.
