"""Inputs of cities of 200 sites, drawn from the golden inputs, so that no simulator is needed where this runs."""

from __future__ import annotations

import numpy as np

from doseflow.bench.inference.forms import NUM_SITES
from doseflow.export.random_inputs import Arrays, random_inputs
from doseflow.forecast.net_inputs import bucket_of
from doseflow.serve.bundle import Bundle
from doseflow.serve.bundle_axes import FREE_AXES


def inputs_of_cities(bundle: Bundle, batch: int, seed: int, num_sites: int = NUM_SITES) -> Arrays:
    """
    Inputs of so many cities for a bundle's net.

    The forecaster takes cities as replicas, sites padded to their bucket; the policy's net takes all their sites as
    rows.
    """
    rng = np.random.default_rng(seed)
    axes = bundle.manifest.axes
    no_batch = [name for name in bundle.manifest.inputs if not axes[name].startswith("B")]
    has_replicas = len(no_batch) < len(bundle.manifest.inputs)
    sites = bucket_of(num_sites) if has_replicas else num_sites * batch
    example = {name: bundle.golden_inputs[name] for name in bundle.manifest.inputs}
    drawn = random_inputs(example, batch, sites, no_batch, rng)
    return {name: np.ascontiguousarray(array) for name, array in drawn.items()}


def outputs_for(bundle: Bundle, inputs: Arrays) -> Arrays:
    """Empty arrays of the sizes that the outputs for some inputs have."""
    axes = bundle.manifest.axes
    sizes: dict[str, int] = {}
    for arrays in (bundle.golden_outputs, inputs):  # the latter last: it says how many replicas and sites there are
        for name, array in arrays.items():
            sizes |= dict(zip(axes[name].split(), array.shape, strict=True))
    return {
        name: np.zeros([sizes[letter] for letter in axes[name].split()], dtype=array.dtype)
        for name, array in bundle.golden_outputs.items()
    }


def free_sizes(bundle: Bundle, inputs: Arrays) -> dict[str, int]:
    """Sizes of the free axes for some inputs, by letter."""
    axes = bundle.manifest.axes
    return {
        letter: size
        for name, array in inputs.items()
        for letter, size in zip(axes[name].split(), array.shape, strict=True)
        if letter in FREE_AXES
    }
