//! Executions in which faults show that are too long for searches by default.

use commute::testkit::{OpBased, Outcome, StateBased, Subject};

use super::edit::Op;
use super::{CHOSEN, Fault, Kernel, TURN};
use crate::faults::founder;

/// Two replicas with this fault.
fn two(fault: Fault) -> [Kernel; 2] {
    let _turn = TURN.lock().unwrap();
    *CHOSEN.lock().unwrap() = fault;
    [1, 2].map(|n| Kernel::new(founder(n)))
}

fn act(at: &mut Kernel, ops: &[Op]) {
    for op in ops {
        assert_eq!(at.perform(op), Outcome::Done, "{op:?}");
    }
}

/// Each takes in what the other one had before.
fn cross(a: &mut Kernel, b: &mut Kernel) {
    let before = a.duplicate();
    a.merge(b).unwrap();
    b.merge(&before).unwrap();
}

/// A increments twice. B removes the key having seen the first, sees the second and says so; A
/// hears that, folds, and only then gets the removal. The sum at A.
fn fold_before_a_removal(fault: Fault) -> u64 {
    let [mut a, mut b] = two(fault);
    let makes = |at: &mut Kernel, op: Op| at.produce(&op).1.remove(0);
    let first = makes(&mut a, Op::Inc);
    let second = makes(&mut a, Op::Inc);
    b.receive(&first).unwrap();
    let removal = makes(&mut b, Op::RemoveKey);
    b.receive(&second).unwrap();
    let ack = makes(&mut b, Op::Ack);
    a.receive(&ack).unwrap();
    a.perform(&Op::Collect);
    a.receive(&removal).unwrap();
    a.view().sum
}

#[test]
fn h14_a_cut_needs_the_own_updates_of_who_acknowledges() {
    assert_eq!(fold_before_a_removal(Fault::RightCollectCount), 1);
    assert_eq!(fold_before_a_removal(Fault::CutWithoutOwn), 2);
}

/// Each switches out, then in, then gets the out of the other one, and collects. Whether the
/// element shows in the end: both outs were taken back.
fn outs_taken_back(fault: Fault) -> bool {
    let [mut a, mut b] = two(fault);
    act(&mut a, &[Op::Out(0)]);
    act(&mut b, &[Op::Out(0)]);
    let outs = [a.duplicate(), b.duplicate()];
    act(&mut a, &[Op::In(0)]);
    act(&mut b, &[Op::In(0)]);
    a.merge(&outs[1]).unwrap();
    b.merge(&outs[0]).unwrap();
    a.perform(&Op::Collect);
    b.perform(&Op::Collect);
    cross(&mut a, &mut b);
    assert_eq!(a.view(), b.view());
    a.view().flags.contains(&0)
}

#[test]
fn h22_a_collection_takes_no_ins_that_are_not_stable() {
    assert!(outs_taken_back(Fault::RightCollectFlags));
    assert!(!outs_taken_back(Fault::UnstableIns));
}

/// Both increment twice; each has seen all, but that the other one has seen its first only. The sum
/// after both have folded.
fn folds_at_two_cuts(fault: Fault) -> u64 {
    let [mut a, mut b] = two(fault);
    act(&mut a, &[Op::Inc]);
    act(&mut b, &[Op::Inc]);
    cross(&mut a, &mut b);
    act(&mut a, &[Op::Inc]);
    act(&mut b, &[Op::Inc]);
    cross(&mut a, &mut b);
    act(&mut a, &[Op::Collect]);
    act(&mut b, &[Op::Collect]);
    cross(&mut a, &mut b);
    assert_eq!(a.view(), b.view());
    a.view().sum
}

#[test]
fn a_fold_adds_up_increments_of_one_replica_only() {
    assert_eq!(folds_at_two_cuts(Fault::RightCollectCount), 4);
    assert_ne!(folds_at_two_cuts(Fault::FoldsAcross), 4);
}
