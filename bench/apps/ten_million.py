"""Ten million calls of an agent that never sleeps, recorded into a folder. Arguments: folder, calls.

Four workers; each answers orders: a node, in it a tool call or two, in each of these some functions. One order in a thousand fails; some take longer
than others, so that every zoom level has something to show.
"""

import random
import sys
import threading

import toolbreak

REGIONS = ("eu", "us", "asia", "africa")
WORDS = ("late", "lost", "sent", "paid", "open", "broken", "refunded", "returned")


def price(order_id: int, region: str) -> dict:
    return {"order_id": order_id, "total": order_id % 977, "currency": "EUR" if region == "eu" else "USD"}


def score(order_id: int, word: str) -> float:
    return (order_id % 101) / 101


@toolbreak.tool
def lookup_order(order_id: int, region: str, depth: int) -> dict:
    found = {}
    for step in range(depth):
        found = price(order_id + step, region)
        score(order_id, WORDS[step % len(WORDS)])
    if order_id % 1000 == 999:
        raise LookupError(f"order {order_id} is unknown")
    return found


@toolbreak.tool
def answer(order_id: int, word: str) -> dict:
    return {"order_id": order_id, "text": f"Your order {order_id} is {word}.", "score": score(order_id, word)}


def work(worker: int, calls: int) -> None:
    dice = random.Random(worker)
    left = calls
    order_id = worker
    while left > 0:
        order_id += 4
        depth = 2 if dice.random() < 0.98 else dice.choice((20, 200, 2000))
        left -= 2 * depth + 3
        try:
            lookup_order(order_id, REGIONS[order_id % 4], depth)
        except LookupError:
            continue
        answer(order_id, WORDS[order_id % len(WORDS)])


if __name__ == "__main__":
    folder, calls = sys.argv[1], int(sys.argv[2])
    threads = [threading.Thread(target=work, args=(n, calls // 4), name=f"worker {n}") for n in range(4)]
    toolbreak.record(folder)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
