"""Write deploy/grafana/dashboards/*.json: the panels said in a line each, so that all of them are made alike."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "deploy/grafana/dashboards"
DATASOURCE = {"type": "prometheus", "uid": "doseflow-prometheus"}
COLUMNS, STAT_HEIGHT, GRAPH_HEIGHT = 24, 4, 8
Panel = dict[str, Any]
Query = tuple[str, str]
Steps = tuple[tuple[float, str], ...]
Rows = list[tuple[str, list[Panel]]]
MINUTES, SECONDS, SHARE, COUNT = "m", "s", "percentunit", "short"


def quantile(level: float, metric: str, by: str = "") -> str:
    return f"histogram_quantile({level}, sum by (le{by}) (rate({metric}_bucket[30m])))"


def stat(title: str, unit: str, description: str, *queries: Query, steps: Steps = ()) -> Panel:
    return {"type": "stat", "title": title, "unit": unit, "about": description, "queries": queries, "steps": steps}


def graph(title: str, unit: str, description: str, *queries: Query, steps: Steps = ()) -> Panel:
    return stat(title, unit, description, *queries, steps=steps) | {"type": "timeseries"}


FLOW = [
    (
        "Now",
        [
            stat("Up", COUNT, "1 while Prometheus can read the city.", ("up{job='doseflow'}", "")),
            stat(
                "Latest cycle",
                MINUTES,
                "Time since the latest cycle, by the city's clock.",
                ("doseflow_cycle_age_minutes", ""),
                steps=((7, "orange"), (12, "red")),
            ),
            stat(
                "Cycle p99",
                SECONDS,
                "99th percentile of a whole cycle over half an hour; the limit is 100 ms.",
                (quantile(0.99, "doseflow_cycle_seconds"), ""),
                steps=((0.05, "orange"), (0.1, "red")),
            ),
            stat(
                "Reports waiting",
                COUNT,
                "Accepted reports that the next cycle will take.",
                ("doseflow_pending_reports", ""),
            ),
            stat(
                "Silent sites",
                COUNT,
                "Sites that have never reported.",
                ("doseflow_silent_sites", ""),
                steps=((1, "orange"),),
            ),
            stat(
                "Fallbacks",
                COUNT,
                "Parts of the latest cycle that another than the chosen one answered.",
                ("sum(doseflow_fallback_active)", ""),
                steps=((1, "red"),),
            ),
            stat(
                "Fridges at risk",
                COUNT,
                "Fridges with doses in them that are outside their band.",
                ("doseflow_cold_chain_risk_fridges", ""),
                steps=((1, "red"),),
            ),
            stat(
                "Orders not told",
                COUNT,
                "Orders and withdrawals on the dead-letter list.",
                ("sum(doseflow_outbox_dead_letters)", ""),
                steps=((1, "red"),),
            ),
        ],
    ),
    (
        "Orders out",
        [
            graph(
                "Waiting by gateway", COUNT, "Entries to be told.", ("doseflow_outbox_waiting_entries", "{{gateway}}")
            ),
            graph(
                "Oldest by gateway",
                MINUTES,
                "How long the oldest entry has waited.",
                ("doseflow_outbox_oldest_minutes", "{{gateway}}"),
            ),
            graph("Left alone", COUNT, "1 while a gateway fails and rests.", ("doseflow_gateway_rests", "{{gateway}}")),
        ],
    ),
    (
        "Outside sources",
        [
            graph(
                "Rows taken and refused",
                COUNT,
                "Records of loggers and rows of tables in 15 minutes.",
                ("sum by (kind, outcome) (increase(doseflow_source_rows_total[15m]))", "{{kind}} {{outcome}}"),
            ),
        ],
    ),
    (
        "Cycles",
        [
            graph(
                "Time of a cycle",
                SECONDS,
                "Percentiles of a whole cycle; the limit is 100 ms.",
                (quantile(0.5, "doseflow_cycle_seconds"), "p50"),
                (quantile(0.95, "doseflow_cycle_seconds"), "p95"),
                (quantile(0.99, "doseflow_cycle_seconds"), "p99"),
                steps=((0.1, "red"),),
            ),
            graph(
                "Time of each stage",
                SECONDS,
                "Mean time of each stage over half an hour.",
                (
                    "rate(doseflow_cycle_stage_seconds_sum[30m]) / rate(doseflow_cycle_stage_seconds_count[30m])",
                    "{{stage}}",
                ),
            ),
            graph(
                "Cycles by planner",
                COUNT,
                "Cycles in the last half hour, by planner and way of repair.",
                ("sum by (planner, repair_path) (increase(doseflow_cycles_total[30m]))", "{{planner}} {{repair_path}}"),
            ),
            graph(
                "Cycles that failed or allowed nothing",
                COUNT,
                "In the last half hour.",
                ("increase(doseflow_cycles_failed_total[30m])", "failed"),
                ("increase(doseflow_cycles_infeasible_total[30m])", "nothing allowed"),
                ("sum(increase(doseflow_watch_failures_total[30m]))", "watch failed"),
            ),
        ],
    ),
    (
        "Reports and orders",
        [
            graph(
                "Age of reports",
                MINUTES,
                "Age of the latest report of a site.",
                ("doseflow_report_age_minutes", "{{statistic}}"),
                steps=((15, "orange"),),
            ),
            graph(
                "Reports",
                COUNT,
                "Accepted and refused in the last half hour.",
                ("increase(doseflow_reports_accepted_total[30m])", "accepted"),
                ("sum(increase(doseflow_reports_refused_total[30m])) or vector(0)", "refused"),
            ),
            graph(
                "Open orders", COUNT, "Orders not in a final state, by state.", ("doseflow_open_orders", "{{state}}")
            ),
            graph(
                "Receipts",
                COUNT,
                "Receipts of the last half hour, by the state the order went to.",
                ("sum by (state) (increase(doseflow_receipts_total[30m]))", "{{state}}"),
            ),
            graph(
                "Orders made and withdrawn",
                COUNT,
                "In the last half hour, by kind.",
                ("sum by (kind) (increase(doseflow_orders_created_total[30m]))", "{{kind}}"),
                ("increase(doseflow_orders_withdrawn_total[30m])", "withdrawn"),
            ),
            graph(
                "Readings that cannot be true",
                COUNT,
                "Open anomalies of all kinds.",
                ("sum(doseflow_open_anomalies)", "open"),
            ),
        ],
    ),
    (
        "Cold chain",
        [
            graph(
                "Fridges and doses at risk",
                COUNT,
                "Outside the band, with doses in them.",
                ("doseflow_cold_chain_risk_fridges", "fridges"),
                ("doseflow_cold_chain_risk_doses", "doses"),
            ),
            graph(
                "Minutes at risk",
                MINUTES,
                "Minutes outside the band in the last hour, added over fridges with doses.",
                ("increase(doseflow_cold_chain_risk_minutes_total[1h])", "fridge minutes"),
            ),
        ],
    ),
]

MODELS = [
    (
        "Now",
        [
            stat(
                "Train anew?",
                COUNT,
                "1 where the evidence of drift is enough.",
                ("doseflow_retraining_recommended", ""),
                steps=((1, "red"),),
            ),
            stat(
                "Coverage, 30 min ahead",
                SHARE,
                "Arrivals within the 80 % interval told half an hour before.",
                ("doseflow_forecast_coverage_share{lead_minutes='30'}", ""),
            ),
            stat(
                "Error of waits",
                MINUTES,
                "Observed less predicted wait, mean of the sites.",
                ("doseflow_wait_error_minutes{statistic='mean'}", ""),
            ),
            stat("Accelerator", COUNT, "1 where a card can be read.", ("doseflow_accelerator_up", "")),
        ],
    ),
    (
        "Forecast against what came",
        [
            graph(
                "Loss",
                SHARE,
                "Twice the pinball loss over the arrivals that came, by lead in minutes.",
                ("doseflow_forecast_weighted_loss_share", "{{lead_minutes}} min"),
            ),
            graph(
                "Pinball loss",
                COUNT,
                "People, of one period at one site, by lead in minutes.",
                ("doseflow_forecast_pinball_people", "{{lead_minutes}} min"),
            ),
            graph(
                "Coverage of the 80 % interval",
                SHARE,
                "By lead in minutes; counts are whole, so a little more is usual.",
                ("doseflow_forecast_coverage_share", "{{lead_minutes}} min"),
                steps=((0.8, "green"),),
            ),
            graph(
                "Forecasts",
                COUNT,
                "In the last half hour, by forecaster; and those of a fallback.",
                ("sum by (forecaster) (increase(doseflow_forecasts_total[30m]))", "{{forecaster}}"),
                ("increase(doseflow_forecast_fallbacks_total[30m])", "fallbacks"),
            ),
            graph(
                "Plans of a fallback",
                COUNT,
                "Cycles of the last half hour that another planner than the chosen one had to plan.",
                ("increase(doseflow_planner_fallbacks_total[30m])", "fallbacks"),
            ),
        ],
    ),
    (
        "Waits and drift",
        [
            graph(
                "Wait predicted and observed",
                MINUTES,
                "Mean of the sites compared; predicted half an hour before.",
                ("doseflow_wait_predicted_minutes", "predicted"),
                ("doseflow_wait_observed_minutes", "observed"),
            ),
            graph(
                "Error of waits",
                MINUTES,
                "Observed less predicted: its mean, and the mean of its size.",
                ("doseflow_wait_error_minutes", "{{statistic}}"),
            ),
            graph(
                "Evidence of drift",
                SHARE,
                "Share of the evidence that raises the alarm, by kind.",
                ("doseflow_drift_evidence_share", "{{kind}}"),
                steps=((1, "red"),),
            ),
            graph(
                "Distance of readings from the reference",
                SHARE,
                "Of the last whole day, by class; none before the second week.",
                ("doseflow_drift_distance_share", "{{feature_class}}"),
            ),
        ],
    ),
    (
        "Engines and releases",
        [
            graph(
                "Time of an answer",
                SECONDS,
                "99th percentile by engine.",
                (quantile(0.99, "doseflow_engine_seconds", ", engine"), "{{engine}}"),
            ),
            graph(
                "Failures",
                COUNT,
                "In the last half hour, by engine and kind.",
                ("sum by (engine, kind) (increase(doseflow_engine_failures_total[30m]))", "{{engine}} {{kind}}"),
            ),
            graph(
                "Circuit breakers",
                COUNT,
                "1 for the state that a breaker is in.",
                ("doseflow_breaker_state", "{{engine}} {{state}}"),
            ),
            graph(
                "Queue and batches",
                COUNT,
                "Questions waiting, and mean size of a batch.",
                ("doseflow_engine_queue_requests", "{{engine}} waiting"),
                (
                    "rate(doseflow_engine_batched_requests_total[30m]) / rate(doseflow_engine_batches_total[30m])",
                    "{{engine}} batch",
                ),
            ),
            graph(
                "Answers of the two arms",
                COUNT,
                "In the last half hour, by arm and outcome.",
                (
                    "sum by (net, arm, outcome) (increase(doseflow_canary_answers_total[30m]))",
                    "{{net}} {{arm}} {{outcome}}",
                ),
            ),
            graph(
                "Traffic of the challenger",
                SHARE,
                "By net.",
                ("doseflow_canary_share", "{{net}}"),
            ),
            graph(
                "Time of the two arms",
                SECONDS,
                "99th percentile by arm.",
                (quantile(0.99, "doseflow_canary_seconds", ", net, arm"), "{{net}} {{arm}}"),
            ),
            graph(
                "Models in use, phases and rollbacks",
                COUNT,
                "1 for a model in use and the phase of a release; rollbacks since the model store was made.",
                ("doseflow_canary_phase == 1", "{{net}}: phase {{phase}}"),
                ("doseflow_model_in_use", "{{net}}: {{alias}} {{digest}}"),
                ("doseflow_canary_rollbacks_total", "{{net}}: rolled back by {{by}}"),
            ),
        ],
    ),
    (
        "Accelerators",
        [
            graph(
                "Temperature",
                "celsius",
                "By card; absent where there is none.",
                ("doseflow_accelerator_temperature_celsius", "card {{card}}"),
                steps=((85, "red"),),
            ),
            graph(
                "Memory",
                "bytes",
                "In use by any process, and all of it.",
                ("doseflow_accelerator_memory_used_bytes", "card {{card}} used"),
                ("doseflow_accelerator_memory_total_bytes", "card {{card}} in all"),
            ),
            graph(
                "Utilisation",
                SHARE,
                "Time in which a card had work.",
                ("doseflow_accelerator_utilisation_share", "card {{card}}"),
            ),
            graph("Power", "watt", "By card.", ("doseflow_accelerator_power_watts", "card {{card}}")),
        ],
    ),
]


def panel_json(panel: Panel, number: int, place: dict[str, int]) -> Panel:
    thresholds = [
        {"color": "green", "value": None},
        *({"color": color, "value": value} for value, color in panel["steps"]),
    ]
    custom = {"lineWidth": 2, "fillOpacity": 8, "showPoints": "never"}
    lines = {"custom": custom | ({"thresholdsStyle": {"mode": "line"}} if panel["steps"] else {})}
    return {
        "id": number,
        "type": panel["type"],
        "title": panel["title"],
        "description": panel["about"],
        "gridPos": place,
        "datasource": DATASOURCE,
        "fieldConfig": {
            "defaults": {
                "unit": panel["unit"],
                "thresholds": {"mode": "absolute", "steps": thresholds},
                **(lines if panel["type"] == "timeseries" else {}),
            },
            "overrides": [],
        },
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}} if panel["type"] == "timeseries" else {},
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": DATASOURCE, "expr": expr, "legendFormat": legend}
            for at, (expr, legend) in enumerate(panel["queries"])
        ],
    }


def rows_json(rows: Rows) -> list[Panel]:
    panels: list[Panel] = []
    top = 0
    for title, inside in rows:
        row_place = {"h": 1, "w": COLUMNS, "x": 0, "y": top}
        panels.append({"id": len(panels) + 1, "type": "row", "title": title, "gridPos": row_place, "panels": []})
        top += 1
        is_stats = inside[0]["type"] == "stat"
        height, across = (STAT_HEIGHT, len(inside)) if is_stats else (GRAPH_HEIGHT, 2)
        for at, panel in enumerate(inside):
            width = COLUMNS // across
            place = {"h": height, "w": width, "x": at % across * width, "y": top + at // across * height}
            panels.append(panel_json(panel, len(panels) + 1, place))
        top += -(-len(inside) // across) * height
    return panels


def dashboard_json(uid: str, title: str, rows: Rows) -> Panel:
    return {
        "uid": uid,
        "title": title,
        "tags": ["doseflow"],
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": []},
        "annotations": {"list": []},
        "panels": rows_json(rows),
    }


DASHBOARDS = {
    "flow.json": dashboard_json("doseflow-flow", "doseflow: cycles, reports, orders", FLOW),
    "models.json": dashboard_json("doseflow-models", "doseflow: forecasts, models, engines", MODELS),
}


def written(dashboard: Panel) -> str:
    return json.dumps(dashboard, indent=2) + "\n"


if __name__ == "__main__":
    for name, dashboard in DASHBOARDS.items():
        (FOLDER / name).write_text(written(dashboard), encoding="utf-8")
