//! The steps as a log with vector clocks.
//!
//! Source: Beschastnikh et al. 2020, "Visualizing distributed system executions".

use std::collections::BTreeMap;

use super::words::{flat, outcome};
use crate::testkit::{Deed, Failure};

/// How many events of each host are known.
type Clock = BTreeMap<String, u64>;

#[derive(Default)]
struct Hosts {
    clocks: BTreeMap<String, Clock>,
    /// When the letters in flight were sent.
    letters: BTreeMap<String, Clock>,
    out: String,
}

impl Hosts {
    /// An event of `host`, after what `known` tells.
    fn event(&mut self, host: &str, known: Option<&Clock>, text: &str) -> Clock {
        let clock = self.clocks.entry(host.into()).or_default();
        for (other, count) in known.into_iter().flatten() {
            let own = clock.entry(other.clone()).or_default();
            *own = (*own).max(*count);
        }
        *clock.entry(host.into()).or_default() += 1;
        let each: Vec<String> = clock
            .iter()
            .map(|(host, count)| format!("\"{host}\":{count}"))
            .collect();
        self.out
            .push_str(&format!("{host} {{{}}}\n{}\n", each.join(","), flat(text)));
        clock.clone()
    }
}

fn host(at: Option<usize>) -> String {
    at.map_or("network".into(), |at| format!("r{at}"))
}

pub(super) fn log(failure: &Failure) -> String {
    let mut hosts = Hosts::default();
    for line in &failure.story.lines {
        deed(&mut hosts, line.step, &line.deed);
    }
    let broken = &failure.broken;
    let text = format!("X law {}: {}", broken.law.code(), outcome(broken));
    hosts.event(&host(broken.at), None, &text);
    hosts.out
}

fn deed(hosts: &mut Hosts, step: usize, deed: &Deed) {
    match deed {
        Deed::Did { at, op, made } => {
            let made = match made {
                Ok(name) => format!("makes {name}"),
                Err(why) => format!("({why})"),
            };
            hosts.event(&host(Some(*at)), None, &format!("{step}: {op} {made}"));
        }
        Deed::Moved {
            from,
            to,
            payload,
            effect,
        } => {
            let sent = format!("{step}: {payload} to r{to}");
            let sent = hosts.event(&host(Some(*from)), None, &sent);
            let taken = format!("{step}: {payload} from r{from}: {effect}");
            hosts.event(&host(Some(*to)), Some(&sent), &taken);
        }
        Deed::Sent {
            from,
            payload,
            letter,
        } => {
            let sent = format!("{step}: sends {payload} {letter}");
            let sent = hosts.event(&host(Some(*from)), None, &sent);
            hosts.letters.insert(letter.clone(), sent);
        }
        Deed::Took {
            from,
            at,
            payload,
            letter,
            effect,
        } => {
            let sent = hosts.letters.get(letter).cloned();
            let taken = format!("{step}: {payload} {letter} from r{from}: {effect}");
            hosts.event(&host(Some(*at)), sent.as_ref(), &taken);
        }
        Deed::Noted { at, text } => {
            hosts.event(&host(*at), None, &format!("{step}: {text}"));
        }
    }
}
