//! Variables that a script assigns once, with their values.

use tree_sitter::Node;

use super::kind::kind;
use super::value::{Constants, word};

/// Collects the variables that are assigned once.
pub(super) fn collect(text: &str, root: Node<'_>) -> Constants {
    // Nobody asks for one.
    if !text.contains('$') {
        return Constants::default();
    }
    let mut all = Collector {
        text,
        constants: Constants::default(),
    };
    all.visit(root);
    all.constants
}

struct Collector<'a> {
    text: &'a str,
    constants: Constants,
}

impl<'a> Collector<'a> {
    fn visit(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        // In order of writing, without recursion.
        loop {
            if self.take(cursor.node()) && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Takes what a node assigns, and says whether more can be inside.
    fn take(&mut self, node: Node<'_>) -> bool {
        match kind(node) {
            "variable_assignment" => self.constant(node),
            "for_statement" | "select_statement" => {
                if let Some(name) = node.child_by_field_name("variable") {
                    self.constants.assign(self.source(name), None);
                }
            }
            "command" => {
                let source = self.source(node);
                if source.starts_with("read") {
                    let mut inner = node.walk();
                    for argument in node.children_by_field_name("argument", &mut inner) {
                        self.constants.assign(self.source(argument), None);
                    }
                }
                // An assignment before it, or one in a substitution.
                return source.contains(['=', '(', '`']);
            }
            "comment" => return false,
            _ => {}
        }
        true
    }

    fn constant(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let name = self.source(name);
        let value = node
            .child_by_field_name("value")
            .filter(|_| !self.source(node).contains("+="))
            .map(|value| word(self.text, value, &self.constants))
            .and_then(|word| word.literal);
        self.constants.assign(name, value);
    }

    fn source(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}
