"""What every benchmark does with its figures: percentiles, a table, a CSV file with its origins.

Each row of a file says on which day, at which commit and on which processor it was measured, and
with which versions of the packages that matter.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

PERCENTILES = (25, 50, 75, 90, 95, 99, 99.9, 100)
Row = dict[str, Any]


def cpu_us() -> float:
    """CPU time of this process in microseconds."""
    return time.process_time_ns() / 1000


def percentiles(values: Sequence[float], digits: int = 1) -> Row:
    """`values` at each of the percentiles, and how many there are."""
    spread = np.percentile(values, PERCENTILES) if len(values) else [float("nan")] * 8
    named = zip(PERCENTILES, spread, strict=True)
    return {f"p{p:g}": round(float(value), digits) for p, value in named} | {"n": len(values)}


def version(package: str) -> str:
    """The version that is installed; a dash if none is."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "-"


def machine(*packages: str) -> dict[str, str]:
    """Date, commit, processor, load, and the versions of `packages`."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit or "unknown",
        "cpu": processor(),
        "load": f"{os.getloadavg()[0]:.1f}",
        **{package: version(package) for package in packages},
    }


def processor() -> str:
    """The name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Every key of `rows`, in the order in which they come."""
    return list(dict.fromkeys(key for row in rows for key in row))


def show(rows: list[Row]) -> None:
    """Print `rows` as a table."""
    columns = columns_of(rows)
    cells = [columns, *([str(row.get(name, "")) for name in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def write_csv(path: Path, rows: list[Row], about: Row, columns: list[str] | None = None) -> None:
    """Write `rows`, each with `about` before it; added to the file if it is there already.

    Args:
        columns: of the file, beside those of `about`; those of `rows` by default.
    """
    is_new = not path.exists()
    names = [*about, *(columns or columns_of(rows))]
    if not is_new:
        head = path.read_text(encoding="utf-8").partition("\n")[0]
        if head != ",".join(names):
            raise SystemExit(f"{path} has other columns: {head}")
    with path.open("w" if is_new else "a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n", restval="")
        if is_new:
            writer.writeheader()
        writer.writerows({**about, **row} for row in rows)


def report(rows: list[Row], about: Row, path: Path | None) -> None:
    """Print `about` and `rows`, and write them to the file if there is to be one."""
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    show(rows)
    if path is not None:
        write_csv(path, rows, about)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser with the first line of `description`, and the option --csv."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--csv", type=Path, help="add the rows to this file")
    return parser
