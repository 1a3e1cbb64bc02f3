"""``sessionstore task``: shows and changes the goal and the todos of a conversation."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import json_option, names_a_session
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal, note, printable
from sessionstore.domain.closed_sets import TODO_STATUSES
from sessionstore.domain.task_state import task_text


@click.command("task")
@names_a_session
@click.option("--goal", help="Set the goal; an empty text takes it away.")
@click.option("--add", multiple=True, metavar="TEXT", help="Add a todo at the end; may be given several times.")
@click.option(
    "--set",
    "changes",
    nargs=2,
    multiple=True,
    type=(str, click.Choice(TODO_STATUSES)),
    metavar="TODO STATUS",
    help=f"Put a todo into another status: {', '.join(TODO_STATUSES)}.",
)
@json_option
@pass_settings
def command(
    settings: Settings,
    reference: str,
    namespace: str | None,
    goal: str | None,
    add: tuple[str, ...],
    changes: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """Show or change goal and todos.

    They are what the model sees in its system prompt every turn; no compaction touches them.

    \b
    Examples
      sessionstore task fix-auth
      sessionstore task fix-auth --goal "Make the login safe" --add "Read the code"
      sessionstore task fix-auth --add "Read the code" --set 1 completed
    """
    with settings.open_existing() as store:
        task = store.resume(reference, namespace=namespace).task
        if goal is not None:
            task.set_goal(goal)
        if add:
            task.write_todos([*task.todos, *({"content": content} for content in add)])
        for todo_id, status in changes:
            task.update_todo(todo_id, status)
        state = task.state()
    todos = [todo.as_dict() for todo in state.todos]
    if as_json:
        print_json({"goal": state.goal, "todos": todos, "version": state.version})
        return
    text = task_text(state.goal, todos)
    if text is None:
        note("no goal and no todos")
    else:
        Terminal().text(printable(text))
