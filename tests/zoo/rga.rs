//! A list as a replicated growable array, and what goes wrong in one.
//!
//! Insert rule: right of the element it names, past all with a greater (Lamport time, replica id).
//! A deleted element stays as a tombstone; a message waits for all that its author had seen.
//! Source: Roh et al. 2011, "Replicated abstract data types", section 5.2.

use commute::testkit::{
    Applied, Capabilities, Delivery, OpBased, Outcome, Rejected, Seen, Source, Specified,
    StateBased, Subject, Verdict,
};
use commute::{Dot, Dots, ReplicaId};

use crate::entry::Entry;
use crate::faults::faults;
use crate::list_meaning::{self, ListOp};

faults! {
    None "rga" Control (2, 5) "nothing is wrong";
    SiblingsByReplica "Z-RGA-1" Mutant (2, 4) "siblings are ordered by replica only";
    NoSkip "Z-RGA-2" Mutant (2, 4) "no sibling is skipped";
    TieIgnoresReplica "Z-RGA-3" Mutant (2, 4) "a tie of times is left to arrival";
    NoTombstone "Z-RGA-4" Mutant (2, 5) "a delete drops the element without a tombstone";
    TimeNotAdvanced "Z-RGA-5" Mutant (2, 5) "the clock does not advance on receipt";
    EarlyDeleteDropped "Z-RGA-6" Mutant (2, 5) "a delete before its insert is dropped";
    DuplicateKept "Z-RGA-7" Mutant (2, 4) "an insert that comes twice is kept twice";
    OrphanAtEnd "Z-RGA-8" Mutant (2, 5) "an insert whose neighbour is missing goes to the end";
    SkipAscending "Z-RGA-9" Mutant (2, 4) "smaller ids are skipped, not greater ones";
    SkipSiblingsOnly "Z-RGA-10" Mutant (2, 5) "siblings are skipped, what hangs on them is not";
    CollectsEarly "Z-RGA-11" Mutant (2, 5) "tombstones are dropped before all have seen them";
    DeleteToggles "Z-RGA-12" Mutant (2, 5) "a second delete brings the element back";
    IgnoresTombstones "Z-RGA-13" Mutant (2, 4) "an insert counts places without tombstones";
    DeleteByPlace "Z-RGA-14" Mutant (2, 5) "a delete names a place, not an element";
    Fractions "Z-RGA-15" Mutant (2, 6) "places are fractions: what is typed at once interleaves";
    MergeKeepsDeleted "Z-RGA-16" Mutant (2, 4) "a merge ignores deletes of what both have";
    MergeRevives "Z-RGA-17" Mutant (2, 4) "a merge takes deleted elements as present";
    OneOff "Z-RGA-18" Mutant (2, 4) "a foreign insert lands one place too far right";
    MergeNoSkip "Z-RGA-19" Mutant (2, 4) "a merge puts elements in without skipping";
    TimeIsLength "Z-RGA-20" Mutant (2, 5) "the time of an element is the number of those shown";
    OwnWinsTies "Z-RGA-21" Mutant (2, 4) "of two equal times the own one comes first";
    DeletesChildren "Z-RGA-22" Mutant (2, 4) "a delete takes what hangs on the element too";
    InsertRevives "Z-RGA-23" Mutant (2, 5) "an insert after a deleted element brings it back";
    EarlyApplied "Z-RGA-24" Mutant (2, 5) "a message is applied before its past";
    WaitingMerged "Z-RGA-25" Mutant (2, 5) "what waits counts as seen when states merge";
    LocalNoSkip "rga-local-no-skip" Equivalent (2, 5) "an own id is the greatest: nothing to skip";
    MergeReversed "rga-merge-reversed" Equivalent (2, 4) "a merge adds the youngest element first, parents permitting";
}

pub fn entries() -> Vec<Entry> {
    let capabilities = || Capabilities::<Rga>::new().state().operations().specified();
    ALL.iter().map(|fault| fault.entry(capabilities)).collect()
}

/// Ascending in the order of creation, as far as the clocks know.
type Id = (u64, ReplicaId);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Node {
    id: Id,
    origin: Option<Id>,
    tag: Dot,
    deleted: bool,
    /// Its place as a fraction, for the fault that orders by it.
    fraction: u128,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Edit {
    Insert(Node),
    Delete { target: Id, place: usize },
}

/// An edit, its name, and all that its author had seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    dot: Dot,
    past: Dots,
    edit: Edit,
}

/// The list at one replica.
#[derive(Clone, Debug)]
pub struct Rga {
    fault: Fault,
    me: ReplicaId,
    time: u64,
    made: u64,
    nodes: Vec<Node>,
    seen: Dots,
    waiting: Vec<Message>,
    outbox: Vec<Message>,
}

impl Rga {
    fn find(&self, id: Id) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    fn find_tag(&self, tag: Dot) -> Option<usize> {
        self.nodes.iter().position(|node| node.tag == tag)
    }

    /// Where the node goes; `None` if its origin is not there.
    fn place(&self, node: &Node) -> Option<usize> {
        let mut at = match node.origin {
            Some(origin) => self.find(origin)? + 1,
            None => 0,
        };
        if self.fault == Fault::Fractions {
            let key = |node: &Node| (node.fraction, node.id);
            return Some(self.nodes.partition_point(|other| key(other) < key(node)));
        }
        while self
            .nodes
            .get(at)
            .is_some_and(|other| self.skips(node, other))
        {
            at += 1;
        }
        Some(at)
    }

    fn skips(&self, node: &Node, other: &Node) -> bool {
        let (time, replica) = node.id;
        match self.fault {
            Fault::NoSkip => false,
            Fault::SiblingsByReplica => other.id.1 > replica,
            Fault::TieIgnoresReplica => other.id.0 > time,
            Fault::SkipAscending => other.id < node.id,
            Fault::SkipSiblingsOnly => other.origin == node.origin && other.id > node.id,
            Fault::OwnWinsTies if other.id.0 == time => other.id.1 == self.me,
            _ => other.id > node.id,
        }
    }

    fn put(&mut self, node: Node) {
        let place = self.place(&node).unwrap_or(self.nodes.len());
        let foreign = node.id.1 != self.me;
        if self.fault != Fault::TimeNotAdvanced || !foreign {
            self.time = self.time.max(node.id.0);
        }
        if let Some(at) = node.origin.and_then(|origin| self.find(origin))
            && self.fault == Fault::InsertRevives
        {
            self.nodes[at].deleted = false;
        }
        let place = match self.fault {
            Fault::OneOff if foreign => (place + 1).min(self.nodes.len()),
            _ => place,
        };
        self.nodes.insert(place, node);
    }

    fn delete(&mut self, target: Id, place: usize, own: bool) {
        let target = match self.fault {
            Fault::DeleteByPlace if !own => {
                let shown = self.nodes.iter().filter(|node| !node.deleted);
                shown.map(|node| node.id).nth(place)
            }
            _ => Some(target),
        };
        let Some(at) = target.and_then(|target| self.find(target)) else {
            return;
        };
        let id = self.nodes[at].id;
        match self.fault {
            Fault::NoTombstone => drop(self.nodes.remove(at)),
            Fault::DeleteToggles => self.nodes[at].deleted ^= true,
            _ => self.nodes[at].deleted = true,
        }
        if self.fault == Fault::DeletesChildren {
            let children = self.nodes.iter_mut().filter(|node| node.origin == Some(id));
            children.for_each(|node| node.deleted = true);
        }
    }

    fn apply(&mut self, message: &Message, own: bool) {
        self.seen.insert(message.dot);
        match &message.edit {
            Edit::Insert(node) => self.put(node.clone()),
            Edit::Delete { target, place } => self.delete(*target, *place, own),
        }
        if self.fault == Fault::CollectsEarly && !own {
            self.nodes.retain(|node| !node.deleted);
        }
    }

    fn make(&mut self, edit: Edit) -> Outcome {
        self.made += 1;
        let message = Message {
            dot: Dot::new(self.me, self.made),
            past: self.seen.clone(),
            edit,
        };
        self.apply(&message, true);
        self.outbox.push(message);
        Outcome::Done
    }

    fn insert(&mut self, after: Option<Dot>, tag: Dot) -> Outcome {
        let at = match after.map(|after| self.find_tag(after)) {
            Some(None) => return Outcome::Nothing,
            Some(Some(at)) => Some(at),
            None => None,
        };
        let origin = match (self.fault, at) {
            (Fault::IgnoresTombstones, Some(at)) => {
                let shown = self.nodes[..at].iter().filter(|node| !node.deleted);
                Some(self.nodes[shown.count()].id)
            }
            (_, at) => at.map(|at| self.nodes[at].id),
        };
        let time = match self.fault {
            Fault::TimeIsLength => self.view().len() as u64,
            _ => self.time,
        };
        let node = Node {
            id: (time + 1, self.me),
            origin,
            tag,
            deleted: false,
            fraction: self.fraction(at),
        };
        if self.fault == Fault::LocalNoSkip {
            return self.insert_at(at.map_or(0, |at| at + 1), node);
        }
        self.make(Edit::Insert(node))
    }

    fn insert_at(&mut self, place: usize, node: Node) -> Outcome {
        self.made += 1;
        self.time = node.id.0;
        self.nodes.insert(place, node.clone());
        let dot = Dot::new(self.me, self.made);
        self.outbox.push(Message {
            dot,
            past: self.seen.clone(),
            edit: Edit::Insert(node),
        });
        self.seen.insert(dot);
        Outcome::Done
    }

    /// Half way between the element at `at` and the next one.
    fn fraction(&self, at: Option<usize>) -> u128 {
        let left = at.map_or(0, |at| self.nodes[at].fraction);
        let next = self.nodes.get(at.map_or(0, |at| at + 1));
        let right = next.map_or(u128::MAX, |node| node.fraction);
        left + right.saturating_sub(left) / 2
    }

    /// Takes in all that waits and lacks nothing.
    fn wake(&mut self) {
        loop {
            let ready = |message: &Message| message.past.is_subset(&self.seen);
            let Some(at) = self.waiting.iter().position(ready) else {
                return;
            };
            let message = self.waiting.remove(at);
            if !self.seen.contains(message.dot) {
                self.apply(&message, false);
            }
        }
    }

    /// Takes in the nodes that are new, each after its origin.
    fn adopt(&mut self, other: &Rga) {
        let known = |node: &&Node| self.find(node.id).is_none();
        let gone = |node: &&Node| !self.seen.contains(node.tag);
        let mut new: Vec<Node> = match self.fault {
            Fault::NoTombstone | Fault::CollectsEarly => other
                .nodes
                .iter()
                .filter(known)
                .filter(gone)
                .cloned()
                .collect(),
            _ => other.nodes.iter().filter(known).cloned().collect(),
        };
        new.sort_by_key(|node| node.id);
        if self.fault == Fault::MergeReversed {
            new.reverse();
        }
        while !new.is_empty() {
            let there = |node: &Node| node.origin.is_none_or(|origin| self.find(origin).is_some());
            let at = new.iter().position(there).unwrap_or(0);
            let mut node = new.remove(at);
            node.deleted &= self.fault != Fault::MergeRevives;
            match (self.fault, node.origin.and_then(|origin| self.find(origin))) {
                (Fault::MergeNoSkip, at) => self.nodes.insert(at.map_or(0, |at| at + 1), node),
                _ => self.put(node),
            }
        }
    }
}

impl Subject for Rga {
    type Op = ListOp;
    type View = Vec<Dot>;

    fn new(me: ReplicaId) -> Rga {
        Rga {
            fault: Fault::chosen(),
            me,
            time: 0,
            made: 0,
            nodes: Vec::new(),
            seen: Dots::new(),
            waiting: Vec::new(),
            outbox: Vec::new(),
        }
    }

    fn name() -> String {
        Fault::chosen().id().into()
    }

    fn duplicate(&self) -> Rga {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<ListOp> {
        let shown = self.view();
        if source.chance(1, 3)
            && let Some(tag) = source.pick(&shown)
        {
            return Some(ListOp::Delete(*tag));
        }
        let place = source.below(shown.len() as u64 + 1) as usize;
        Some(ListOp::Insert {
            after: place.checked_sub(1).map(|left| shown[left]),
            tag: Dot::new(self.me, self.made + 1),
        })
    }

    fn perform(&mut self, op: &ListOp) -> Outcome {
        match op {
            ListOp::Insert { after, tag } => self.insert(*after, *tag),
            ListOp::Delete(tag) => {
                let shown = self.view();
                let Some(place) = shown.iter().position(|other| other == tag) else {
                    return Outcome::Nothing;
                };
                let Some(at) = self.find_tag(*tag) else {
                    return Outcome::Nothing;
                };
                let target = self.nodes[at].id;
                self.make(Edit::Delete { target, place })
            }
        }
    }

    fn view(&self) -> Vec<Dot> {
        let shown = self.nodes.iter().filter(|node| !node.deleted);
        shown.map(|node| node.tag).collect()
    }
}

impl OpBased for Rga {
    type Message = Message;
    const NEEDS: Delivery = Delivery::Causal;
    const DUPLICATES: bool = true;
    const DETECTS: bool = true;

    fn outbox(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, message: &Message) -> Result<Applied, Rejected> {
        if self.seen.contains(message.dot) {
            if let (Fault::DuplicateKept, Edit::Insert(node)) = (self.fault, &message.edit) {
                self.put(node.clone());
            }
            return Ok(Applied::Duplicate);
        }
        let early = !message.past.is_subset(&self.seen);
        let applies = match (self.fault, &message.edit) {
            (Fault::EarlyDeleteDropped, Edit::Delete { .. }) => true,
            (Fault::OrphanAtEnd, Edit::Insert(_)) => true,
            (Fault::EarlyApplied, _) => true,
            _ => false,
        };
        if early && !applies {
            if !self.waiting.contains(message) {
                self.waiting.push(message.clone());
                self.waiting.sort_by_key(|message| message.dot);
            }
            return Ok(Applied::Waiting);
        }
        self.apply(message, false);
        self.wake();
        Ok(Applied::New)
    }
}

impl StateBased for Rga {
    fn merge(&mut self, other: &Rga) -> Result<(), Rejected> {
        self.adopt(other);
        for node in other.nodes.iter().filter(|node| node.deleted) {
            if let Some(at) = self.find(node.id)
                && !matches!(self.fault, Fault::MergeKeepsDeleted | Fault::MergeRevives)
            {
                self.nodes[at].deleted = true;
            }
        }
        if self.fault == Fault::NoTombstone || self.fault == Fault::CollectsEarly {
            let kept =
                |node: &Node| !other.seen.contains(node.tag) || other.find(node.id).is_some();
            self.nodes.retain(kept);
        }
        self.seen = self.seen.union(&other.seen);
        if self.fault == Fault::WaitingMerged {
            let waiting: Dots = other.waiting.iter().map(|message| message.dot).collect();
            self.seen = self.seen.union(&waiting);
        }
        self.time = match self.fault {
            Fault::TimeNotAdvanced => self.time,
            _ => self.time.max(other.time),
        };
        self.wake();
        Ok(())
    }

    fn same_state(&self, other: &Rga) -> bool {
        self.nodes == other.nodes && self.seen == other.seen
    }
}

impl Specified for Rga {
    fn check(seen: &Seen<'_, ListOp>, got: &Vec<Dot>) -> Verdict {
        list_meaning::check(seen, got)
    }
}
