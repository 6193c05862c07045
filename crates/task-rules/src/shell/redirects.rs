//! Redirections.

use tree_sitter::Node;

use super::kind::kind;
use super::model::Redirect;
use super::value::{Constants, word};

/// A redirection, and those that the grammar hangs below a here-document.
pub(super) fn of(text: &str, node: Node<'_>, constants: &Constants) -> Vec<Redirect> {
    let mut all: Vec<Redirect> = one(text, node, constants).into_iter().collect();
    if kind(node) == "heredoc_redirect" {
        let mut cursor = node.walk();
        for child in node.children_by_field_name("redirect", &mut cursor) {
            all.extend(one(text, child, constants));
        }
    }
    all
}

fn one(text: &str, node: Node<'_>, constants: &Constants) -> Option<Redirect> {
    let mut cursor = node.walk();
    let operator = node.children(&mut cursor).find(|child| !child.is_named());
    let target = match kind(node) {
        "file_redirect" => node.child_by_field_name("destination")?,
        "herestring_redirect" => node.named_child(0)?,
        _ => {
            let mut cursor = node.walk();
            let body = node
                .named_children(&mut cursor)
                .find(|child| kind(*child) == "heredoc_body");
            body?
        }
    };
    Some(Redirect {
        operator: operator
            .map(|o| text.get(o.byte_range()).unwrap_or_default().to_owned())
            .unwrap_or_default(),
        target: word(text, target, constants),
    })
}
