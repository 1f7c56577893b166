"""Cities, each kept once under the digest of its file."""

from __future__ import annotations

import hashlib

from sqlalchemy import select

from doseflow.domain.city import City
from doseflow.intake.city_file import city_from_json, city_to_json
from doseflow.store.insert_new import insert_new
from doseflow.store.tables import cities as table
from doseflow.store.transactions import Transactions


class KeptCities:
    """
    The cities in the store, and those among them that this process knows: none is written or parsed twice.

    A city read back is the very object that was kept, where this process kept it.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._known: list[tuple[str, City]] = []

    def keep(self, city: City) -> str:
        """Keep a city; its digest."""
        digest = next((digest for digest, known in self._known if known is city), None)
        if digest is not None:
            return digest
        data = city_to_json(city)
        digest = hashlib.sha256(data).hexdigest()
        with self._transactions.write() as connection:
            connection.execute(insert_new(connection, table), {"digest": digest, "city_id": city.city_id, "city": data})
        self._known.append((digest, city))
        return digest

    def read(self, digest: str) -> City:
        """The city of a digest that a kept cycle names."""
        city = next((city for known, city in self._known if known == digest), None)
        if city is None:
            with self._transactions.read() as connection:
                data = connection.execute(select(table.c.city).where(table.c.digest == digest)).scalar_one()
            city = city_from_json(data)
            self._known.append((digest, city))
        return city
