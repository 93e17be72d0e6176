//! Names of types without their paths.

/// `a::b::Set<c::D>` becomes `Set<D>`.
pub(crate) fn short(name: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        if c == ':' && chars.peek() == Some(&':') {
            chars.next();
            word.clear();
        } else if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            out.push_str(&word);
            word.clear();
            out.push(c);
        }
    }
    out + &word
}

#[test]
fn paths_are_left_out() {
    assert_eq!(short("a::b::Set<c::D, u8>"), "Set<D, u8>");
    assert_eq!(short("(x::Y, [z::W; 3])"), "(Y, [W; 3])");
}
