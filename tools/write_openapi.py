"""Write the OpenAPI document of this version to a file: what the pages' types are made from (`make api`)."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from doseflow.bootstrap import open_city
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.city_choice import city_from_name
from doseflow.web.app import create_app


def openapi_text() -> str:
    """The document as it is written: keys in order, so that a change shows where it is."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store=StoreSettings(url=f"sqlite:///{Path(folder) / 'none.sqlite'}"))
        opened = open_city(settings, city=city_from_name("synthetic:2"))
        try:
            document = create_app(opened.live).openapi()
        finally:
            opened.close()
    document["info"]["version"] = "0"  # the types do not depend on the version
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Write to the path that is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.parse_args().path.write_text(openapi_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
