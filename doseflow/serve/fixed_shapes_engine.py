"""FixedShapesEngine: a net as a few sessions of ONNX Runtime, one for each number of cities."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray

from doseflow.errors import EngineFailed
from doseflow.serve.axes import BATCH_AXIS, SITE_AXIS, Arrays, Sizes, axes_of_model, least_bucket, sizes_of
from doseflow.serve.cuda_driver import CudaStream
from doseflow.serve.fixed_session import FixedSession
from doseflow.serve.fixed_shapes import answered_in_pieces, shape_for, shapes_for
from doseflow.serve.onnx_engine import first_line

_OPENING_RUNS = 3
"""Where a graph is recorded, the first run allocates, the next records, the last replays."""

Answers = list[dict[str, NDArray[Any]]]


class FixedShapesEngine:
    """
    Thread-safe, one run at a time; each run takes the smallest shape that holds it.

    Parameters
    ----------
    sites, batches
        Sites of every shape, and cities of each.
    open_session
        A session of the model whose free axes have some lengths.
    device, stream
        As in `PlacedBlock`.

    Raises
    ------
    EngineFailed
        A run at opening failed.
    """

    def __init__(
        self,
        name: str,
        model: bytes,
        *,
        sites: int,
        batches: Sequence[int],
        open_session: Callable[[Sizes], onnxruntime.InferenceSession],
        device: str = "cpu",
        stream: CudaStream | None = None,
    ) -> None:
        self.name = name
        self.input_axes, self.output_axes = axes_of_model(model)
        self._axis = BATCH_AXIS if any(BATCH_AXIS in told for told in self.input_axes.values()) else SITE_AXIS
        self._asking = threading.Lock()
        self._shapes = shapes_for(self.input_axes, sites, batches)
        self._sessions: dict[tuple[int, ...], FixedSession] = {}
        for shape in self._shapes:
            session = FixedSession(open_session(shape), shape, self.input_axes, self.output_axes, device, stream)
            for _ in range(_OPENING_RUNS):
                session.run()
            self._sessions[tuple(shape.values())] = session

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineFailed
            The inputs fit no shape, or the run itself failed.
        """
        return answered_in_pieces(self._answered, inputs, self.input_axes, self._shapes)

    def run_together(self, questions: Sequence[Arrays]) -> Answers:
        """
        Every question's outputs by name, of one run; where no shape holds all of them, of one run each.

        Raises
        ------
        EngineFailed
            As `run`.
        """
        sizes = [sizes_of(one, self.input_axes) for one in questions]
        whole = {axis: max(one[axis] for one in sizes) for axis in sizes[0]}
        whole[self._axis] = sum(one[self._axis] for one in sizes)
        shape = least_bucket(whole, self._shapes)
        if shape is None:
            return [self.run(one) for one in questions]
        return self._run(shape, questions, sizes)

    def _answered(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        sizes, shape = shape_for(self.name, inputs, self.input_axes, self._shapes)
        return self._run(shape, [inputs], [sizes])[0]

    def _run(self, shape: Sizes, questions: Sequence[Arrays], sizes: Sequence[Sizes]) -> Answers:
        try:
            with self._asking:
                return self._sessions[tuple(shape.values())].answers(questions, sizes)
        except Exception as error:  # the library has no error class that is its own for all of them
            raise EngineFailed(f"{self.name}: {first_line(error)}") from error
