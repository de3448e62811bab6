"""Partitions on a Dask cluster: what is placed stays on the worker that holds it, and small results come back.

What is placed is the result of a task whose graph the scheduler keeps, so a worker that dies costs time: Dask places its
partitions again elsewhere. Model and plan are tasks too, whose bytes the scheduler has; each worker gets them once.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tippingpoint.engine.partitions import Loaded, Part, Partition, Partitions, Run
from tippingpoint.engine.placed import Function, Placed, place_part, placed_whole
from tippingpoint.engine.planning import Plan
from tippingpoint.engine.samples import After, LocalSamples, PartitionedSamples, Step
from tippingpoint.errors import ClusterError, InputError, TippingPointError, UnsupportedError
from tippingpoint.foreign import why
from tippingpoint.progress import progress_bar

Client = Any
"""A client of `distributed`, which has no types of its own."""

Future = Any
"""A task of it."""

MAX_SENT_ALONG = 2**16
"""Bytes that are sent along with every task; what is larger goes to each worker once, which takes a round more."""

RETRIES = 2
"""Times that a task is tried again whose worker was lost in the middle of it."""


def current_client() -> Any:
    """The client that this process is connected by; None where there is none, or no Dask."""
    import sys

    if "distributed" not in sys.modules:  # whoever has a client has imported it
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def check_client(client: Any) -> Any:
    """A client as it was given; an error for what is none."""
    if not (hasattr(client, "submit") and hasattr(client, "scheduler_info")):
        raise InputError(f"client={client!r} is no Dask client; pass distributed.Client(...), or its address to that.")
    return client


@contextmanager
def on_cluster() -> Iterator[None]:
    """Whatever happens to a cluster, in one sentence."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except TippingPointError:
        raise
    except KilledWorker as error:
        raise ClusterError(
            f"workers of the cluster died of one task after the other ({why(error)}), most likely for want of memory; give them"
            " more, or cut the data into smaller partitions (df.repartition, or smaller row groups)."
        ) from error
    except ImportError as error:
        raise ClusterError(
            f"a worker of the cluster cannot import what it needs ({why(error)}); install the same packages there, and put"
            " modules of your own where it finds them."
        ) from error
    except Exception as error:
        gone = (CommClosedError, FutureCancelledError, OSError, TimeoutError)
        # Of a client that is closed: a class of its own in new versions of distributed, and none that is public.
        if not isinstance(error, gone) and type(error).__name__ != "ClosedClientError":
            raise
        raise ClusterError(f"the Dask cluster is gone ({why(error)}); start it again, and ask once more.") from error


def pickled(value: Any, what: str) -> bytes:
    """A value as bytes; an error in a sentence where it cannot be sent."""
    from distributed.protocol.pickle import dumps

    try:
        return bytes(dumps(value))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise UnsupportedError(
            f"{what} cannot be sent to the workers of a cluster, as it cannot be pickled ({why(error)}); leave the client out,"
            " or define it at the top of a module."
        ) from error


class Cluster:
    """The partitions of a data set, as a cluster sees them.

    Parameters
    ----------
    client
        By which it is reached.
    partitions
        Of the data.
    """

    def __init__(self, client: Client, partitions: Partitions) -> None:
        self.client = client
        self.data = partitions
        self.partitions: list[Partition] = [partitions[number] for number in range(len(partitions))]

    def run(self) -> Run:
        """Applies functions of partitions where these are."""

        def run(function: Callable[..., Any], *args: Any) -> list[Any]:
            sent = self.sent((function, args), "the question")
            return self.collected([self._submit(_apply, each, sent) for each in self.partitions])

        return run

    def sent(self, value: Any, what: str) -> Future:
        """Something that all workers need, as a task whose result each of them gets once."""
        data = pickled(value, what)
        with on_cluster(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it is large, as models are
            return self.client.submit(_unpickled, data, pure=False)

    def placed(self, model: Future, plan: Future) -> list[Future]:
        """Every partition, prepared where its rows are loaded."""
        with on_cluster():
            return [self._submit(_place, each, model, plan) for each in self.partitions]

    def placed_within(self, memory: int, model: Future, plan: Future, *, progress: bool | None) -> list[Future | None]:
        """As many partitions as workers may keep in these bytes, all together; None for every other."""
        kept: list[Future | None] = []
        taken = 0
        with on_cluster(), progress_bar("partitions", len(self.partitions), show=progress) as tick:
            at_once = max(sum(self.client.nthreads().values()), 1)
            while len(kept) < len(self.partitions) and None not in kept:
                some = self.partitions[len(kept) : len(kept) + at_once]
                placed = [self._submit(_place, each, model, plan) for each in some]
                sizes = self.client.gather([self.client.submit(_size, each, pure=False, retries=RETRIES) for each in placed])
                for each, size in zip(placed, sizes, strict=True):
                    fits = taken + size <= memory
                    kept.append(each if fits else None)
                    taken += size if fits else 0
                tick(len(kept))
        return kept + [None] * (len(self.partitions) - len(kept))

    def wait(self, futures: Sequence[Future], *, progress: bool | None) -> None:
        """Until all are there, with a bar on a terminal."""
        from distributed import as_completed

        with on_cluster(), progress_bar("partitions", len(futures), show=progress) as tick:
            for count, _ in enumerate(as_completed(futures, loop=self.client.loop), 1):
                tick(count)

    def collected(self, futures: Sequence[Future]) -> list[Any]:
        """The results, in order."""
        with on_cluster():
            found: list[Any] = self.client.gather(list(futures))
        return found

    def _submit(self, function: Callable[..., Any], partition: Partition, *args: Any) -> Future:
        """A function of number, name and rows of a partition; the rows are a task of their own, where Dask knows them."""
        with on_cluster():
            if partition.delayed is None:
                return self.client.submit(_loaded, partition, function, *args, pure=False, retries=RETRIES)
            rows = self.client.compute(partition.delayed)
            return self.client.submit(function, partition.number, partition.name, rows, *args, pure=False, retries=RETRIES)

    def lazily(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """The same as Dask's delayed objects, one a partition: nothing runs before somebody asks for it."""
        from dask import delayed

        found = []
        for each in self.partitions:
            rows = delayed(each) if each.delayed is None else each.delayed
            call = _loaded if each.delayed is None else function
            first = (rows, function) if each.delayed is None else (each.number, each.name, rows)
            found.append(delayed(call)(*first, *args))
        return found


def _unpickled(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301  # what this very process has pickled


def _apply(number: int, name: str, part: Part, sent: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, args = sent
    return function(Loaded(number, name, part), *args)


def _loaded(partition: Partition, function: Callable[..., Any], *args: Any) -> Any:
    return function(partition.number, partition.name, partition.load(), *args)


def _place(number: int, name: str, part: Part, model: Any, plan: Plan) -> Placed:
    return place_part(model, plan, number, name, part, 1)


def _size(placed: Placed) -> int:
    return placed.size


def _call_again(number: int, name: str, part: Part, model: Any, plan: Plan, sent: Any) -> Any:
    """The same of a partition that is not kept."""
    placed = place_part(model, plan, number, name, part, 1)
    return _call_pickled(placed, sent) if isinstance(sent, bytes) else _call(placed, sent)


def _call(placed: Placed, sent: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, args = sent
    return function(placed, *args)


def _call_pickled(placed: Placed, data: bytes) -> Any:
    return _call(placed, _unpickled(data))


def _shown(number: int, name: str, part: Part, model: Any, plan: Plan, sent: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    return _call(placed_whole(model, plan, number, name, part), sent)


class ClusterSamples(PartitionedSamples):
    """Partitions on the workers of a cluster.

    Parameters
    ----------
    cluster
        And its partitions.
    model, plan
        As tasks.
    placed
        The partitions, prepared; None for those that are loaded and prepared again for every pass.
    here
        The same partitions in this process, of which none is placed; None for tables, which are never searched.
    steps
        What was made of the partitions after they were placed.
    """

    def __init__(
        self,
        cluster: Cluster,
        model: Future,
        plan: Future,
        placed: Sequence[Future | None],
        *,
        here: LocalSamples | None,
        steps: tuple[Step, ...] = (),
    ) -> None:
        self.cluster = cluster
        self._here = here
        self.searched: bool = here is None or here.searched
        self._model = model
        self._plan = plan
        self._placed = placed
        self._steps = steps

    def each(self, function: Function, *args: Any) -> list[Any]:
        return self.cluster.collected(self._submitted(function, args))

    def mapped(self, function: Callable[..., Placed], *args: Any) -> ClusterSamples:
        made = self._submitted(function, args, kept_only=True)
        steps = (*self._steps, Step(function, args))
        return ClusterSamples(self.cluster, self._model, self._plan, made, here=self._here, steps=steps)

    def shown(self, function: Function, *args: Any, only: Sequence[int] | None = None) -> list[Any]:
        sent = self.cluster.sent((function, args), "the question")
        chosen = [k for k in range(len(self._placed)) if only is None or k in only]
        if self.searched:
            with on_cluster():
                futures = [self.cluster.client.submit(_call, self._placed[k], sent, pure=False) for k in chosen]
            return self.cluster.collected(futures)
        every = [self.cluster._submit(_shown, self.cluster.partitions[k], self._model, self._plan, sent) for k in chosen]  # noqa: SLF001  # of the same module
        return self.cluster.collected(every)

    def ended(self, newer: PartitionedSamples | None = None) -> LocalSamples:
        if self._here is None:
            raise KeyboardInterrupt
        made = newer._placed if isinstance(newer, ClusterSamples) else self._placed  # noqa: SLF001  # of the same class
        pairs = zip(made, self._placed, strict=True)
        done = [new if new is not None and new.status == "finished" else old for new, old in pairs]
        return brought_here(self.cluster, self._here, [each for each in done if each is not None], [*made, *done])

    def lazily(self, function: Function, *args: Any) -> list[Any]:
        """As `shown` of all, for later: Dask's delayed objects."""
        from dask import delayed

        sent = self.cluster.sent((function, args), "the question")
        if self.searched:
            return [delayed(_call)(placed, sent) for placed in self._placed]
        return self.cluster.lazily(_shown, self._model, self._plan, sent)

    def _submitted(self, function: Function, args: tuple[Any, ...], *, kept_only: bool = False) -> list[Any]:
        sent = self._sent(function, args)
        call = _call_pickled if isinstance(sent, bytes) else _call
        again = None if kept_only or None not in self._placed else self._sent(After(self._steps, function), args)
        submit, every = self.cluster.client.submit, zip(self.cluster.partitions, self._placed, strict=True)
        with on_cluster():
            return [
                submit(call, placed, sent, pure=False, retries=RETRIES)
                if placed is not None
                else None
                if again is None
                else self.cluster._submit(_call_again, partition, self._model, self._plan, again)  # noqa: SLF001  # of the same module
                for partition, placed in every
            ]

    def _sent(self, function: Function, args: tuple[Any, ...]) -> Any:
        """A function as bytes, which go along with every task, or as a task of its own where they are many."""
        data = pickled((function, args), "the question")
        return data if len(data) <= MAX_SENT_ALONG else self.cluster.sent((function, args), "the question")


def cluster_samples(
    model: Any, plan: Plan, cluster: Cluster, memory: int | None = None, *, progress: bool | None = None
) -> ClusterSamples | LocalSamples:
    """The samples of a plan, placed on the workers of a cluster, which keep what fits into `memory`; all without one."""
    sent, planned = cluster.sent(model, f"model={type(model).__name__}"), cluster.sent(plan, "the loss or an option")
    here = LocalSamples(model, plan, cluster.data, 1, 0, progress=progress)
    if memory is not None and not plan.searched:
        kept = cluster.placed_within(memory, sent, planned, progress=progress)
        return ClusterSamples(cluster, sent, planned, kept, here=here)
    placed = cluster.placed(sent, planned)
    try:
        cluster.wait(placed, progress=progress)
    except KeyboardInterrupt:
        if not (plan.searched and any(each.status == "finished" for each in placed)):
            raise
        return brought_here(cluster, here, placed, placed)
    return ClusterSamples(cluster, sent, planned, placed, here=here)


def brought_here(cluster: Cluster, here: LocalSamples, placed: Sequence[Future], every: Sequence[Future]) -> LocalSamples:
    """What is done of `placed`, in this process, after an interrupt: a worker that searches answers nothing until it ends."""
    with on_cluster():
        done = [each for each in placed if each.status == "finished"]
        here.keep(cluster.collected(done))
        cluster.client.cancel([each for each in every if each is not None and each.status != "finished"])
    return here.ended()
