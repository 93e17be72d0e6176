//! What is written to a value: a scalar, or that it is something with parts.

use alloc::string::String;
use alloc::vec::Vec;

use super::scalar::{Float, Scalar};
use super::value::Kind;
use crate::codec::{Key, Payload};

/// The payload of the register in each value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Content {
    Scalar(Scalar),
    /// The parts stand beside the register.
    Of(Kind),
}

impl Content {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Content::Scalar(_) => Kind::Scalar,
            Content::Of(kind) => *kind,
        }
    }
}

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
/// Beyond 64 bits with a sign.
const WIDE_INT: u8 = 4;
const FLOAT: u8 = 5;
const STRING: u8 = 6;
const BYTES: u8 = 7;
const COUNTER: u8 = 16;
const TEXT: u8 = 17;
const LIST: u8 = 18;
const MAP: u8 = 19;

impl Payload for Content {
    fn encode(&self, out: &mut Vec<u8>) {
        let scalar = match self {
            Content::Scalar(scalar) => scalar,
            Content::Of(kind) => return out.push(tag(*kind)),
        };
        match scalar {
            Scalar::Null => out.push(NULL),
            Scalar::Bool(false) => out.push(FALSE),
            Scalar::Bool(true) => out.push(TRUE),
            Scalar::Int(number) => match i64::try_from(*number) {
                Ok(number) => {
                    out.push(INT);
                    Payload::encode(&number, out);
                }
                Err(_) => {
                    out.push(WIDE_INT);
                    Key::encode(number, out);
                }
            },
            Scalar::Float(number) => {
                out.push(FLOAT);
                out.extend_from_slice(&number.to_bits().to_be_bytes());
            }
            Scalar::String(text) => {
                out.push(STRING);
                out.extend_from_slice(text.as_bytes());
            }
            Scalar::Bytes(bytes) => {
                out.push(BYTES);
                out.extend_from_slice(bytes);
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<Content> {
        let (tag, rest) = bytes.split_first()?;
        let bare = |content| rest.is_empty().then_some(content);
        let scalar = match *tag {
            NULL => return bare(Content::Scalar(Scalar::Null)),
            FALSE => return bare(Content::Scalar(Scalar::Bool(false))),
            TRUE => return bare(Content::Scalar(Scalar::Bool(true))),
            COUNTER => return bare(Content::Of(Kind::Counter)),
            TEXT => return bare(Content::Of(Kind::Text)),
            LIST => return bare(Content::Of(Kind::List)),
            MAP => return bare(Content::Of(Kind::Map)),
            INT => Scalar::Int(<i64 as Payload>::decode(rest)?.into()),
            WIDE_INT => {
                let number = <i128 as Key>::decode(rest)?;
                Scalar::Int(i64::try_from(number).is_err().then_some(number)?)
            }
            FLOAT => {
                let bits = u64::from_be_bytes(rest.try_into().ok()?);
                Scalar::Float(Float::from_canonical_bits(bits)?)
            }
            STRING => Scalar::String(<String as Payload>::decode(rest)?),
            BYTES => Scalar::Bytes(rest.to_vec()),
            _ => return None,
        };
        Some(Content::Scalar(scalar))
    }
}

fn tag(kind: Kind) -> u8 {
    match kind {
        // Written by its own tag.
        Kind::Scalar => NULL,
        Kind::Counter => COUNTER,
        Kind::Text => TEXT,
        Kind::List => LIST,
        Kind::Map => MAP,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_have_one_spelling() {
        let wide = [i128::MIN, i128::from(u64::MAX), i128::from(i64::MAX) + 1];
        let small = [i64::MIN, -1, 0, 300, i64::MAX].map(i128::from);
        let numbers = wide.into_iter().chain(small).map(Scalar::Int);
        let others = [
            Scalar::Null,
            Scalar::Bool(false),
            Scalar::Bool(true),
            Scalar::Float(Float::new(f64::NAN)),
            Scalar::String("\u{1F309}".into()),
            Scalar::String(String::new()),
            Scalar::Bytes(alloc::vec![0, 255]),
        ];
        let scalars = numbers.chain(others).map(Content::Scalar);
        let kinds = [Kind::Counter, Kind::Text, Kind::List, Kind::Map];
        for content in scalars.chain(kinds.map(Content::Of)) {
            let mut bytes = Vec::new();
            content.encode(&mut bytes);
            assert_eq!(Content::decode(&bytes), Some(content));
        }
        let mut narrow = alloc::vec![WIDE_INT];
        Key::encode(&7_i128, &mut narrow);
        let nan = [&[FLOAT][..], &0x7ff8_0000_0000_0001_u64.to_be_bytes()].concat();
        let wrong = [&[][..], &[NULL, 0], &[MAP, 0], &[STRING, 0xff], &[8], &[99]];
        for bytes in wrong.into_iter().chain([&narrow[..], &nan[..]]) {
            assert_eq!(Content::decode(bytes), None, "{bytes:?}");
        }
    }
}
