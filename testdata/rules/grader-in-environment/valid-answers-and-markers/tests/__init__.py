# The tests of this task.
