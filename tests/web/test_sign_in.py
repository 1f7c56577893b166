"""People sign in by a password: sessions, their ends, what is kept of them, forged changes, and too many attempts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.access import password as password_room
from doseflow.access.grant import Grant
from doseflow.access.password import hash_password
from doseflow.access.user_file import LocalUser, UserFile
from doseflow.domain.caller import CallerRole

PASSWORD, WRONG = "correct horse battery", "wrong but long enough"
SIGN_IN, ME, FREEZE = "/api/v1/sign-in", "/api/v1/me", "/api/v1/commands/freeze"
KEPT_HASH = hash_password(PASSWORD)


class Wall:
    """A clock that the test moves."""

    def __init__(self):
        self.moment = datetime(2026, 3, 2, 8, tzinfo=UTC)

    def __call__(self):
        return self.moment


@pytest.fixture
def wall():
    return Wall()


@pytest.fixture
def city(module_city, tmp_path, wall):
    made = module_city(tmp_path, now=wall)
    users = UserFile(tmp_path / "users.json")
    users.add(LocalUser("anna", KEPT_HASH, Grant((CallerRole.DUTY_OFFICER,))))
    users.add(LocalUser("head", KEPT_HASH, Grant((CallerRole.SITE_HEAD,))))
    return made


def sign_in(city, name="anna", password=PASSWORD):
    return city.client.post(SIGN_IN, json={"name": name, "password": password})


def audited(city):
    return [(one.entry.by, one.entry.action) for one in city.opened.live.audit.entries()]


def freeze(city, **headers):
    site = {"site_id": city.opened.live.city.sites[0].site_id, "reason": "a drill"}
    return city.client.post(FREEZE, json=site, headers=headers)


def origin(city):
    return str(city.client.base_url).rstrip("/")


def test_a_person_signs_in_acts_and_signs_out_and_the_audit_log_has_each(city):
    answer = sign_in(city)
    assert (answer.status_code, answer.json()["name"], answer.json()["roles"]) == (200, "anna", ["duty_officer"])
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    assert city.client.get(ME).json()["is_signed_in"] is True
    assert freeze(city, origin=origin(city)).status_code == 200
    assert city.client.post("/api/v1/sign-out", headers={"origin": origin(city)}).status_code == 204
    assert city.client.get(ME).status_code == 401
    assert audited(city) == [("anna", "caller.sign_in"), ("anna", "site.freeze"), ("anna", "caller.sign_out")]


def test_neither_passwords_nor_tokens_nor_unknown_names_are_kept(city, tmp_path):
    token = sign_in(city).cookies["doseflow"]
    assert sign_in(city, name="my secret typed as a name").status_code == 401
    assert sign_in(city, password=WRONG).status_code == 401
    assert audited(city)[1:] == [("nobody", "caller.refuse"), ("anna", "caller.refuse")]
    city.opened.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for text in (PASSWORD, token, "my secret typed as a name", WRONG):
        assert text.encode() not in kept
    assert b"$argon2id$v=19$m=65536,t=3,p=4$" in kept


def test_a_wrong_name_and_a_wrong_password_are_refused_in_the_same_words(city):
    wrong = [sign_in(city, name="nobody-at-all"), sign_in(city, password="x" * 20)]
    assert {answer.status_code for answer in wrong} == {401}
    assert len({answer.text for answer in wrong}) == 1


def test_an_unknown_name_costs_as_many_argon2_passes_as_a_known_one(monkeypatch):
    seen = []
    real = password_room.Argon2id.verify_phc_encoded

    class Watched:
        @staticmethod
        def verify_phc_encoded(given_bytes, kept):
            seen.append(kept.split("$")[1:4])
            return real(given_bytes, kept)

    monkeypatch.setattr(password_room, "Argon2id", Watched)
    assert not password_room.is_password("some password", None)
    assert not password_room.is_password("some password", KEPT_HASH)
    assert seen[0] == seen[1]


def test_digests_are_compared_in_constant_time(monkeypatch):
    import hmac

    from doseflow.access import secret_text

    compared = []
    real = hmac.compare_digest
    monkeypatch.setattr(secret_text.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or real(a, b))
    assert secret_text.is_secret("s", secret_text.digest_of("s"))
    assert not secret_text.is_secret("t", secret_text.digest_of("s"))
    assert len(compared) == 2


def test_a_session_ends_when_nothing_is_heard_and_after_a_shift_whatever_is_heard(city, wall):
    sign_in(city)
    wall.moment += timedelta(minutes=61)
    assert city.client.get(ME).status_code == 401
    sign_in(city)
    for _ in range(14):
        wall.moment += timedelta(minutes=50)
        assert city.client.get(ME).status_code == 200
    wall.moment += timedelta(minutes=21)
    assert city.client.get(ME).status_code == 401


def test_a_change_sent_after_the_end_is_401_changes_nothing_and_goes_through_when_sent_again(city, wall):
    sign_in(city)
    wall.moment += timedelta(hours=13)
    refused = freeze(city, origin=origin(city))
    assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (401, "not-signed-in")
    assert "sign in again" in refused.json()["detail"]
    assert not city.opened.live.plans.commitments(city.opened.live.clock.now()).frozen_site_ids
    sign_in(city)
    assert freeze(city, origin=origin(city)).status_code == 200


def test_a_user_taken_out_of_the_file_is_out_at_once_and_new_roles_hold_at_once(city, tmp_path):
    sign_in(city)
    users = UserFile(tmp_path / "users.json")
    users.remove("anna")
    assert city.client.get(ME).status_code == 401
    users.add(LocalUser("anna", KEPT_HASH, Grant((CallerRole.AUDITOR,))))
    assert city.client.get(ME).json()["roles"] == ["auditor"]


def test_ended_sessions_of_a_person_open_nothing(city):
    sign_in(city)
    assert city.opened.store.sessions.end_all_of("anna") == 1
    assert city.client.get(ME).status_code == 401


def test_a_change_with_a_cookie_needs_the_own_origin_or_the_token_of_me(city):
    token = sign_in(city).json()["token"]
    assert freeze(city).json()["type"].endswith("forged-change")
    assert freeze(city, **{"x-doseflow-token": "0" * 64}).status_code == 403
    assert freeze(city, origin="http://evil.example").json()["type"].endswith("foreign-origin")
    assert freeze(city, **{"x-doseflow-token": token}).status_code == 200
    assert freeze(city, origin=origin(city)).status_code == 200


def test_a_person_who_asks_for_what_is_not_theirs_is_refused_in_a_sentence_and_noted(city):
    sign_in(city, name="head")
    refused = freeze(city, origin=origin(city))
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "site.freeze needs one of the roles duty_officer; head is site_head",
    )
    last = city.opened.live.audit.entries()[-1].entry
    assert (last.by, last.action, last.subject) == ("head", "action.refuse", "site.freeze")


def test_after_five_wrong_passwords_even_the_right_one_waits_and_others_do_not(city):
    for _ in range(5):
        assert sign_in(city, password=WRONG).status_code == 401
    waiting = sign_in(city)
    assert (waiting.status_code, waiting.json()["type"].rpartition(":")[2]) == (429, "too-many-sign-ins")
    assert 800 < int(waiting.headers["retry-after"]) <= 900
    assert sign_in(city, name="head").status_code == 200


def test_a_cookie_that_is_junk_is_401(city):
    for junk in ("", "x", "dsf_", "é" * 10, "a" * 5000):
        answer = httpx.get(f"{origin(city)}/api/v1/me", headers={"cookie": f"doseflow={junk}".encode()})
        assert answer.status_code == 401


def test_no_header_or_cookie_whatever_is_a_500(city):
    text = st.binary(max_size=200).filter(lambda each: not set(each) & {0, 10, 13})

    @settings(max_examples=120)
    @given(name=st.sampled_from(["authorization", "cookie", "x-doseflow-token", "origin", "x-forwarded-for"]), raw=text)
    def call(name, raw):
        for given_raw in (raw, b"Bearer dsf_0123456789ab_" + raw, b"doseflow=" + raw):
            try:
                answer = city.client.get(ME, headers={name: given_raw.strip()})
            except httpx.LocalProtocolError:
                continue
            assert answer.status_code in {400, 401}, (name, given_raw, answer.text)

    call()
