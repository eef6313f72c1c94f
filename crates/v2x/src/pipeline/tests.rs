use super::*;
use crate::crypto::HashValue;

fn moment(ns: u64) -> Moment {
    Moment { ns, time: Time64(722_000_000_000_000) }
}

fn lanes(wait_max_ns: u64) -> PipelineConfig {
    PipelineConfig { wait_max_ns, ..PipelineConfig::default() }
}

#[test]
fn a_message_waits_for_a_batch_until_its_deadline_and_an_emergency_for_nothing() {
    if Engine::fastest() != Engine::Lanes {
        return println!("skipped: this processor has no lanes");
    }
    let mut pipeline = Pipeline::new(lanes(200));
    assert_eq!(pipeline.due_at_ns(), None);
    pipeline.receive(&b"first"[..], Class::Far, moment(1_000));
    pipeline.receive(&b"second"[..], Class::Near, moment(1_100));
    assert_eq!(pipeline.due_at_ns(), Some(1_200));
    assert!(!pipeline.is_due(1_199) && pipeline.is_due(1_200));
    pipeline.receive(&b"brake"[..], Class::Emergency, moment(1_150));
    assert!(pipeline.is_due(1_150));
    let mut pipeline = Pipeline::new(lanes(u64::MAX));
    for number in 0..MESSAGES_MAX {
        assert!(!pipeline.is_due(10), "{number}");
        pipeline.receive(&b"one of many"[..], Class::Far, moment(10));
    }
    assert!(pipeline.is_due(10));
}

#[test]
fn too_many_push_out_the_oldest_of_the_least_relevant_and_each_is_in_the_audit() {
    let config = PipelineConfig { queue_len_max: 4, ..lanes(0) };
    let mut pipeline = Pipeline::new(config);
    let names = ["far 1", "near 1", "far 2", "brake 1"];
    for (name, class) in names.into_iter().zip([Class::Far, Class::Near, Class::Far, Class::Emergency]) {
        assert!(pipeline.receive(name.as_bytes(), class, moment(0)).is_none());
    }
    let mut dropped = |name: &'static str, class| {
        let (message, class) = pipeline.receive(name.as_bytes(), class, moment(0)).unwrap();
        (std::str::from_utf8(message).unwrap(), class)
    };
    assert_eq!(dropped("near 2", Class::Near), ("far 1", Class::Far));
    assert_eq!(dropped("brake 2", Class::Emergency), ("far 2", Class::Far));
    assert_eq!(dropped("far 3", Class::Far), ("far 3", Class::Far));
    assert_eq!(dropped("brake 3", Class::Emergency), ("near 1", Class::Near));
    assert_eq!(dropped("brake 4", Class::Emergency), ("near 2", Class::Near));
    assert_eq!(dropped("brake 5", Class::Emergency), ("brake 1", Class::Emergency));
    let audit = pipeline.audit();
    assert_eq!((audit.total(), audit.count(SkipReason::Overload)), (6, 6));
    let first = HashValue::sha256(b"far 1").hashed_id8();
    assert_eq!(audit.last().next().unwrap().message, first);
    assert_eq!(pipeline.len(), 4);
}
