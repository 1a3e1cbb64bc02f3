"""Runs benchmarks: ``python -m benchmarks [NAME…] [--peers] [--quick] [--json FILE]``."""
from __future__ import annotations

import json
from pathlib import Path

import click

from benchmarks.catalogue import BENCHMARKS
from benchmarks.machine import machine
from benchmarks.participants import peer_versions
from benchmarks.settings import Settings


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice([one.name for one in BENCHMARKS]))
@click.option("--peers", is_flag=True, help="Install and measure other packages too, each in an environment of its own.")
@click.option("--quick", is_flag=True, help="Small sizes and few rounds: to see that everything runs.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the findings there too.")
def main(names: tuple[str, ...], peers: bool, quick: bool, json_file: Path | None) -> None:
    """Measure, and print tables in Markdown. Without a NAME everything is run."""
    settings = Settings(quick=quick, peers=peers)
    before = machine()
    click.echo(before.to_markdown())
    if peers:
        click.echo(peer_versions().to_markdown())
    found: list[dict[str, object]] = []
    for benchmark in BENCHMARKS:
        if names and benchmark.name not in names:
            continue
        for table in benchmark.run(settings):
            click.echo(table.to_markdown())
            found.append({"benchmark": benchmark.name, **table.to_json()})
    if json_file is not None:
        document = {"machine": before.to_json(), "settings": {"quick": quick, "peers": peers}, "tables": found}
        json_file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
