import asyncio

from doseflow.live.event_feed import EventFeed


async def _collect(feed: EventFeed, into: list) -> None:
    async for event in feed.subscribe():
        into.append(event)


def test_every_subscriber_gets_every_event_in_order():
    async def scene() -> tuple[list, list]:
        feed, first, second = EventFeed(), [], []
        tasks = [asyncio.create_task(_collect(feed, first)), asyncio.create_task(_collect(feed, second))]
        await asyncio.sleep(0)
        for number in range(5):
            feed.publish("cycle_completed", {"number": number})
        feed.close()
        await asyncio.wait_for(asyncio.gather(*tasks), 5)
        return first, second

    first, second = asyncio.run(scene())
    assert [event.payload["number"] for event in first] == list(range(5))
    assert first == second
    assert [event.event_id for event in first] == sorted({event.event_id for event in first})


def test_publishing_from_another_thread_arrives():
    async def scene() -> list:
        feed, got = EventFeed(), []
        task = asyncio.create_task(_collect(feed, got))
        await asyncio.sleep(0)
        await asyncio.to_thread(feed.publish, "reports_received", {"accepted": 3})
        await asyncio.to_thread(feed.close)
        await asyncio.wait_for(task, 5)
        return got

    assert [event.name for event in asyncio.run(scene())] == ["reports_received"]


def test_a_slow_listener_loses_its_oldest_and_nobody_waits():
    async def scene() -> list:
        feed, got = EventFeed(max_waiting=3), []
        task = asyncio.create_task(_collect(feed, got))
        await asyncio.sleep(0)
        for number in range(10):
            feed.publish("tick", {"number": number})
        await asyncio.sleep(0.01)
        feed.close()
        await asyncio.wait_for(task, 5)
        return got

    numbers = [event.payload["number"] for event in asyncio.run(scene())]
    assert numbers == [7, 8, 9]


def test_a_listener_that_leaves_is_forgotten():
    async def scene() -> int:
        feed = EventFeed()
        task = asyncio.create_task(_collect(feed, []))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return len(feed._subscribers)

    assert asyncio.run(scene()) == 0
