//! The checks against the algorithm whose properties they state: no false alarms.

use super::*;
use crate::env::SplitMix64;
use crate::testkit::History;
use crate::testkit::spec::strong_list;

/// An element of a Fugue tree, named by its place in the list of all elements.
#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    left: bool,
    /// By whom; settles the order of siblings.
    by: u16,
}

/// What one replica has seen.
#[derive(Clone, Default)]
struct Replica {
    has: Vec<usize>,
    gone: Vec<usize>,
}

fn walk(nodes: &[Node], has: &[usize], at: Option<usize>, out: &mut Vec<usize>) {
    let children = |left: bool| {
        let of = move |n: &&usize| nodes[**n].parent == at && nodes[**n].left == left;
        let mut found: Vec<usize> = has.iter().filter(of).copied().collect();
        found.sort_by_key(|n| (nodes[*n].by, *n));
        found
    };
    children(true)
        .into_iter()
        .for_each(|n| walk(nodes, has, Some(n), out));
    out.extend(at);
    children(false)
        .into_iter()
        .for_each(|n| walk(nodes, has, Some(n), out));
}

fn descends(nodes: &[Node], mut at: usize, from: Option<usize>) -> bool {
    loop {
        match nodes[at].parent {
            parent if parent == from => return !nodes[at].left || from.is_none(),
            Some(parent) => at = parent,
            None => return false,
        }
    }
}

/// Draws an edit of `replica`, notes it in the tree and says what it means.
fn edit(
    rng: &mut SplitMix64,
    nodes: &mut Vec<Node>,
    replica: &mut Replica,
    by: u16,
    deletes: bool,
) -> ListOp<usize> {
    let mut all = Vec::new();
    walk(nodes, &replica.has, None, &mut all);
    let live: Vec<usize> = all
        .iter()
        .copied()
        .filter(|n| !replica.gone.contains(n))
        .collect();
    if deletes && !live.is_empty() && rng.below(4) == 0 {
        let value = live[rng.below(live.len() as u64) as usize];
        replica.gone.push(value);
        return ListOp::Delete(value);
    }
    let at = rng.below(live.len() as u64 + 1) as usize;
    let left = at.checked_sub(1).map(|at| live[at]);
    // The right origin is the next element, deleted or not.
    let start = left.map_or(0, |left| all.iter().position(|n| *n == left).unwrap() + 1);
    let next = all.get(start).copied();
    let node = match next.filter(|next| descends(nodes, *next, left)) {
        Some(next) => Node {
            parent: Some(next),
            left: true,
            by,
        },
        None => Node {
            parent: left,
            left: false,
            by,
        },
    };
    nodes.push(node);
    replica.has.push(nodes.len() - 1);
    ListOp::Insert {
        left,
        value: nodes.len() - 1,
        right: live.get(at).copied(),
    }
}

#[test]
fn fugue_keeps_both_levels() {
    let mut rng = SplitMix64::new(3);
    for round in 0..3000 {
        let mut nodes = Vec::new();
        let mut replicas = vec![Replica::default(); 3];
        let mut seen: Vec<Vec<String>> = vec![Vec::new(); 3];
        let mut counts = [0; 3];
        let mut history = History::new();
        for _ in 0..10 {
            let me = rng.below(3) as usize;
            if rng.below(3) == 0 {
                let from = (me + 1 + rng.below(2) as usize) % 3;
                let other = replicas[from].clone();
                replicas[me].has.extend(other.has);
                replicas[me].has.sort_unstable();
                replicas[me].has.dedup();
                replicas[me].gone.extend(other.gone);
                let names = seen[from].clone();
                seen[me].extend(names);
            }
            let op = edit(
                &mut rng,
                &mut nodes,
                &mut replicas[me],
                me as u16,
                round % 2 == 0,
            );
            let names: Vec<&str> = seen[me].iter().map(String::as_str).collect();
            history = history.op(me as u16, op, &names);
            counts[me] += 1;
            seen[me].push(format!("r{me}:{}", counts[me]));
            let mut got = Vec::new();
            walk(&nodes, &replicas[me].has, None, &mut got);
            got.retain(|n| !replicas[me].gone.contains(n));
            let names: Vec<&str> = seen[me].iter().map(String::as_str).collect();
            let shown = history.seen_of(&names);
            let verdict = strong_list(&shown, &got)
                .and(|| non_interleaving(Level::Maximal)(&shown, &got))
                .and(|| non_interleaving(Level::Forward)(&shown, &got));
            assert_eq!(verdict, Verdict::Right, "{round}: {got:?} {shown:#?}");
        }
    }
}
