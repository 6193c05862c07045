//! What the oracle said, in the two forms that graders read: the agent's transcript (ATIF) and its final response
//! (Responses API).

use serde_json::{Value, json};

use crate::api::AttemptKind;

/// The version of ATIF that is written.
pub(crate) const SCHEMA: &str = "ATIF-v1.7";

/// The most characters of a script's output that count as what the oracle said.
const SAID_CHARS: usize = 4000;

/// Returns the transcript: the instruction, then what the agent said, if anything.
pub(crate) fn transcript(kind: AttemptKind, instruction: &str, said: Option<&str>) -> Vec<u8> {
    let name = kind.as_str();
    let mut steps = vec![json!({ "step_id": 1, "source": "user", "message": instruction })];
    if let Some(said) = said {
        steps.push(json!({ "step_id": 2, "source": "agent", "message": said }));
    }
    let transcript = json!({
        "schema_version": SCHEMA,
        "session_id": name,
        "agent": { "name": name, "version": env!("CARGO_PKG_VERSION") },
        "steps": steps,
    });
    let mut bytes = serde_json::to_vec_pretty(&transcript).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Returns the final response with `said` as its one message; without one it holds no message.
pub(crate) fn response(said: Option<&str>) -> Value {
    let output: Vec<Value> = said
        .map(|text| {
            json!({
                "id": "msg_oracle",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }],
            })
        })
        .into_iter()
        .collect();
    json!({
        "id": "resp_oracle",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": "oracle",
        "output": output,
        "parallel_tool_calls": false,
        "tool_choice": "auto",
        "tools": [],
    })
}

/// Returns the last characters of a script's output: what it said.
pub(crate) fn said(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let skip = text.chars().count().saturating_sub(SAID_CHARS);
    text.chars().skip(skip).collect()
}

/// Returns the instruction without the canary lines at its top and the blank lines after them. A canary line is an
/// HTML comment, or a line that starts with `#`, with the word canary. A text without one keeps every byte.
pub(crate) fn without_canary(text: &str) -> &str {
    let mut rest = text;
    let mut found = false;
    while let Some(line) = rest.split_inclusive('\n').next() {
        let bare = line.trim();
        let comment = (bare.starts_with("<!--") && bare.ends_with("-->")) || bare.starts_with('#');
        let canary = comment && bare.to_lowercase().contains("canary");
        let gap = found && bare.is_empty();
        if !canary && !gap {
            break;
        }
        found |= canary;
        rest = rest.strip_prefix(line).unwrap_or_default();
    }
    if found { rest } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_lines_go_and_nothing_else() {
        for (text, expected) in [
            ("<!-- CANARY x -->\n# canary y\n\nDo it.\n", "Do it.\n"),
            ("\n# canary\nDo it.", "\n# canary\nDo it."),
            ("# Title\n# canary\n", "# Title\n# canary\n"),
            ("# canary", ""),
            ("\nplain\n", "\nplain\n"),
            ("", ""),
        ] {
            assert_eq!(without_canary(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_transcript_names_the_oracle_and_counts_its_steps() {
        let bytes = transcript(AttemptKind::Oracle, "Do it.", Some("done"));
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["schema_version"], "ATIF-v1.7");
        assert_eq!(value["agent"]["name"], "oracle");
        assert_eq!(value["steps"][0]["source"], "user");
        assert_eq!(value["steps"][1]["message"], "done");
        assert_eq!(value["steps"][1]["step_id"], 2);
        let nop: Value = serde_json::from_slice(&transcript(AttemptKind::Nop, "Do it.", None)).unwrap();
        assert_eq!(nop["steps"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn a_response_holds_one_message_or_none() {
        assert_eq!(response(Some("42"))["output"][0]["content"][0]["text"], "42");
        assert_eq!(response(None)["output"], json!([]));
    }

    #[test]
    fn what_a_script_said_is_the_end_of_its_output() {
        let long = "é".repeat(5000);
        assert_eq!(said(long.as_bytes()).chars().count(), 4000);
        assert_eq!(said(b"a\xffb"), "a\u{fffd}b");
    }
}
