//! Walks the grammar's tree and writes down commands with what surrounds them.

use findings::Span;
use tree_sitter::{Node, Tree};

use super::kind::kind;
use super::model::{Assignment, Command, Function, Place, Redirect, Script, Variable};
use super::redirects;
use super::value::{Constants, word};
use super::{conditions, constants};

/// Deeper nesting is not looked at.
const DEEPEST: usize = 150;

pub(super) struct Walk<'a> {
    text: &'a str,
    constants: Constants,
    script: Script,
    /// What surrounds the pipe that is being read.
    around_pipe: Option<Place>,
}

impl<'a> Walk<'a> {
    /// Returns the script of a tree.
    pub(super) fn over(text: &'a str, tree: &Tree) -> Script {
        let mut walk = Self {
            text,
            constants: constants::collect(text, tree.root_node()),
            script: Script {
                whole: !tree.root_node().has_error(),
                ..Script::default()
            },
            around_pipe: None,
        };
        walk.node(tree.root_node(), &Place::default(), 0);
        walk.script
    }

    fn source(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn children(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.node(child, place, depth + 1);
        }
    }

    fn node(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        if depth > DEEPEST {
            self.script.whole = false;
            return;
        }
        match kind(node) {
            "command" => self.command(node, node, place, depth),
            "redirected_statement" => self.redirected(node, place, depth),
            "list" => self.list(node, place, depth),
            "pipeline" => self.pipeline(node, place, depth),
            "negated_command" => self.children(
                node,
                &Place {
                    guarded: true,
                    piped: false,
                    ..place.clone()
                },
                depth,
            ),
            "if_statement" | "elif_clause" => self.branch(node, place, depth),
            "while_statement" | "until_statement" => self.branch(node, place, depth),
            "for_statement" | "c_style_for_statement" | "case_statement" | "else_clause" => {
                let branches = place.branches + usize::from(kind(node) != "else_clause");
                self.children(
                    node,
                    &Place {
                        branches,
                        ..place.clone()
                    },
                    depth,
                );
            }
            "function_definition" => {
                if let Some(name) = node.child_by_field_name("name") {
                    self.script.functions.push(Function {
                        name: self.source(name).to_owned(),
                        span: Span::new(node.start_byte(), node.end_byte()),
                    });
                }
                let body = Place {
                    function: true,
                    ..Place::default()
                };
                self.children(node, &body, depth);
            }
            "subshell" => self.children(
                node,
                &Place {
                    subshell: true,
                    ..place.clone()
                },
                depth,
            ),
            "command_substitution" | "process_substitution" => {
                self.children(
                    node,
                    &Place {
                        substitution: true,
                        ..place.clone()
                    },
                    depth,
                );
            }
            "variable_assignment" | "variable_assignments" | "declaration_command" => {
                self.assignment(node, place, depth);
            }
            "special_variable_name" | "variable_name" => self.variable(node, place),
            "program" | "compound_statement" => self.statements(node, place, depth),
            "test_command" => {
                let operands = conditions::operands(self.text, node, &self.constants);
                self.script.tested.extend(operands);
                self.children(node, place, depth);
            }
            _ => self.children(node, place, depth),
        }
    }

    /// Statements one after the other; `&` behind one puts it in the background.
    fn statements(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for (at, child) in children.iter().enumerate().filter(|(_, child)| child.is_named()) {
            let background = children.get(at + 1).is_some_and(|next| kind(*next) == "&");
            if background {
                self.node(
                    *child,
                    &Place {
                        background,
                        guarded: true,
                        piped: false,
                        ..place.clone()
                    },
                    depth + 1,
                );
            } else {
                self.node(*child, place, depth + 1);
            }
        }
    }

    /// `a && b`, `a || b`: the left side's status is looked at.
    fn list(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let operator = children.iter().find(|child| !child.is_named()).map(Node::kind);
        let named: Vec<&Node<'_>> = children.iter().filter(|child| child.is_named()).collect();
        for (at, child) in named.iter().enumerate() {
            let last = at + 1 == named.len();
            let inner = Place {
                guarded: place.guarded || !last,
                piped: place.piped && last,
                caught: place.caught || (!last && operator == Some("||")),
                conditional: place.conditional || at > 0,
                condition: false,
                ..place.clone()
            };
            self.node(**child, &inner, depth + 1);
        }
    }

    fn pipeline(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        let outermost = self.around_pipe.is_none();
        if outermost {
            self.around_pipe = Some(place.clone());
        }
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let inner = Place {
                guarded: place.guarded || !last,
                piped: place.piped || !(place.guarded || last),
                pipe: place.pipe + at,
                ..place.clone()
            };
            self.node(*part, &inner, depth + 1);
        }
        if outermost {
            self.around_pipe = None;
        }
    }

    /// A condition and what hangs on it.
    fn branch(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        let conditions: Vec<usize> = {
            let mut cursor = node.walk();
            node.children_by_field_name("condition", &mut cursor)
                .map(|n| n.id())
                .collect()
        };
        let inside = Place {
            branches: place.branches + usize::from(kind(node) != "elif_clause"),
            ..place.clone()
        };
        self.script.choices.extend(conditions::branches(node, place));
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if conditions.contains(&child.id()) {
                let condition = Place {
                    guarded: true,
                    piped: false,
                    caught: true,
                    condition: kind(node) == "if_statement",
                    ..place.clone()
                };
                self.node(child, &condition, depth + 1);
            } else {
                self.node(child, &inside, depth + 1);
            }
        }
    }

    fn redirected(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        match node.child_by_field_name("body") {
            Some(body) if kind(body) == "command" => self.command(body, node, place, depth),
            Some(body) if kind(body) == "pipeline" || kind(body) == "list" => {
                let before = self.script.commands.len();
                self.node(body, place, depth + 1);
                // The redirection belongs to the last command of it.
                let redirects = self.redirects(node, place, depth);
                if let Some(last) = self
                    .script
                    .commands
                    .get_mut(before..)
                    .and_then(<[Command]>::last_mut)
                {
                    last.redirects.extend(redirects);
                }
            }
            Some(body) => {
                let start = self.script.commands.len();
                self.node(body, place, depth + 1);
                // `{ ...; } > file`: a command of its own, without a name, stands for the redirection.
                let redirects = self.redirects(node, place, depth);
                let command = Command {
                    span: Span::new(node.start_byte(), node.end_byte()),
                    name: None,
                    arguments: Vec::new(),
                    assignments: Vec::new(),
                    redirects,
                    place: place.clone(),
                };
                self.script.commands.insert(start, command);
            }
            None => {
                let redirects = self.redirects(node, place, depth);
                self.bare(node, Vec::new(), redirects, place);
            }
        }
    }

    fn command(&mut self, node: Node<'_>, whole: Node<'_>, place: &Place, depth: usize) {
        let mut command = Command {
            span: Span::new(whole.start_byte(), whole.end_byte()),
            name: None,
            arguments: Vec::new(),
            assignments: Vec::new(),
            redirects: Vec::new(),
            place: place.clone(),
        };
        // Its own place is taken before what runs inside of it.
        let mut nested = Vec::new();
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        for child in node.named_children(&mut cursor) {
            // The grammar loses the line's end behind a pipe of three: the next line is a command of its own.
            let gap = self.text.get(end..child.start_byte()).unwrap_or_default();
            end = child.end_byte();
            if gap.replace("\\\n", "").contains('\n') && command.name.is_some() {
                let next = self.next_line(child, whole);
                command.span.end = child.start_byte() - gap.len();
                self.script.commands.push(std::mem::replace(&mut command, next));
                nested.push(child);
                continue;
            }
            match kind(child) {
                "command_name" => command.name = Some(word(self.text, child, &self.constants)),
                "variable_assignment" => command.assignments.push(self.read_assignment(child)),
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    command
                        .redirects
                        .extend(redirects::of(self.text, child, &self.constants));
                }
                "comment" => continue,
                _ => command.arguments.push(word(self.text, child, &self.constants)),
            }
            nested.push(child);
        }
        let slot = self.script.commands.len();
        self.script.commands.push(command);
        for child in nested {
            self.inside(child, place, depth + 1);
        }
        if whole.id() != node.id() {
            let redirects = self.redirects(whole, place, depth);
            if let Some(command) = self.script.commands.get_mut(slot) {
                command.redirects.extend(redirects);
            }
        }
    }

    /// A command that begins with a word which the grammar takes for an argument of the line before.
    fn next_line(&self, first: Node<'_>, whole: Node<'_>) -> Command {
        Command {
            span: Span::new(first.start_byte(), whole.end_byte()),
            name: Some(word(self.text, first, &self.constants)),
            arguments: Vec::new(),
            assignments: Vec::new(),
            redirects: Vec::new(),
            place: self.around_pipe.clone().unwrap_or_default(),
        }
    }

    /// What runs inside of a word: substitutions, and the parameters it uses.
    fn inside(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        if node.child_count() > 0 || matches!(kind(node), "special_variable_name" | "variable_name") {
            let inner = Place {
                pipe: 0,
                ..place.clone()
            };
            self.node(node, &inner, depth);
        }
    }

    fn redirects(&mut self, node: Node<'_>, place: &Place, depth: usize) -> Vec<Redirect> {
        let mut cursor = node.walk();
        let nodes: Vec<Node<'_>> = node.children_by_field_name("redirect", &mut cursor).collect();
        let mut all = Vec::new();
        for redirect in nodes {
            all.extend(redirects::of(self.text, redirect, &self.constants));
            self.inside(redirect, place, depth + 1);
        }
        all
    }

    /// `A=b`, `export A=b`, `local a b`.
    fn assignment(&mut self, node: Node<'_>, place: &Place, depth: usize) {
        let mut cursor = node.walk();
        let own = kind(node) == "variable_assignment";
        let nodes: Vec<Node<'_>> = if own {
            vec![node]
        } else {
            node.named_children(&mut cursor)
                .filter(|child| kind(*child) == "variable_assignment")
                .collect()
        };
        let assignments = nodes.iter().map(|node| self.read_assignment(*node)).collect();
        self.bare(node, assignments, Vec::new(), place);
        for value in nodes.iter().filter_map(|node| node.child_by_field_name("value")) {
            self.inside(value, place, depth + 1);
        }
    }

    fn bare(
        &mut self,
        node: Node<'_>,
        assignments: Vec<Assignment>,
        redirects: Vec<Redirect>,
        place: &Place,
    ) {
        self.script.commands.push(Command {
            span: Span::new(node.start_byte(), node.end_byte()),
            name: None,
            arguments: Vec::new(),
            assignments,
            redirects,
            place: place.clone(),
        });
    }

    fn read_assignment(&self, node: Node<'_>) -> Assignment {
        let name = node.child_by_field_name("name").map(|name| self.source(name));
        let value = node
            .child_by_field_name("value")
            .filter(|value| kind(*value) != "array");
        Assignment {
            name: name.unwrap_or_default().to_owned(),
            value: value.map(|value| word(self.text, value, &self.constants)),
        }
    }

    fn variable(&mut self, node: Node<'_>, place: &Place) {
        self.script.variables.push(Variable {
            name: self.source(node).to_owned(),
            span: Span::new(node.start_byte(), node.end_byte()),
            function: place.function,
        });
    }
}
