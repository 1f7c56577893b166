"""Print the table of docs/reference/live-metrics.md from the code."""

from doseflow.telemetry.metric_table import NAME_TO_MEANING
from doseflow.telemetry.metrics import make_metrics

labels = {}
for collector in make_metrics().registry._collector_to_names:
    for family in collector.describe():
        name = family.name + ("_total" if family.type == "counter" else "")
        labels[name] = ", ".join(getattr(collector, "_labelnames", ()))
for name, (unit, meaning) in NAME_TO_MEANING.items():
    is_of_card = name.startswith("doseflow_accelerator_") and not name.endswith("_up")
    print(f"| `{name}` | {unit} | {'card' if is_of_card else labels[name]} | {meaning} |")
