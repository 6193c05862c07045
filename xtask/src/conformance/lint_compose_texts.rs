//! The keys, volumes and files that the Compose files of the lint comparison are made of.

/// Keys of the service `main`, each a case of its own.
pub(super) const KEYS: [&str; 45] = [
    "privileged: true",
    "privileged: True",
    "privileged: yes",
    "privileged: on",
    "privileged: y",
    "privileged: \"true\"",
    "privileged: \"yes\"",
    "privileged: ${P:-true}",
    "privileged: ${P:-off}",
    "privileged: false",
    "privileged: 1",
    "privileged: t",
    "privileged:",
    "privileged: ${P}",
    "privileged: !reset true",
    "cap_add: [SYS_ADMIN]",
    "cap_add: [CHOWN]",
    "cap_add: [net_bind_service]",
    "cap_add: [\"\"]",
    "cap_add: []",
    "cap_add:",
    "cap_add: SYS_ADMIN",
    "cap_add: [ALL]\n    cap_drop: [ALL]",
    "cap_add: [\"${C:-SYS_PTRACE}\"]",
    "cap_add: !reset [A]",
    "cap_add: !override [A]",
    "cap_drop: [ALL]",
    "volumes:",
    "volumes: []",
    "volumes: [\"./d:/d\", \"./e:/d:ro\"]",
    "volumes: [\"./e:/d:ro\", \"./d:/d\"]",
    "volumes: [\"./e:/d\", \"v:/d\"]\nvolumes: {vol: {}}",
    "volumes: [\"vol:/d\"]\nvolumes: {vol: {driver_opts: {type: none, o: bind, device: /etc}}}",
    "volumes: [\"vol:/d:ro\"]\nvolumes: {vol: {driver_opts: {type: none, o: bind, device: ./d}}}",
    "volumes: [\"vol:/d\"]\nvolumes: {vol: {driver_opts: {type: none, o: \"rbind,ro\", device: ../../x}}}",
    "volumes: [\"vol:/d\"]\nvolumes: {vol: {driver_opts: {type: nfs, o: \"addr=10.0.0.1,rw\", device: \":/x\"}}}",
    "pid: host\n    network_mode: host\n    ipc: host",
    "devices: [\"/dev/kvm:/dev/kvm\"]\n    security_opt: [\"seccomp=unconfined\"]",
    "build: {context: ., privileged: true}",
    "build: ../..",
    "env_file: no.env",
    "secrets: [c]\nsecrets: {c: {file: ../../x}}",
    "tmpfs: [/x]",
    "foo: 1",
    "privileged: true\n    privileged: false",
];

/// Volumes, `@` for the place in the container.
pub(super) const VOLUMES: [&str; 72] = [
    "./d:@",
    "./d:@:ro",
    "./d:@:rw",
    "./d:@:ro,z",
    "./d:@:z",
    "./d:@:RO",
    "./d:@:readonly",
    "./d:@:cached",
    "./d:@:nocopy",
    "./d:@:ro:x",
    "./d/:@:ro",
    "d:@",
    "vol:@",
    "vol:@:ro",
    "v:@:ro",
    "d/e:@",
    "@",
    "./d",
    ".:@",
    ".:@:ro",
    "..:@",
    "..:@:ro",
    "../..:@:ro",
    "../../x:@:ro",
    "../tests:@:ro",
    "./d/../../../x:@:ro",
    "./d/../..:@:ro",
    "./d/../../tests:@:ro",
    ".hidden:@:ro",
    "./a b:@:ro",
    "/etc:@:ro",
    "/:@:ro",
    "/var/run/docker.sock:/var/run/docker.sock",
    "~:@:ro",
    "~/x:@:ro",
    "~user/x:@:ro",
    "${X}:@:ro",
    "${X:-./d}:@:ro",
    "${X:-/etc}:@:ro",
    "${X-./d}:@",
    "$HOME/x:@:ro",
    "${HOME}/x:@:ro",
    "./${X}/d:@:ro",
    "./d:@:${MODE:-ro}",
    "${CONTEXT_DIR}:@",
    "${CONTEXT_DIR}/x:@:ro",
    "$CONTEXT_DIR/../y:@:ro",
    "$CONTEXT_DIR/../../y:@:ro",
    "${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}",
    "${HOST_AGENT_LOGS_PATH}/a:@:ro",
    "${HOST_ARTIFACTS_PATH:-./d}:@:ro",
    "$$x:@:ro",
    "./$$x:@:ro",
    "C:\\x:@:ro",
    "./lnk:@:ro",
    "./dirlnk/sub:@:ro",
    "./out:@:ro",
    "../lnk2:@:ro",
    "./missing:@:ro",
    "{type: bind, source: ./d, target: @}",
    "{type: bind, source: ./d, target: @, read_only: true}",
    "{type: bind, source: ./d, target: @, read_only: \"true\"}",
    "{type: bind, source: ./d, target: @, read_only: yes}",
    "{type: bind, source: ./d, target: @, read_only: \"${R:-true}\"}",
    "{type: bind, source: d, target: @, read_only: true}",
    "{type: bind, source: /d, target: @, read_only: true}",
    "{type: bind, source: ~/d, target: @, read_only: true}",
    "{type: bind, target: @, read_only: true}",
    "{type: volume, source: vol, target: @}",
    "{type: tmpfs, target: @}",
    "{source: ./d, target: @}",
    "{type: BIND, source: ./d, target: @}",
];

/// Whole files, by their paths in environment/.
pub(super) const FILES: [&[(&str, &str)]; 27] = [
    &[(
        FILE,
        "services:\n  main: {extends: base}\n  base: {image: a, privileged: true, cap_add: [A], volumes: [\"./d:/d\"]}\n",
    )],
    &[(
        FILE,
        "services:\n  main: {extends: {service: base}, privileged: false}\n  base: {image: a, profiles: [x], privileged: true}\n",
    )],
    &[
        (
            FILE,
            "services:\n  main: {extends: {file: sub/base.yaml, service: base}, privileged: false}\n",
        ),
        (
            "sub/base.yaml",
            "services:\n  base: {image: a, privileged: true}\n  other: {image: b, privileged: true}\n",
        ),
    ],
    &[
        (
            FILE,
            "services:\n  main: {extends: {file: sub/base.yaml, service: base}}\n",
        ),
        (
            "sub/base.yaml",
            "services:\n  base: {image: a, privileged: true, volumes: [\"./d:/d:ro\", \"../../x:/x:ro\"]}\n",
        ),
    ],
    &[
        (
            FILE,
            "services:\n  main: {extends: {file: sub/base.yaml, service: base}}\n",
        ),
        (
            "sub/base.yaml",
            "services:\n  base: {image: a, volumes: [\"../../../x:/x:ro\"]}\n",
        ),
    ],
    &[
        (
            FILE,
            "services:\n  main: {extends: {file: ../base.yaml, service: base}}\n",
        ),
        (
            "../base.yaml",
            "services:\n  base: {image: a, privileged: true}\n",
        ),
    ],
    &[
        (
            FILE,
            "services:\n  main: {extends: {file: sub/base.yaml, service: base}, volumes: [\"./y:/d:ro\"]}\n",
        ),
        (
            "sub/base.yaml",
            "services:\n  base: {image: a, volumes: [\"/etc:/d\"]}\n",
        ),
    ],
    &[
        (FILE, "services:\n  main: {extends: {file: a.yaml, service: a}}\n"),
        (
            "a.yaml",
            "services:\n  a: {extends: {file: b.yaml, service: b}}\n",
        ),
        ("b.yaml", "services:\n  b: {image: a, cap_add: [A]}\n"),
    ],
    &[
        (FILE, "services:\n  main: {extends: {file: a.yaml, service: a}}\n"),
        (
            "a.yaml",
            "services:\n  a: {extends: b, volumes: [\"./d:/d\"]}\n  b: {image: a, privileged: true}\n",
        ),
    ],
    &[(
        FILE,
        "services:\n  main: {extends: base, volumes: !override [\"./d:/d:ro\"], privileged: !reset true}\n  base: {image: a, profiles: [x]}\n",
    )],
    &[(
        FILE,
        "services:\n  main: {image: a, extends: {file: no.yaml, service: b}}\n",
    )],
    &[(FILE, "services:\n  main: {image: a, extends: nobody}\n")],
    &[(
        FILE,
        "services:\n  main: {image: a, extends: other}\n  other: {extends: main}\n",
    )],
    &[
        (FILE, "include: [more.yaml]\nservices:\n  main: {image: a}\n"),
        ("more.yaml", "services:\n  m: {image: a, privileged: true}\n"),
    ],
    &[
        (
            FILE,
            "include:\n  - path: [sub/more.yaml]\nservices:\n  main: {image: a}\n",
        ),
        (
            "sub/more.yaml",
            "services:\n  m: {image: a, volumes: [\"./d:/d\", \"../../x:/x:ro\"]}\n",
        ),
    ],
    &[
        (
            FILE,
            "include:\n  - {path: sub/more.yaml, project_directory: .}\nservices:\n  main: {image: a}\n",
        ),
        (
            "sub/more.yaml",
            "services:\n  m: {image: a, volumes: [\"../../x:/x:ro\"]}\n",
        ),
    ],
    &[
        (
            FILE,
            "include:\n  - {path: sub/more.yaml}\nservices:\n  main: {image: a}\n",
        ),
        (
            "sub/more.yaml",
            "services:\n  m: {image: a, volumes: [\"../../../x:/x:ro\"]}\n",
        ),
    ],
    &[(FILE, "include: [no.yaml]\nservices:\n  main: {image: a}\n")],
    &[
        (FILE, "services:\n  main: {image: a}\n"),
        (
            "docker-compose.override.yaml",
            "services:\n  main: {privileged: true}\n",
        ),
    ],
    &[(
        FILE,
        "services:\n  main: {image: a}\n  m: {image: b, profiles: [x], privileged: true}\n",
    )],
    &[(
        FILE,
        "x-b: &b\n  privileged: true\n  cap_add: [A]\nservices:\n  main:\n    <<: *b\n    image: a\n",
    )],
    &[(
        FILE,
        "x-v: &v\n  - ./d:/d\nservices:\n  main: {image: a, volumes: *v}\n",
    )],
    &[
        (FILE, "services:\n  main: {image: a, privileged: \"${FOO}\"}\n"),
        (".env", "FOO=true\n"),
    ],
    &[
        (
            FILE,
            "services:\n  main: {image: a, volumes: [\"${FOO}:/d:ro\"]}\n",
        ),
        (".env", "FOO=/etc\n"),
    ],
    &[(FILE, "x-a: 1\n")],
    &[(FILE, "services: [\n")],
    &[(FILE, "services:\n  main:\n")],
];

pub(super) const FILE: &str = "docker-compose.yaml";
