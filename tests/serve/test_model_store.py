"""The model store: what it keeps, what it refuses, and what survives whoever dies in the middle."""

import hashlib
import os
import shutil
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from serve_samples import toy_bundle, toy_model

from doseflow.errors import EnvironmentUnfit, InputWrong, ModelNotFound, ModelWrong, ReleaseRefused
from doseflow.serve.aliases import PACKAGED, Aliases, Phase, begin, go_to_canary, make_ready, promote, roll_back
from doseflow.serve.model_store import ModelStore
from doseflow.serve.signatures import SIGNATURE_FILE, TrustedKeys, make_key, sign

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


def take(store, step, net="policy", event="step"):
    return store.switch(net, step, event=event, by="a test", why="to see", at=NOW)


@pytest.fixture
def store(tmp_path):
    return ModelStore(tmp_path / "models", TrustedKeys.none(), allows_unsigned=True)


@pytest.fixture
def bundle(tmp_path):
    return toy_bundle(tmp_path / "toy")


def signed(bundle: Path, folder: Path, owner="releases"):
    """Sign a bundle; gives the trusted keys that know the owner."""
    key, line = make_key(folder, owner)
    (bundle / SIGNATURE_FILE).write_bytes(sign((bundle / "manifest.json").read_bytes(), key.read_bytes()))
    trust = folder / "trusted.txt"
    trust.write_text(f"# who may release\n\n{line}\n")
    return TrustedKeys.read(trust)


def test_a_model_is_kept_under_the_digest_of_its_manifest(store, bundle):
    model = store.add(bundle)
    assert model.digest == hashlib.sha256((bundle / "manifest.json").read_bytes()).hexdigest()
    assert {path.name for path in model.folder.iterdir()} == {path.name for path in bundle.iterdir()}
    assert store.digests() == [model.digest]
    assert store.add(bundle).digest == model.digest
    assert store.digests() == [model.digest]


def test_adding_a_model_again_mends_a_damaged_one_and_leaves_a_whole_one_alone(store, bundle):
    model = store.add(bundle)
    before = (model.folder / "model.onnx").stat()
    store.add(bundle)
    assert (model.folder / "model.onnx").stat() == before
    (model.folder / "model.onnx").write_bytes(b"damaged")
    store.add(bundle)
    assert store.verify(model.digest) == model


def test_a_model_is_found_by_its_first_digits_and_by_no_fewer_than_six(store, bundle):
    digest = store.add(bundle).digest
    assert store.find(digest[:6]) == digest
    for prefix in (digest[:5], "0" * 64, ""):
        with pytest.raises(ModelNotFound):
            store.find(prefix)


@pytest.mark.parametrize("name", ["model.onnx", "golden.npz", "manifest.json"])
def test_a_changed_file_is_found_wherever_it_is(store, bundle, name):
    model = store.add(bundle)
    path = model.folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ModelWrong):
        store.verify(model.digest)


def test_a_whole_other_bundle_in_its_place_is_found(store, bundle, tmp_path):
    model = store.add(bundle)
    other = toy_bundle(tmp_path / "other", toy_model(), licence="MIT")
    shutil.rmtree(model.folder)
    shutil.copytree(other, model.folder)
    with pytest.raises(ModelWrong, match=r"manifest.json: its SHA-256 must be"):
        store.verify(model.digest)


def test_a_broken_bundle_is_not_taken_in(store, bundle):
    (bundle / "model.onnx").write_bytes(b"broken")
    with pytest.raises(ModelWrong):
        store.add(bundle)
    assert store.digests() == []
    assert not list(store.folder.glob(".adding-*"))


def test_without_a_signature_a_model_is_refused_unless_the_settings_allow_it(tmp_path, bundle):
    strict = ModelStore(tmp_path / "strict", TrustedKeys.none())
    with pytest.raises(ModelWrong, match=r"signature.json: is missing, and models.allow_unsigned is not set"):
        strict.add(bundle)
    assert strict.digests() == []


def test_a_trusted_signature_names_its_owner_and_the_library_agrees(tmp_path, bundle):
    trusted = signed(bundle, tmp_path / "keys")
    assert ModelStore(tmp_path / "models", trusted).add(bundle).signer == "releases"
    # The same by hand, from the words of the docs alone.
    document = orjson.loads((bundle / SIGNATURE_FILE).read_bytes())
    key = load_pem_private_key((tmp_path / "keys" / "releases.pem").read_bytes(), None)
    assert isinstance(key, Ed25519PrivateKey)
    import base64

    message = b"doseflow model manifest 1\n" + (bundle / "manifest.json").read_bytes()
    assert base64.b64decode(document["signature"]) == key.sign(message)


def test_a_key_nobody_trusts_and_a_manifest_changed_after_signing_are_refused(tmp_path, bundle):
    trusted = signed(bundle, tmp_path / "keys")
    with pytest.raises(ModelWrong, match="not among the trusted keys"):
        ModelStore(tmp_path / "one", TrustedKeys.none()).add(bundle)
    document = orjson.loads((bundle / "manifest.json").read_bytes())
    (bundle / "manifest.json").write_bytes(orjson.dumps(document | {"licence": "MIT"}))
    with pytest.raises(ModelWrong, match="the signature of releases does not fit"):
        ModelStore(tmp_path / "two", trusted).add(bundle)


@pytest.mark.parametrize("data", [b"", b"[]", b'{"algorithm": "rsa"}', b'{"algorithm": "ed25519", "key_id": "x"}'])
def test_what_is_no_signature_is_said_to_be_none(tmp_path, bundle, data):
    (bundle / SIGNATURE_FILE).write_bytes(data)
    with pytest.raises(ModelWrong, match=r"signature.json: "):
        ModelStore(tmp_path / "models", TrustedKeys.none(), allows_unsigned=True).add(bundle)


def test_a_private_key_is_for_its_owner_alone_and_never_written_over(tmp_path):
    key, _ = make_key(tmp_path, "releases")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(InputWrong, match="is there already"):
        make_key(tmp_path, "releases")
    with pytest.raises(InputWrong, match="owner: must have"):
        make_key(tmp_path, "../releases")


def test_a_release_goes_from_shadow_over_a_share_to_champion_and_back():
    old = Aliases(champion="a" * 64)
    shadow = begin(old, "b" * 64, 0)
    assert (shadow.phase, shadow.share_permille, shadow.champion) == (Phase.SHADOW, 0, "a" * 64)
    canary = go_to_canary(shadow, 100)
    assert (canary.phase, canary.share_permille, canary.salt) == (Phase.CANARY, 100, shadow.salt)
    new = promote(make_ready(canary))
    assert (new.champion, new.previous, new.challenger, new.phase) == ("b" * 64, "a" * 64, None, None)
    back = roll_back(new)
    assert (back.champion, back.previous) == ("a" * 64, None)
    assert back.revision == 5
    dropped = roll_back(canary)
    assert (dropped.champion, dropped.challenger, dropped.previous) == ("a" * 64, None, None)


def test_steps_that_cannot_be_taken_are_refused():
    old = Aliases()
    for step in (
        promote,
        roll_back,
        make_ready,
        lambda one: go_to_canary(one, 100),
        lambda one: begin(one, PACKAGED, 0),
    ):
        with pytest.raises(ReleaseRefused):
            step(old)
    with pytest.raises(ReleaseRefused, match="is being released"):
        begin(begin(old, "b" * 64, 0), "c" * 64, 0)


def test_another_process_reads_what_was_switched(store):
    take(store, lambda one: begin(one, "b" * 64, 100))
    other = ModelStore(store.folder, TrustedKeys.none())
    assert other.aliases("policy").challenger == "b" * 64
    assert other.aliases("forecaster") == Aliases()


def test_a_crash_while_the_aliases_are_written_leaves_the_old_ones(store, monkeypatch):
    take(store, lambda one: begin(one, "b" * 64, 100))

    def crash(_descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        take(store, promote)
    assert store.aliases("policy").champion == PACKAGED
    assert store.aliases("policy").challenger == "b" * 64


def test_of_many_who_promote_at_once_only_one_does(store):
    take(store, lambda one: begin(one, "b" * 64, 100))
    refused = []

    def promote_once():
        try:
            take(ModelStore(store.folder, TrustedKeys.none()), promote)
        except ReleaseRefused:
            refused.append(1)

    threads = [threading.Thread(target=promote_once) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5
    assert store.aliases("policy").revision == 2
    assert len(store.history()) == 2


def test_the_history_tells_who_did_what_and_why_and_shows_when_it_was_changed(store):
    take(store, lambda one: begin(one, "b" * 64, 0), event="begun")
    take(store, roll_back, event="rolled_back")
    take(store, lambda one: begin(one, "c" * 64, 0), net="forecaster", event="begun")
    events = store.history()
    assert [(one["net"], one["event"], one["by"], one["why"]) for one in events] == [
        ("policy", "begun", "a test", "to see"),
        ("policy", "rolled_back", "a test", "to see"),
        ("forecaster", "begun", "a test", "to see"),
    ]
    assert events[1]["aliases"]["challenger"] is None
    assert len(store.history("policy")) == 2

    path = store.folder / "history.jsonl"
    lines = path.read_bytes().splitlines()
    for changed in ([lines[0].replace(b"a test", b"nobody"), *lines[1:]], [lines[0], lines[2]]):
        path.write_bytes(b"\n".join(changed) + b"\n")
        with pytest.raises(ModelWrong, match="was changed or taken out"):
            store.history()


def rewritten(path, change):
    lines = change(path.read_bytes().splitlines())
    path.write_bytes(b"".join(line + b"\n" for line in lines))


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:-1],
        lambda lines: [],
        lambda lines: [*lines[:-1], lines[-1].replace(b"a test", b"nobody")],
        lambda lines: [*lines[:-1], lines[-1][:40]],
    ],
)
def test_a_history_whose_end_was_changed_or_taken_out_is_seen(store, change):
    for _ in range(2):
        take(store, lambda one: begin(one, "b" * 64, 0))
        take(store, roll_back)
    take(store, lambda one: begin(one, "c" * 64, 0), net="forecaster")
    assert len(store.history()) == 5
    rewritten(store.folder / "history.jsonl", change)
    with pytest.raises(ModelWrong, match=r"^history.jsonl: "):
        store.history()


def test_a_history_that_is_gone_and_aliases_that_are_gone_are_seen(store):
    take(store, lambda one: begin(one, "b" * 64, 0))
    take(store, roll_back)
    kept = (store.folder / "history.jsonl").read_bytes()
    (store.folder / "history.jsonl").unlink()
    with pytest.raises(ModelWrong, match="must have at least 2 lines, got 0"):
        store.history()
    (store.folder / "history.jsonl").write_bytes(kept)
    assert len(store.history()) == 2
    store.alias_path("policy").unlink()
    with pytest.raises(ModelWrong, match=r"aliases/policy.json: is missing"):
        store.history()


@pytest.mark.parametrize("broken", ["history", "aliases"])
def test_what_could_not_be_switched_is_not_told_either(store, monkeypatch, broken):
    take(store, lambda one: begin(one, "b" * 64, 0))
    before = (store.folder / "history.jsonl").read_bytes()
    if broken == "history":
        synced = []

        def fails_second(descriptor):
            synced.append(descriptor)
            if len(synced) == 2:
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fails_second)
    else:
        monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    with pytest.raises(EnvironmentUnfit, match="cannot be written"):
        take(store, promote)
    assert (store.folder / "history.jsonl").read_bytes() == before
    assert store.aliases("policy").challenger == "b" * 64


def test_what_a_person_says_stays_on_one_line(store):
    why = "good\n2026-01-01  policy  promoted\r\x1b[31m\u2028by nobody"
    store.switch("policy", lambda one: begin(one, "b" * 64, 0), event="x", by="me\n", why=why, at=NOW)
    (event,) = store.history()
    assert (event["by"], event["why"]) == ("me", "good 2026-01-01 policy promoted [31m by nobody")


def test_a_model_that_an_alias_names_is_among_those_that_are_checked_though_its_files_are_gone(store, bundle):
    digest = store.add(bundle).digest
    take(store, lambda one: begin(one, digest, 0))
    (store.folder / "objects" / digest / "manifest.json").unlink()
    assert store.digests() == [digest]
    with pytest.raises(ModelWrong):
        store.verify(digest)
    shutil.rmtree(store.folder / "objects" / digest)
    assert store.digests() == [digest]
    with pytest.raises(ModelNotFound):
        store.verify(digest)
