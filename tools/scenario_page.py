"""
Prints docs/reference/scenarios.md from the scenarios and their schema, or the JSON schema alone:

    python tools/scenario_page.py > docs/reference/scenarios.md
    python tools/scenario_page.py schema > docs/reference/scenario.schema.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_city import scenario_day
from doseflow.simulate.scenario_file import SUITES, packaged_scenarios, scenario_schema
from doseflow.simulate.scenario_load import offered_load, overloaded_site_share

SEEDS = range(5)
"""Seeds over which the loads of the table are averaged."""

HEAD = """# Scenarios

A scenario is a day that planners are judged on: a city, a load, and what goes wrong. It is a TOML file;
`doseflow evaluate --scenario FILE` takes anybody's. A file and a seed make the same day every time. This page is made
by `tools/scenario_page.py`, and [scenario.schema.json](scenario.schema.json) is the schema for editors.

```toml
name = "market_day"
family = "surge"
text = "Market day: the sites around one place are overrun in the morning."
city = "synthetic:50"           # or "czech"
city_seed = 7
days = ["saturday"]             # dates, such as "2021-05-20", in the real city
offered_load_share = 0.85

[params]                        # any value of the table in cities.md
walk_in_share = 0.15

[[incidents]]
kind = "surge"
site_share = 0.1                # drawn with the seed
clustered = true
starts_at = 09:00:00            # local
ends_at = 12:00:00
moved_by_minutes = 45           # earlier or later, drawn with the seed
extra_share = 0.8
```

A file that is wrong is refused in one sentence with the field and the bound, and exit code 2:
`incidents.0.extra_share: must be at most 10.0, got 11`.

## The packaged ones

Offered load is expected work over the capacity of the people on the roster, in the busiest role and over the opening
hours of the whole city; breaks are no capacity. The file states it for the day without incidents, and the roster is
made to fit it. "With incidents" is what it becomes: extra people are work, absent people and closed hours are no
capacity. These two columns are computed, the mean of five seeds. Above 1 a day could not be served in its hours
wherever people are sent; {above}.

A city below full load has sites above it: a small site needs its minimum team whether or not it is busy, and a large
one has no more stations than it has. The last column is the share of open sites at which some role has more expected
work than rostered people can do, without incidents.
"""

MIDDLE = """
`training` and `heldout` differ in kind, not only in seed. No city and no family of one is in the other. Where the
second has a kind of incident that the first has too, its shape differs: surges rise and fall and lie around each
other, and only vaccinators are absent. Behaviour differs as well: no-shows of 5 and 8 %, punctuality of 15 minutes,
reports that fail five times as often. Nothing is tuned to `heldout`. `czech` is the real city, and `sizes` one kind of
day in three sizes. Where an incident strikes is drawn with the seed among the sites that open, so that no file chooses
the sites that suit a planner.

## What is the same for every planner

**The roster.** The best fixed roster for the expected day. Bookings less no-shows, slots that will be booked on the
day, and expected walk-ins give the mean number of busy people `b` of each site, role and shift, and
`b + beta * sqrt(b)` people (square-root staffing, doi:10.1287/opre.29.3.567), with one `beta` for the whole city,
chosen so that the busiest role is offered the stated load. That says how many people of each role there are; each of
them is rostered where they save the most waiting (marginal allocation over the queue of Kimber and Hollis,
`simulate/marginal_roster.py`), never less than the minimum team or more than the stations. Observers are at least 1.4
times the mean number of seats taken over the seats that one can watch. Everyday absence is allowed for by its mean;
nobody knows of incidents beforehand. If teams or stations do not allow a load, the nearest possible one results, and
the columns above would show it. A planner that does nothing is this roster.

**Chance.** Each concern has its own stream: bookings, who shows up and when, walk-ins minute by minute, absence,
deliveries, every incident, every report. Changing one leaves the draws of the others alone, and an incident that grows
keeps what it struck when it was small.

**Arrivals of past weeks**, from which forecasts learn, are drawn from the city's days without incidents.

**What planners are not told**: that people stay away or come early today, that the roads are slow (their table of
travel times is that of other days), that deliveries are late or lost. They are told what reports tell: queues, stock,
temperatures, who is at work, rain, vans that stand somewhere, and the incidents that a site sees at its own door.

## Fields

What is not listed is refused. Times are local.
"""

WHERE = """
Where: exactly one of the four `site_` fields. Those given by share or number are drawn with the seed.

{where}

When:

{when}
"""
WHERE_FIELDS = ("site_share", "site_count", "site_ranks", "site_ids", "clustered")
WHEN_FIELDS = ("starts_at", "ends_at", "moved_by_minutes")


def main() -> int:
    if sys.argv[1:] == ["schema"]:
        print(json.dumps(scenario_schema(), indent=1))
    else:
        print(page())
    return 0


def page() -> str:
    """The page."""
    scenarios = [one for suite in SUITES for one in packaged_scenarios(suite)]
    loads = {one.name: loads_of(one) for one in scenarios}
    above = [f"`{name}` is, at {load:.2f}" for name, (_, load, _) in loads.items() if load > 1]
    lines = [
        HEAD.format(above="; ".join(above) or "no packaged day is there, and the highest is " + highest(loads)),
        "| name | suite | family | city | stated | without incidents | with incidents | sites above 1 |",
        "|---|---|---|---|---|---|---|---|",
        *(row(one, *loads[one.name]) for one in scenarios),
        "",
        *(f"- **{one.name}**: {' '.join(one.text.split())}" for one in scenarios),
        MIDDLE,
        *field_tables(),
    ]
    return "\n".join(lines)


def loads_of(scenario: Scenario) -> tuple[float, float, float]:
    """Load in the busiest role without and with incidents, and the share of sites above 1; the mean of `SEEDS`."""
    params = scenario.simulation_params()
    calm = [scenario_day(scenario.without_incidents(), seed) for seed in SEEDS]
    stirred = [scenario_day(scenario, seed) for seed in SEEDS]
    loads = [np.mean([offered_load(day.city, day.plan, params).max() for day in days]) for days in (calm, stirred)]
    over = np.mean([overloaded_site_share(day.city, day.plan, params) for day in calm])
    return float(loads[0]), float(loads[1]), float(over)


def highest(loads: dict[str, tuple[float, float, float]]) -> str:
    name = max(loads, key=lambda one: loads[one][1])
    return f"`{name}`, at {loads[name][1]:.2f}"


def row(scenario: Scenario, calm: float, stirred: float, over: float) -> str:
    city = scenario.city if scenario.is_real else f"{scenario.city}, seed {scenario.city_seed}"
    cells = (scenario.name, scenario.suite, scenario.family, city, f"{scenario.offered_load_share:.2f}")
    return f"| {' | '.join(cells)} | {calm:.2f} | {stirred:.2f} | {over:.0%} |"


def field_tables() -> Iterator[str]:
    schema = scenario_schema()
    yield from fields_of(schema["properties"], schema["required"])
    for name, form in (("window", "Window"), ("report_faults", "FaultShares")):
        yield f"\n`[{name}]`\n"
        yield from fields_of(schema["$defs"][form]["properties"])
    yield "\n### Incidents"
    surge = schema["$defs"]["SurgeIncident"]["properties"]
    where, when = ("\n".join(fields_of({one: surge[one] for one in names})) for names in (WHERE_FIELDS, WHEN_FIELDS))
    yield WHERE.format(where=where, when=when)
    mapping = schema["properties"]["incidents"]["items"]["discriminator"]["mapping"]
    yield "| kind | what happens | where, when |"
    yield "|---|---|---|"
    forms = {kind: schema["$defs"][reference.rsplit("/", 1)[-1]] for kind, reference in mapping.items()}
    for kind, form in forms.items():
        yield f"| `{kind}` | {' '.join(form['description'].split())} | {strikes(form)} |"
    yield "\nHow much:\n"
    yield "| field | values | default | meaning |"
    yield "|---|---|---|---|"
    for kind, form in forms.items():
        own = {
            f"{kind}.{name}": field
            for name, field in form["properties"].items()
            if name not in ("kind", *WHERE_FIELDS, *WHEN_FIELDS)
        }
        yield from list(fields_of(own, [f"{kind}.{name}" for name in form["required"]]))[2:]


def strikes(form: dict[str, Any]) -> str:
    where = "sites" if "site_share" in form["properties"] else "the city"
    ends = "ends_at" in form["properties"]
    return f"{where}, {'from, until' if ends else 'from' if 'starts_at' in form['properties'] else 'all day'}"


def fields_of(properties: dict[str, Any], required: Sequence[str] = ()) -> Iterator[str]:
    yield "| field | values | default | meaning |"
    yield "|---|---|---|---|"
    for name, field in properties.items():
        default = json.dumps(field["default"]) if "default" in field else ""
        default = "must be given" if name in required else "" if default == "null" else default
        yield f"| `{name}` | {values_of(field)} | {default} | {meaning_of(field)} |"


def values_of(field: dict[str, Any]) -> str:
    """What a field takes, in words."""
    if "anyOf" in field:
        field = next(one for one in field["anyOf"] if one.get("type") != "null")
    if "enum" in field:
        return ", ".join(str(one) for one in field["enum"])
    if "$ref" in field:
        return "see below" if "SurgeShape" not in field["$ref"] else "flat, ramp"
    kind = {"number": "number", "integer": "whole number", "string": "text", "array": "list"}.get(field.get("type", ""))
    if field.get("format") == "time":
        return "time"
    low, high = field.get("minimum", field.get("exclusiveMinimum")), field.get("maximum")
    above = "above " if "exclusiveMinimum" in field else ""
    bounds = f" {above}{low:g} to {high:g}" if low is not None and high is not None else ""
    return f"{kind or field.get('type', 'see below')}{bounds}"


def meaning_of(field: dict[str, Any]) -> str:
    parts = [field, *field.get("anyOf", [])]
    return next((" ".join(one["description"].split()) for one in parts if "description" in one), "")


if __name__ == "__main__":
    sys.exit(main())
