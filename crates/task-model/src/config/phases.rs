//! `[agent]` and `[verifier]`, of the task and of its steps.

use super::fields;
use super::model::{Agent, Collect, EnvironmentMode, Verifier};
use super::place::Scope;
use super::reader::{Reader, Use};
use super::rules;

const MODES: [(&str, EnvironmentMode); 2] = [
    ("shared", EnvironmentMode::Shared),
    ("separate", EnvironmentMode::Separate),
];

impl Reader<'_> {
    pub(super) fn agent(&mut self, scope: Scope<'_>) -> Agent {
        let Some(scope) = self.table(&scope, "agent") else {
            return Agent::default();
        };
        self.unknown_keys(scope, &fields::AGENT);
        let network_mode = self.network_mode(scope);
        self.hosts_match_mode(scope, network_mode.as_ref().map(|m| m.value), false);
        Agent {
            timeout_sec: self.float(scope, "timeout_sec", Use::Positive),
            user: self.user(scope, "user"),
            network_mode,
            allowed_hosts: self.allowed_hosts(scope),
        }
    }

    pub(super) fn verifier(&mut self, scope: Scope<'_>) -> Verifier {
        let Some(scope) = self.table(&scope, "verifier") else {
            return Verifier::default();
        };
        self.unknown_keys(scope, &fields::VERIFIER);
        let network_mode = self.network_mode(scope);
        self.hosts_match_mode(scope, network_mode.as_ref().map(|m| m.value), false);
        let environment_mode = self.choice(scope, "environment_mode", &MODES);
        let environment = self
            .table(&scope, "environment")
            .map(|table| Box::new(self.environment(table)));
        if let (Some(mode), Some(_)) = (&environment_mode, &environment)
            && mode.value == EnvironmentMode::Shared
        {
            let message = format!(
                "`{}` is `shared` although there is a `{}` table",
                scope.at.key("environment_mode"),
                scope.at.key("environment")
            );
            self.refuse(&rules::CONFLICT, mode.span, message);
            self.help("remove the table, or write `environment_mode = \"separate\"`");
        }
        Verifier {
            timeout_sec: self.float(scope, "timeout_sec", Use::Positive),
            env: self.env(scope, "env"),
            user: self.user(scope, "user"),
            environment_mode,
            environment,
            collect: self.collect(scope),
            network_mode,
            allowed_hosts: self.allowed_hosts(scope),
            inputs: Vec::new(),
        }
    }

    fn collect(&mut self, scope: Scope<'_>) -> Vec<Collect> {
        let items = self.array(scope, "collect", "tables").unwrap_or_default();
        let at = scope.at.key("collect");
        let mut hooks = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let at = at.index(i);
            let Some(table) = self.as_table(at, item) else {
                continue;
            };
            let scope = Scope {
                table,
                span: item.span,
                at,
            };
            self.unknown_keys(scope, &fields::COLLECT);
            let command = self.required_text(scope, "command");
            let service = self.service(scope);
            let timeout_sec = self.float(scope, "timeout_sec", Use::Positive);
            let user = self.user(scope, "user");
            hooks.extend(command.map(|command| Collect {
                command,
                service,
                timeout_sec,
                user,
            }));
        }
        hooks
    }
}
