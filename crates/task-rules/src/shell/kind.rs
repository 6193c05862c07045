//! The grammar's words for its nodes, looked up once: asking the grammar for each node reads the word anew every time.

use std::cell::RefCell;
use std::sync::OnceLock;

use tree_sitter::{Language, Node, Parser};

/// Returns the word for a node.
pub(super) fn kind(node: Node<'_>) -> &'static str {
    static KINDS: OnceLock<Vec<&'static str>> = OnceLock::new();
    let kinds = KINDS.get_or_init(|| {
        let language = language();
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        (0..count)
            .map(|id| language.node_kind_for_id(id).unwrap_or_default())
            .collect()
    });
    // A node with a fault has an id of its own.
    kinds.get(usize::from(node.kind_id())).copied().unwrap_or("ERROR")
}

/// Lends this thread's parser: a new one for each text would cost more than short texts do.
pub(super) fn with_parser<T>(read: impl FnOnce(&mut Parser) -> Option<T>) -> Option<T> {
    thread_local! {
        static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
    }
    PARSER.with(|slot| {
        let mut slot = slot.try_borrow_mut().ok()?;
        if slot.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&language()).ok()?;
            *slot = Some(parser);
        }
        let parser = slot.as_mut()?;
        let read = read(parser);
        // One that was stopped would go on with the text before.
        parser.reset();
        read
    })
}

fn language() -> Language {
    tree_sitter_bash::LANGUAGE.into()
}
