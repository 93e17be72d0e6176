//! The session of the tour without a file: two people write a page together.
//!
//! Anna writes above a line and Ben below it, so that a plain `String` for each half knows what the
//! page must be in the end, without asking the crate that is being shown.

use commute::env::SplitMix64;

use crate::session::{Edit, Patch, Session};

const TITLE: &str = "How two people write one page\n\n";
const LINE: &str = "\n\n* * *\n\n";

const ABOVE: &str = "\
Anna sits in a train. Every few minutes there is a tunnel, and in the tunnel there is no network. \
She does not notice: her copy of the page is whole, it takes every key at once, and what she types \
is sent when there is somebody to send it to. Nobody gave her a lock on the paragraph, and nobody \
will ask for it back.\n\
When the train comes out of the tunnel, her letters arrive at Ben's place in bundles, some of them \
twice, some in the wrong order, and a few not at all. The ones that come too early wait until what \
they build on is there. The missing ones are asked for by saying what is known: a list of names \
and numbers, one for each person, no longer than that.\n\
In the end both have the same page. It is not a page that somebody chose; it is the only page that \
these keystrokes can give, in whatever order they come.\n\
Whether it is a good page is another matter. If both of them rewrite one sentence at once, the \
sentence has the words of both, side by side and never mixed, and somebody has to read it again. \
The machine promises that there is one sentence to quarrel about, and not two.\n";

const BELOW: &str = "\
Ben has a table in a caf\u{e9} and a connection that is good until somebody starts the coffee \
machine. He writes about the account that the two of them share, for which all this is not enough: \
two copies that both pay out the last coin agree afterwards, but the coin is gone twice.\n\
So the account lives in a store. Whoever wants to change it reads, works, and writes if nothing of \
what was read has changed; if it has, the store says to whom the race was lost, and the work is \
done again. That costs nothing as long as nobody else comes by.\n\
And the printer, which is not in the store, looks at the number on the ticket. A ticket with a \
lower number than the last one is refused, however sure of himself the one who brings it may be. \
It is he who slept, and he is always the last to know.\n\
None of the three is better than the others. What may be put together later needs no permission \
now; what must add up needs a second look at the moment of writing; and what lies outside needs \
somebody at the door. The mistake is to take a lock for all of them, and to believe in it.\n";

/// Half of the page, as its writer sees it.
struct Writer {
    random: SplitMix64,
    script: Vec<char>,
    typed: usize,
    half: Vec<char>,
    /// How many characters stand before this half, as far as the writer knows.
    before: usize,
    last: usize,
}

impl Writer {
    fn new(seed: u64, script: &str, before: usize) -> Writer {
        Writer {
            random: SplitMix64::new(seed),
            script: script.chars().collect(),
            typed: 0,
            half: Vec::new(),
            before,
            last: 0,
        }
    }

    fn done(&self) -> bool {
        self.typed == self.script.len()
    }

    /// A key, now and then a slip that is taken back, a word that is replaced, a doubled one.
    fn patches(&mut self) -> Vec<Patch> {
        match self.random.below(100) {
            0..3 => self.slip(),
            3..5 if self.half.len() > 40 => self.second_thought(),
            5..15 => self.paste(),
            _ => self.key(),
        }
    }

    fn put(&mut self, at: usize, deleted: usize, inserted: &[char]) -> Patch {
        let _ = self.half.splice(at..at + deleted, inserted.iter().copied());
        Patch {
            at: self.before + at,
            deleted,
            inserted: inserted.iter().collect(),
        }
    }

    fn type_on(&mut self, count: usize) -> Patch {
        let next = self.script.len().min(self.typed + count);
        let keys = self.script[self.typed..next].to_vec();
        self.typed = next;
        self.put(self.half.len(), 0, &keys)
    }

    fn key(&mut self) -> Vec<Patch> {
        vec![self.type_on(1)]
    }

    fn paste(&mut self) -> Vec<Patch> {
        let count = 2 + self.random.below(6) as usize;
        vec![self.type_on(count)]
    }

    /// Types a wrong letter and, in the same transaction, the right one over it.
    fn slip(&mut self) -> Vec<Patch> {
        let end = self.half.len();
        vec![
            self.put(end, 0, &['#']),
            self.put(end, 1, &[]),
            self.type_on(1),
        ]
    }

    /// Cuts a few letters out of what is written and puts them back.
    fn second_thought(&mut self) -> Vec<Patch> {
        let count = 3 + self.random.below(12) as usize;
        let at = self.random.below((self.half.len() - count) as u64) as usize;
        let cut = self.half[at..at + count].to_vec();
        vec![self.put(at, count, &[]), self.put(at, 0, &cut)]
    }
}

/// The session: always the same one.
pub fn session() -> Session {
    let page = format!("{TITLE}{LINE}");
    let mut edits = vec![Edit {
        agent: 0,
        parents: Vec::new(),
        patches: vec![Patch::from((0, 0, page.clone()))],
    }];
    let title = TITLE.chars().count();
    let mut random = SplitMix64::new(7);
    let mut anna = Writer::new(1, ABOVE, title);
    let mut ben = Writer::new(2, BELOW, page.chars().count());
    while !(anna.done() && ben.done()) {
        let bens_turn = anna.done() || !ben.done() && random.below(2) == 1;
        // One hears of the other about every twentieth key.
        let hears = random.below(20) == 0;
        let (agent, writer, other) = match bens_turn {
            false => (0, &mut anna, &mut ben),
            true => (1, &mut ben, &mut anna),
        };
        let mut parents = vec![writer.last];
        if hears && other.last != writer.last {
            parents.push(other.last);
            if bens_turn {
                writer.before = page.chars().count() + other.half.len();
            }
        }
        writer.last = edits.len();
        let patches = writer.patches();
        edits.push(Edit {
            agent,
            parents,
            patches,
        });
    }
    let halves = [&anna, &ben].map(|writer| writer.half.iter().collect::<String>());
    Session {
        name: "a generated session".to_owned(),
        concurrent: true,
        agents: 2,
        edits,
        end: format!("{TITLE}{}{LINE}{}", halves[0], halves[1]),
    }
}
