"""FixedSession: a net in ONNX Runtime with every axis fixed, and the memory in which its inputs and outputs stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray

from doseflow.errors import EngineFailed
from doseflow.serve.axes import BATCH_AXIS, SITE_AXIS, Arrays, Axes, Sizes, shape_in
from doseflow.serve.cuda_driver import CudaStream
from doseflow.serve.fixed_shapes import text_of
from doseflow.serve.onnx_engine import first_line
from doseflow.serve.placed_block import PlacedBlock, Spec

_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64}


class FixedSession:
    """
    One shape of a net; one run at a time.

    Questions are written straight to where the device copies them from, each city behind the one before. Only what
    the run before left there is made zero, and nothing is allocated for a run but its answers.

    Parameters
    ----------
    session
        Its free axes have the lengths of `shape`.
    device, stream
        As in `PlacedBlock`.
    """

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        shape: Sizes,
        input_axes: Axes,
        output_axes: Axes,
        device: str,
        stream: CudaStream | None = None,
    ) -> None:
        self.shape = shape
        self._session, self._input_axes, self._output_axes = session, input_axes, output_axes
        self._axis = BATCH_AXIS if BATCH_AXIS in shape else SITE_AXIS
        types = {one.name: _TYPES[one.type] for one in (*session.get_inputs(), *session.get_outputs())}
        self._inputs = PlacedBlock(_specs(input_axes, shape, types), device, stream)
        self._outputs = PlacedBlock(_specs(output_axes, shape, types), device, stream)
        self._binding = session.io_binding()
        for name, address in self._inputs.addresses.items():
            self._binding.bind_input(name, device, 0, types[name], self._inputs.arrays[name].shape, address)
        for name, address in self._outputs.addresses.items():
            self._binding.bind_output(name, device, 0, types[name], self._outputs.arrays[name].shape, address)
        # By place along the axis of cities: how many sites lie there since the last run.
        self._sites_there = np.zeros(shape[self._axis], dtype=np.intp)

    def answers(self, questions: Sequence[Arrays], sizes: Sequence[Sizes]) -> list[dict[str, NDArray[Any]]]:
        """
        Every question's outputs by name; together they must fit the shape.

        Raises
        ------
        EngineFailed
        """
        self._require_types(questions)
        begins = np.cumsum([0, *(own[self._axis] for own in sizes)]).tolist()
        for question, own, begin in zip(questions, sizes, begins[:-1], strict=True):
            self._write(question, slice(begin, begin + own[self._axis]), own.get(SITE_AXIS, 1))
        self._clear(slice(begins[-1], None), 0)
        self._inputs.send()
        self.run()
        self._outputs.fetch()
        return [
            {name: array[self._region(name, begin, own)].copy() for name, array in self._outputs.arrays.items()}
            for begin, own in zip(begins[:-1], sizes, strict=True)
        ]

    def run(self) -> None:
        """
        Run what lies on the device.

        Raises
        ------
        EngineFailed
        """
        try:
            self._session.run_with_iobinding(self._binding)
            self._binding.synchronize_outputs()
        except Exception as error:  # the library has no error class that is its own for all of them
            raise EngineFailed(f"at {text_of(self.shape)}: {first_line(error)}") from error

    def _require_types(self, questions: Sequence[Arrays]) -> None:
        for name, there in self._inputs.arrays.items():
            for question in questions:
                if question[name].dtype != there.dtype:
                    raise EngineFailed(f"{name}: must be {there.dtype}, got {question[name].dtype}")

    def _write(self, question: Arrays, cities: slice, num_sites: int) -> None:
        for name, told in self._input_axes.items():
            self._inputs.arrays[name][self._places(told, cities, slice(num_sites))] = question[name]
        if self._axis != SITE_AXIS:
            self._clear(cities, num_sites)
        self._sites_there[cities] = max(num_sites, 1)

    def _clear(self, cities: slice, num_sites: int) -> None:
        """Make zero what lies in some places beyond so many sites; all of it, where that is none."""
        there = self._sites_there[cities]
        most = int(there.max(initial=0))
        if most <= num_sites:
            return
        last = cities.start + int(np.flatnonzero(there)[-1]) + 1
        for name, told in self._input_axes.items():
            if SITE_AXIS in told or not num_sites:
                self._inputs.arrays[name][self._places(told, slice(cities.start, last), slice(num_sites, most))] = 0
        there[...] = np.minimum(there, num_sites)

    def _places(self, told: Sequence[str | int], cities: slice, sites: slice) -> tuple[slice, ...]:
        by_axis = {SITE_AXIS: sites} | {self._axis: cities}
        return tuple(by_axis.get(axis, slice(None)) if isinstance(axis, str) else slice(None) for axis in told)

    def _region(self, name: str, begin: int, own: Sizes) -> tuple[slice, ...]:
        return self._places(self._output_axes[name], slice(begin, begin + own[self._axis]), slice(own.get(SITE_AXIS)))


def _specs(axes: Axes, shape: Sizes, types: dict[str, Any]) -> dict[str, Spec]:
    return {name: (shape_in(told, shape), types[name]) for name, told in axes.items()}
