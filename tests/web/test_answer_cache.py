import threading

from doseflow.web.answer_cache import AnswerCache


def test_the_same_moment_is_made_once_for_everybody_who_asks():
    cache, made, start = AnswerCache(), [], threading.Barrier(8)

    def make() -> bytes:
        made.append(1)
        return b"answer"

    answers = []

    def ask() -> None:
        start.wait()
        answers.append(cache.get("moment", make))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [b"answer"] * 8
    assert len(made) == 1


def test_another_moment_is_made_anew():
    cache = AnswerCache()
    assert [cache.get(key, lambda key=key: key.encode()) for key in ("a", "b", "b", "a")] == [b"a", b"b", b"b", b"a"]


def test_an_answer_that_could_not_be_made_is_not_kept():
    cache = AnswerCache()

    def fail() -> bytes:
        raise OSError("gone")

    for make in (fail, fail):
        try:
            cache.get("moment", make)
        except OSError:
            continue
    assert cache.get("moment", lambda: b"made") == b"made"
