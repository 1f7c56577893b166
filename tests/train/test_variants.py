"""When a precision serves: allowed for every output, through the gates, and faster."""

import pytest

pytest.importorskip("torch")

from doseflow.export.precision_policy import lowest_precision_of
from doseflow.serve.bundle import open_bundle
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.train.variants import verdict

COUNTS = {"arrivals_people": "int8", "doses_rest_of_day": "int8"}


@pytest.mark.parametrize(
    ("precision", "lowest", "failed", "speedup", "reason"),
    [
        ("int8", COUNTS, None, 1.2, None),
        ("int8", COUNTS, None, 1.0, "It takes 1.00 times as long as FP32 on cpu."),
        ("int8", COUNTS, None, 0.5, "It takes 2.00 times as long as FP32 on cpu."),
        ("int8", COUNTS, "The wait grew.", 2.0, "The wait grew."),
        ("int8", {"values": "fp16"}, None, 9.0, "values must be fp16 or better, however fast it is."),
        (
            "int8",
            COUNTS | {"alarm": "fp16"},
            "The wait grew.",
            9.0,
            "alarm must be fp16 or better, however fast it is.",
        ),
        ("fp16", {"values": "fp16"}, None, 1.1, None),
        ("fp16", {"values": "fp32"}, None, 1.1, "values must be fp32 or better, however fast it is."),
    ],
)
def test_a_precision_serves_only_where_nothing_speaks_against_it(precision, lowest, failed, speedup, reason):
    told = verdict(precision, lowest, failed, speedup, "cpu")
    assert (told.serves, told.reason, told.speedup) == (reason is None, reason, speedup)


def test_what_ranks_people_stays_fp16_and_so_does_what_nobody_has_decided_on():
    assert lowest_precision_of(["values", "arrivals_people", "cold_chain_alarm"]) == {
        "values": "fp16",
        "arrivals_people": "int8",
        "cold_chain_alarm": "fp16",
    }


@pytest.mark.parametrize("name", ["forecaster", "policy"])
def test_the_shipped_manifests_have_the_table_of_the_policy(name):
    manifest = open_bundle(PACKAGED_BUNDLES / name).manifest
    assert manifest.lowest_precision == lowest_precision_of(manifest.outputs)
