//! Edits of a TOML text by byte ranges: what is not meant keeps its bytes, line ends and comments.

use findings::Span;

/// Returns `text` with each range replaced by its new text. The ranges must not overlap; their order does not matter.
#[must_use]
pub fn splice(text: &str, edits: &[(Span, String)]) -> String {
    let mut edits: Vec<&(Span, String)> = edits.iter().collect();
    edits.sort_by_key(|(span, _)| *span);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (span, new) in edits {
        out.push_str(text.get(from..span.start).unwrap_or_default());
        out.push_str(new);
        from = span.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::{Span, splice};

    #[test]
    fn ranges_are_replaced_in_any_order_and_the_rest_stays() {
        let edits = [
            (Span::new(6, 7), "two".to_owned()),
            (Span::new(0, 1), String::new()),
            (Span::new(3, 3), "+".to_owned()),
        ];
        assert_eq!(splice("a\r\nb\r\nc\n", &edits), "\r\n+b\r\ntwo\n");
        assert_eq!(splice("as it is", &[]), "as it is");
    }
}
