import pytest

from doseflow.web.app import create_app


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "LOCALHOST:9", "[::1]:8080", "[::1]"])
def test_loopback_names_are_served_with_any_port(quiet_client, host):
    assert quiet_client.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8080", "", "[::2]"])
def test_a_foreign_host_name_is_refused_even_for_reading(quiet_client, host):
    answer = quiet_client.get("/api/v1/sites", headers={"host": host})
    assert answer.status_code == 421
    assert answer.json()["type"].endswith("foreign-host")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://[broken"])
def test_a_page_of_another_origin_may_not_change_anything(client, played, origin):
    site_id = played.city.city.sites[0].site_id
    answer = client.post(
        "/api/v1/commands/suspend", json={"site_id": site_id, "reason": "a drill"}, headers={"origin": origin}
    )
    assert answer.status_code == 403
    assert answer.json()["type"].endswith("foreign-origin")
    assert played.live.plans.commitments(played.clock.now()).suspended_site_ids == frozenset()


def test_the_own_page_may_change_and_a_foreign_one_may_only_ask(client, played):
    site = {"site_id": played.city.city.sites[0].site_id, "reason": "a drill"}
    own = client.post("/api/v1/commands/freeze", json=site, headers={"origin": str(client.base_url).rstrip("/")})
    assert own.status_code == 200
    assert client.get("/healthz", headers={"origin": "http://evil.example"}).status_code == 200


def test_a_star_serves_every_name(played, serve):
    client = serve(create_app(played.live, allowed_hosts=("*",)))
    assert client.get("/healthz", headers={"host": "city.example"}).status_code == 200


def test_every_answer_carries_the_security_headers(quiet_client):
    for path in ("/", "/healthz", "/static/style-that-is-not-there.css", "/api/v1/sites"):
        headers = quiet_client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
    assert quiet_client.get("/healthz", headers={"host": "evil.example"}).headers["x-content-type-options"] == "nosniff"


def test_figures_are_never_kept_by_a_cache_and_files_are_asked_for_again(quiet_client):
    assert quiet_client.get("/api/v1/sites").headers["cache-control"] == "no-store"
    assert quiet_client.get("/static/main.js").headers["cache-control"] == "no-cache"
