//! The drawing in columns of text, or as a list if there are too many replicas.

use super::Style;
use super::diff::differences;
use super::words::{count, cut, flat, headline, outcome, replay, width, with_steps, wrap};
use crate::testkit::{Deed, Failure, Line, Story};

/// More replicas than that are listed.
const COLUMNS_MAX: usize = 5;
/// How wide texts below the steps may become.
const TEXT_WIDTH: usize = 100;
/// What stands on one line with the last step, at most.
const OUTCOME_WIDTH: usize = 72;
/// Room for the number of a step.
const STEP_WIDTH: usize = 10;

/// The characters of a style.
struct Glyphs {
    /// A replica that does nothing now.
    idle: char,
    /// Where an arrow starts and ends.
    knot: char,
    line: char,
    /// Of what was in flight before, in turn with a space.
    dash: char,
    to_right: char,
    to_left: char,
    /// Something that is about all replicas.
    all: char,
    wrong: char,
}

const ASCII: Glyphs = Glyphs {
    idle: '.',
    knot: '*',
    line: '-',
    dash: '-',
    to_right: '>',
    to_left: '<',
    all: '=',
    wrong: 'X',
};

const UNICODE: Glyphs = Glyphs {
    idle: '\u{2502}',
    knot: '\u{25cf}',
    line: '\u{2500}',
    dash: '\u{254c}',
    to_right: '\u{25b6}',
    to_left: '\u{25c0}',
    all: '\u{2550}',
    wrong: '\u{2717}',
};

pub(super) fn draw(failure: &Failure, style: Style) -> String {
    let glyphs = match style {
        Style::Ascii => &ASCII,
        Style::Unicode => &UNICODE,
    };
    let mut out = headline(failure);
    out.push('\n');
    let wrong = Wrong {
        at: failure.broken.at,
        text: beside(failure),
    };
    let cut = steps(&failure.story, Some(&wrong), glyphs, &mut out);
    below(failure, &cut, &mut out);
    out
}

/// The steps alone; the operations that had to be cut stand below them.
pub(super) fn draw_steps(story: &Story) -> String {
    let mut out = String::new();
    for (step, text) in steps(story, None, &ASCII, &mut out) {
        block(&mut out, &format!("step {step}"), &wrap(&text, TEXT_WIDTH));
    }
    out
}

/// What stands on the line after the last step.
struct Wrong {
    /// At which replica, if it is about one.
    at: Option<usize>,
    text: String,
}

/// Draws the steps; returns the operations that had to be cut, with their steps.
fn steps(
    story: &Story,
    wrong: Option<&Wrong>,
    glyphs: &Glyphs,
    out: &mut String,
) -> Vec<(usize, String)> {
    match story.replicas {
        1..=COLUMNS_MAX => Columns::of(story, glyphs).draw(wrong, out),
        _ => list(story, wrong, glyphs, out),
    }
}

/// A label and a text of several lines.
fn block(out: &mut String, label: &str, lines: &[String]) {
    for (at, line) in lines.iter().enumerate() {
        let label = if at == 0 { label } else { "" };
        let line = format!("      {label:<8}  {line}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Whether what is wrong fits beside the last step.
fn fits(failure: &Failure) -> bool {
    let broken = &failure.broken;
    let lines = broken
        .got
        .lines()
        .count()
        .max(broken.expected.lines().count());
    lines <= 1 && width(&outcome(broken)) <= OUTCOME_WIDTH
}

/// `r0 got {0}, expected {}`, or where to find it.
fn beside(failure: &Failure) -> String {
    let broken = &failure.broken;
    match (fits(failure), broken.at) {
        (true, _) => outcome(broken),
        (false, Some(at)) => format!("r{at} is wrong: see got and expected"),
        (false, None) => "see got and expected".into(),
    }
}

/// All that comes after the steps.
fn below(failure: &Failure, cut: &[(usize, String)], out: &mut String) {
    let broken = &failure.broken;
    for (step, text) in cut {
        block(out, &format!("step {step}"), &wrap(text, TEXT_WIDTH));
    }
    if !fits(failure) {
        block(out, "got", &wrap(&broken.got, TEXT_WIDTH));
        block(out, "expected", &wrap(&broken.expected, TEXT_WIDTH));
    }
    block(
        out,
        "why",
        &wrap(&with_steps(&broken.why, &failure.story), TEXT_WIDTH),
    );
    block(out, "diff", &differences(&broken.got, &broken.expected));
    block(out, "replay", &[replay(failure)]);
    block(out, "searched", &wrap(&failure.searched, TEXT_WIDTH));
}

struct Columns<'f> {
    story: &'f Story,
    glyphs: &'f Glyphs,
    replicas: usize,
    /// Of one column, with the space to the next.
    width: usize,
}

/// One line of the drawing.
struct Row {
    number: String,
    cells: String,
    effect: String,
}

impl Row {
    fn new(number: &str, cells: &[char], effect: String) -> Row {
        let cells: String = cells.iter().collect();
        Row {
            number: number.into(),
            cells: cells.trim_end().into(),
            effect,
        }
    }
}

/// What stands in a column when a replica did an operation.
fn did(op: &str, made: &Result<String, String>) -> (String, String) {
    match made {
        Ok(name) => (flat(op), format!("makes {name}")),
        Err(_) => (flat(op), String::new()),
    }
}

impl<'f> Columns<'f> {
    fn of(story: &'f Story, glyphs: &'f Glyphs) -> Columns<'f> {
        let replicas = story.replicas;
        let most = match replicas {
            1..=3 => 30,
            4 => 26,
            _ => 22,
        };
        let needed = story.lines.iter().map(|line| match &line.deed {
            Deed::Did { op, made, .. } => {
                let (op, made) = did(op, made);
                width(&op) + width(&made) + 4
            }
            // The line, the head of the arrow and spaces.
            Deed::Moved { payload, .. } => width(payload) + 9,
            Deed::Sent {
                payload, letter, ..
            }
            | Deed::Took {
                payload, letter, ..
            } => width(payload) + width(letter) + 10,
            Deed::Noted { .. } => 0,
        });
        Columns {
            story,
            glyphs,
            replicas,
            // Even, so that dashes meet the heads of their arrows.
            width: needed
                .max()
                .unwrap_or(0)
                .clamp(14, most)
                .next_multiple_of(2),
        }
    }

    fn draw(&self, wrong: Option<&Wrong>, out: &mut String) -> Vec<(usize, String)> {
        let mut rows = Vec::new();
        let cut = self.rows(wrong, &mut rows);
        // The last column is as wide as what stands in it.
        let used = rows.iter().map(|row| width(&row.cells)).max().unwrap_or(0) + 3;
        for Row {
            number,
            cells,
            effect,
        } in rows
        {
            let row = format!("{number:>STEP_WIDTH$}  {cells:<used$}{}", flat(&effect));
            out.push_str(row.trim_end());
            out.push('\n');
        }
        cut
    }

    fn rows(&self, wrong: Option<&Wrong>, out: &mut Vec<Row>) -> Vec<(usize, String)> {
        let mut head = self.idle(' ');
        (0..self.replicas).for_each(|at| self.put(&mut head, at, &format!("r{at}")));
        out.push(Row::new("step", &head, String::new()));
        let mut cut = Vec::new();
        for line in &self.story.lines {
            self.line(out, line, &mut cut);
        }
        if let Some(Wrong { at, text }) = wrong {
            let mut last = self.idle(self.glyphs.idle);
            let mark = self.glyphs.wrong.to_string();
            if let Some(at) = at {
                self.put(&mut last, *at, &mark);
            }
            out.push(Row::new(&mark, &last, text.clone()));
        }
        cut
    }

    /// In which no replica does anything.
    fn idle(&self, mark: char) -> Vec<char> {
        let mut cells = vec![' '; self.width * self.replicas];
        (0..self.replicas).for_each(|at| cells[at * self.width] = mark);
        cells
    }

    /// Writes `text` into the column of replica `at`, as far as there is room.
    fn put(&self, cells: &mut [char], at: usize, text: &str) {
        let start = at.min(self.replicas - 1) * self.width;
        let room = self.width - 2;
        for (cell, c) in cells[start..].iter_mut().zip(text.chars().take(room)) {
            *cell = c;
        }
    }

    fn line(&self, out: &mut Vec<Row>, line: &Line, cut_ops: &mut Vec<(usize, String)>) {
        let number = line.step.to_string();
        let mut cells = self.idle(self.glyphs.idle);
        let effect = match &line.deed {
            Deed::Did { at, op, made } => {
                if !self.operation(&mut cells, *at, op, made) {
                    cut_ops.push((line.step, op.clone()));
                }
                match made {
                    Ok(_) => String::new(),
                    Err(why) => format!("r{at}: {why}"),
                }
            }
            Deed::Moved {
                from,
                to,
                payload,
                effect,
            } => {
                self.arrow(&mut cells, [*from, *to], payload, self.glyphs.line);
                effect.clone()
            }
            Deed::Sent {
                from,
                payload,
                letter,
            } => {
                self.departure(&mut cells, *from, &format!("{payload} {letter}"));
                String::new()
            }
            Deed::Took {
                from,
                at,
                payload,
                letter,
                effect,
            } => {
                let text = format!("{payload} {letter}");
                self.arrow(&mut cells, [*from, *at], &text, ' ');
                effect.clone()
            }
            Deed::Noted { at: Some(at), text } if width(&flat(text)) <= self.width - 2 => {
                self.put(&mut cells, *at, &flat(text));
                String::new()
            }
            Deed::Noted { at: Some(at), text } => {
                self.put(&mut cells, *at, &self.glyphs.knot.to_string());
                format!("r{at} {text}")
            }
            Deed::Noted { at: None, text } => {
                let end = self.width * (self.replicas - 1) + 1;
                cells[..end].fill(self.glyphs.all);
                text.clone()
            }
        };
        out.push(Row::new(&number, &cells, effect));
    }

    /// What replica `at` did and the name it got; false if that had to be cut.
    fn operation(
        &self,
        cells: &mut [char],
        at: usize,
        op: &str,
        made: &Result<String, String>,
    ) -> bool {
        let (text, name) = did(op, made);
        let room = self.width - 2;
        let pad = room.saturating_sub(width(&name));
        let most = match name.is_empty() {
            true => room,
            false => pad.saturating_sub(2),
        };
        let cell = format!("{:<pad$}{name}", cut(&text, most));
        self.put(cells, at, &cell);
        width(&text) <= most
    }

    /// An arrow out of a column into nowhere yet.
    fn departure(&self, cells: &mut [char], from: usize, text: &str) {
        let glyphs = self.glyphs;
        let [knot, line, head] = [glyphs.knot, glyphs.line, glyphs.to_right];
        let text = cut(text, self.width - 8);
        self.put(cells, from, &format!("{knot}{line} {text} {line}{head}"));
    }

    /// An arrow between two columns with `text` near its start; a `line` of a space is dashed.
    fn arrow(&self, cells: &mut [char], [from, to]: [usize; 2], text: &str, line: char) {
        let glyphs = self.glyphs;
        let last = self.replicas - 1;
        let (from, to) = (from.min(last) * self.width, to.min(last) * self.width);
        if from == to {
            let text = format!("{} {text}", glyphs.knot);
            return self.put(cells, to / self.width, &text);
        }
        let (left, right) = (from.min(to), from.max(to));
        let stroke = |at: usize| match line {
            ' ' if (at - left).is_multiple_of(2) => glyphs.dash,
            ' ' => ' ',
            line => line,
        };
        for (at, cell) in cells.iter_mut().enumerate().take(right).skip(left + 1) {
            *cell = stroke(at);
        }
        let dashed = line == ' ';
        (cells[from], cells[to]) = (if dashed { glyphs.idle } else { glyphs.knot }, glyphs.knot);
        let text = format!(" {} ", cut(text, right - left - 8));
        let start = match from < to {
            true => {
                (cells[right - 2], cells[right - 1]) = (glyphs.to_right, ' ');
                left + 3
            }
            false => {
                (cells[left + 1], cells[left + 2]) = (' ', glyphs.to_left);
                right - 2 - width(&text)
            }
        };
        for (cell, c) in cells[start..].iter_mut().zip(text.chars()) {
            *cell = c;
        }
    }
}

/// One line of text for each step.
fn list(
    story: &Story,
    wrong: Option<&Wrong>,
    glyphs: &Glyphs,
    out: &mut String,
) -> Vec<(usize, String)> {
    let arrow = |dashed| match dashed {
        true => format!("{} {}", glyphs.dash, glyphs.to_right),
        false => format!("{}{}", glyphs.line, glyphs.to_right),
    };
    let steps = story.lines.iter().map(|line| match &line.deed {
        Deed::Did {
            at,
            op,
            made: Ok(name),
        } => [format!("r{at}  {} makes {name}", flat(op)), String::new()],
        Deed::Did {
            at,
            op,
            made: Err(why),
        } => [format!("r{at}  {}", flat(op)), why.clone()],
        Deed::Moved {
            from,
            to,
            payload,
            effect,
        } => [
            format!("r{from} {} r{to}  {payload}", arrow(false)),
            effect.clone(),
        ],
        Deed::Sent {
            from,
            payload,
            letter,
        } => [
            format!("r{from} {}  {payload} {letter}", arrow(false)),
            String::new(),
        ],
        Deed::Took {
            from,
            at,
            payload,
            letter,
            effect,
        } => [
            format!("r{from} {} r{at}  {payload} {letter}", arrow(true)),
            effect.clone(),
        ],
        Deed::Noted { at: Some(at), text } => [format!("r{at}  {text}"), String::new()],
        Deed::Noted { at: None, text } => [text.clone(), String::new()],
    });
    let steps: Vec<[String; 2]> = steps.collect();
    // Effects stand below each other unless an operation is very long.
    let pad = steps
        .iter()
        .map(|[text, _]| width(&flat(text)))
        .max()
        .unwrap_or(0)
        .min(48);
    let mut row = |number: &str, text: &str, effect: &str| {
        let row = format!(
            "{number:>STEP_WIDTH$}  {:<pad$}  {}",
            flat(text),
            flat(effect)
        );
        out.push_str(row.trim_end());
        out.push('\n');
    };
    row("step", &count(story.replicas, "replica"), "");
    for (line, [text, effect]) in story.lines.iter().zip(&steps) {
        row(&line.step.to_string(), text, effect);
    }
    if let Some(wrong) = wrong {
        row(&glyphs.wrong.to_string(), &wrong.text, "");
    }
    Vec::new()
}
