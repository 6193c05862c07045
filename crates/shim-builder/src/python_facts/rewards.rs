//! Dicts that a module writes to a `reward.json` as they stand.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Span, Spanned};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, ExprContext, ExprDict, Operator, Stmt, StmtWith};
use ruff_text_size::Ranged as _;

use super::paths::Known;
use crate::signature::span_of;

/// A dict whose keys are all written down and that nothing changes before it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct PythonReward {
    /// The dict.
    pub span: Span,
    /// Its keys with what their values are.
    pub entries: Vec<(Spanned<String>, PythonShape)>,
}

/// What a value is, as far as the source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonShape {
    /// `None`.
    Nothing,
    /// A string.
    Text,
    /// A list, tuple, set or dict, or a comprehension of one.
    Collection,
    /// A number, or something that only a run can tell.
    Other,
}

/// Returns the dicts, in order of writing to the file.
pub(super) fn collect(body: &[Stmt], known: &Known) -> Vec<PythonReward> {
    let mut uses = Uses::default();
    for stmt in body {
        uses.visit_stmt(stmt);
    }
    let mut walk = Walk {
        known,
        uses,
        open: BTreeSet::new(),
        rewards: Vec::new(),
    };
    for stmt in body {
        walk.visit_stmt(stmt);
    }
    walk.rewards
}

/// How often each name is used for what, wherever it stands.
#[derive(Default)]
struct Uses<'a> {
    stores: BTreeMap<&'a str, usize>,
    loads: BTreeMap<&'a str, usize>,
    dumps: BTreeMap<&'a str, usize>,
    values: BTreeMap<&'a str, &'a Expr>,
}

impl<'a> Uses<'a> {
    /// Returns what a name is given, when that happens once.
    fn value(&self, name: &str) -> Option<&'a Expr> {
        let once = self.stores.get(name) == Some(&1);
        self.values.get(name).copied().filter(|_| once)
    }

    /// Returns the dict of a name that is written as JSON and used for nothing else.
    fn dict(&self, name: &str) -> Option<&'a ExprDict> {
        let untouched = self.loads.get(name) == self.dumps.get(name);
        match self.value(name) {
            Some(Expr::Dict(dict)) if untouched => Some(dict),
            _ => None,
        }
    }
}

impl<'a> Visitor<'a> for Uses<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let (target, value) = match stmt {
            Stmt::Assign(assign) => (assign.targets.first(), Some(&*assign.value)),
            Stmt::AnnAssign(assign) => (Some(&*assign.target), assign.value.as_deref()),
            _ => (None, None),
        };
        if let (Some(Expr::Name(name)), Some(value)) = (target, value) {
            self.values.insert(name.id.as_str(), value);
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                let counts = match name.ctx {
                    ExprContext::Load => &mut self.loads,
                    _ => &mut self.stores,
                };
                *counts.entry(name.id.as_str()).or_default() += 1;
            }
            Expr::Call(call) => {
                if let Some(Expr::Name(name)) = dumped(call) {
                    *self.dumps.entry(name.id.as_str()).or_default() += 1;
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Returns what a call of `json.dump` or `json.dumps` writes.
fn dumped(call: &ExprCall) -> Option<&Expr> {
    let name = match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return None,
    };
    call.arguments
        .args
        .first()
        .filter(|_| matches!(name, "dump" | "dumps"))
}

struct Walk<'a> {
    known: &'a Known,
    uses: Uses<'a>,
    /// Names under which a `reward.json` is open here.
    open: BTreeSet<&'a str>,
    rewards: Vec<PythonReward>,
}

impl<'a> Walk<'a> {
    fn with(&mut self, with: &'a StmtWith) {
        let before = self.open.clone();
        for item in &with.items {
            if let Some(Expr::Name(name)) = item.optional_vars.as_deref()
                && self.opens_reward(&item.context_expr)
            {
                self.open.insert(name.id.as_str());
            }
        }
        for stmt in &with.body {
            self.visit_stmt(stmt);
        }
        self.open = before;
    }

    /// `open(PATH)` or `PATH.open()`.
    fn opens_reward(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else { return false };
        match &*call.func {
            Expr::Name(name) if name.id.as_str() == "open" => call
                .arguments
                .args
                .first()
                .is_some_and(|path| self.is_reward(path)),
            Expr::Attribute(attribute) => {
                attribute.attr.as_str() == "open" && self.is_reward(&attribute.value)
            }
            _ => false,
        }
    }

    /// Says whether an expression is the path of a `reward.json`, whatever folder it is in.
    fn is_reward(&self, expr: &Expr) -> bool {
        let named = |text: &str| text.rsplit('/').next() == Some("reward.json");
        if self.known.text(expr).is_some_and(|text| named(&text)) {
            return true;
        }
        match expr {
            Expr::BinOp(operation) => {
                operation.op == Operator::Div
                    && self.known.text(&operation.right).is_some_and(|text| named(&text))
            }
            Expr::Name(name) => match self.uses.value(name.id.as_str()) {
                // One step is enough, and ends.
                Some(Expr::Name(_)) | None => false,
                Some(value) => self.is_reward(value),
            },
            _ => false,
        }
    }

    /// `json.dump(D, f)`, `f.write(json.dumps(D))`, `PATH.write_text(json.dumps(D))`.
    fn written(&self, call: &'a ExprCall) -> Option<&'a Expr> {
        let arguments = &call.arguments.args;
        let is_open = |expr: &Expr| match expr {
            Expr::Name(name) => self.open.contains(name.id.as_str()),
            other => self.opens_reward(other),
        };
        if let (Some(value), Some(file)) = (dumped(call), arguments.get(1))
            && is_open(file)
        {
            return Some(value);
        }
        let Expr::Attribute(attribute) = &*call.func else {
            return None;
        };
        let to_reward = match attribute.attr.as_str() {
            "write" => is_open(&attribute.value),
            "write_text" => self.is_reward(&attribute.value),
            _ => false,
        };
        match arguments.first() {
            Some(Expr::Call(inner)) if to_reward => dumped(inner),
            _ => None,
        }
    }
}

impl<'a> Visitor<'a> for Walk<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::With(with) => self.with(with),
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && let Some(value) = self.written(call)
        {
            let dict = match value {
                Expr::Dict(dict) => Some(dict),
                Expr::Name(name) => self.uses.dict(name.id.as_str()),
                _ => None,
            };
            self.rewards.extend(dict.and_then(reward));
        }
        walk_expr(self, expr);
    }
}

/// Returns a dict whose keys are all plain strings.
fn reward(dict: &ExprDict) -> Option<PythonReward> {
    let entry = |item: &ruff_python_ast::DictItem| match &item.key {
        Some(Expr::StringLiteral(key)) => {
            let text = Spanned::new(key.value.to_str().to_owned(), span_of(key.range()));
            Some((text, shape(&item.value)))
        }
        _ => None,
    };
    Some(PythonReward {
        span: span_of(dict.range()),
        entries: dict.items.iter().map(entry).collect::<Option<_>>()?,
    })
}

fn shape(value: &Expr) -> PythonShape {
    match value {
        Expr::NoneLiteral(_) => PythonShape::Nothing,
        Expr::StringLiteral(_) | Expr::FString(_) => PythonShape::Text,
        Expr::List(_)
        | Expr::Tuple(_)
        | Expr::Set(_)
        | Expr::Dict(_)
        | Expr::ListComp(_)
        | Expr::DictComp(_)
        | Expr::SetComp(_) => PythonShape::Collection,
        _ => PythonShape::Other,
    }
}
