"""Asks the simulator with other people's clients and compares with its ground truth.

usage: compare.py STORESIM DIRECTORY
"""

import sys
import warnings

from amazon import Amazon
from amazon_queue import AmazonQueue
from apple import Apple
from google_play import Google
from stage import Counter, Simulator

warnings.filterwarnings("ignore")


def main(program, directory):
    simulator = Simulator(program, directory)
    count = Counter()
    try:
        count.count_requests()
        simulator.populate()
        for store in (Apple, Google, Amazon, AmazonQueue):
            store(simulator, count).run()
    finally:
        simulator.end()
    for client in count.cases:
        calls, cases = count.calls.get(client, 0), count.cases[client]
        print(f"conformance: {client}: {calls} calls, {cases} cases")
    total = sum(count.calls.values()), sum(count.cases.values())
    for difference in count.differences:
        print(f"conformance: {difference}")
    print(
        f"conformance: {total[0]} calls, {total[1]} cases, {len(count.differences)} differences"
    )
    return 1 if count.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
