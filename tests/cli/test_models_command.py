"""`doseflow models` as an operator meets it: real processes, their words, their exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from doseflow.serve.opened_model import PACKAGED_BUNDLES


@pytest.fixture
def models(tmp_path):
    """A function that runs a command in a folder with a model store; gives exit code, output and complaint."""

    def run(*arguments: str, **settings: str) -> tuple[int, str, str]:
        given = {"DOSEFLOW_MODELS__FOLDER": "models", "DOSEFLOW_MODELS__ALLOW_UNSIGNED": "true"} | settings
        done = subprocess.run(
            [sys.executable, "-m", "doseflow", "models", *arguments],
            cwd=tmp_path,
            env={**os.environ, **given},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, " ".join(done.stderr.split())

    return run


def test_a_model_is_added_released_and_taken_back_and_all_of_it_is_told(models, tmp_path):
    code, said, _ = models("add", str(PACKAGED_BUNDLES / "policy"))
    digest = said.split()[0]
    assert (code, len(digest)) == (0, 64)
    assert models("canary", "policy", digest[:8], "--why", "new")[1].strip() == (
        f"policy: champion packaged, challenger {digest[:12]} in shadow"
    )
    code, _, complaint = models("promote", "policy")
    assert (code, complaint) == (
        1,
        "challenger: is in shadow and has not passed every gate; force it, or wait",
    )
    assert models("canary", "policy", digest[:8], "--share", "10")[1].strip().endswith("in canary at 10 %")
    code, said, _ = models("promote", "policy", "--force", "--by", "releases")
    assert (code, said.strip()) == (0, f"policy: champion {digest[:12]}, previous packaged")

    code, said, _ = models("list", "--json", "list.json")
    assert code == 0
    listed = json.loads((tmp_path / "list.json").read_text())
    assert listed["nets"]["policy"]["champion"] == digest
    assert [(one["name"], one["net"], one["trouble"]) for one in listed["models"]] == [("policy", "policy", "")]

    assert models("rollback", "policy")[1].strip() == "policy: champion packaged"
    code, _, complaint = models("rollback", "policy")
    assert (code, "neither a challenger nor a previous model" in complaint) == (1, True)
    assert models("history", "policy", "--json", "history.json")[0] == 0
    events = json.loads((tmp_path / "history.json").read_text())["events"]
    assert [one["event"] for one in events] == ["shadow", "canary", "promoted_by_force", "rolled_back"]
    assert (events[0]["why"], events[2]["by"]) == ("new", "releases")


def test_a_damaged_challenger_cannot_be_promoted_and_the_champion_stays(models, tmp_path):
    digest = models("add", str(PACKAGED_BUNDLES / "policy"))[1].split()[0]
    models("canary", "policy", digest, "--share", "10")
    path = tmp_path / "models" / "objects" / digest / "model.onnx"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    code, _, complaint = models("promote", "policy", "--force")
    assert code == 1
    assert complaint.startswith("model.onnx: its SHA-256 must be")
    aliases = json.loads((tmp_path / "models" / "aliases" / "policy.json").read_text())
    assert (aliases["champion"], aliases["challenger"]) == ("packaged", digest)
    code, said, _ = models("verify")
    assert (code, f"{digest[:12]} model.onnx: its SHA-256" in said) == (1, True)


def test_files_that_an_alias_names_and_that_are_gone_are_told_by_verify_and_list(models, tmp_path):
    digest = models("add", str(PACKAGED_BUNDLES / "policy"))[1].split()[0]
    models("canary", "policy", digest, "--share", "10")
    assert models("verify")[0] == 0
    (tmp_path / "models" / "objects" / digest / "manifest.json").unlink()
    code, said, _ = models("verify")
    assert (code, f"{digest[:12]} " in said, "manifest.json" in said) == (1, True, True)
    shutil.rmtree(tmp_path / "models" / "objects" / digest)
    code, said, _ = models("verify")
    assert (code, said.strip()) == (1, f"{digest[:12]} model: there is none with the digest {digest[:12]}")
    assert "there is none with the digest" in " ".join(models("list")[1].split())
    (tmp_path / "models" / "aliases" / "policy.json").write_text("null")
    assert models("verify")[0] == 1


def test_a_net_of_another_kind_is_not_let_in(models):
    digest = models("add", str(PACKAGED_BUNDLES / "policy"))[1].split()[0]
    code, _, complaint = models("canary", "forecaster", digest)
    assert code == 1
    assert "feature_schema_version must be" in complaint


def test_a_signed_model_needs_a_trusted_key_and_no_permission(models, tmp_path):
    strict = {"DOSEFLOW_MODELS__ALLOW_UNSIGNED": "false", "DOSEFLOW_MODELS__TRUSTED_KEYS": "trusted.txt"}
    (tmp_path / "trusted.txt").write_text("")
    bundle = shutil.copytree(PACKAGED_BUNDLES / "policy", tmp_path / "bundle")
    code, _, complaint = models("add", str(bundle), **strict)
    assert (code, complaint) == (2, "signature.json: is missing, and models.allow_unsigned is not set")

    code, line, complaint = models("keygen", "releases", "--folder", "keys")
    assert (code, "the private key is in keys/releases.pem" in complaint) == (0, True)
    assert models("sign", str(bundle), "--key", "keys/releases.pem")[0] == 0
    assert "not among the trusted keys" in models("add", str(bundle), **strict)[2]
    (tmp_path / "trusted.txt").write_text(line)
    assert models("add", str(bundle), **strict)[0] == 0
    assert "releases" in models("list", **strict)[1]


def test_a_torn_history_is_told_with_the_rest_of_it(models, tmp_path):
    digest = models("add", str(PACKAGED_BUNDLES / "policy"))[1].split()[0]
    models("canary", "policy", digest)
    path = tmp_path / "models" / "history.jsonl"
    path.write_bytes(path.read_bytes() + b'{"event": "canary"}\n')
    models("rollback", "policy")
    code, said, complaint = models("history", "policy", "--json", "history.json")
    assert (code, complaint) == (1, "history.jsonl: line 2 is no event")
    assert [line.split()[2] for line in said.splitlines()] == ["shadow", "rolled_back"]
    assert json.loads((tmp_path / "history.json").read_text())["damage"] == [complaint]


SHARE = "share: must be 0, for shadow, or lie in 0.1..99.9 %"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("canary", "weather", "abcdef"), 2, "net: must be one of forecaster, policy, got 'weather'"),
        (("canary", "policy", "abcdef"), 2, "model: 0 begin with 'abcdef'; give at least 6 digits of one"),
        (("verify", "abcdef"), 2, "model: 0 begin with 'abcdef'"),
        (("canary", "policy", "abcdef", "--share", "nan"), 2, f"{SHARE}, got nan %"),
        (("canary", "policy", "abcdef", "--share", "1e400"), 2, f"{SHARE}, got inf %"),
        (("canary", "policy", "abcdef", "--share", "100"), 2, f"{SHARE}, got 100 %"),
        (("canary", "policy", "abcdef", "--share", "-3"), 2, f"{SHARE}, got -3 %"),
        (("canary", "policy", "abcdef", "--share", "0.04"), 2, f"{SHARE}, got 0.04 %"),
        (("rollback", "policy", "--why", os.fsdecode(b"\xff")), 2, "--why: must be at most 1000 printable letters"),
        (("promote", "policy", "--by", "x" * 101), 2, "--by: must be at most 100 printable letters"),
        (("add", "nowhere"), 2, "cannot be read"),
        (("sign", "nowhere", "--key", "nothing"), 2, "nowhere/manifest.json: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_an_exit_code(models, arguments, code, said):
    got, _, complaint = models(*arguments)
    assert got == code
    assert said in complaint


def test_without_a_folder_the_setting_is_named(models):
    code, _, complaint = models("list", DOSEFLOW_MODELS__FOLDER="")
    assert code == 2
    assert "models.folder" in complaint
