"""How questions of several cities become one question, and its answer theirs again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.errors import EngineFailed, ModelWrong
from doseflow.ports import Engine
from doseflow.serve.axes import BATCH_AXIS, SITE_AXIS, Arrays, Sizes, axes_of_model, cut, shape_in, sizes_of
from doseflow.serve.onnx_header import read_header


class CityPacking:
    """
    Cities side by side along the batch axis, padded to the largest; or, where a net has none and takes each site for
    itself, one long row of sites. In neither does a site see another city.

    Raises
    ------
    ModelWrong
        Some inputs have a batch axis and some have not: what they say would be the same for all cities.
    """

    def __init__(self, model: bytes) -> None:
        self.input_axes, self.output_axes = axes_of_model(model)
        self._dtypes = {name: spec.dtype for name, spec in read_header(model).inputs.items()}
        has_batch = [name for name, told in self.input_axes.items() if told[0] == BATCH_AXIS]
        if has_batch and len(has_batch) < len(self.input_axes):
            shared = sorted(set(self.input_axes) - set(has_batch))
            raise ModelWrong(f"{', '.join(shared)}: must have a batch axis before cities can share a run")
        self._axis = BATCH_AXIS if has_batch else SITE_AXIS

    def sizes(self, inputs: Arrays) -> dict[str, int]:
        """
        Lengths of one question's free axes.

        Raises
        ------
        EngineFailed
            It is none that the net could take; so it cannot spoil the run of others.
        """
        sizes = sizes_of(inputs, self.input_axes)
        for name, dtype in self._dtypes.items():
            if inputs[name].dtype != dtype:
                raise EngineFailed(f"{name}: must be {dtype}, got {inputs[name].dtype}")
        return sizes

    def answers(self, engine: Engine, questions: Sequence[Arrays], sizes: Sequence[Sizes]) -> list[dict[str, Any]]:
        """
        Each question's outputs by name, of one run.

        An engine that has `run_together` lays cities side by side itself, where it needs them, which saves copies.

        Raises
        ------
        EngineFailed
        """
        run_together = getattr(engine, "run_together", None)
        if run_together is not None:
            answers: list[dict[str, Any]] = run_together(questions)
            return answers
        return self.split(engine.run(self.join(questions)), sizes)

    def join(self, questions: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
        """One question of all."""
        if len(questions) == 1:
            return {name: questions[0][name] for name in self.input_axes}
        sizes = [sizes_of(one, self.input_axes) for one in questions]
        whole = {axis: max(one[axis] for one in sizes) for axis in sizes[0]}
        whole[self._axis] = sum(one[self._axis] for one in sizes)
        return {
            name: self._side_by_side([one[name] for one in questions], told, shape_in(told, whole))
            for name, told in self.input_axes.items()
        }

    def _side_by_side(
        self, arrays: Sequence[NDArray[Any]], told: Sequence[str | int], shape: tuple[int, ...]
    ) -> NDArray[Any]:
        joined, begin, axis = np.zeros(shape, dtype=arrays[0].dtype), 0, told.index(self._axis)
        for array in arrays:
            region = [slice(length) for length in array.shape]
            region[axis] = slice(begin, begin + array.shape[axis])
            joined[tuple(region)] = array
            begin += array.shape[axis]
        return joined

    def split(self, outputs: Arrays, sizes: Sequence[Sizes]) -> list[dict[str, NDArray[Any]]]:
        """Each question's part of the answer."""
        answers, begin = [], 0
        for own in sizes:
            part = {name: self._part(outputs[name], told, begin, own) for name, told in self.output_axes.items()}
            answers.append(cut(part, self.output_axes, own))
            begin += own[self._axis]
        return answers

    def _part(self, array: NDArray[Any], told: Sequence[str | int], begin: int, own: Sizes) -> NDArray[Any]:
        return array[(slice(None),) * told.index(self._axis) + (slice(begin, begin + own[self._axis]),)]

    def cost(self, questions: Sequence[Mapping[str, int]]) -> int:
        """Sites of the run that these sizes would make, padding counted."""
        cities = sum(one.get(BATCH_AXIS, 1) for one in questions)
        sites = [one.get(SITE_AXIS, 1) for one in questions]
        return cities * max(sites) if self._axis == BATCH_AXIS else sum(sites)
