"""Measuring figures over seeds, drawing them, and writing down what was found, and with what."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tippingpoint import __version__
from tippingpoint.errors import InputError
from tippingpoint.json_numbers import write_json
from tippingpoint.progress import progress_bar
from tippingpoint.reproduce.claims import Claim, rendered, tabulated
from tippingpoint.reproduce.experiments import Setting
from tippingpoint.reproduce.figure import Figure, Record
from tippingpoint.reproduce.registry import FIGURES
from tippingpoint.visible import csv_text
from tippingpoint.writing import write_file, write_files

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "torch", "matplotlib")
"""Whose versions are written down."""

DIGITS = "%.8g"
"""How numbers are written to CSV: figures and verdicts are made from what was written, so that they agree with it."""

MANIFEST = "manifest.json"
"""With what the files of a folder were made; it is there only where all of them are of one run."""

DPI = 80.0
"""Dots an inch of the pictures: small files, sharp enough for a page."""


def reproduce(
    names: Sequence[str],
    out: str | Path,
    *,
    setting: Setting | None = None,
    seeds: int = 10,
    jobs: int = 1,
    progress: bool | None = None,
) -> Any:
    """Measure, draw and judge figures; everything is written to a directory, and the table of claims returned.

    Parameters
    ----------
    names
        Of figures, as in `FIGURES`.
    out
        Where to write; it is made where it is not there.
    setting
        Where the data are, and whether a taste is enough.
    seeds
        How often the data are drawn: seeds 0, 1, and so on.
    jobs
        Draws at a time.
    progress
        Whether to show a bar; by default on a terminal.
    """
    if seeds < 1 or jobs < 1:
        raise InputError(f"seeds={seeds!r} and jobs={jobs!r} must be whole numbers, 1 or more.")
    chosen, setting = _chosen(names), setting or Setting()
    for name in dict.fromkeys(name for figure in chosen for name in figure.data):
        setting.task(name)  # a file that is missing is missed now, not in an hour
    folder = Path(out)
    _make(folder)
    (folder / MANIFEST).unlink(missing_ok=True)  # it says of what the rest was made, so it is written when the rest is
    work = [(figure.name, seed) for figure in chosen for seed in range(seeds)]
    found: dict[str, dict[int, Mapping[str, list[Record]]]] = {figure.name: {} for figure in chosen}
    with progress_bar("figures", len(work), show=progress) as tick:
        for done, (name, seed, records) in enumerate(_measured(work, setting, jobs), start=1):
            found[name][seed] = records
            if len(found[name]) == seeds:
                _write(FIGURES[name], found.pop(name), folder)
            tick(done)
    table = redraw(names, folder)
    write_file(folder / MANIFEST, write_json(_manifest(chosen, setting, seeds), indent=2) + "\n")
    return table


def redraw(names: Sequence[str], out: str | Path) -> Any:
    """Draw and judge figures from the tables that an earlier run wrote; nothing is measured."""
    folder = Path(out)
    claims = [claim for figure in _chosen(names) for claim in _redrawn(figure, folder)]
    table = tabulated(claims)
    page = rendered(table, {figure.name: figure.title for figure in FIGURES.values()})
    write_files({folder / "claims.csv": csv_text(table), folder / "claims.md": page})
    return table


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError, ValueError):  # the last for a NUL in the name
        raise InputError(f"{str(folder)!r} is not a folder and cannot be one; give another one to write to.") from None


def _chosen(names: Sequence[str]) -> list[Figure]:
    """The figures of these names, in the order of the paper."""
    unknown = [name for name in names if name not in FIGURES]
    if unknown or not names:
        raise InputError(f"{unknown[0] if unknown else ''!r} is not a figure; they are {', '.join(FIGURES)}, or all.")
    return [FIGURES[name] for name in FIGURES if name in names]


def _write(figure: Figure, by_seed: Mapping[int, Mapping[str, list[Record]]], folder: Path) -> None:
    """The tables of a figure as CSV."""
    import pandas as pd

    for kind in dict.fromkeys(kind for tables in by_seed.values() for kind in tables):
        records = [record for seed in sorted(by_seed) for record in by_seed[seed].get(kind, [])]
        write_file(_path(figure, kind, folder), csv_text(pd.DataFrame(records), float_format=DIGITS))


def _redrawn(figure: Figure, folder: Path) -> Sequence[Claim]:
    """The picture and the claims of a figure, from its tables on disk."""
    from matplotlib import pyplot as plt

    from tippingpoint.plots import save_figure

    tables = read(figure, folder)
    if not tables:
        raise InputError(f"{str(folder)!r} holds no {figure.name}.csv; run the figure first.")
    canvas = figure.draw(tables)
    save_figure(canvas, folder / figure.name, dpi=DPI)
    plt.close(canvas)
    return figure.claims(tables)


def read(figure: Figure, folder: Path) -> dict[str, Any]:
    """The tables of a figure, as they were written."""
    import pandas as pd

    kinds = {path.stem.removeprefix(figure.name).removeprefix("-"): path for path in _tables(figure, folder)}
    return {kind: pd.read_csv(path, dtype={"at": str}) for kind, path in kinds.items()}


def _tables(figure: Figure, folder: Path) -> list[Path]:
    """Files of a figure: its name, or its name and that of a table that has no figure of its own."""
    names = [figure.name, f"{figure.name}-atoms", f"{figure.name}-labels"]
    return [folder / f"{name}.csv" for name in names if (folder / f"{name}.csv").is_file()]


def _path(figure: Figure, kind: str, folder: Path) -> Path:
    return folder / (f"{figure.name}-{kind}.csv" if kind else f"{figure.name}.csv")


def _measured(
    work: Sequence[tuple[str, int]], setting: Setting, jobs: int
) -> Iterator[tuple[str, int, Mapping[str, list[Record]]]]:
    """Every piece of work as it is done, in any order."""
    if jobs == 1:
        for name, seed in work:
            yield _measure(name, seed, setting)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from parallel(delayed(_measure)(name, seed, setting) for name, seed in work)


def _measure(name: str, seed: int, setting: Setting) -> tuple[str, int, Mapping[str, list[Record]]]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small networks are faster so, and sums do not depend on the machine's cores
    try:
        return name, seed, FIGURES[name].measure(seed, setting)
    finally:
        torch.set_num_threads(threads)


def _manifest(figures: Sequence[Figure], setting: Setting, seeds: int) -> dict[str, Any]:
    """With what the numbers were made."""
    return {
        "tippingpoint": __version__,
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "figures": [figure.name for figure in figures],
        "seeds": list(range(seeds)),
        "quick": setting.quick,
        "rows": dict(zip(("train", "evaluate", "judge"), setting.sizes, strict=True)),
        "grid of gamma and t": list(setting.grid),
        "training": setting.training,
        "data": {name: setting.task(name).source for name in dict.fromkeys(n for f in figures for n in f.data)},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
