import orjson


def play_with_silent_logger(played, site_idx, periods):
    """A site whose loggers say nothing any more, while it reports."""
    for _ in range(periods):
        reports = [orjson.loads(report) for report in played.live_on()]
        reports[site_idx].pop("fridges")
        played.live.submit(orjson.dumps(reports))
        played.live.run_cycle()


def test_an_open_anomaly_is_told_with_its_sentences_on_its_site_and_in_the_metrics(played, client):
    for _ in range(3):
        played.play()
    assert client.get("/api/v1/anomalies").json()["open"] == []
    play_with_silent_logger(played, 0, 8)
    site = played.city.city.sites[0]
    answer = client.get("/api/v1/anomalies").json()
    assert {one["kind"] for one in answer["open"]} == {"logger_silent"}
    assert {one["site_id"] for one in answer["open"]} == {site.site_id}
    first = answer["open"][0]
    assert first["feature_class"] == "fridges"
    assert first["fridge_id"] in first["text_en"]
    assert "温度记录仪" in first["text_zh"]
    assert first["since_at"] < first["seen_at"] <= answer["now"]
    assert client.get(f"/api/v1/sites/{site.site_id}").json()["anomalies"] == answer["open"]
    other = played.city.city.sites[1].site_id
    assert client.get("/api/v1/anomalies", params={"site_id": other}).json()["open"] == []
    assert f'doseflow_open_anomalies{{kind="logger_silent"}} {len(answer["open"])}.0' in client.get("/metrics").text


def test_an_anomaly_that_ends_is_kept_among_the_ended(played, client):
    for _ in range(3):
        played.play()
    play_with_silent_logger(played, 0, 8)
    for _ in range(14):
        played.play()
    answer = client.get("/api/v1/anomalies").json()
    assert answer["open"] == []
    assert [one["kind"] for one in answer["ended"]] == ["logger_silent"] * len(answer["ended"])
    assert answer["ended"][0]["ended_at"] == answer["ended"][0]["last_at"]
    assert client.get("/api/v1/anomalies?limit=0").json()["ended"] == []


def test_the_document_names_the_address_and_its_answer(quiet_client):
    document = quiet_client.get("/openapi.json").json()
    assert "/api/v1/anomalies" in document["paths"]
    assert "AnomalyRow" in document["components"]["schemas"]


def test_anomalies_of_a_site_that_the_city_has_not_are_404_and_not_an_empty_list(client):
    answer = client.get("/api/v1/anomalies", params={"site_id": "zz"})
    assert answer.status_code == 404
    assert answer.json()["field"] == "site_id"
