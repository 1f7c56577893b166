from pathlib import Path

import pytest

from doseflow.bootstrap import make_planner
from doseflow.errors import SettingsWrong
from doseflow.order_gateways import make_webhooks
from doseflow.settings import Settings, read_settings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOSEFLOW_SETTINGS", raising=False)
    return tmp_path


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(empty_folder, monkeypatch):
    (empty_folder / "doseflow.toml").write_text('city = "synthetic:7"\n[http]\nport = 9001\n')
    assert read_settings().city == "synthetic:7"
    assert read_settings().http.port == 9001
    assert read_settings().http.host == "127.0.0.1"
    monkeypatch.setenv("DOSEFLOW_HTTP__PORT", "9002")
    assert read_settings().http.port == 9002
    assert read_settings().city == "synthetic:7"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[http]\nprot = 1\n", "http.prot"),
        ("citty = 'x'\n", "citty"),
        ("[http]\nport = 70000\n", "http.port"),
        ("[tick]\nperiod_seconds = 0\n", "period_seconds"),
        ("[feasible]\ntime_limit_millisecond = 3\n", "feasible.time_limit_millisecond"),
        ("[intake]\nmax_age_hours = -1\n", "max_age_hours"),
        ("[rules.staffing]\nnonsense = 1\n", "rules.staffing.nonsense"),
        ("this is not toml", "doseflow.toml"),
    ],
)
def test_a_wrong_file_is_refused_naming_the_key(empty_folder, text, named):
    (empty_folder / "doseflow.toml").write_text(text)
    with pytest.raises(SettingsWrong, match=named.replace(".", r"\.")):
        read_settings()


def test_a_misspelt_variable_is_refused(monkeypatch):
    monkeypatch.setenv("DOSEFLOW_HTPT__PORT", "1")
    with pytest.raises(SettingsWrong, match="DOSEFLOW_HTPT__PORT"):
        read_settings()


def test_a_named_file_that_is_missing_is_refused(monkeypatch):
    monkeypatch.setenv("DOSEFLOW_SETTINGS", "nowhere.toml")
    with pytest.raises(SettingsWrong, match="nowhere"):
        read_settings()


def test_an_unknown_planner_is_refused_with_the_known_ones():
    with pytest.raises(SettingsWrong, match="rules"):
        make_planner(read_settings(planner="oracle"))


def test_a_webhook_without_a_secret_is_refused():
    with pytest.raises(SettingsWrong, match=r"webhook\.secret"):
        make_webhooks(read_settings(webhook={"url": "http://127.0.0.1:1/"}))


def test_every_section_and_every_plain_key_stands_on_the_page():
    page = PAGE.read_text()
    for section, field in Settings.model_fields.items():
        assert f"`{section}" in page, section
        fields = getattr(field.annotation, "model_fields", None) or getattr(
            field.annotation, "__dataclass_fields__", {}
        )
        for name in fields:
            assert f"`{section}.{name}" in page, f"{section}.{name}"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("BREAKER__FAILURES_TO_OPEN", "0", "breaker.failures_to_open: must lie in 1..1000, got 0"),
        ("HTTP__PORT", "0", "http.port: input should be greater than or equal to 1, got '0'"),
    ],
)
def test_a_value_out_of_its_range_is_one_sentence_that_names_the_whole_key(monkeypatch, name, value, said):
    monkeypatch.setenv(f"DOSEFLOW_{name}", value)
    with pytest.raises(SettingsWrong) as raised:
        read_settings()
    assert str(raised.value) == said


def test_rules_of_approval_are_read_from_the_file_and_a_wrong_one_names_its_key(empty_folder):
    (empty_folder / "doseflow.toml").write_text(
        '[[approvals.rules]]\nmode = "goes_out"\nkinds = ["staff_move"]\nminutes = 5\n'
        '[[approvals.rules]]\nmode = "always_ask"\nfamilies = ["doses"]\nmin_quantity = 200\n'
    )
    first, second = read_settings().approvals.rules
    assert (first.mode, first.kinds, first.minutes) == ("goes_out", ("staff_move",), 5)
    assert (second.families, second.min_quantity) == (("doses",), 200)
    (empty_folder / "doseflow.toml").write_text('[[approvals.rules]]\nmode = "lapses"\n')
    with pytest.raises(SettingsWrong, match="minutes"):
        read_settings()
