"""Engine files on disk, with bytes that no library has to read: digests, versions, cards and caches."""

import numpy as np
import orjson
import pytest
from serve_samples import toy_model

from doseflow.errors import EngineUnfit, ModelWrong
from doseflow.serve.bundle import open_bundle
from doseflow.serve.cuda_driver import CudaDevice
from doseflow.serve.tensorrt.build_log import BuildReport, Kernel, report_of
from doseflow.serve.tensorrt.engine_folder import (
    engine_folders,
    kernels_of,
    open_engine_folder,
    sha256_of,
    write_engine_folder,
)
from doseflow.serve.tensorrt.fitness import require_card, require_fit
from doseflow.serve.tensorrt.kept_cache import KeptCache, cache_key
from doseflow.serve.tensorrt.library import TensorrtLibrary
from doseflow.serve.tensorrt.opened_folder import find_built, hold_to_golden, open_built_engine

LIBRARY = TensorrtLibrary("tensorrt-rtx", None, "1.7.1.116")
L4 = CudaDevice("NVIDIA L4", "8.9", 13000, 24 * 2**30)
REPORT = BuildReport(12, (Kernel("fused", "kgen", ("/a", "/b")),), 4096, 8192)


@pytest.fixture
def built(make_bundle, tmp_path):
    """A function that writes a folder of one engine file and gives the folder and the bundle."""

    def build(**changed):
        bundle = open_bundle(make_bundle())
        facts = {
            "format_version": 1,
            "backend": "tensorrt-rtx",
            "library_version": LIBRARY.version,
            "net": "toy",
            "precision": "fp32",
            "model_sha256": sha256_of(bundle.model),
            "golden_tolerance": 1e-4,
            "capabilities": ("8.6", "8.9"),
            "left_out": {"7.5": "FP32 GEMM is not supported"},
            "input_axes": {"x": ("B", 3)},
            "output_axes": {"y": ("B", 3), "z": ("B",)},
            "engines": [
                {
                    "file": "b1.engine",
                    "shapes": [{"B": 1}],
                    "num_layers": 12,
                    "num_kernels": 1,
                    "activation_bytes": 4096,
                    "weight_bytes": 8192,
                }
            ],
        }
        folder = tmp_path / "engines" / "toy-fp32"
        write_engine_folder(folder, bundle, {"b1.engine": (bytes(range(256)) * 40, REPORT)}, facts | changed)
        return folder, bundle

    return build


def test_what_was_written_is_read_again(built):
    folder, bundle = built()
    opened = open_engine_folder(folder)
    assert opened.contents["b1.engine"] == bytes(range(256)) * 40
    assert orjson.loads(opened.contents["layers.json"])["b1.engine"]["kernels"][0]["nodes"] == ["/a", "/b"]
    assert engine_folders(folder.parent) == [folder]
    assert find_built("tensorrt-rtx", bundle, "fp32", folder.parent).manifest == opened.manifest


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda data: data[:-1], "b1.engine is cut short: .* copy it or build it again"),
        (lambda data: data + b"x", "b1.engine is too long"),
        (lambda data: data[:500] + b"\0\0\0\0" + data[504:], "b1.engine was changed after it was built"),
    ],
)
def test_an_engine_file_cut_short_or_tampered_with_is_refused(built, damage, sentence):
    folder, bundle = built()
    file = folder / "b1.engine"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ModelWrong, match=sentence):
        open_engine_folder(folder)
    with pytest.raises(ModelWrong, match=sentence):
        find_built("tensorrt-rtx", bundle, "fp32", folder.parent)


def test_a_missing_file_is_refused(built):
    folder, _ = built()
    (folder / "golden.npz").unlink()
    with pytest.raises(ModelWrong, match=r"golden\.npz: cannot be read .*; build the engine again"):
        open_engine_folder(folder)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"{", "must be JSON"),
        (b'{"format_version": 2}', "format_version must be 1, got 2; build the engine again with this version"),
        (b'{"format_version": 1}', "build the engine again"),
    ],
)
def test_a_manifest_that_is_none_is_refused(built, text, sentence):
    folder, _ = built()
    (folder / "engine.json").write_bytes(text)
    with pytest.raises(ModelWrong, match=sentence):
        open_engine_folder(folder)


def test_an_engine_of_other_weights_is_not_taken(built, make_bundle):
    folder, _ = built()
    other = open_bundle(make_bundle(model=toy_model(1.5)))
    with pytest.raises(EngineUnfit, match="has no tensorrt-rtx engine of toy in fp32; run `doseflow engine build"):
        find_built("tensorrt-rtx", other, "fp32", folder.parent)
    with pytest.raises(EngineUnfit, match="has no tensorrt engine"):
        find_built("tensorrt", other, "fp32", folder.parent)


def test_without_a_folder_the_sentence_says_how_to_make_one(make_bundle):
    with pytest.raises(EngineUnfit, match=r"engines\.folder is not set; run `doseflow engine build"):
        open_built_engine("tensorrt", open_bundle(make_bundle()), "fp32", None)


def test_an_engine_of_another_version_is_refused_before_a_card_is_asked(built):
    manifest = open_engine_folder(built(library_version="1.6.0.1")[0]).manifest
    with pytest.raises(EngineUnfit, match=r"built with tensorrt-rtx 1\.6\.0\.1, and 1\.7\.1\.116 is installed"):
        require_fit(manifest, LIBRARY)


@pytest.mark.parametrize(
    ("changed", "card", "sentence"),
    [
        ({}, CudaDevice("NVIDIA H200", "9.0", 13000, 1), "NVIDIA H200 has 9.0; run .*--compute-capability 9.0"),
        ({}, CudaDevice("Tesla T4", "7.5", 13000, 1), "Tesla T4 has 7.5 .FP32 GEMM is not supported."),
        ({"card": "NVIDIA A10"}, L4, "built on NVIDIA A10, and this is NVIDIA L4"),
        ({"driver_version": 13010}, L4, "built with CUDA 13.1, and this driver speaks 13.0"),
    ],
)
def test_a_card_or_driver_that_it_was_not_built_for_is_refused(built, changed, card, sentence):
    manifest = open_engine_folder(built(**changed)[0]).manifest
    with pytest.raises(EngineUnfit, match=sentence):
        require_card(manifest, card)


def test_the_card_that_it_was_built_for_is_taken(built):
    require_card(open_engine_folder(built(card="NVIDIA L4", driver_version=12080)[0]).manifest, L4)


class Zeros:
    name = "silent"

    def run(self, inputs):
        import numpy as np

        rows = len(inputs["x"])
        return {"y": np.zeros((rows, 3), np.float32), "z": np.zeros(rows, np.float32)}


def test_an_engine_that_answers_zeros_without_an_error_is_found(built):
    opened = open_engine_folder(built()[0])
    with pytest.raises(ModelWrong, match=r"y is off by .*do not use this engine on this card"):
        hold_to_golden(opened, Zeros())


@pytest.mark.parametrize(("precision", "widest"), [("fp32", 1e-4), ("fp16", 0.05), ("int8", 0.9)])
def test_a_manifest_cannot_let_an_engine_be_off_by_more_than_its_precision_may(built, precision, widest):
    folder, _ = built(precision=precision, golden_tolerance=widest)
    document = orjson.loads((folder / "engine.json").read_bytes())
    for wrong in (1.01 * widest, 1e9, 0.0):
        (folder / "engine.json").write_bytes(orjson.dumps(document | {"golden_tolerance": wrong}))
        with pytest.raises(ModelWrong, match="golden_tolerance"):
            open_engine_folder(folder)


@pytest.mark.parametrize("text", [b"[]", b"[", b"{}", b'{"b1.engine": {"kernels": [1]}}', b'{"b1.engine": []}'])
def test_layers_that_are_none_are_refused_with_a_sentence(built, text):
    folder, _ = built()
    sealed_layers(folder, text)
    with pytest.raises(ModelWrong, match=r"layers.json: must have the kernels of every engine file"):
        kernels_of(open_engine_folder(folder))


def sealed_layers(folder, text):
    document = orjson.loads((folder / "engine.json").read_bytes())
    document["files"]["layers.json"] = {"sha256": sha256_of(text), "num_bytes": len(text)}
    (folder / "layers.json").write_bytes(text)
    (folder / "engine.json").write_bytes(orjson.dumps(document))


def test_an_eighth_precision_engine_that_answers_a_third_too_little_is_found(built):
    opened = open_engine_folder(built(precision="int8", golden_tolerance=0.9)[0])

    class Low:
        name = "low"

        def run(self, inputs):
            y = np.maximum(inputs["x"] + 1, 0) * np.float32(2 / 3)
            return {"y": y, "z": y.sum(axis=1)}

    with pytest.raises(ModelWrong, match=r"y is off by 0.33 of its size, more than 0.1; do not use this engine"):
        hold_to_golden(opened, Low())


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: b"", lambda data: b"x" + data[1:]])
def test_a_damaged_cache_is_an_empty_one(tmp_path, spoil):
    cache = KeptCache(tmp_path / "kept", "a" * 64)
    assert cache.read() == b""
    assert cache.write(b"kernels")
    assert KeptCache(tmp_path / "kept", "a" * 64).read() == b"kernels"
    file = next((tmp_path / "kept").iterdir())
    file.write_bytes(spoil(file.read_bytes()))
    assert cache.read() == b""


def test_a_cache_is_of_one_library_driver_card_and_net():
    def changed(**given):
        return CudaDevice(**({"name": "L4", "capability": "8.9", "driver_version": 1, "memory_bytes": 2} | given))

    keys = {
        cache_key(LIBRARY, changed(), "a"),
        cache_key(LIBRARY, changed(), "b"),
        cache_key(LIBRARY, changed(name="L40"), "a"),
        cache_key(LIBRARY, changed(capability="8.6"), "a"),
        cache_key(LIBRARY, changed(driver_version=3), "a"),
        cache_key(TensorrtLibrary("tensorrt-rtx", None, "1.7.2"), changed(), "a"),
        cache_key(TensorrtLibrary("tensorrt", None, "1.7.1.116"), changed(), "a"),
    }
    assert len(keys) == 7
    assert cache_key(LIBRARY, changed(memory_bytes=9), "a") in keys, "memory is no matter of what was compiled"


LAYERS = """Layers:
Name: one, LayerType: gemm, Inputs: [], Metadata: [ONNX Layer: /a/MatMul][ONNX Layer: /a/Add]
Name: two, LayerType: wait, Inputs: [], Metadata:
Name: three, LayerType: kgen, Metadata: [ONNX Layer: /b]"""


def test_a_build_log_is_read_for_kernels_nodes_and_memory():
    messages = [
        "Total Activation Memory: 100 bytes",
        "Total Weights Memory: 40 bytes",
        LAYERS,
    ]
    report = report_of(messages, 7)
    assert report == BuildReport(
        7, (Kernel("one", "gemm", ("/a/MatMul", "/a/Add")), Kernel("three", "kgen", ("/b",))), 100, 40
    )
