def verify(workspace, task_data):
    return 1.0 if (workspace / "answer.md").read_text().strip() == task_data["answer"] else 0.0
